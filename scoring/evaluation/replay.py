"""Replay of logged searches under other policies, in one pass (rule 6.4)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import polars as pl

from slowwave.scoring.evaluation.batch import Batch
from slowwave.scoring.ranking import RankingPolicy
from slowwave.scoring.ranking.abstention import signals
from slowwave.scoring.ranking.columns import CHANNELS, Columns
from slowwave.scoring.ranking.score_terms import CutList, ScoredMemories, fits_weakly

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
    """Alternative ranking to replay.

    Attributes:
        name: label of its rows.
        policy: constants of the score.
        without: channels that are left out (see `Columns.without`).
    """

    name: str
    policy: RankingPolicy
    without: frozenset[str] = field(default=frozenset())


def replay(batch: Batch, variants: Sequence[Variant], *, depth: int | None = 20) -> pl.DataFrame:
    """Return the results of each search under each variant.

    They equal those of `scoring.ranking.rank` for the candidates, including abstention, recall of short
    memories and ties. A `depth` asks for the order, so weak results and duplicates stay.

    Args:
        batch: n searches.
        variants: rankings with different names.
        depth: results per search, so that metrics see enough ranks; None: each search's own limit, as it was
            served.

    Returns:
        Columns `RESULTS`, one row a result, by variant, search and rank. ``search`` is the place in the
        batch, ``rank`` is from 1, ``channels`` are those that found the memory. Searches without results have
        no rows.

    Raises:
        ValueError: two variants have one name, or `depth` is negative.
    """
    names = [item.name for item in variants]
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
        policy = variant.policy if depth is None else variant.policy.uncut
        scored = ScoredMemories(columns, policy)
        shown = CutList(scored, columns, policy, limit).memories
        search = columns.search[shown]
        before = np.searchsorted(search, np.arange(len(batch)))  # results of earlier searches
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
    """Return the abstention signal of each search under each variant.

    Returns:
        ``search``, ``variant``, ``signal`` in [0, 1] and ``abstained``, one row for each search and variant.
        A search without candidates has signal 0 and does not abstain.
    """
    parts = [
        pl.DataFrame(
            schema={"search": pl.Int64, "variant": pl.String, "signal": pl.Float64, "abstained": pl.Boolean}
        )
    ]
    for variant in variants:
        columns = batch.columns.without(variant.without)
        has_candidates = columns.starts[1:] > columns.starts[:-1]
        signal = np.where(has_candidates, signals(columns, variant.policy.key_weight), 0.0)
        abstained = signal < variant.policy.abstention_floor
        if variant.policy.fit_floor and has_candidates.any():
            scored = ScoredMemories(columns, variant.policy)
            abstained |= fits_weakly(scored, columns, variant.policy)
        parts.append(
            pl.DataFrame(
                {
                    "search": np.arange(len(batch)),
                    "variant": pl.repeat(variant.name, len(batch), dtype=pl.String, eager=True),
                    "signal": signal,
                    "abstained": has_candidates & abstained,
                }
            )
        )
    return pl.concat(parts)
