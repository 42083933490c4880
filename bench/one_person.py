"""Learning from one person: days until the learning gate opens, and the gain.

    python bench/one_person.py --data FOLDER [--what both] [--days 60] [--measure 7,30,60] [--nightly]

The documents of FOLDER (BEIR form) are saved. One person asks its questions as they are written there (some
come more often than others) on an accelerated clock, looks at five results with a position bias, and takes
what answers; a share of what is taken is wrong. Of ``--rated`` of the searches the person rates one result:
what was taken helpful, or the first one unhelpful where nothing was. Of the others the assistant observes
what it used: it cites it (``--rest cited``), or repeats half of its words (``text``), or says nothing
(``nothing``). Every week, or with ``--nightly`` every day, the real Dagster jobs fold, evaluate and learn,
and the person approves each kind as soon as its gate waits for nothing else. ``--what`` switches kinds on:
learned *words*, search *keys*, or both.

*days*, a row a day. ``evaluated``: searches of the day whose question had a relevant judgment by its end.
``cycle``: number of the cycle that is open at its end, or that closed on it; ``counted``: questions that it
counts so far, each once a day and three times at most; ``once each``: the same if a question counted once
(by what is known on the last day), and ``cycle then`` the number of the cycle by that. ``not open``:
conditions of the gate.

*searches*: all searches by their feedback, and the reason why they are not evaluated.

*gate*: first day from which each condition of each kind is open, or its value at the end; `all of them`: the
first day on which the whole gate was open. *noise*: noise of the gate on the days ``--measure``.

*gain*: MRR@5 of three groups at the end of each day of ``--measure``, from the first week on (``7``):

asked again  questions that were asked by then
taught       other questions of the memories that were asked for by then, in words that nobody used
never asked  questions of memories that nobody asks for

`applied` is what a search does then; `would be` applies all that was proposed; of both kinds also each alone.

never_used   in a memory that nobody ever used: no ratings, no citations, no learned words, no search keys
without      without what was learned, but with ratings and citations
with         with what was learned of the kind
change       `with` beside `never_used`; low, high: its interval of 95 %, drawn by question; won/lost likewise
by learning  `with` beside `without`, with its own low and high
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _data import labelled
from _home import ANSWER, FIRST, Home, born, run
from _needs import Asking, Needs, Question, asked_on, needs_of
from _report import UnusableError, bench, existing_folder, numbers, options, positive, reports
from _tried import (
    APPLIED,
    BOTH,
    WHAT,
    WOULD_BE,
    Asked,
    found_for,
    kinds_on,
    proposed_now,
    ranked,
    touched,
    variants,
    without_any,
)
from _user import Careless, Clock, User
from learning import approve, states, timeline

from slowwave.common.progress import task
from slowwave.evaluation.cycles import own_cycles
from slowwave.evaluation.derived_judgments import clicked_results
from slowwave.evaluation.judgments import judgment_list, judgments_until
from slowwave.feedback.questions import with_query_ids
from slowwave.home.workspace import Workspace
from slowwave.learning import applied_terms
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.review import Learning
from slowwave.memory import Memory
from slowwave.quality.learning_gate import NOISE
from slowwave.scoring.days import DAY
from slowwave.scoring.evaluation import MEASURES, compare
from slowwave.scoring.evaluation.cycles import LEAST_DAYS, LEAST_QUERIES
from slowwave.scoring.evaluation.evaluate import evaluate
from slowwave.scoring.feedback.learned import WORDS
from slowwave.views.terminal import bars

RESTS = ("cited", "text", "nothing")
METRIC = "MRR@5"


@dataclass
class Person:
    """A person who searches, reads, and gives feedback.

    Attributes:
        user: looks and takes.
        rated: share of the searches of which a result is rated.
        rest: what is said of the others; one of `RESTS`.
        limit: results of a search (count).
        seed: of which searches are rated.
        log: a row a search: what was shown, taken and said of it.
    """

    user: Careless
    rated: float
    rest: str
    limit: int
    seed: int = 0
    log: list[dict[str, Any]] = field(default_factory=list)
    _draw: np.random.Generator = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self._draw = np.random.default_rng([self.seed, 4])

    def ask(self, home: Home, space: Workspace, clock: Clock, asking: Asking) -> None:
        """One search, and what is said of its results."""
        clock.moment = asking.at
        memory = Memory(home.settings, namespace=home.namespace, principal=asking.who, space=space)
        found = memory.search(asking.text, limit=self.limit)
        shown, answers = [one.memory_id for one in found], home.answers(asking.question)
        taken = self.user.select(shown, answers)
        clock.moment = asking.at + timedelta(seconds=20)
        said = self.rest
        if not shown:
            said = "nothing"
        elif self._draw.random() < self.rated:
            said = "rated helpful" if taken else "rated unhelpful"
            memory.feedback(found.search_id, taken[0] if taken else shown[0], said.removeprefix("rated "))
        elif said == "cited":
            memory.observe(found.search_id, ANSWER, cited=taken)
        elif said == "text":
            texts = [one.text.split() for one in found if one.memory_id in taken]
            halves = [" ".join(words[: (len(words) + 1) // 2]) for words in texts]
            memory.observe(found.search_id, " ".join([ANSWER, *halves]))
        self.log.append(
            {"search_id": found.search_id, "said": said, "answered": bool(answers & set(shown)),
             "took": bool(taken), "right": bool(answers & set(taken))}
        )  # fmt: skip


def few(needs: Needs, questions: int, seed: int) -> Needs:
    """Needs of which no more than so many questions are asked; what is no longer asked is held out.

    Args:
        needs: of a collection.
        questions: that are asked (count).
        seed: of the draw.
    """
    order = np.random.default_rng([seed, 5]).permutation(len(needs.asked))
    kept = [needs.asked[at] for at in sorted(order[:questions].tolist())]
    left = [needs.asked[at] for at in sorted(order[questions:].tolist())]
    known = {one for question in kept for one in question.answers}
    near = [one for one in (*needs.held, *left) if one.answers & known]
    far = [one for one in (*needs.held, *left, *needs.others) if not one.answers & known]
    return Needs(kept, near, far)


def live(
    home: Home,
    plan: Mapping[date, Sequence[Asking]],
    person: Person,
    *,
    step: int,
    measure: Mapping[date, Callable[[Workspace], None]],
) -> Workspace:
    """Live through all days; returns the home as it is at the end.

    Args:
        home: has the memories.
        plan: what is asked when.
        person: asks it.
        step: days that are folded, evaluated and learned from at once (count).
        measure: what to do at the end of some days.
    """
    clock = Clock(datetime.combine(FIRST, datetime.min.time(), UTC))
    space, days = Workspace(home.settings, clock=clock), sorted(plan)
    with task("days lived", len(days)) as advance:
        waiting: list[date] = []
        for day in days:
            for asking in plan[day]:
                person.ask(home, space, clock, asking)
            waiting.append(day)
            if len(waiting) == step or day in measure or day == days[-1]:
                clock.moment = datetime.combine(day, datetime.min.time(), UTC) + timedelta(days=1, hours=1)
                night(home, space, clock, waiting)
                if day in measure:
                    measure[day](space)
                waiting = []
            advance(1)
    return space


def night(home: Home, space: Workspace, clock: Clock, days: Sequence[date]) -> None:
    """Run the nightly jobs of these days."""
    for job in ("feedback", "evaluation"):
        run(home, job, days[0], days[-1], clock.moment)
    approve(home, space)
    for first, last in applied_terms.due_runs(Evidence(space)):
        run(home, "learning", first, last, clock.moment)


# -- results by day -------------------------------------------------------------------------


def evaluated(home: Home, space: Workspace, until: date) -> pl.DataFrame:
    """Read every search with the day from which its question has a judgment; null where it has none.

    Returns:
        search_id, query_id, day (asked), since (day).
    """
    rows = space.store.of(home.namespace).scan(
        "searches", f"day <= '{until}' AND imported_from IS NULL",
        columns=["day", "namespace", "search_id", "query"],
    )  # fmt: skip
    said = judgments_until(space.store, str(until), namespace=home.namespace, own=True)
    grades = judgment_list(said, space.settings.judge.agreement).grades.filter(pl.col("grade") > 0)
    known = said.filter(pl.col("grade") > 0).join(grades.select("query_id"), on="query_id", how="semi")
    since = known.group_by("query_id").agg(since=pl.col("day").min())
    both = with_query_ids(rows).join(since, on="query_id", how="left")
    counts_from = pl.when(pl.col("since").is_not_null()).then(pl.max_horizontal("day", "since"))
    return both.select("search_id", "query_id", "day", since=counts_from)


def by_day(home: Home, space: Workspace, days: Sequence[date]) -> list[dict[str, Any]]:
    """Return a row for each day: searches, cycles, and conditions of the gate."""
    found = evaluated(home, space, days[-1])
    effect = space.store.read("learned_effect", f"namespace = '{home.namespace}'")
    gates = space.store.read("learning_gate", f"namespace = '{home.namespace}'")
    gates, kinds = gates.with_columns(pl.col("kind").fill_null(WORDS)), kinds_on(space)
    then = once_each(found, days)
    rows = []
    for at, day in enumerate(days, start=1):
        name = day.isoformat()
        last = max(own_cycles(space, home.namespace, name), key=lambda one: one.number, default=None)
        lacking = gates.filter(pl.col("day") == name, pl.col("state") != "open", pl.col("kind").is_in(kinds))
        rows.append(
            {
                "day": at,
                "searches": found.filter(pl.col("day") == name).height,
                "evaluated": effect.filter(pl.col("day") == name)["search_id"].n_unique(),
                "cycle": _number(last.number, closed=last.closed_on is not None) if last else "",
                "counted": last.counted if last else 0,
                "once each": then[day][1],
                "cycle then": then[day][0],
            }
            | {
                f"{kind}: not open": ", ".join(lacking.filter(pl.col("kind") == kind)["condition"])
                for kind in kinds
            }
        )
    return rows


def once_each(found: pl.DataFrame, days: Sequence[date]) -> dict[date, tuple[str, int]]:
    """Number the cycles by day as if a question counted once in each: number, questions so far."""
    number, opened, told = 1, days[0], {}
    for day in days:
        mine = found.filter(pl.col("day") >= str(opened), pl.col("since") <= str(day))
        count = mine["query_id"].n_unique()
        closed = count >= LEAST_QUERIES and (day - opened).days + 1 >= LEAST_DAYS
        told[day] = _number(number, closed=closed), count
        if closed:
            number, opened = number + 1, day + DAY
    return told


def _number(cycle: int, *, closed: bool) -> str:
    return f"{cycle} closed" if closed else str(cycle)


def why_not(
    home: Home, space: Workspace, log: Sequence[Mapping[str, Any]], until: date
) -> list[dict[str, Any]]:
    """Count all searches by their feedback and the reason why they are not evaluated."""
    known = evaluated(home, space, until).select("search_id", known=pl.col("since").is_not_null())
    seen = clicked_results(space.store, str(until)).filter("clicked")["search_id"]
    rows = pl.DataFrame(log).join(known, on="search_id").with_columns(
        why=pl.when("known").then(pl.lit("evaluated"))
        .when(~pl.col("answered")).then(pl.lit("no answer was shown"))
        .when(pl.col("said") == "nothing").then(pl.lit("nothing was said"))
        .when(~pl.col("took")).then(pl.lit("the answer was not taken"))
        .when(~pl.col("right")).then(pl.lit("another result was taken"))
        .when(~pl.col("search_id").is_in(seen.implode()))
        .then(pl.lit("taken, and the answer does not show it"))
        .otherwise(pl.lit("taken, and not enough for a grade"))
    )  # fmt: skip
    counts = rows.group_by("said", "why").len("searches").sort("said", "searches", descending=[False, True])
    share = counts["searches"] / counts["searches"].sum()
    return counts.with_columns(share=share.round(4)).to_dicts()


# -- gain -------------------------------------------------------------------------------


def parts_at(needs: Needs, asked: Collection[str]) -> dict[str, Asked]:
    """Group the questions that are measured by what the person has asked so far.

    Args:
        needs: questions of the collection.
        asked: texts of the questions that were asked.
    """
    again = [one for one in needs.asked if one.text in asked]
    known = {one for question in again for one in question.answers}
    taught = [one for one in needs.held if one.answers & known and one.text not in asked]
    parts = {"asked again": again, "taught": taught, "never asked": needs.others}
    return {part: [(one.text, one) for one in some] for part, some in parts.items() if some}


def gain(home: Home, space: Workspace, asked: Mapping[str, Asked]) -> list[dict[str, Any]]:
    """Measure MRR@5 with what was learned, without it, and in a memory that nobody ever used.

    Args:
        home: has the memories.
        space: as it is now.
        asked: the questions, by group.
    """
    now, rows = space.now(), []
    proposed, off = proposed_now(home, space), without_any(space.policy)
    for part, some in asked.items():
        texts = [text for text, _ in some]
        found = {
            APPLIED: found_for(home, space, texts),
            WOULD_BE: found_for(home, space, texts, proposed),
        }
        qrels = {str(at): dict.fromkeys(home.answers(question), 1) for at, (_, question) in enumerate(some)}
        without = evaluate(ranked(found[APPLIED], now, off), qrels, MEASURES)[METRIC]
        never = evaluate(ranked(found[APPLIED], now, off, used=False), qrels, MEASURES)[METRIC]
        for name, candidates in found.items():
            for what, variant in variants(space.policy, kinds_on(space)).items():
                with_it = evaluate(ranked(candidates, now, variant), qrels, MEASURES)[METRIC]
                learned = compare(without, with_it, margin=0.0)
                used = compare(never, with_it, margin=0.0)
                rows.append(
                    {
                        "questions": f"{part} ({len(some):,})", "learned": name, "what": what,
                        "touched": round(touched(candidates, what), 3),
                        "never_used": used.baseline, "without": learned.baseline, "with": learned.candidate,
                        "change": used.difference, "low": used.low, "high": used.high,
                        "won/lost": f"{used.wins}/{used.losses}",
                        "by learning": learned.difference, "by learning low": learned.low,
                        "by learning high": learned.high,
                    }
                )  # fmt: skip
    return rows


def noise_now(home: Home, space: Workspace) -> list[dict[str, Any]]:
    """Return the noise that the gate of each kind sees now, and its other missing conditions."""
    rows = []
    for kind in kinds_on(space):
        says = Learning(space, home.namespace, "bench").gate(kind)
        value = next(one.value for one in says.conditions if one.name == NOISE)
        rows.append({"what": kind, "noise": value, "missing": ", ".join(one.name for one in says.missing)})
    return rows


# -- the bench -------------------------------------------------------------------------------------


def as_written(question: Question) -> str:
    """The words of the collection."""
    return question.text


def life(home: Home, needs: Needs, given: argparse.Namespace) -> dict[str, tuple[list[dict[str, Any]], str]]:
    """Live the days and return the tables of results with their notes."""
    days = [FIRST + timedelta(days=number) for number in range(given.days)]
    plan = asked_on(needs, days, given.per_day, as_written, people=1, seed=given.seed)
    user = Careless(User(given.seed, bias=given.bias, noise=0.0), given.wrong)
    person = Person(user, given.rated, given.rest, given.limit, given.seed)
    gained: list[dict[str, Any]] = []
    noisy: list[dict[str, Any]] = []

    def measure(after: int) -> Callable[[Workspace], None]:
        def now(space: Workspace) -> None:
            asked = {one.text for day in days[:after] for one in plan[day]}
            gained.extend({"after": after, **row} for row in gain(home, space, parts_at(needs, asked)))
            noisy.extend({"after": after, **row} for row in noise_now(home, space))

        return now

    ends = {FIRST + timedelta(days=after - 1): measure(after) for after in given.measure or [given.days]}
    space = live(home, plan, person, step=1 if given.nightly else 7, measure=ends)
    since = [row for kind in kinds_on(space) for row in _gate(home, space, kind)]
    questions = len({one.text for some in plan.values() for one in some})
    tables = {
        "days": (by_day(home, space, days), f"{questions:,} different questions were asked."),
        "searches": (why_not(home, space, person.log, days[-1]), ""),
        "gate": (since, ""),
        "taught": ([{"taught": name, "life": said} for name, said in states(home, space).items()], ""),
        "noise": (noisy, "after: days."),
        "gain": (gained, "after: days. MRR@5; change, low, high: `with` beside `never_used`."),
    }
    space.close()
    return tables


def _gate(home: Home, space: Workspace, kind: str) -> list[dict[str, Any]]:
    """Since when each condition of a gate is open, and its value at the end."""
    rows = space.store.read("learning_gate", f"namespace = '{home.namespace}'")
    rows = rows.filter(pl.col("kind").fill_null(WORDS) == kind).sort("day")
    last = dict(rows.group_by("condition", maintain_order=True).agg(pl.col("value").last()).iter_rows())
    return [
        {"what": kind, "condition": name, "open since": said, "at the end": last.get(name)}
        for name, said in timeline(home, space, kind).items()
    ]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Live the days of one person and print what they came to."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, required=True, help="folder of a collection")
    parser.add_argument("--namespace", default="default", help="which of its namespaces")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--what", choices=WHAT, default=BOTH, help="kinds of learning that are switched on")
    parser.add_argument("--days", type=positive, default=60)
    parser.add_argument("--per-day", type=positive, default=20, help="searches a day")
    parser.add_argument("--limit", type=positive, default=5, help="results of a search")
    parser.add_argument("--rated", type=float, default=0.2, help="share of the searches that are rated")
    parser.add_argument("--rest", choices=RESTS, default="cited", help="what is said of the others")
    parser.add_argument("--wrong", type=float, default=0.2, help="share of what is taken that is wrong")
    parser.add_argument("--needs", type=positive, default=100, help="memories that are needed")
    parser.add_argument("--questions", type=positive, help="different questions that are asked; all of them")
    parser.add_argument("--bias", type=float, default=0.5, help="of the person: rank r is looked at r^-bias")
    parser.add_argument(
        "--measure", type=numbers, help="measure the gain after so many days, as in 7,30,60; last"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nightly", action="store_true", help="run the jobs day by day, not week by week")
    given = parser.parse_args(argv)
    if given.measure and max(given.measure) > given.days:
        raise UnusableError(f"--measure {max(given.measure)}: there are {given.days} days")
    collection = labelled(given.data, given.namespace)
    needs = needs_of(collection, given.namespace, most=given.needs, seed=given.seed)
    if not needs.asked:
        raise UnusableError(f"{given.data}: no document answers two questions, so there is no need to learn")
    if given.questions:
        needs = few(needs, given.questions, given.seed)
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, bars():
        home = born(Path(folder) / "home", collection, given.namespace, given.model, given.what)
        tables = life(home, needs, given)
    rows, note = tables["days"]
    said = (
        f"{given.days} days of {given.per_day} searches by one person, {given.rated:.0%} rated, of the "
        f"others {given.rest}, {given.wrong:.0%} wrong; {time.perf_counter() - start:,.0f} s. {note}"
    )
    hidden = ("by learning low", "by learning high")
    reports("one_person", tables | {"days": (rows, said)}, hidden=hidden)


if __name__ == "__main__":
    main()
