"""Append-friendly columns in a few contiguous pieces, for taking single rows fast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from slowwave.scoring.ranking.regrouping import SEPARATOR

MAX_FOUND_ONE_BY_ONE: Final = 200
"""Texts with a part up to which they are found one after the other (count)."""


class ChunkedColumns:
    """Columns in few contiguous pieces; Arrow would copy a column of many chunks to take one row.

    Args:
        pieces: Tables of one schema.
    """

    def __init__(self, *pieces: pa.Table) -> None:
        self._pieces = tuple(piece.combine_chunks() for piece in pieces)
        self._starts = np.cumsum([0, *(piece.num_rows for piece in pieces[:-1])])
        # By first row, rows, column, and whether the texts are joined.
        self._folded: dict[tuple[int, int, str, bool], _FoldedTexts] = {}

    def with_more(self, rows: pa.Table) -> ChunkedColumns:
        """Return these and more rows; existing rows are copied seldom."""
        pieces = [*self._pieces, rows]
        while len(pieces) > 1 and 2 * pieces[-1].num_rows >= pieces[-2].num_rows:
            last = pieces.pop()
            pieces[-1] = pa.concat_tables([pieces[-1], last])
        together = ChunkedColumns(*pieces)
        spans = set(together._spans())
        together._folded = {key: text for key, text in self._folded.items() if key[:2] in spans}
        return together

    def _spans(self) -> list[tuple[int, int]]:
        """Return first row and count of rows of each piece."""
        return [
            (start, piece.num_rows) for start, piece in zip(self._starts.tolist(), self._pieces, strict=True)
        ]

    def empty(self, names: Sequence[str]) -> pa.Table:
        """Return no rows of some of the columns."""
        return self._pieces[0].slice(0, 0).select(names)

    def select(self, names: Sequence[str]) -> ChunkedColumns:
        """Return some of the columns."""
        return ChunkedColumns(*(piece.select(names) for piece in self._pieces))

    def matching(self, column: str, part: str, *, joined: bool = False) -> npt.NDArray[np.int64]:
        """Return the numbers of rows with a part in a text, in any case.

        Args:
            column: Column of short texts, which are kept in lower case beside it.
            part: In lower case.
            joined: Read the texts without separators.
        """
        found = [np.empty(0, np.int64)]
        for piece, span in zip(self._pieces, self._spans(), strict=True):
            key = (*span, column, joined)
            if (folded := self._folded.get(key)) is None:
                folded = self._folded[key] = _FoldedTexts(piece[column], joined=joined)
            rows = folded.rows_with(part.encode())
            rows = _matching(piece[column], part, joined=joined) if rows is None else rows
            found.append(rows + span[0])
        return np.concatenate(found)

    def containing(self, column: str, part: str) -> npt.NDArray[np.int64]:
        """Return the numbers of rows with a part in a text, in any case; the column is read each time."""
        starts = self._starts.tolist()
        pairs = zip(self._pieces, starts, strict=True)
        return np.concatenate([_matching(piece[column], part) + start for piece, start in pairs])

    def texts(self, column: str, rows: npt.ArrayLike) -> list[str]:
        """Return a text column of rows by their numbers, in that order."""
        if len(self._pieces) > 1:
            return list(self.select([column]).take(rows).column(0).to_pylist())
        return list(
            self._pieces[0].column(column).take(pa.array(np.asarray(rows, dtype=np.int64))).to_pylist()
        )

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


class _FoldedTexts:
    """All texts of a column in lower case, one after the other."""

    def __init__(self, column: pa.ChunkedArray, *, joined: bool = False) -> None:
        texts, self._rows = column.combine_chunks(), None
        if pa.types.is_list(texts.type) or pa.types.is_large_list(texts.type):
            texts, rows = pc.list_flatten(texts), pc.list_parent_indices(texts)
            self._rows = rows.to_numpy().astype(np.int64)
        lower = pc.fill_null(pc.utf8_lower(texts), "").cast(pa.large_string())
        if joined:
            lower = pc.replace_substring_regex(lower, SEPARATOR, "")
        sizes = pc.binary_length(lower).to_numpy(zero_copy_only=False)
        self._ends = np.cumsum(sizes, dtype=np.int64)
        self._bytes = "".join(lower.to_pylist()).encode()

    def rows_with(self, part: bytes) -> npt.NDArray[np.int64] | None:
        """Return the rows that have a part, ascending; None if that are many, which Arrow finds faster."""
        found: list[int] = []
        at = self._bytes.find(part)
        while at >= 0:
            if len(found) == MAX_FOUND_ONE_BY_ONE:
                return None
            text = int(np.searchsorted(self._ends, at, side="right"))
            if at + len(part) <= self._ends[text]:
                found.append(text)
                at = self._bytes.find(part, int(self._ends[text]))
            else:  # across two texts
                at = self._bytes.find(part, at + 1)
        places = np.array(found, dtype=np.int64)
        return places if self._rows is None else np.unique(self._rows[places])


def _matching(column: pa.ChunkedArray, part: str, *, joined: bool = False) -> npt.NDArray[np.int64]:
    texts, rows = column.combine_chunks(), None
    if pa.types.is_list(texts.type) or pa.types.is_large_list(texts.type):
        texts, rows = pc.list_flatten(texts), pc.list_parent_indices(texts)
    ignore = not part.isdigit()
    if joined:
        having = pc.match_substring_regex(texts, f"{SEPARATOR}*".join(part), ignore_case=ignore)
    else:
        having = pc.match_substring(texts, part, ignore_case=ignore)
    places = np.flatnonzero(pc.fill_null(having, fill_value=False).to_numpy(zero_copy_only=False))
    return places if rows is None else np.unique(rows.to_numpy()[places])
