"""A month in a minute: what searches led to becomes a key, once there is evidence and a person's word.

Somebody saves two dozen facts of an office. For four weeks people ask for them in their own words and say
which result helped, now and then the wrong one; the real Dagster jobs fold, evaluate and propose on an
accelerated clock. The gate refuses what is proposed until its evidence is there; then a person approves. At
the end each fact is asked for in words that nobody has used: first as if nothing had been learned, then as
it is. Run by `make demo`, or by itself:

    .venv/bin/python examples/month.py --home .demo-month
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, time, timedelta
from pathlib import Path

import dagster as dg
from dagster._core.storage.tags import ASSET_PARTITION_RANGE_END_TAG, ASSET_PARTITION_RANGE_START_TAG
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from slowwave.assets import evaluation, learning
from slowwave.assets.resources import SlowwaveResource
from slowwave.common.progress import listening, task
from slowwave.home.workspace import Workspace
from slowwave.learning import applied_terms
from slowwave.learning.gate_evidence import Evidence
from slowwave.memory import Memory
from slowwave.orchestration.definitions import definitions
from slowwave.settings import load
from slowwave.views.terminal import bars

FACTS = json.loads((Path(__file__).parent / "month.json").read_text())
NAMESPACE, PEOPLE = "default", ("ann", "bob", "cay")
DAYS, PER_DAY, SHOWN = 29, 9, 5
REFUSED = 14  # day on which somebody tries what the gate refuses
WRONG = 0.1  # share of what is taken that is not what was looked for
TODAY = datetime.now(UTC).date()
FIRST = datetime.combine(TODAY - timedelta(days=DAYS + 2), time(), UTC)
SETTINGS = f"""\
[gate]
mode = "off"

[judge]
kind = "off"

[learning]
enabled = true
words = false

[night]
first_day = "{FIRST - timedelta(days=4):%F}"
"""
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
MEASURING = [one.key for one in (*evaluation.ASSETS, *learning.PROPOSED_ASSETS)]


class Clock:
    """Shows the moment that it is set to."""

    def __init__(self, moment: datetime) -> None:
        self.moment = moment

    def __call__(self) -> datetime:
        """The moment."""
        return self.moment


class Nobody:
    """Hears of the progress of a night's steps, of which there are hundreds here."""

    def start(self, what: str, total: int | None) -> int:
        """Nothing is shown."""
        return 0

    def advance(self, task: int, units: int) -> None:
        """Nothing is shown."""

    def end(self, task: int, *, done: bool) -> None:
        """Nothing is shown."""


class Office:
    """A home, its clock, and the id of the memory that each fact is.

    Args:
        home: folder, new.
    """

    def __init__(self, home: Path) -> None:
        shutil.rmtree(home, ignore_errors=True)
        home.mkdir(mode=0o700, parents=True)
        (home / "slowwave.toml").write_text(SETTINGS)
        self.home, self.settings = home, load(home)
        self.clock = Clock(FIRST - timedelta(days=4) + timedelta(hours=9))
        self.space = Workspace(self.settings, clock=self.clock)
        self.memory = self.person("mairi")
        notes = [{"key": f"fact-{at}", "content": one["fact"]} for at, one in enumerate(FACTS)]
        self.ids = [one.memory_id for one in self.memory.save_many(notes)]
        self.run("night", self.clock.moment, self.clock.moment)

    def person(self, name: str) -> Memory:
        """The memory as somebody uses it."""
        return Memory(self.settings, namespace=NAMESPACE, principal=name, space=self.space)

    def run(self, job: str, first: datetime, last: datetime) -> None:
        """A job for some days, as if it were the clock's moment."""
        os.environ["SLOWWAVE_HOME"] = str(self.home)
        resource = SlowwaveResource(home=str(self.home), now=self.clock.moment.isoformat())
        tags = {
            ASSET_PARTITION_RANGE_START_TAG: f"{first:%F}", ASSET_PARTITION_RANGE_END_TAG: f"{last:%F}",
        }  # fmt: skip
        only = MEASURING if job == "evaluation" else None
        with dg.DagsterInstance.ephemeral() as instance, listening(Nobody()):
            made = definitions(resource).resolve_job_def(job)
            done = made.execute_in_process(
                instance=instance, run_config=QUIET, tags=tags, asset_selection=only
            )
        assert done.success

    def nights(self, first: datetime, last: datetime) -> None:
        """What the nights after some days do."""
        for job in ("feedback", "evaluation"):
            self.run(job, first, last)

    def learn(self) -> int:
        """Apply what is due, where the gate lets it; returns the days that it was applied of (count)."""
        runs = applied_terms.due_runs(Evidence(self.space))
        for begin, end in runs:
            self.run("learning", datetime.fromisoformat(begin), datetime.fromisoformat(end))
        return len(runs)

    def places(self) -> dict[str, int]:
        """At which place each fact is found in words that nobody used; 0: not among the first ten."""
        found = {}
        for one, memory_id in zip(FACTS, self.ids, strict=True):
            shown = [result.memory_id for result in self.memory.search(one["fresh"], limit=10)]
            found[one["fresh"]] = shown.index(memory_id) + 1 if memory_id in shown else 0
        return found


