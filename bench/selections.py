"""Accuracy of grades from use, beside simpler readings of the same clicks.

    python bench/selections.py [--seeds N] [--queries N] [--searches N] [--days N]

A simulated user looks less often the deeper a result stands and errs now and then (see `_clicks.World`);
2,000 searches of 200 queries with ten results each. AUROC over all pairs shown: `coec` ours, `raw` the click
rate, `best_rank` clicks over those expected at the best rank shown, without shrinkage. Then the share of
pairs with a grade, and which share of the pairs of each grade is relevant (a quarter of all is). `year` is a
year of 10,000 impressions a day, in seconds.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
from _clicks import World, at_the_end, clicks
from _report import UnusableError, bench, options, positive, report, rounded

from slowwave.scoring.evaluation import auroc, click_judgments

WORLDS = {
    "ranking knows nothing": World(knows=0.0),
    "ranking knows a little": World(knows=0.5),
    "ranking knows some": World(knows=1.0),
    "ranking knows much": World(knows=2.0),
    "no position bias": World(bias=0.0),
    "strong position bias": World(bias=1.5),
    "careless user": World(noise=0.15),
    "a fifth of the searches": World(searches=20),
}


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--seeds", type=positive, default=5, help="worlds of each kind")
    parser.add_argument("--queries", type=positive, default=World.queries, help="distinct ones of a world")
    parser.add_argument("--searches", type=positive, default=World.searches, help="a day, for 20 days")
    parser.add_argument("--days", type=positive, default=365, help="of the year")
    arguments = parser.parse_args(argv)
    rows = [row(name, scaled(world, arguments), arguments.seeds) for name, world in WORLDS.items()]
    report("selections", rows, note=f"year: {year(arguments.days):.1f} s")


def scaled(world: World, given: argparse.Namespace) -> World:
    """The same world with other numbers of queries and searches."""
    searches = max(1, given.searches * world.searches // World.searches)
    return replace(world, queries=given.queries, searches=searches)


def row(name: str, world: World, seeds: int) -> dict[str, Any]:
    """Means over several worlds of one kind; the shares by grade are of all their pairs."""
    ends = []
    for seed in range(seeds):
        shown, truth = clicks(world, seed)
        if not shown.is_empty():  # else nobody took anything
            ends.append(at_the_end(shown, click_judgments(shown), truth))
    if not ends:
        raise UnusableError(f"{name}: nobody took anything; give more --searches or --seeds")
    made: dict[str, Any] = {"world": name}
    for column in ("coec", "raw", "best_rank"):
        apart = np.array(
            [auroc(*(end.filter(relevant=kind)[column] for kind in (True, False))) for end in ends]
        )
        known = apart[~np.isnan(apart)]  # a small world may have pairs of one kind alone
        made[column] = rounded(known.mean()) if len(known) else None
    every = pl.concat(ends)
    made["graded"] = round(1 - every["grade"].null_count() / every.height, 4)
    for grade in range(4):
        made[f"grade {grade}"] = every.filter(grade=float(grade))["relevant"].mean()
    return made


def year(count: int) -> float:
    """Seconds that the grades of so many days of 10,000 impressions take."""
    rng, searches = np.random.default_rng(0), count * 1_000
    query = np.repeat(np.minimum(rng.zipf(1.3, searches), 200_000), 10)
    days = pl.Series([str(date(2026, 1, 1) + timedelta(number)) for number in range(count)])
    rows = pl.DataFrame(
        {
            "day": days[np.repeat(np.arange(count), 10_000)], "query": query,
            "memory": rng.integers(0, 14, len(query)), "rank": np.tile(np.arange(1, 11), searches),
            "clicked": rng.random(len(query)) < 0.2,
        }
    ).select(
        "day", "rank", "clicked", namespace=pl.lit("a"), query_id=pl.format("query {}", "query"),
        query=pl.format("what of {}", "query"), memory_id=pl.format("memory {} of {}", "memory", "query"),
    )  # fmt: skip
    start = time.perf_counter()
    click_judgments(rows)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
