"""Append-friendly columns in a few contiguous pieces, for taking single rows fast."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


class ChunkedColumns:
    """Columns in few contiguous pieces; Arrow would copy a column of many chunks to take one row.

    Args:
        pieces: Tables of one schema.
    """

    def __init__(self, *pieces: pa.Table) -> None:
        self._pieces = tuple(piece.combine_chunks() for piece in pieces)
        self._starts = np.cumsum([0, *(piece.num_rows for piece in pieces[:-1])])

    def with_more(self, rows: pa.Table) -> ChunkedColumns:
        """Return these and more rows; existing rows are copied seldom."""
        pieces = [*self._pieces, rows]
        while len(pieces) > 1 and 2 * pieces[-1].num_rows >= pieces[-2].num_rows:
            last = pieces.pop()
            pieces[-1] = pa.concat_tables([pieces[-1], last])
        return ChunkedColumns(*pieces)

    def select(self, names: Sequence[str]) -> ChunkedColumns:
        """Return some of the columns."""
        return ChunkedColumns(*(piece.select(names) for piece in self._pieces))

    def matching(self, column: str, part: str) -> npt.NDArray[np.int64]:
        """Return the numbers of rows with a part in a text, in any case."""
        starts = self._starts.tolist()
        found = [
            _matching(piece[column], part) + start for piece, start in zip(self._pieces, starts, strict=True)
        ]
        return np.concatenate(found)

    def take(self, rows: npt.ArrayLike) -> pa.Table:
        """Return rows by their numbers, in that order."""
        wanted = np.asarray(rows, dtype=np.int64)
        if len(self._pieces) == 1:
            return self._pieces[0].take(pa.array(wanted))
        where = np.searchsorted(self._starts, wanted, side="right") - 1
        order = np.argsort(where, kind="stable")
        parts = [
            piece.take(pa.array(wanted[where == number] - self._starts[number]))
            for number, piece in enumerate(self._pieces)
            if (where == number).any()
        ]
        place = np.empty(len(wanted), dtype=np.int64)
        place[order] = np.arange(len(wanted))
        together = pa.concat_tables(parts) if parts else self._pieces[0].slice(0, 0)
        return together.combine_chunks().take(pa.array(place))


def _matching(column: pa.ChunkedArray, part: str) -> npt.NDArray[np.int64]:
    texts, rows = column.combine_chunks(), None
    if pa.types.is_list(texts.type) or pa.types.is_large_list(texts.type):
        texts, rows = pc.list_flatten(texts), pc.list_parent_indices(texts)
    having = pc.match_substring(texts, part, ignore_case=not part.isdigit())
    places = np.flatnonzero(pc.fill_null(having, fill_value=False).to_numpy(zero_copy_only=False))
    return places if rows is None else np.unique(rows.to_numpy()[places])
