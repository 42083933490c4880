"""A simulated month over a real collection: does measuring itself tell the truth?

    python bench/month.py --data FOLDER [--days 30] [--per-day 20] [--nightly]

The documents of FOLDER (BEIR form) are saved; then a user asks its questions on an accelerated clock, reads
with a position bias, takes most of what answers the question and now and then something that does not. Every
day is folded and evaluated by the real Dagster jobs (in weeks, or with ``--nightly`` day by day, so that what
use taught changes the next day's ranking). Printed are the cycles that closed, and for each ranking that was
tried its nDCG@10 by what the memory could know (selections, the judge), beside that by the collection's own
judgments: it should come to the same verdicts, more cautiously.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import polars as pl
from _data import labelled, space_of
from _home import ANSWER, FIRST
from _report import bench, existing_folder, options, positive, report
from _user import Clock, User, asked_on

from slowwave.common import ids
from slowwave.common.progress import task
from slowwave.evaluation.measured import score, searches_of
from slowwave.evaluation.variants import LOGGED, variants
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.scoring.evaluation import compare
from slowwave.settings import Settings, load
from slowwave.tuning.collection import Collection, notes_of
from slowwave.views.terminal import bars

WEEK = 7


@dataclass(frozen=True)
class Life:
    """A home and what is asked of it.

    Attributes:
        namespace: of the memories.
        relevant: memories that answer a question, by its text.
    """

    settings: Settings
    namespace: str
    relevant: Mapping[str, frozenset[str]]


def born(home: Path, collection: Collection, namespace: str, model: str) -> Life:
    """A home that holds the documents of a namespace of the collection, saved on the day before the first."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "slowwave.toml").write_text(
        f'[embedding]\nmodel = "{model}"\n[gate]\nmode = "off"\n[night]\nfirst_day = "2025-12-31"\n'
    )
    settings = load(home)
    clock = Clock(datetime(2025, 12, 31, 12, tzinfo=UTC))
    with Memory(settings, namespace=namespace, space=Workspace(settings, clock=clock)) as memory:
        notes = notes_of(collection.documents)[namespace]
        memory.save_many(notes)
    return Life(
        settings,
        namespace,
        _relevant(collection, namespace, {one["key"]: ids.memory_id(namespace, one["key"]) for one in notes}),
    )


def _relevant(collection: Collection, namespace: str, by_key: Mapping[str, str]) -> dict[str, frozenset[str]]:
    return {
        query["text"]: frozenset(
            by_key[one]
            for one, grade in collection.qrels[query["_id"]].items()
            if grade > 0 and one in by_key
        )
        for query in collection.answerable()
        if space_of(query) == namespace
    }


def live(
    life: Life, days: Sequence[date], plan: Mapping[date, Sequence[tuple[datetime, str]]], user: User
) -> int:
    """Ask what is asked on these days, and say what was taken; returns the searches."""
    clock = Clock(datetime.combine(days[0], datetime.min.time(), UTC))
    count = 0
    space = Workspace(life.settings, clock=clock)
    with Memory(life.settings, namespace=life.namespace, principal="user", space=space) as memory:
        for day in days:
            for moment, question in plan[day]:
                clock.moment = moment
                response = memory.search(question)
                shown = [one.memory_id for one in response]
                taken = user.select(shown, life.relevant[question])
                clock.moment = moment + timedelta(seconds=20)
                memory.observe(response.search_id, ANSWER, cited=taken)
                count += 1
    return count


def work(life: Life, first: date, last: date) -> None:
    """Fold and evaluate these days.

    Raises:
        SystemExit: a run failed.
    """
    from slowwave.orchestration.night import run_night

    for job in ("night", "evaluation"):
        done = run_night(life.settings, first.isoformat(), last.isoformat(), job=job)
        if not done["success"]:
            raise SystemExit("\n".join(done["errors"]))


def month(life: Life, days: Sequence[date], per_day: int, user: User, *, nightly: bool) -> int:
    """The whole of it; returns the searches."""
    plan = asked_on(sorted(life.relevant), days, per_day, seed=user.seed)
    searches, step = 0, 1 if nightly else WEEK
    work(life, FIRST - timedelta(days=1), FIRST - timedelta(days=1))
    with task("days lived", len(days)) as advance:
        for at in range(0, len(days), step):
            some = days[at : at + step]
            searches += live(life, some, plan, user)
            work(life, some[0], some[-1])
            advance(len(some))
    return searches


