"""Graded rankings: arrays of grades that all metrics read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from slowwave.scoring.arrays import Floats, Integers, places

UNJUDGED = float("nan")


@dataclass(frozen=True, slots=True)
class GradedRankings:
    """Grades of the first `depth` results of n queries.

    Attributes:
        grades: (n, depth) grade by rank; NaN where the result is unjudged or there is none.
        ideal: (n, depth) the highest positive grades of the whole judgment list, best first, then 0.
        relevant: (n,) documents of the judgment list with a grade above 0.
        retrieved: (n,) results in the first `depth`.
    """

    grades: Floats
    ideal: Floats
    relevant: Integers
    retrieved: Integers


def grade_frame(
    rankings: pl.DataFrame, results: pl.DataFrame, judgments: pl.DataFrame, depth: int
) -> tuple[GradedRankings, pl.DataFrame]:
    """Return the grades of the results of rankings; a query may have many rankings.

    A document that is ranked twice stays at its first rank, and those behind the repeat move up, as if the
    ranking had it once (trec_eval refuses such a run).

    Args:
        rankings: ``query_id`` and the columns that name a ranking, one row each, with or without results.
        results: naming columns, ``rank`` (any numbers, lowest first) and ``memory_id``.
        judgments: ``query_id``, ``memory_id`` and ``grade``, one row a pair.
        depth: results that are graded.

    Returns:
        The graded rankings, and their rows of `rankings`: those of queries with a relevant judgment, in the
        order of `rankings`.
    """
    keys = [name for name in rankings.columns if name != "query_id"]
    ideal, relevant, queries = _ideals(judgments, depth)
    counted = rankings.join(queries, on="query_id", how="inner", maintain_order="left")
    numbered = counted.select(*keys, "query", at=pl.int_range(pl.len()))
    ranked = results.select(*keys, "rank", "memory_id").join(numbered, on=keys, how="inner")
    ranked = drop_repeats(ranked.select("at", "query", "rank", "memory_id"))
    place = places(ranked["at"].to_numpy())
    kept, place = ranked.filter(pl.Series(place < depth)), place[place < depth]
    judged = judgments.join(queries, on="query_id").select(
        "query", "memory_id", grade=pl.col("grade").cast(pl.Float64)
    )
    kept = kept.join(judged, on=["query", "memory_id"], how="left", maintain_order="left")
    at = kept["at"].to_numpy()
    grades = np.full((counted.height, depth), UNJUDGED)
    grades[at, place] = kept["grade"].fill_null(UNJUDGED).to_numpy()
    query = counted["query"].to_numpy()
    graded = GradedRankings(
        grades=grades,
        ideal=ideal[query],
        relevant=relevant[query],
        retrieved=np.bincount(at, minlength=counted.height),
    )
    return graded, counted.drop("query")


def drop_repeats(results: pl.DataFrame) -> pl.DataFrame:
    """Sort results by (``at``, ``rank``) and keep each ``memory_id`` at its first rank."""
    ordered = results.sort("at", "rank")
    if ordered.select(pl.struct("at", "memory_id").n_unique()).item() == ordered.height:
        return ordered
    return ordered.unique(["at", "memory_id"], keep="first", maintain_order=True)


def _ideals(judgments: pl.DataFrame, depth: int) -> tuple[Floats, Integers, pl.DataFrame]:
    """Return the best grades, relevant count and number of each query.

    Only queries with a relevant document.
    """
    relevant = judgments.filter(pl.col("grade") > 0).select(
        "query_id", grade=pl.col("grade").cast(pl.Float64)
    )
    relevant = relevant.sort("query_id", "grade", descending=[False, True])
    queries = relevant.group_by("query_id", maintain_order=True).len()
    counts = queries["len"].to_numpy().astype(np.int64)
    query = np.repeat(np.arange(len(counts)), counts)
    place = places(query)
    ideal = np.zeros((len(counts), depth))
    first = place < depth
    ideal[query[first], place[first]] = relevant["grade"].to_numpy()[first]
    return ideal, counts, queries.select("query_id", query=pl.int_range(pl.len()))
