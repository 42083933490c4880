"""Integer codes for text ids, many times faster to sort and group."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import polars as pl

from slowwave.scoring.arrays import Integers, places
from slowwave.scoring.days import DAY_US

MAX_PLACES = 50_000_000  # maximum cells of a lookup table, eight bytes each


def codes(frame: pl.DataFrame, *names: str) -> Integers:
    """Return a number for each distinct combination of some text columns, (n,), in no order.

    Takes at most three columns: the product of their numbers of values has to fit 63 bits.
    """
    whole = np.zeros(frame.height, dtype=np.int64)
    for name in names:
        column_codes = dense(
            frame[name].fill_null("").cast(pl.Categorical).to_physical().to_numpy().astype(np.int64)
        )
        whole = whole * (int(column_codes.max(initial=0)) + 1) + column_codes
    return whole


def dense(numbers: Integers) -> Integers:
    """Renumber numbers from 0 without gaps, in their order, (n,)."""
    if numbers.max(initial=0) > MAX_PLACES:
        return np.unique(numbers, return_inverse=True)[1]
    present = np.zeros(int(numbers.max(initial=0)) + 1, dtype=np.int64)
    present[numbers] = 1
    return (np.cumsum(present) - 1)[numbers]


def day_number(moment: str = "occurred_at") -> pl.Expr:
    """Return the days from 1970-01-01 to the UTC day of a moment."""
    return (pl.col(moment).dt.epoch("us") // DAY_US).cast(pl.Int32)


def day_names(numbers: pl.Series) -> pl.Series:
    """Return the dates (YYYY-MM-DD) of day numbers."""
    distinct = numbers.unique().to_frame("number")
    named = distinct.with_columns(day=pl.col("number").cast(pl.Date).dt.strftime("%Y-%m-%d"))
    return numbers.to_frame("number").join(named, on="number", how="left", maintain_order="left")["day"]


def day_ends(days: pl.Series) -> Integers:
    """Return 24:00 UTC of each day number or date, in microseconds, (n,)."""
    return (days.cast(pl.Int64).to_numpy() + 1) * DAY_US


def by_time(rows: pl.DataFrame, code: str) -> pl.DataFrame:
    """Sort rows by a code column, then by time, then by `signal_id`."""
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
    """Return the place of each row in its group, from 0, (n,)."""
    order = np.argsort(groups, kind="stable")
    out = np.empty(len(groups), dtype=np.int64)
    out[order] = places(groups[order])
    return out


def in_step(owner: Integers) -> tuple[Integers, Iterator[Integers]]:
    """Return each owner's first row, and the rows of all owners by turn.

    Owners with most rows come first, so each turn is a prefix of the owners.

    Args:
        owner: (n,) numbers from 0 on; rows of one owner are adjacent.
    """
    first = np.flatnonzero(np.diff(owner, prepend=-1))
    counts = np.diff(np.append(first, len(owner)))
    busiest = np.argsort(-counts, kind="stable")
    first, counts = first[busiest], counts[busiest]
    sizes = np.searchsorted(-counts, -np.arange(counts.max(initial=0)), side="left")
    return first, (first[:size] + turn for turn, size in enumerate(sizes.tolist()))
