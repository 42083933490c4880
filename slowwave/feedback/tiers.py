"""Effective importance tiers: the note's own tier, raised by promotions (rule 4.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from slowwave.scoring.feedback.promotion import TIERS, effective_tier
from slowwave.store import one_of

COLUMN = "importance_tier"


def with_tiers(rows: pl.DataFrame, promoted: Mapping[str, str]) -> pl.DataFrame:
    """Replace importance_tier by the effective tier in rows with memory_id."""
    if not promoted:
        return rows
    place = {tier: at for at, tier in enumerate(TIERS)}
    promoted_tier = pl.col("memory_id").replace_strict(promoted, default=None, return_dtype=pl.String)
    higher = promoted_tier.replace_strict(place, default=-1, return_dtype=pl.Int8) > pl.col(
        COLUMN
    ).replace_strict(place, default=len(TIERS), return_dtype=pl.Int8)
    return rows.with_columns(pl.when(higher).then(promoted_tier).otherwise(COLUMN).alias(COLUMN))


def tiers_of(memory_ids: Sequence[str], own: Sequence[str], promoted: Mapping[str, str]) -> list[str]:
    """Return the effective tiers of some memories."""
    return [effective_tier(tier, promoted.get(name)) for name, tier in zip(memory_ids, own, strict=True)]


def tier_filter(wanted: Sequence[str], promoted: Mapping[str, str]) -> str:
    """Build an SQL filter for rows whose effective tier is one of these."""
    raised = {
        tier: f"({one_of('memory_id', names)} AND {one_of(COLUMN, TIERS[:at])})"
        for at, tier in enumerate(TIERS)
        if (names := sorted(name for name, to in promoted.items() if to == tier))
    }
    own = one_of(COLUMN, wanted)
    if not raised:
        return own
    unraised = f"({own} AND NOT ({' OR '.join(raised.values())}))"
    return f"({' OR '.join([unraised, *(raised[tier] for tier in wanted if tier in raised)])})"
