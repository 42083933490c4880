"""Ids as numbers, which sort and group many times faster than texts."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from slowwave.scoring.arrays import Integers
from slowwave.scoring.days import DAY_US

MOST_PLACES = 50_000_000  # of a table that is looked up, eight bytes each


def codes(frame: pl.DataFrame, *names: str) -> Integers:
    """A number for each distinct value of some text columns together, (n,); their order means nothing.

    Of at most three columns: the product of their numbers of values has to fit 63 bits.
    """
    whole = np.zeros(frame.height, dtype=np.int64)
    for name in names:
        one = dense(frame[name].fill_null("").cast(pl.Categorical).to_physical().to_numpy().astype(np.int64))
        whole = whole * (int(one.max(initial=0)) + 1) + one
    return whole


def dense(numbers: Integers) -> Integers:
    """The same numbers (from 0 on) renamed from 0 without gaps, in their order, (n,)."""
    if numbers.max(initial=0) > MOST_PLACES:
        return np.unique(numbers, return_inverse=True)[1]
    there = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.int64)
    there[numbers] = 1
    return (np.cumsum(there) - 1)[numbers]


def day_number(moment: str = "occurred_at") -> pl.Expr:
    """Days from 1970-01-01 to the UTC day of a moment."""
    return (pl.col(moment).dt.epoch("us") // DAY_US).cast(pl.Int32)


def day_names(numbers: pl.Series) -> pl.Series:
    """The days (YYYY-MM-DD) that these numbers stand for."""
    distinct = numbers.unique().to_frame("number")
    named = distinct.with_columns(day=pl.col("number").cast(pl.Date).dt.strftime("%Y-%m-%d"))
    return numbers.to_frame("number").join(named, on="number", how="left", maintain_order="left")["day"]


def day_ends(days: pl.Series) -> Integers:
    """24:00 UTC of each day (dates, or days from 1970-01-01), in microseconds, (n,)."""
    return (days.cast(pl.Int64).to_numpy() + 1) * DAY_US


def by_time(rows: pl.DataFrame, code: str) -> pl.DataFrame:
    """Rows by a code (a column) and then as they happened; of one moment by `signal_id`."""
    if rows.is_empty():
        return rows
    moments, codes_ = rows["occurred_at"].dt.epoch("us").to_numpy(), rows[code].to_numpy()
    since = moments - moments.min()
    span = int(since.max()) + 1
    if span * (int(codes_.max()) + 1) < 2**63:  # both as one number sort fastest
        place = codes_ * span + since
        order = np.argsort(place)
        if (np.diff(place[order]) != 0).all():
            return rows[order]
    return rows.sort(code, "occurred_at", "signal_id")


def turns(groups: Integers) -> Integers:
    """The place of each row among those of its group, from 0, (n,)."""
    order = np.argsort(groups, kind="stable")
    first = np.flatnonzero(np.diff(groups[order], prepend=groups[order][:1] - 1))
    out = np.empty(len(groups), dtype=np.int64)
    out[order] = np.arange(len(groups)) - np.repeat(first, np.diff(np.append(first, len(groups))))
    return out


def in_step(owner: Integers) -> tuple[Integers, Iterator[Integers]]:
    """First row of each owner, who has most rows first; and the rows of all owners' first turn, second, ...

    Args:
        owner: (n,) numbers from 0 on; rows of one stand together.
    """
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    counts = np.diff(np.append(first, len(owner)))
    busiest = np.argsort(-counts, kind="stable")
    first, counts = first[busiest], counts[busiest]
    sizes = np.searchsorted(-counts, -np.arange(counts.max(initial=0)), side="left")
    return first, (first[:size] + turn for turn, size in enumerate(sizes.tolist()))
