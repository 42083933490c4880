"""Logged searches ranked again under other policies, all of them at once (rule 6.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from slowwave.scoring.evaluation.batch import Batch
from slowwave.scoring.ranking import RankingPolicy
from slowwave.scoring.ranking.abstention import signals
from slowwave.scoring.ranking.candidates import RATED
from slowwave.scoring.ranking.columns import CHANNELS, Columns
from slowwave.scoring.ranking.score_terms import CutList, ScoredMemories

__all__ = ["RESULTS", "Batch", "Variant", "abstentions", "replay"]

RESULTS: Final = pl.Schema(
    {
        "search": pl.Int64(),
        "variant": pl.String(),
        "rank": pl.Int32(),
        "memory_id": pl.String(),
        "score": pl.Float64(),
        "channels": pl.List(pl.String),
    }
)
_CHANNELS_OF_CODE: Final = pl.Series(
    [[name for at, name in enumerate(CHANNELS) if code >> at & 1] for code in range(1 << len(CHANNELS))],
    dtype=pl.List(pl.String),
)


@dataclass(frozen=True, slots=True)
class Variant:
    """A ranking to be tried.

    Attributes:
        name: what its rows are called.
        policy: how scores are made.
        without: channels that are taken away: what only they found is gone, and their scores do not count
            (see `Columns.without`).
    """

    name: str
    policy: RankingPolicy
    without: frozenset[str] = field(default=frozenset())

    def __post_init__(self) -> None:
        if unknown := sorted(self.without.difference(CHANNELS, [RATED])):
            raise ValueError(f"without = {', '.join(unknown)}: no channel. Known: {', '.join(CHANNELS)}")


def replay(batch: Batch, variants: Sequence[Variant], *, depth: int | None = 20) -> pl.DataFrame:
    """What each search would have shown under each variant.

    A search and a variant give what `scoring.ranking.rank` gives for the candidates: abstention, the recall
    of short memories and the order of ties included.

    Args:
        batch: n searches.
        variants: rankings to be tried, of different names.
        depth: results asked for, whatever a search asked for, so that a metric sees as many places as it
            looks at; None leaves each search its own limit, so that the results are those that would have
            been shown.

    Returns:
        Columns `RESULTS`, a row a result, in the order of variant, search and rank: ``search`` is its place
        in the batch, ``rank`` is from 1, ``channels`` are those that found the memory. Searches that show
        nothing have no rows.

    Raises:
        ValueError: two variants have one name, or `depth` is negative.
    """
    names = [one.name for one in variants]
    if len(set(names)) != len(names):
        raise ValueError(f"variants are named {names}: give each a name of its own")
    if depth is not None and depth < 0:
        raise ValueError(f"depth = {depth}: ask for 0 or more results")
    limit = batch.limit if depth is None else np.full(len(batch), depth)
    reduced: dict[frozenset[str], Columns] = {}
    parts = [RESULTS.to_frame()]
    for variant in variants:
        if variant.without not in reduced:
            reduced[variant.without] = batch.columns.without(variant.without)
        columns = reduced[variant.without]
        if not len(columns.count):
            continue
        scored = ScoredMemories(columns, variant.policy)
        shown = CutList(scored, columns, variant.policy, limit).memories
        search = columns.search[shown]
        before = np.searchsorted(search, np.arange(len(batch)))  # results of the searches before
        found_by = np.bitwise_or.reduceat(columns.found_by, columns.first[:-1])
        parts.append(
            pl.DataFrame(
                {
                    "search": search,
                    "variant": pl.repeat(variant.name, len(shown), dtype=pl.String, eager=True),
                    "rank": np.arange(1, len(shown) + 1) - before[search],
                    "memory_id": batch.memory_ids.gather(columns.number[shown]),
                    "score": scored.score[shown],
                    "channels": _CHANNELS_OF_CODE.gather(found_by[shown]),
                },
                schema_overrides=RESULTS,
            )
        )
    return pl.concat(parts)


def abstentions(batch: Batch, variants: Sequence[Variant]) -> pl.DataFrame:
    """How sure each search is under each variant that it has an answer, and whether it abstains.

    Returns:
        ``search``, ``variant``, ``signal`` in [0, 1] and ``abstained``: a row for each search and variant. A
        search that found nothing has no signal, and does not abstain: it has nothing to hold back.
    """
    parts = [
        pl.DataFrame(
            schema={"search": pl.Int64, "variant": pl.String, "signal": pl.Float64, "abstained": pl.Boolean}
        )
    ]
    for variant in variants:
        columns = batch.columns.without(variant.without)
        found = columns.starts[1:] > columns.starts[:-1]
        signal = np.where(found, signals(columns, variant.policy.key_weight), 0.0)
        parts.append(
            pl.DataFrame(
                {
                    "search": np.arange(len(batch)),
                    "variant": pl.repeat(variant.name, len(batch), dtype=pl.String, eager=True),
                    "signal": signal,
                    "abstained": found & (signal < variant.policy.abstention_floor),
                }
            )
        )
    return pl.concat(parts)
