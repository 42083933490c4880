"""Sampling of pairs of query and memory for judgment (rule 6.1)."""

from __future__ import annotations

import polars as pl
from numpy import array, float64, log

from slowwave.scoring.evaluation.digest import uniform
from slowwave.scoring.evaluation.judgments import PAIR


def worth_judging(
    candidates: pl.DataFrame, n: int, *, seed: str, judged: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Draw at most `n` pairs, fewest judgments first, then at random by weight.

    The weight of a pair is the searches of its query over its rank. Frequent queries and top ranks are
    preferred, but rare ones come up, too. Pairs are drawn without replacement, with a chance proportional to
    their weight. The draw depends on seed and pair only: it is the same on every machine, and another
    candidate does not change the order of the others.

    Source: Efraimidis and Spirakis, "Weighted random sampling with a reservoir" (2006).

    Args:
        candidates: namespace, query_id, memory_id, rank (best one returned, from 1), searches (of the query,
            count) and judgments (so far, count); one row a pair.
        n: maximum pairs.
        seed: seed of the draw, such as the day.
        judged: pairs (namespace, query_id, memory_id) that this judge has judged; never drawn.

    Returns:
        Rows of `candidates`, the first to judge first.

    Raises:
        ValueError: `n` is below 0, or a rank or a number of searches below 1.
    """
    if n < 0:
        raise ValueError(f"n = {n}: ask for 0 pairs or more")
    wrong = candidates.filter((pl.col("rank") < 1) | (pl.col("searches") < 1))
    if wrong.height:
        rank, searches = wrong.select("rank", "searches").row(0)
        raise ValueError(f"rank = {rank} and searches = {searches}: both start at 1")
    unjudged = candidates if judged is None else candidates.join(judged.select(PAIR), on=PAIR, how="anti")
    drawn = array([uniform(seed, *pair) for pair in unjudged.select(PAIR).iter_rows()], dtype=float64)
    size = unjudged["searches"].to_numpy() / unjudged["rank"].to_numpy()
    return (
        unjudged.with_columns(_turn=pl.Series(-log(drawn) / size, dtype=pl.Float64))
        .sort("judgments", "_turn", *PAIR)
        .head(n)
        .drop("_turn")
    )
