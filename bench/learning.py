"""Does learning from selections help? Ninety simulated days over a real collection, by the real assets.

    python bench/learning.py --data FOLDER [--words 1] [--wrong 0 0.2 0.4] [--quick]

The documents of FOLDER (BEIR form) are saved. Some of those that answer several questions are needed again
and again, by several people, each time in new words (`_needs.py`); half of their questions nobody ever asks.
People read with a position bias, and a share of what they take is wrong. Every week is folded, evaluated and
learned from by the real Dagster jobs on an accelerated clock, and a person approves as soon as approval is
all that the gate still waits for. With ``--words N`` people use a name of their own that no document has and
N words of the question: that is made up, and shows what learning is for.

Then the questions that nobody asked are searched on the last day, without what was learned and with it:
*applied* is what a search really does (nothing, where the gate is closed), *would be* what it would do if all
that was proposed were applied, whatever the gate says. `touched`: share of the questions that a learned term
matches. The gate's table says on which day each condition opened, or how it stands at the end.
"""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
from _data import labelled
from _home import ANSWER, FIRST, Home, born, configured, run
from _needs import Asking, Needs, Question, Wordings, asked_on, needs_of
from _report import UnusableError, bench, existing_folder, options, positive, reports
from _user import Careless, Clock, User

from slowwave.common.progress import task
from slowwave.home.workspace import Workspace
from slowwave.learning import acts, lessons
from slowwave.learning.evidence import Evidence
from slowwave.learning.gate import gate
from slowwave.learning.isolation import TABLE
from slowwave.learning.proposals import proposal_days
from slowwave.memory import Memory
from slowwave.quality.learning_gate import CONDITIONS
from slowwave.scoring.evaluation import MEASURES, compare
from slowwave.scoring.evaluation.evaluate import evaluate
from slowwave.scoring.evaluation.replay import Batch, Variant, replay
from slowwave.scoring.feedback.learned import PROPOSAL, decide
from slowwave.scoring.feedback.learned import live as terms_in_force
from slowwave.scoring.feedback.policy import SEEDS
from slowwave.scoring.ranking import Candidates, MemoryState
from slowwave.scoring.ranking.candidates import LEARNED
from slowwave.scoring.ranking.learned import LearnedTerms
from slowwave.search.opened import searcher_in
from slowwave.views.terminal import bars

WEEK = 7
SHOWN = {"MRR@5": "mrr@5", "nDCG@10": "ndcg@10", "HitRate@1": "hit@1", "Recall@20": "recall@20"}
OFF, APPLIED, WOULD_BE, AS_SEEDS = "off", "applied", "would be", "as the seeds"
NOTES = {
    APPLIED: "Applied: searches of the last day; each metric without what was learned, and its change.",
    WOULD_BE: "Would be: the same, if all that was proposed were applied, whatever the gate says.",
    AS_SEEDS: "As the seeds: would be, with the constants of the seed documents.",
}


def live(home: Home, plan: Mapping[date, Sequence[Asking]], user: Careless) -> Workspace:
    """Live through all days, a week at a time; returns the home as it is at the end."""
    clock = Clock(datetime.combine(FIRST, datetime.min.time(), UTC))
    space = Workspace(home.settings, clock=clock)
    days = sorted(plan)
    with task("days lived", len(days)) as advance:
        for at in range(0, len(days), WEEK):
            week = days[at : at + WEEK]
            for day in week:
                for asking in plan[day]:
                    ask(home, space, clock, asking, user)
            clock.moment = datetime.combine(week[-1], datetime.min.time(), UTC) + timedelta(days=1, hours=1)
            for job in ("feedback", "evaluation"):
                run(home, job, week[0], week[-1], clock.moment)
            approve(home, space)
            for first, last in consecutive(lessons.due_days(Evidence(space))):
                run(home, "learning", first, last, clock.moment)
            advance(len(week))
    return space


def ask(home: Home, space: Workspace, clock: Clock, asking: Asking, user: Careless) -> None:
    """One search, and what is said of its results."""
    clock.moment = asking.at
    memory = Memory(home.settings, namespace=home.namespace, principal=asking.who, space=space)
    response = memory.search(asking.text)
    taken = user.select([one.memory_id for one in response], home.answers(asking.question))
    clock.moment = asking.at + timedelta(seconds=20)
    memory.observe(response.search_id, ANSWER, cited=taken)


