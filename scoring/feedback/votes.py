"""Which votes are in force: the last word on each search, and of each principal only so many on a memory.

A vote is a rating or the outcome of a project. Somebody who rates the same result of a search again corrects
himself. And of what one principal has said of one memory only the newest votes count, so that a flood of them
moves no more than those. All that was imported is of one principal: names are free there.
"""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl

from slowwave.scoring.arrays import Integers
from slowwave.scoring.feedback.columns import codes, dense, turns

NONE = -1
IMPORTED = "\0imported"
"""Voice of all that was imported; the journal takes no principal with a NUL character, so nobody has it."""
VOICE = (
    pl.when(pl.col("imported").fill_null(value=False))
    .then(pl.lit(IMPORTED))
    .otherwise(pl.coalesce("behind", "principal", pl.lit("")))
)
"""Whose word a row of ``usage_signals`` is: all that was imported is of one, and an outcome of whoever it
rests on."""
WHO = ("principal", "behind", "imported")
"""Columns that say so."""


def displaced(pair: Integers, subject: Integers, *, most: int) -> Integers:
    """The vote that each vote puts out of force.

    Args:
        pair: (n,) code of principal and memory, from 0; the votes are in the order in which they were given.
        subject: (n,) code of what was voted on within a pair: the search.
        most: votes of a pair that are in force together.

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
        held = ring[pair[rows]]
        same = (held != NONE) & (subject[held] == subject[rows][:, None])
        leaves = np.where(same.any(axis=1), same.argmax(axis=1), 0)
        out[rows] = held[np.arange(len(rows)), leaves]
        after = np.minimum(places + (places >= leaves[:, None]), most - 1)
        held = np.take_along_axis(held, after, axis=1)
        held[:, -1] = rows
        ring[pair[rows]] = held
    return out


def with_displaced(votes: pl.DataFrame, most: int) -> pl.DataFrame:
    """The votes as they were given, each with its `row` and the row that it displaces (`displaces`).

    Args:
        votes: memory_id, those of `WHO`, search_id, tier, occurred_at, signal_id.
        most: see `displaced`.
    """
    votes = votes.sort("occurred_at", "signal_id")
    pair = dense(codes(votes.with_columns(voice=VOICE), "memory_id", "voice"))
    subject = codes(votes, "search_id", "tier")
    return votes.with_columns(
        row=pl.int_range(pl.len(), dtype=pl.Int64),
        displaces=pl.Series(displaced(pair, subject, most=most), dtype=pl.Int64),
    )


def in_force(votes: pl.DataFrame, most: int) -> pl.DataFrame:
    """Of these votes, those that no later one of them has displaced."""
    placed = with_displaced(votes, most)
    return placed.join(placed.select(row="displaces"), on="row", how="anti").drop("row", "displaces")
