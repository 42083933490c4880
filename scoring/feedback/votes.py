"""Votes in force: each user's latest rating per search, capped per memory.

A vote is a rating or the outcome of a project. A later rating of the same result of the same search replaces
the earlier one. Only the newest votes of one user on one memory count, so a flood of them has no more effect.
All imported votes are one user's, because an import can contain any names.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from slowwave.scoring.arrays import Integers
from slowwave.scoring.feedback.columns import codes, dense, turns

NONE = -1
IMPORTED = "\0imported"
"""User of all imported feedback. The journal accepts no principal with a NUL character, so the name is free.
"""
VOICE = (
    pl.when(pl.col("imported").fill_null(value=False))
    .then(pl.lit(IMPORTED))
    .otherwise(pl.coalesce("behind", "principal", pl.lit("")))
)
"""User of a row of ``usage_signals``: `IMPORTED`, else the user an outcome rests on (``behind``), else the
principal."""
WHO = ("principal", "behind", "imported")
"""Columns that `VOICE` reads."""


def displaced(pair: Integers, subject: Integers, *, most: int) -> Integers:
    """Return the vote that each vote displaces.

    Args:
        pair: (n,) code of user and memory, from 0; votes sorted by time.
        subject: (n,) code of the search within a pair.
        most: maximum votes of a pair in force.

    Returns:
        (n,) row of the displaced vote, or -1: an earlier one on the same subject, else the oldest one in
        force when there are `most` already.
    """
    n = len(pair)
    out = np.full(n, NONE, dtype=np.int64)
    if n == 0:
        return out
    turn = turns(pair)
    by_turn = np.argsort(turn, kind="stable")
    starts = np.append(0, np.cumsum(np.bincount(turn)))
    ring = np.full((int(pair.max()) + 1, most), NONE, dtype=np.int64)  # rows in force, the oldest first
    places = np.arange(most)
    for first, last in pairwise(starts.tolist()):
        rows = by_turn[first:last]
        current = ring[pair[rows]]
        same = (current != NONE) & (subject[current] == subject[rows][:, None])
        leaves = np.where(same.any(axis=1), same.argmax(axis=1), 0)
        out[rows] = current[np.arange(len(rows)), leaves]
        after = np.minimum(places + (places >= leaves[:, None]), most - 1)
        current = np.take_along_axis(current, after, axis=1)
        current[:, -1] = rows
        ring[pair[rows]] = current
    return out


def with_displaced(votes: pl.DataFrame, most: int) -> pl.DataFrame:
    """Sort votes by time, with their `row` and the row that each `displaces`.

    Args:
        votes: memory_id, `WHO`, search_id, tier, occurred_at, signal_id.
        most: see `displaced`.
    """
    votes = votes.sort("occurred_at", "signal_id")
    pair = dense(codes(votes.with_columns(user=VOICE), "memory_id", "user"))
    subject = codes(votes, "search_id", "tier")
    return votes.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        displaces=pl.Series(displaced(pair, subject, most=most), dtype=pl.Int64),
    )


def in_force(votes: pl.DataFrame, most: int) -> pl.DataFrame:
    """Return the votes that no later vote displaced."""
    placed = with_displaced(votes, most)
    return placed.join(placed.select(row="displaces"), on="row", how="anti").drop("row", "displaces")
