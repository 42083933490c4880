"""Learning from selections over ninety simulated days, by the real Dagster assets.

    python bench/learning.py --data FOLDER [--what both] [--words 1] [--wrong 0 0.2 0.4] [--quick]

The documents of FOLDER (BEIR form) are saved. Several people ask for some of those that answer several
questions again and again, each time in new words (`_needs.py`); half of their questions nobody ever asks.
People read with a position bias, and a share of their selections is wrong. The real jobs fold, evaluate and
learn every week on an accelerated clock. A person approves each kind of learning as soon as its gate waits
for nothing else. ``--what`` switches kinds on: learned *words* (rule 5), search *keys* (rule 7), or both.
``--words N`` asks with a private name that no document has and N words of the question: made up, but it
shows the purpose of learning.

The last day searches questions that nobody asked. *Applied* is what a search does (nothing, where the gate is
closed). *Would be* applies all that was proposed, whatever the gate says. MRR@5 of each group and kind:

never_used  in a memory that nobody ever used: no ratings, no citations, no learned words, no search keys
without     without what was learned, but with ratings and citations
with        with what was learned of the kind
change      `with` beside `never_used`; low, high: its interval of 95 %, drawn by question

`group` is *taught* (held out: other questions of memories that are asked for), *near* (new words: questions
that were asked, in words that nobody used) or *never asked* (others: memories that nobody asked for). Of
*never asked* the goal is a change of -.005 or better, of *taught* above 0. `mrr@5`, `ndcg@10`, `hit@1` and
`recall@20` are `without` and the change beside that, as are `interval`, `verdict` and `+/-`. `touched`: share
of the questions that something learned lifts. The gate's table has the day on which each condition opened, or
its value at the end.
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
from _tried import (
    APPLIED,
    BOTH,
    WHAT,
    WOULD_BE,
    Asked,
    Proposed,
    beside,
    found_for,
    kinds_on,
    proposed_now,
    ranked,
    touched,
    variants,
    without_any,
)
from _user import Careless, Clock, User

from slowwave.common.progress import task
from slowwave.home.workspace import Workspace
from slowwave.learning import applied_terms, events
from slowwave.learning.active_boosts import TABLES
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.proposals import proposal_days
from slowwave.learning.review import Learning
from slowwave.memory import Memory
from slowwave.quality.learning_gate import CONDITIONS
from slowwave.scoring.evaluation import MEASURES, compare
from slowwave.scoring.evaluation.evaluate import evaluate
from slowwave.scoring.feedback.learned import KEYS, PROPOSAL, WORDS, decide
from slowwave.scoring.feedback.learned import live as terms_in_force
from slowwave.scoring.feedback.policy import SEEDS
from slowwave.scoring.ranking.learned import LearnedTerms
from slowwave.views.terminal import bars

WEEK = 7
GROUPS = {"held out": "taught", "new words": "near", "others": "never asked"}
"""Groups of questions, by the name of their part."""
SHOWN = {"MRR@5": "mrr@5", "nDCG@10": "ndcg@10", "HitRate@1": "hit@1", "Recall@20": "recall@20"}
AS_SEEDS = "as the seeds"
NOTES = {
    APPLIED: "Applied: searches of the last day. MRR@5; change, low, high: `with` beside `never_used`.",
    WOULD_BE: "Would be: the same, if all that was proposed were applied, whatever the gate says.",
    AS_SEEDS: "As the seeds: words that would be, with the constants of the seed documents.",
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
            for first, last in applied_terms.due_runs(Evidence(space)):
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
    for kind in kinds_on(space):
        says = Learning(space, home.namespace, "bench").gate(kind)
        if says.awaits_only_approval:
            events.write_event(
                space.journal, home.namespace, events.APPROVE, who="a person", why="all else is open",
                at=space.now(), detail={"evidence": says.describe(), "kind": kind},
            )  # fmt: skip


@dataclass(frozen=True)
class Scored:
    """Metrics of one part of the questions, a row a question.

    Attributes:
        never: in a memory that nobody ever used.
        off: without what was learned.
        with_it: the same with it, by how it is there (`NOTES`) and by what was learned (`WHAT`).
        touched: share of the questions that it touches, likewise.
    """

    never: pl.DataFrame
    off: pl.DataFrame
    with_it: Mapping[tuple[str, str], pl.DataFrame]
    touched: Mapping[tuple[str, str], float]


def measured(home: Home, space: Workspace, asked: Asked, proposed: Mapping[str, Proposed]) -> Scored:
    """Measure questions never used, without what was learned, with what is applied, and with proposals.

    Args:
        home: has the memories.
        space: as it is now.
        asked: each question, and the words in which it is asked.
        proposed: by the name of the table; words of the seeds stand alone.
    """
    now, texts = space.now(), [text for text, _ in asked]
    found = {APPLIED: found_for(home, space, texts)}
    found |= {name: found_for(home, space, texts, one) for name, one in proposed.items()}
    qrels = {str(at): dict.fromkeys(home.answers(question), 1) for at, (_, question) in enumerate(asked)}
    tried = {
        (name, what): (some, variant)
        for name, some in found.items()
        for what, variant in variants(space.policy, [WORDS] if name == AS_SEEDS else kinds_on(space)).items()
    }
    off = without_any(space.policy)
    return Scored(
        evaluate(ranked(found[APPLIED], now, off, used=False), qrels, MEASURES),
        evaluate(ranked(found[APPLIED], now, off), qrels, MEASURES),
        {key: evaluate(ranked(some, now, one), qrels, MEASURES) for key, (some, one) in tried.items()},
        {key: touched(some, key[1]) for key, (some, _) in tried.items()},
    )


def proposed_all(home: Home, space: Workspace) -> dict[str, Proposed]:
    """All that was proposed and would have an effect, and the words with the constants of the seeds."""
    found = {WOULD_BE: proposed_now(home, space)}
    if WORDS in kinds_on(space):
        days = Evidence(space, among=[home.namespace]).proposals["day"].unique().to_list()
        found[AS_SEEDS] = Proposed(LearnedTerms(as_seeds(space, days), SEEDS.ttl))
    return found


def as_seeds(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """Terms that would have an effect with the constants of the seed documents, of the same selections."""
    kept = space.learning_policy
    space.__dict__["learning_policy"] = SEEDS
    rows = proposal_days(space, sorted(days)) if days else space.store.empty("learned_proposals")
    space.__dict__["learning_policy"] = kept
    return terms_in_force(decide(rows.select(*PROPOSAL), [], SEEDS).lessons, space.now(), SEEDS)


def figures(part: str, scores: Scored) -> list[dict[str, Any]]:
    """Rows of the tables: one part of the questions nobody asked, by what was learned."""
    rows = []
    for (name, what), with_it in scores.with_it.items():
        row: dict[str, Any] = {
            "table": name, "questions": f"{part} ({scores.off.height:,})", "what": what,
            "touched": f"{scores.touched[name, what]:.0%}", "group": GROUPS[part],
        }  # fmt: skip
        used = beside(scores.never["MRR@5"], with_it["MRR@5"])
        row |= {
            "never_used": used["never_used"], "without": scores.off["MRR@5"].mean(),
            "with": with_it["MRR@5"].mean(),
            **{name: used[name] for name in ("change", "low", "high")},
        }  # fmt: skip
        for metric, short in SHOWN.items():
            told = compare(scores.off[metric], with_it[metric], margin=0.0)
            row[short] = f"{told.baseline:.3f} {told.difference:+.4f}"
            row[f"{short} low"], row[f"{short} high"] = round(told.low, 4), round(told.high, 4)
            if metric == "MRR@5":
                row["interval"] = f"{told.low:+.4f} {told.high:+.4f}"
                # An interval of no width around 0 is no evidence of anything but that nothing was touched.
                row["verdict"] = told.verdict if told.ties < told.n else "no change"
                row["+/-"] = f"{told.wins}/{told.losses}"
        rows.append(row)
    return rows


def timeline(home: Home, space: Workspace, kind: str) -> dict[str, str]:
    """Since which day each condition of a gate is open, or how it stands at the end; and all of them."""
    rows = space.store.read("learning_gate", f"namespace = '{home.namespace}'")
    rows = rows.filter(pl.col("kind").fill_null(WORDS) == kind).sort("day")
    found = {}
    for condition in CONDITIONS:
        mine = rows.filter(pl.col("condition") == condition)
        if mine.is_empty():
            found[condition] = "not looked at"
            continue
        last = mine.row(-1, named=True)
        closed = mine.filter(pl.col("state") != "open")["day"].max()
        since = 1 if closed is None else day_of(str(closed)) + 1
        found[condition] = f"day {since}" if last["state"] == "open" else f"{last['state']}: {last['value']}"
    whole = rows.group_by("day").agg(open=(pl.col("state") == "open").all()).sort("day")
    days = whole.filter("open")["day"].to_list()
    shut = whole.filter(~pl.col("open"), pl.col("day") > days[0]).height if days else 0
    again = f", not on {shut} days after that" if shut else ""
    found["all of them"] = f"day {day_of(days[0])}{again}" if days else "never"
    return found


def day_of(name: str) -> int:
    """Number of a day of the life, from 1."""
    return (date.fromisoformat(name) - FIRST).days + 1


def states(home: Home, space: Workspace) -> dict[str, Any]:
    """Count selections by their outcome, and what they taught, at the end."""
    all_of = Evidence(space, among=[home.namespace])
    done = events.learning_events(space.journal, home.namespace)
    told: dict[str, Any] = {}
    for kind in kinds_on(space):
        own = _of_words(home, space, all_of) if kind == WORDS else _of_keys(home, space, all_of)
        says = Learning(space, home.namespace, "bench").gate(kind)
        noise = [one.value for one in says.conditions if one.name == "noise"]
        mine = [one for one in done if one.about(kind)]
        approved = [str(one.at.date()) for one in mine if one.action == events.APPROVE]
        own |= {
            "noise": noise[0], "approved": ", ".join(f"day {day_of(day)}" for day in approved),
            "regressions": sum(one.action == events.REGRESSION for one in mine),
        }  # fmt: skip
        told |= {f"{kind}: {name}": value for name, value in own.items()}
    return told


def _of_words(home: Home, space: Workspace, all_of: Evidence) -> dict[str, Any]:
    now, key = space.now(), ["memory_id", "term"]
    reasons = dict(all_of.decided.reasons["reason"].value_counts().iter_rows())
    taught = all_of.decided.lessons
    unexpired = taught.filter(pl.col("expires_at") > now).select(key).unique()
    would = all_of.would_be(now)
    applied = space.store.read(TABLES[WORDS], f"namespace = '{home.namespace}'")
    return {
        **{f"selections {name}": count for name, count in sorted(reasons.items())},
        "have an effect, or would": would.height,
        "of memories": would["memory_id"].n_unique(),
        "taught by too few questions": unexpired.height - would.height,
        "expired": taught.select(key).unique().height - unexpired.height,
        "in the table of applied ones": applied.select(key).unique().height,
    }


def _of_keys(home: Home, space: Workspace, all_of: Evidence) -> dict[str, Any]:
    reasons = dict(all_of.decided_views.reasons["reason"].value_counts().iter_rows())
    now = space.now()
    stand = all_of.standing(home.namespace, now, KEYS).filter(pl.col("taken") > 0, pl.col("expires_at") > now)
    applied = space.store.scan(TABLES[KEYS], f"namespace = '{home.namespace}' AND taken > 0")
    pair = ["memory_id", "query_id"]
    return {
        **{f"selections {name}": count for name, count in sorted(reasons.items())},
        "past questions that lead": stand["query_id"].n_unique(),
        "to memories": stand["memory_id"].n_unique(),
        "pairs in the table of applied ones": applied.select(pair).unique().height,
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
    """Results of a life.

    Attributes:
        rows: metrics of each part of the questions nobody asked.
        gates: since when each condition of each kind is open.
        states: what became of selections and of what they taught.
    """

    rows: Sequence[dict[str, Any]]
    gates: Mapping[tuple[str, str], str]
    states: Mapping[str, Any]


def life_of(home: Home, needs: Needs, given: argparse.Namespace, wrong: float) -> Told:
    """Live a life in which a share of the selections is wrong, and measure what it came to."""
    days = [FIRST + timedelta(days=number) for number in range(given.days)]
    wordings = Wordings(given.seed, private=given.words)
    plan = asked_on(needs, days, given.per_day, wordings, people=given.people, seed=given.seed)
    space = live(home, plan, Careless(User(given.seed, bias=given.bias, noise=0.0), wrong))
    proposed = proposed_all(home, space)
    seen = {one.text for some in plan.values() for one in some}
    rows = [
        row
        for part, asked in parts_of(needs, wordings, seen).items()
        if asked
        for row in figures(part, measured(home, space, asked, proposed))
    ]
    gates = {
        (kind, name): said for kind in kinds_on(space) for name, said in timeline(home, space, kind).items()
    }
    told = Told(rows, gates, states(home, space))
    space.close()
    return told


def show(lives: Mapping[str, Told], said: str) -> None:
    """Print the gates and what was taught of all lives side by side, then the metrics."""
    gates = dict.fromkeys(key for one in lives.values() for key in one.gates)
    taught = dict.fromkeys(key for one in lives.values() for key in one.states)
    tables: dict[str, tuple[list[dict[str, Any]], str]] = {
        "gates": (
            [
                {"what": what, "condition": name}
                | {life: one.gates.get((what, name)) for life, one in lives.items()}
                for what, name in gates
            ],
            "",
        ),
        "taught": (
            [
                {"taught": name} | {life: one.states.get(name) for life, one in lives.items()}
                for name in taught
            ],
            "",
        ),
    }
    for table, note in NOTES.items():
        rows = [
            {"life": life} | {key: value for key, value in row.items() if key != "table"}
            for life, one in lives.items() for row in one.rows if row["table"] == table
        ]  # fmt: skip
        if rows:
            tables[table] = rows, f"{note} {said}"
    hidden = [f"{short} {end}" for short in SHOWN.values() for end in ("low", "high")]
    hidden += [*SHOWN.values(), "group"]  # the groups stand in `questions`, and a page has no room for all
    reports("learning", tables, hidden=hidden)


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Live all lives and print what they came to."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, required=True, help="folder of a collection")
    parser.add_argument("--namespace", default="default", help="which of its namespaces")
    parser.add_argument("--model", default="wordllama-256", help="embedding model")
    parser.add_argument("--what", choices=WHAT, default=BOTH, help="kinds of learning that are switched on")
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
        first = born(Path(folder) / "first", collection, given.namespace, given.model, given.what)
        with task("lives", len(given.wrong)) as advance:
            for wrong in given.wrong:
                place = Path(folder) / f"wrong-{wrong}"
                shutil.copytree(first.settings.home, place)
                home = replace(first, settings=configured(place, given.model, given.what))
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