def approve(home: Home, space: Workspace) -> None:
    """A person approves where that is all that is missing."""
    says = gate(space, home.namespace)
    if says.awaits_only_approval:
        acts.write_act(
            space.journal, home.namespace, acts.APPROVE, who="a person", why="all else is open",
            at=space.now(), detail={"evidence": says.describe()},
        )  # fmt: skip


def consecutive(days: Sequence[str]) -> list[tuple[date, date]]:
    """First and last of the days that follow each other."""
    found: list[tuple[date, date]] = []
    for day in map(date.fromisoformat, sorted(days)):
        if found and day - found[-1][1] == timedelta(days=1):
            found[-1] = found[-1][0], day
        else:
            found.append((day, day))
    return found


def measured(
    home: Home, space: Workspace, asked: Sequence[tuple[str, Question]], terms: Mapping[str, LearnedTerms]
) -> tuple[dict[str, pl.DataFrame], dict[str, float]]:
    """Metrics of questions without what was learned, with it, and with all that was proposed.

    Args:
        home: has the memories.
        space: as it is now.
        asked: each question, and the words in which it is asked.
        terms: of `proposed_terms`.

    Returns:
        A row a question, by the ranking; and the share of the questions that a term matches.
    """
    now, policy = space.now(), space.policy
    found = [searcher_in(space).find(home.namespace, text, 100, now=now).candidates for text, _ in asked]
    proposed = {
        name: [with_terms(some, text, one, now, space) for (text, _), one in zip(asked, found, strict=True)]
        for name, some in terms.items()
    }
    on, off = Variant("on", policy), Variant("off", policy, frozenset({LEARNED}))
    lists = {OFF: ranked(found, now, off), APPLIED: ranked(found, now, on)}
    lists |= {name: ranked(some, now, on) for name, some in proposed.items()}
    qrels = {str(at): dict.fromkeys(home.answers(question), 1) for at, (_, question) in enumerate(asked)}
    touched = {
        name: sum(any(state.learned for state in one.states.values()) for one in some) / max(len(some), 1)
        for name, some in {APPLIED: found, **proposed}.items()
    }
    return {name: evaluate(rankings, qrels, MEASURES) for name, rankings in lists.items()}, touched


def proposed_terms(home: Home, space: Workspace) -> dict[str, LearnedTerms]:
    """All that was proposed and would have an effect, and what that were with the constants of the seeds."""
    now = space.now()
    all_of = Evidence(space, among=[home.namespace])
    seeds = as_seeds(space, all_of.proposals["day"].unique().to_list())
    return {
        WOULD_BE: LearnedTerms(all_of.would_be(now), space.learning_policy.ttl),
        AS_SEEDS: LearnedTerms(seeds, SEEDS.ttl),
    }


