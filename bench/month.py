"""Evaluation over a simulated month: cycle verdicts beside those by the collection's own judgments.

    python bench/month.py --data FOLDER [--days 30] [--per-day 20] [--nightly]

The documents of FOLDER (BEIR form) are saved. A user asks its questions on an accelerated clock, reads with a
position bias, takes most of what answers the question and now and then something that does not. The real
Dagster jobs fold and evaluate every week, or with ``--nightly`` every day, so that feedback changes the next
day's ranking. For each closed cycle and each ranking that was tried: nDCG@10 by what the memory could know
(selections, the judge), and by the judgments of the collection (`true`). Both should come to the same
verdict, the first more cautiously.

``never_used`` is the true nDCG@10 of the same searches and ranking in a memory that nobody ever used: no
ratings, no citations, no learned words, no search keys. ``change``: true nDCG@10 beside that; low, high: its
interval of 95 %, drawn by question. Of `logged` it says whether the use of the month made searches better.
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
from _tried import beside, never_used, unrated
from _user import Clock, User, asked_on

from slowwave.common import ids
from slowwave.common.progress import task
from slowwave.evaluation.query_log import logged_searches
from slowwave.evaluation.scores import score, searches_of
from slowwave.evaluation.variants import IN_FORCE, LOGGED, Tried, variants
from slowwave.home.workspace import Workspace
from slowwave.memory import Memory
from slowwave.scoring.evaluation import MEASURES, compare
from slowwave.scoring.evaluation.evaluate import evaluate_frame
from slowwave.scoring.evaluation.replay import Variant, replay
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
    from slowwave.orchestration.run_nightly import run_night

    for job in ("night", "evaluation"):
        done = run_night(life.settings, first.isoformat(), last.isoformat(), job=job)
        if not done["success"]:
            raise SystemExit("\n".join(done["errors"]))


def month(life: Life, days: Sequence[date], per_day: int, user: User, *, nightly: bool) -> int:
    """Live all days and run the jobs; return the number of searches."""
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
    true_grades = pl.DataFrame(grades, schema=schema, orient="row").unique()
    tried = variants(space.policy, life.settings.evaluation, space.policy_of)
    told = score(space, searches, true_grades, tried)
    told = told.group_by("variant", "query_id").agg(pl.col("ndcg_10").mean(), pl.col("mrr_5").mean())
    unused = never_scored(life, space, searches, true_grades, tried)
    space.close()
    known, true, never = (
        {str(name): one.sort("query_id") for (name,), one in rows.group_by("variant")}
        for rows in (frozen, told, unused)
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
                **beside(never[name]["ndcg_10"], true[name]["ndcg_10"]),
            }
        )
    return found


def never_scored(
    life: Life, space: Workspace, searches: pl.DataFrame, grades: pl.DataFrame, tried: Sequence[Tried]
) -> pl.DataFrame:
    """Measure searches again as if nobody had ever used the memory.

    Args:
        life: the home and its questions.
        space: has the journal.
        searches: rows of `searches_of`.
        grades: judgments of the collection: query_id, memory_id, grade.
        tried: rankings, of which the one in force stands for what was logged.

    Returns:
        variant, query_id and ndcg_10: the mean of the searches of a question.
    """
    every = [one.variant for one in tried]
    every += [Variant(LOGGED, one.policy, one.without) for one in every if one.name == IN_FORCE]
    if not every:
        every = [Variant(LOGGED, space.policy)]
    judged = searches.join(grades.select("query_id").unique(), on="query_id", how="semi")
    results, rankings = list[pl.DataFrame](), list[pl.DataFrame]()
    days = judged["day"].unique().sort().to_list()
    for part in logged_searches(space.journal, days, life.namespace, only=judged["search_id"]):
        places = part.searches.select("search", "search_id", "query_id")
        shown = replay(unrated(part.batch), [never_used(one) for one in every], depth=None)
        results.append(shown.join(places, on="search").select("search_id", "variant", "rank", "memory_id"))
        names = pl.DataFrame({"variant": [one.name for one in every]})
        rankings.append(places.select("search_id", "query_id").join(names, how="cross"))
    ndcg = next(one for one in MEASURES if one.column == "ndcg_10")
    judgments = grades.select("query_id", "memory_id", "grade")
    done = evaluate_frame(pl.concat(rankings), pl.concat(results), judgments, [ndcg])
    return done.group_by("variant", "query_id").agg(ndcg_10=pl.col(str(ndcg)).mean())


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
