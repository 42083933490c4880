"""What the days before some days left, carried from one part of a run to the next.

A run over many days folds them part by part. What a part rests on is in the tables, where the part before
has written it; reading it there again for each part would make a long run cost by the square of its days.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl

from slowwave.store.reading import compact

Read = Callable[[Sequence[str], str], pl.DataFrame]
"""Rows about some memories of the days before one, from the tables."""


class CarryOverState:
    """Rows about memories: those from before the run, read once, and those of its parts so far.

    It holds for parts that follow one another and are written whole. Once one was not, it knows nothing any
    more, and every part reads the tables.

    Args:
        first: first day of the run.
    """

    def __init__(self, first: str) -> None:
        self._first = first
        self._known: dict[str, pl.DataFrame] = {}
        self._names: dict[str, set[str]] = {}
        self._whole = True

    def of(self, *, whole: bool) -> CarryOverState | None:
        """Itself, for a part of the run that is done whole; None where one is not, or was not."""
        self._whole &= whole
        if not self._whole:
            self._known, self._names = {}, {}
        return self if self._whole else None

    def rows(self, what: str, names: Sequence[str], read: Read) -> pl.DataFrame:
        """Rows of a kind about these memories, of all days before the part."""
        known, seen = self._known.get(what), self._names.setdefault(what, set())
        new = [name for name in names if name not in seen]
        if new or known is None:
            fresh = read(new, self._first)
            known = fresh if known is None else pl.concat([known, fresh])
            self._known[what] = known
            seen.update(new)
        wanted = pl.Series("memory_id", names, dtype=pl.String).to_frame()
        return known.join(wanted, on="memory_id", how="semi")

    def add(self, what: str, rows: pl.DataFrame, kept: Callable[[pl.DataFrame], pl.DataFrame]) -> None:
        """Take in what the part came to.

        Args:
            what: the kind.
            rows: about memories that `rows` was asked for.
            kept: which of all rows the next parts need.
        """
        known = self._known[what]
        more = compact(rows.select(known.columns).cast(known.schema))
        self._known[what] = kept(pl.concat([known, more]))