def as_seeds(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Terms that would have an effect with the constants of the seed documents, of the same selections."""
    kept = space.learning_policy
    space.__dict__["learning_policy"] = SEEDS
    rows = proposal_days(space, sorted(days)) if days else space.store.empty("learned_proposals")
    space.__dict__["learning_policy"] = kept
    return terms_in_force(decide(rows.select(*PROPOSAL), [], SEEDS).lessons, space.now(), SEEDS)


def with_terms(
    terms: LearnedTerms, text: str, one: Candidates, now: datetime, space: Workspace
) -> Candidates:
    """The candidates with what the terms would add, in place of what was added."""
    boosts = {
        memory: learned.boost(space.policy.learned_cap, space.learning_policy.coefficient)
        for memory, learned in terms.match(text, now).items()
    }
    states = {
        memory: replace(one.states.get(memory, MemoryState()), learned=boosts.get(memory, 0.0))
        for memory in {*one.states, *(boosts.keys() & set(one.memory_ids))}
    }
    return replace(one, states=states)


def ranked(found: Sequence[Candidates], now: datetime, variant: Variant) -> dict[str, list[str]]:
    """Memories by the place of the search, best first."""
    rows = replay(Batch.of((one, now, 20) for one in found), [variant], depth=20).sort("search", "rank")
    lists: dict[str, list[str]] = {str(at): [] for at in range(len(found))}
    for search, memory in rows.select("search", "memory_id").iter_rows():
        lists[str(search)].append(memory)
    return lists


def figures(part: str, scores: Mapping[str, pl.DataFrame], touched: Mapping[str, float]) -> dict[str, Any]:
    """A row of the table: one part of the questions nobody asked."""
    row: dict[str, Any] = {"questions": f"{part} ({scores[OFF].height:,})"}
    for name in NOTES:
        row[f"{name}: touched"] = f"{touched[name]:.0%}"
        for metric, short in SHOWN.items():
            told = compare(scores[OFF][metric], scores[name][metric], margin=0.0)
            row[f"{name}: {short}"] = f"{told.baseline:.3f} {told.difference:+.4f}"
            if metric == "MRR@5":
                row[f"{name}: interval"] = f"{told.low:+.4f} {told.high:+.4f}"
                # An interval of no width around 0 is no evidence of anything but that nothing was touched.
                row[f"{name}: verdict"] = told.verdict if told.ties < told.n else "no change"
                row[f"{name}: +/-"] = f"{told.wins}/{told.losses}"
    return row


def timeline(home: Home, space: Workspace) -> dict[str, str]:
    """Since which day each condition of the gate is open, or how it stands at the end."""
    rows = space.store.read("learning_gate", f"namespace = '{home.namespace}'").sort("day")
    found = {}
    for condition in CONDITIONS:
        mine = rows.filter(pl.col("condition") == condition)
        if mine.is_empty():
            found[condition] = "not looked at"
            continue
        last = mine.row(-1, named=True)
        closed = mine.filter(pl.col("state") != "open")["day"].max()
        since = FIRST if closed is None else date.fromisoformat(str(closed)) + timedelta(days=1)
        opened = last["state"] == "open"
        found[condition] = (
            f"day {(since - FIRST).days + 1}" if opened else f"{last['state']}: {last['value']}"
        )
    return found


def states(home: Home, space: Workspace) -> dict[str, Any]:
    """What became of selections and of the terms that they taught, at the end."""
    now = space.now()
    all_of = Evidence(space, among=[home.namespace])
    reasons = dict(all_of.decided.reasons["reason"].value_counts().iter_rows())
    key = ["memory_id", "term"]
    taught = all_of.decided.lessons
    unexpired = taught.filter(pl.col("expires_at") > now).select(key).unique()
    would = all_of.would_be(now)
    applied = space.store.read(TABLE, f"namespace = '{home.namespace}'")
    said = gate(space, home.namespace).conditions
    noise = next(one.value for one in said if one.name == "noise")
    done = [one.action for one in acts.acts(space.journal, home.namespace)]
    return {
        **{f"selections: {name}": count for name, count in sorted(reasons.items())},
        "terms: have an effect, or would": would.height,
        "of memories": would["memory_id"].n_unique(),
        "terms: taught by too few questions": unexpired.height - would.height,
        "terms: expired": taught.select(key).unique().height - unexpired.height,
        "terms: in the table of applied ones": applied.select(key).unique().height,
        "noise": noise,
        "approvals": done.count(acts.APPROVE),
        "regressions": done.count(acts.REGRESSION),
    }


def parts_of(needs: Needs, wordings: Wordings, seen: set[str]) -> dict[str, list[tuple[str, Question]]]:
    """Questions to measure with, by what they are, in words that nobody used."""
    again = []
    for question in needs.asked:
        text = next((one for one in (wordings(question) for _ in range(20)) if one not in seen), None)
        if text is not None:
            again.append((text, question))
    held = [(wordings(one) if wordings.private else one.text, one) for one in needs.held]
    return {
        "held out": held,
        "new words": again,
        "others": [(one.text, one) for one in needs.others],
    }


@dataclass(frozen=True)
class Told:
    """What a life came to.

    Attributes:
        rows: metrics of each part of the questions nobody asked.
        gate: since when each condition is open.
        terms: what became of selections and terms.
    """

    rows: Sequence[dict[str, Any]]
    gate: Mapping[str, str]
    terms: Mapping[str, Any]


def life_of(home: Home, needs: Needs, given: argparse.Namespace, wrong: float) -> Told:
    """Live a life in which a share of the selections is wrong, and measure what it came to."""
    days = [FIRST + timedelta(days=number) for number in range(given.days)]
    wordings = Wordings(given.seed, private=given.words)
    plan = asked_on(needs, days, given.per_day, wordings, people=given.people, seed=given.seed)
    space = live(home, plan, Careless(User(given.seed, bias=given.bias, noise=0.0), wrong))
    proposed = proposed_terms(home, space)
    seen = {one.text for some in plan.values() for one in some}
    rows = [
        figures(part, *measured(home, space, asked, proposed))
        for part, asked in parts_of(needs, wordings, seen).items()
        if asked
    ]
    told = Told(rows, timeline(home, space), states(home, space))
    space.close()
    return told


def show(lives: Mapping[str, Told], said: str) -> None:
    """Print the gates and terms of all lives side by side, then the metrics."""
    tables: dict[str, tuple[list[dict[str, Any]], str]] = {}
    for title, found in (
        ("gate", {name: one.gate for name, one in lives.items()}),
        ("terms", {name: one.terms for name, one in lives.items()}),
    ):
        keys = dict.fromkeys(key for one in found.values() for key in one)
        rows = [{title: key, **{name: one.get(key) for name, one in found.items()}} for key in keys]
        tables[title] = rows, ""
    for kind, note in NOTES.items():
        rows = [
            {"life": name} | {
                key.removeprefix(f"{kind}: "): value for key, value in row.items()
                if ": " not in key or key.startswith(f"{kind}: ")
            }
            for name, one in lives.items() for row in one.rows
        ]  # fmt: skip
        tables[kind] = rows, f"{note} {said}"
    reports("learning", tables)


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Live all lives and print what they came to."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, required=True, help="folder of a collection")
    parser.add_argument("--namespace", default="default", help="which of its namespaces")
    parser.add_argument("--model", default="wordllama-256", help="embedding model")
    parser.add_argument("--days", type=positive, default=90)
    parser.add_argument("--per-day", type=positive, default=80, help="searches a day")
    parser.add_argument("--needs", type=positive, default=100, help="memories that are needed")
    parser.add_argument("--people", type=positive, default=12)
    parser.add_argument("--words", type=int, default=0, help="of the question beside a private name; 0: none")
    parser.add_argument("--wrong", type=float, nargs="+", default=[0.0, 0.2, 0.4], help="share of selections")
    parser.add_argument("--bias", type=float, default=0.5, help="of the people: rank r is looked at r^-bias")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--quick", action="store_true", help="one life, fewer searches and needs")
    given = parser.parse_args(argv)
    if given.quick:
        given.per_day, given.needs, given.days = 20, 25, 63
        given.wrong = given.wrong[:1]
    collection = labelled(given.data, given.namespace)
    needs = needs_of(collection, given.namespace, most=given.needs, seed=given.seed)
    if not needs.asked:
        raise UnusableError(f"{given.data}: no document answers two questions, so there is no need to learn")
    lives, start = dict[str, Told](), time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, bars():
        first = born(Path(folder) / "first", collection, given.namespace, given.model)
        with task("lives", len(given.wrong)) as advance:
            for wrong in given.wrong:
                place = Path(folder) / f"wrong-{wrong}"
                shutil.copytree(first.settings.home, place)
                home = replace(first, settings=configured(place, given.model))
                lives[f"{wrong:.0%} wrong"] = life_of(home, needs, given, wrong)
                shutil.rmtree(place)
                advance(1)
    words = f"a private name and {given.words} words" if given.words else "their own words, some left out"
    said = (
        f"{given.days} days of {given.per_day} searches by {given.people} people for {given.needs} memories "
        f"in {words}; {len(needs.asked)} questions asked, {len(needs.held)} held out; "
        f"{time.perf_counter() - start:,.0f} s."
    )
    show(lives, said)


if __name__ == "__main__":
    main()
