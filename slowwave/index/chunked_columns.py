"""Columns of many rows that grow by a few at a time, and of which a few rows are taken."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa


class ChunkedColumns:
    """Columns of rows in few pieces of memory, each in one: of several Arrow would copy all to take one row.

    Args:
        pieces: tables of one schema.
    """

    def __init__(self, *pieces: pa.Table) -> None:
        self._pieces = tuple(one.combine_chunks() for one in pieces)
        self._starts = np.cumsum([0, *(one.num_rows for one in pieces[:-1])])

    def with_more(self, rows: pa.Table) -> ChunkedColumns:
        """These and more; what is there is copied seldom."""
        pieces = [*self._pieces, rows]
        while len(pieces) > 1 and 2 * pieces[-1].num_rows >= pieces[-2].num_rows:
            last = pieces.pop()
            pieces[-1] = pa.concat_tables([pieces[-1], last])
        return ChunkedColumns(*pieces)

    def select(self, names: Sequence[str]) -> ChunkedColumns:
        """Some of the columns."""
        return ChunkedColumns(*(one.select(names) for one in self._pieces))

    def take(self, rows: npt.ArrayLike) -> pa.Table:
        """Rows by their numbers, in that order."""
        wanted = np.asarray(rows, dtype=np.int64)
        if len(self._pieces) == 1:
            return self._pieces[0].take(pa.array(wanted))
        where = np.searchsorted(self._starts, wanted, side="right") - 1
        order = np.argsort(where, kind="stable")
        found = [
            piece.take(pa.array(wanted[where == number] - self._starts[number]))
            for number, piece in enumerate(self._pieces)
            if (where == number).any()
        ]
        place = np.empty(len(wanted), dtype=np.int64)
        place[order] = np.arange(len(wanted))
        together = pa.concat_tables(found) if found else self._pieces[0].slice(0, 0)
        return together.combine_chunks().take(pa.array(place))
