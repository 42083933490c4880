"""State carried from one part of a run to the next.

A run over many days aggregates them part by part. The previous part has written its results to the tables.
Reading them again for each part would make a long run quadratic in its days.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from slowwave.store.reading import compact

Read = Callable[[Sequence[str], str], pl.DataFrame]
"""Reads rows about some memories of the days before a day from the tables."""


class CarryOverState:
    """Rows about memories: those from before the run, read once, and those of its parts so far.

    It is valid for consecutive parts that are written whole. After a part that was not, it is cleared, and
    every part reads the tables.

    Args:
        first: First day of the run (YYYY-MM-DD).
    """

    def __init__(self, first: str) -> None:
        self._first = first
        self._cached: dict[str, pl.DataFrame] = {}
        self._names: dict[str, set[str]] = {}
        self._whole = True

    def of(self, *, whole: bool) -> CarryOverState | None:
        """Return itself for a part that is done whole; None after one that was not."""
        self._whole &= whole
        if not self._whole:
            self._cached, self._names = {}, {}
        return self if self._whole else None

    def rows(self, kind: str, names: Sequence[str], read: Read) -> pl.DataFrame:
        """Return rows of a kind about these memories, of all days before the part."""
        cached, read_names = self._cached.get(kind), self._names.setdefault(kind, set())
        new = [name for name in names if name not in read_names]
        if new or cached is None:
            fresh = read(new, self._first)
            cached = fresh if cached is None else pl.concat([cached, fresh])
            self._cached[kind] = cached
            read_names.update(new)
        wanted = pl.Series("memory_id", names, dtype=pl.String).to_frame()
        return cached.join(wanted, on="memory_id", how="semi")

    def add(self, kind: str, rows: pl.DataFrame, kept: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        """Add the results of the part.

        Args:
            kind: Kind of the rows.
            rows: Rows about memories that `rows` was called for.
            kept: Selects the rows that later parts need.
        """
        cached = self._cached[kind]
        more = compact(rows.select(cached.columns).cast(cached.schema))
        self._cached[kind] = kept(pl.concat([cached, more]))
