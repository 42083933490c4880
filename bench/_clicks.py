"""Impressions and clicks of a simulated user, with the true relevance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl


@dataclass(frozen=True)
class World:
    """How the user and the ranking behave.

    Attributes:
        knows: how far relevance lifts a result's score, in deviations of its noise; 0: the ranking knows
            nothing.
        bias: a result at rank r is looked at with chance r^-bias.
        good: chance that a relevant result that was looked at is used.
        noise: the same of one that is not relevant.
        relevant: share of the pairs.
        queries: distinct ones, asked by Zipf's law.
        results: shown for a search, always the same memories, each time in another order.
        days: of a month.
        searches: of a day.
    """

    knows: float = 0.5
    bias: float = 0.8
    good: float = 0.7
    noise: float = 0.08
    relevant: float = 0.25
    queries: int = 200
    results: int = 10
    days: int = 20
    searches: int = 100


def clicks(world: World, seed: int) -> tuple[pl.DataFrame, np.ndarray]:
    """Impressions of the searches with a click, as `selections` takes them, and what is relevant.

    The latter as (queries, results) flags; query_id and memory_id are the places in it.
    """
    rng = np.random.default_rng(seed)
    shape = (world.queries, world.results)
    truth = rng.random(shape) < world.relevant
    signal = world.knows * truth + rng.normal(0, 1, shape)
    frequency = np.arange(1, world.queries + 1) ** -0.8
    asked = rng.choice(world.queries, world.days * world.searches, p=frequency / frequency.sum())
    order = np.argsort(-(signal[asked] + rng.normal(0, 1, (len(asked), world.results))), axis=1)
    chance = np.where(np.take_along_axis(truth[asked], order, 1), world.good, world.noise)
    used = rng.random(order.shape) < chance * np.arange(1, world.results + 1) ** -world.bias
    heard = used.any(axis=1)  # the others got no feedback
    rows = pl.DataFrame(
        {
            "day": np.repeat((np.arange(len(asked)) // world.searches + 1)[heard], world.results),
            "query": np.repeat(asked[heard], world.results),
            "memory": order[heard].ravel(),
            "rank": np.tile(np.arange(1, world.results + 1), int(heard.sum())),
            "clicked": used[heard].ravel(),
        }
    )
    text = {name: pl.col(name).cast(pl.String) for name in ("day", "query", "memory")}
    return rows.select(
        day=pl.lit("2026-03-") + text["day"].str.zfill(2), namespace=pl.lit("a"), query_id=text["query"],
        query=text["query"], memory_id=text["memory"], rank="rank", clicked="clicked",
    ), truth  # fmt: skip


def at_the_end(rows: pl.DataFrame, graded: pl.DataFrame, truth: np.ndarray) -> pl.DataFrame:
    """The last row of each pair of `graded`, with whether it is relevant and what others would make of it.

    ``raw`` is its click rate; ``best_rank`` is that over the mean rate at the best rank where it was shown.
    """
    pair = ["query_id", "memory_id"]
    last = graded.sort("day").group_by(pair, maintain_order=True).last()
    best = rows.group_by(pair).agg(rank=pl.col("rank").min())
    rates = rows.group_by("rank").agg(rate=pl.col("clicked").mean())
    relevant = truth[tuple(last[name].cast(pl.Int64).to_numpy() for name in pair)]
    return (
        last.with_columns(relevant=pl.Series(relevant), raw=pl.col("clicks") / pl.col("impressions"))
        .join(best.join(rates, on="rank"), on=pair, maintain_order="left")
        .with_columns(best_rank=(pl.col("raw") / pl.col("rate")).fill_nan(0.0))  # none where none is taken
    )
