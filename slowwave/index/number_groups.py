"""Rows of a snapshot that may have a number in another grouping (rule 3.11)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from slowwave.scoring.ranking.regrouping import BETWEEN

GROUPED_IN: Final = ("title", "text", "headings")
"""Columns that are read for the groups."""
RARE: Final = 5
"""Minimum characters of a last group that is looked up without the first one (count)."""
MAX_READ: Final = 5_000
"""Maximum chunks that are read for one number (count)."""

Rows = npt.NDArray[np.int64]


def common_rows(first: Sequence[npt.NDArray[Any]], last: Sequence[npt.NDArray[Any]]) -> Rows:
    """Return the rows in one of the arrays on each side, ascending.

    Args:
        first: Rows with each word that the first group can be.
        last: The same for the last group.
    """
    if not first or not last:
        return np.empty(0, np.int64)
    flags = np.zeros(1 + max(int(rows.max()) for rows in (*first, *last) if len(rows)), dtype=bool)
    for rows in first:
        flags[rows] = True
    both = np.zeros_like(flags)
    for rows in last:
        both[rows[flags[rows]]] = True
    return np.flatnonzero(both)


def may_have_groups(rows: pa.Table, characters: str) -> npt.NDArray[np.bool_]:
    """Whether each chunk may have the characters in groups; one with headings may.

    Args:
        rows: Columns `GROUPED_IN`.
        characters: Lower-case letters and digits.
    """
    pattern = BETWEEN.join(characters)
    ignore = not characters.isdigit()
    grouped = [
        pc.match_substring_regex(rows[name], pattern, ignore_case=ignore) for name in ("title", "text")
    ]
    grouped.append(pc.greater(pc.list_value_length(rows["headings"]), 0))
    found = np.zeros(rows.num_rows, dtype=bool)
    for one in grouped:
        found |= pc.fill_null(one, fill_value=False).to_numpy(zero_copy_only=False)
    return found