def day_range(first: date, last: date) -> list[date]:
    """The days from the first to the last."""
    return [first + timedelta(days=number) for number in range((last - first).days + 1)]


def rows_of(life: Life, cycle: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Every ranking of a closed cycle: by what the memory knew, and by the collection's own judgments."""
    space = Workspace(life.settings)
    frozen = space.store.read("cycle_scores", f"cycle_id = '{cycle['cycle_id']}'")
    days = day_range(date.fromisoformat(cycle["opened_on"]), date.fromisoformat(cycle["closed_on"]))
    searches = searches_of(space, [one.isoformat() for one in days])
    grades = [
        (life.namespace, ids.query_id(life.namespace, text), one, 1.0)
        for text, answers in life.relevant.items()
        for one in answers
    ]
    schema = ["namespace", "query_id", "memory_id", "grade"]
    told = score(
        space, searches, pl.DataFrame(grades, schema=schema, orient="row").unique(),
        variants(space.policy, life.settings.evaluation, space.policy_of),
    )  # fmt: skip
    told = told.group_by("variant", "query_id").agg(pl.col("ndcg_10").mean(), pl.col("mrr_5").mean())
    space.close()
    known, true = (
        {name: one.sort("query_id") for (name,), one in rows.group_by("variant")} for rows in (frozen, told)
    )
    found = []
    for name in sorted(known, key=lambda one: (one != LOGGED, one)):
        against = [
            compare(rows[LOGGED]["ndcg_10"], rows[name]["ndcg_10"], margin=0.02) for rows in (known, true)
        ]
        found.append(
            {
                "cycle": cycle["cycle_id"],
                "ranking": name,
                "queries": known[name].height,
                "judged@10": known[name]["judged_10"].mean(),
                "ndcg@10": known[name]["ndcg_10"].mean(),
                "difference": against[0].difference,
                "verdict": against[0].verdict,
                "true ndcg@10": true[name]["ndcg_10"].mean(),
                "true difference": against[1].difference,
                "true verdict": against[1].verdict,
            }
        )
    return found


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Live a month and print what it came to."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, required=True, help="folder of a collection")
    parser.add_argument("--namespace", default="default", help="which of its namespaces")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--days", type=positive, default=30)
    parser.add_argument("--per-day", type=positive, default=20, help="searches a day")
    parser.add_argument("--bias", type=float, default=0.5, help="of the user: rank r is looked at r^-bias")
    parser.add_argument("--noise", type=float, default=0.05, help="wrong results taken, of those looked at")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--nightly", action="store_true", help="run the jobs day by day")
    parser.add_argument("--home", type=Path, help="keep the home here")
    given = parser.parse_args(argv)
    collection = labelled(given.data, given.namespace)
    days = day_range(FIRST, FIRST + timedelta(days=given.days - 1))
    with tempfile.TemporaryDirectory() as folder, bars():
        start = time.perf_counter()
        life = born(given.home or Path(folder) / "home", collection, given.namespace, given.model)
        user = User(given.seed, bias=given.bias, noise=given.noise)
        searches = month(life, days, given.per_day, user, nightly=given.nightly)
        seconds = time.perf_counter() - start
        space = Workspace(life.settings)
        cycles = space.store.read("evaluation_cycles").sort("number")
        space.close()
        rows = [
            row
            for one in cycles.filter(pl.col("status") == "closed").iter_rows(named=True)
            for row in rows_of(life, one)
        ]
    closed = ", ".join(
        f"{one['cycle_id']} {one['opened_on']} to {one['closed_on']} ({one['queries']} queries)"
        for one in cycles.filter(pl.col("status") == "closed").iter_rows(named=True)
    )
    report(
        "month",
        rows,
        note=f"{searches:,} searches in {given.days} days, {seconds:,.0f} s. Closed: {closed or 'none'}",
    )


if __name__ == "__main__":
    main()