def live(office: Office, say: Console) -> None:
    """Four weeks of questions, a night's work after each week, and on the last days after each day."""
    draw = random.Random(7)
    asked = [(text, at) for at, one in enumerate(FACTS) for text in one["asked"]]
    turns: list[tuple[str, int]] = []
    first = FIRST
    with task("days lived", DAYS) as advance:
        for number in range(1, DAYS + 1):
            day = FIRST + timedelta(days=number - 1)
            for hour in range(PER_DAY):
                turns = turns or draw.sample(asked, len(asked))
                ask(office, day + timedelta(hours=9 + hour), turns.pop(), draw)
            if number % 7 == 0 or number == DAYS:
                office.clock.moment = day + timedelta(days=1, hours=1)
                office.nights(first, day)
                first = day + timedelta(days=1)
                tell(office, number, say)
            advance(1)


def ask(office: Office, moment: datetime, asked: tuple[str, int], draw: random.Random) -> None:
    """One search: somebody looks down the list, takes what was looked for, or now and then something else."""
    text, at = asked
    office.clock.moment = moment
    memory = office.person(draw.choice(PEOPLE))
    found = memory.search(text, limit=SHOWN)
    shown = [result.memory_id for result in found]
    taken = [one for one in shown if one == office.ids[at]]
    if shown and draw.random() < WRONG:
        taken = [draw.choice(shown)]
    office.clock.moment = moment + timedelta(minutes=1)
    memory.observe(found.search_id, "Here is the answer.", cited=taken)


def tell(office: Office, number: int, say: Console) -> None:
    """Say what the gate says; approve where that is all that is missing, and let it be applied."""
    gate = office.memory.learning.gate("keys")
    lacks = ", ".join(f"{one.name} {_count(one.value)}".rstrip() for one in gate.missing)
    row = Table.grid(padding=(0, 2, 0, 0))
    row.add_row(f"  day {number:>2}", "gate open" if gate.open else "gate closed", f"[dim]{lacks}[/]")
    say.print(row)
    if number == REFUSED:
        office.run("learning", FIRST, office.clock.moment - timedelta(days=1))
        there = office.space.store.count("search_keys")
        say.print(f"          The job is run by hand all the same: refused, {there} keys are applied.")
    if gate.awaits_only_approval:
        office.memory.learning.approve(who="Mairi", why="the evidence is there", kind="keys")
        runs = office.learn()
        say.print(f"          Mairi approves. Applied in {runs} Dagster run{'' if runs == 1 else 's'}.")


def _count(value: str) -> str:
    """The count at the beginning of what a condition says; nothing where there is none."""
    return value.split()[0] if "/" in value.split()[0] else ""


def compare(before: Mapping[str, int], after: Mapping[str, int], say: Console, rows: int = 8) -> None:
    """The places of questions that nobody had asked, as if nothing had been learned and as it is."""
    changed = sorted(
        (question for question in before if before[question] != after[question]),
        key=lambda question: -_reciprocal(after[question]) + _reciprocal(before[question]),
    )
    table = Table("a question nobody had asked", "place before", "place now", box=None, pad_edge=False)
    for question in changed[:rows]:
        table.add_row(question, *(str(place or "–") for place in (before[question], after[question])))
    say.print(table)
    say.print(f"  [dim]–: not among the first {SHOWN}[/]")
    if len(changed) > rows:
        say.print(f"  [dim]… and {len(changed) - rows} more that changed[/]")
    mean = [sum(map(_reciprocal, places.values())) / len(places) for places in (before, after)]
    firsts = [sum(place == 1 for place in places.values()) for places in (before, after)]
    worse = sum(_reciprocal(after[one]) < _reciprocal(before[one]) for one in before)
    say.print(
        f"\n  Of {len(before)} such questions {firsts[0]} had the right fact first, now {firsts[1]}; "
        f"MRR {mean[0]:.2f} → {mean[1]:.2f}; {worse} became worse."
    )


def _reciprocal(place: int) -> float:
    return 1 / place if place else 0.0


def why(office: Office, after: Mapping[str, int], before: Mapping[str, int], say: Console) -> None:
    """The account of the result that rose most."""
    best = max(before, key=lambda one: _reciprocal(after[one]) - _reciprocal(before[one]))
    found = office.memory.search(best, limit=1, explain=True)
    if not len(found):
        return
    top = found[0]
    say.print(f"\n  [bold cyan]? {escape(best)}[/]\n  → {top.score:.2f}  [bold]{escape(top.text)}[/]")
    for row in top.explanation.contributions if top.explanation else ():
        if row.source == "key":
            say.print(f"       {row.value:+.3f}  boosted by {row.term}", markup=False, soft_wrap=True)


def month(home: Path, say: Console) -> None:
    """Live the month and show what it came to."""
    office = Office(home)
    say.print(
        f"  {len(FACTS)} facts of an office; {PER_DAY} questions a day, "
        f"{WRONG:.0%} of what is taken is wrong."
    )
    before = office.places()
    live(office, say)
    office.clock.moment += timedelta(days=1)  # what was learned lifts from the next day on
    after = office.places()
    say.print()
    compare(before, after, say)
    why(office, after, before, say)
    office.space.close()
    shown = escape(os.path.relpath(home))
    command = f".venv/bin/slowwave --home {shown} learning terms --kind keys"
    say.print(f"\n  Look at it:  [bold]{command}[/]", soft_wrap=True)


def main(argv: Sequence[str] | None = None) -> None:
    """Run it by itself."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--home", type=Path, default=Path(".demo-month"))
    with bars():
        month(parser.parse_args(argv).home.resolve(), Console(highlight=False))


if __name__ == "__main__":
    main()
