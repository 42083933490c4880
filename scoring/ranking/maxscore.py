"""The best rows by BM25 without scoring every row that says a common word (MaxScore).

Turtle and Flood, "Query Evaluation: Strategies and Optimizations" (1995): terms are taken by what they can
add at most. As soon as those that are left cannot lift a row that says none of the others to the worst of
the best, only rows that may still be among the best are looked up in them. What decides that are sums in
single precision, with some slack; the rows that are left are scored as every row would be, so that the best
and their scores are those that scoring every row gives, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Flags, Floats, Integers
from slowwave.scoring.ranking.bm25 import Bm25, Said

SLACK = 1 - 1e-4
"""Of a threshold: sums in single precision, of a thousand terms at most, differ by less."""

FULL_SCAN_BELOW = 0.3
"""Terms are added up for all rows as long as those that are left can give as much of the worst of the best:
that takes less time than looking them up in all rows that they could lift there (share, below `SLACK`)."""

SAMPLE_ROWS = 2_048
"""Rows of the first terms that tell what the worst of the best has at least (count)."""

LOOK_UP = 16
"""Rows of a term that are added up in the time in which one row is looked up in it (count)."""

Rows = npt.NDArray[np.int32]
Sums = npt.NDArray[np.float32]


def maxscore_rows(words: Bm25, said: Sequence[Said], passing: Flags, size: int) -> tuple[Integers, Floats]:
    """Rows among which are the best `size`, and those that score as much as the last of them.

    Args:
        words: of all rows.
        said: the terms of the query (`Bm25.said`).
        passing: rows that count, (n,); none that is not alive.
        size: rows that are wanted (count).

    Returns:
        Rows, ascending, and their scores, which are above 0.
    """
    if size < 1:
        return np.empty(0, np.int64), np.empty(0)
    order = sorted((one for one in said if one.places), key=lambda one: -one.most)
    left = np.cumsum([0.0, *(one.most for one in reversed(order))])[::-1].tolist()  # from each term on
    sums, sample = np.zeros(len(passing), np.float32), np.empty(0, np.int32)
    at, least = 0, 0.0
    while (
        at < len(order) and left[at] >= least * FULL_SCAN_BELOW
    ):  # a row that says none of the others may come in
        _add(sums, words, order[at])
        sample = _with_some(sample, order[at], passing)
        at, least = at + 1, _least(sums[sample], size, least)
    need = least * SLACK - left[at]
    rows = np.flatnonzero((sums >= need if need > 0 else sums > 0) & passing)
    for rest in range(at, len(order) + 1):
        known = sums[rows]
        least = _least(known, size, least)
        rows = rows[known >= least * SLACK - left[rest]]
        if rest == len(order):
            break
        if order[rest].rows <= LOOK_UP * len(rows):
            _add(sums, words, order[rest])
        else:
            sums[rows] += _of(words, order[rest], rows)
    scores = np.zeros(len(rows))
    for one in said:  # in the order in which every row would be scored
        scores += _of(words, one, rows)
    above = scores > 0
    return rows[above], scores[above]


def _add(sums: Sums, words: Bm25, one: Said) -> None:
    """Add what a term gives to the sums of all rows that say it."""
    for block, place in one.places:
        rows = block.rows[place]
        np.add.at(sums, rows, np.float32(one.weight) * words.rough_shares(rows, block.counts[place]))


def _with_some(sample: Rows, one: Said, passing: Flags) -> Rows:
    """A sample with rows of one more term that pass, if it lacks some; each row is in it once."""
    if len(sample) >= SAMPLE_ROWS:
        return sample
    more = [block.rows[place][:: max(1, one.rows // SAMPLE_ROWS)] for block, place in one.places]
    rows = np.concatenate(more)
    rows = np.sort(np.concatenate([sample, rows[passing[rows]]]))
    return rows[np.diff(rows, prepend=-1) > 0]


def _least(sums: Sums, size: int, least: float) -> float:
    """What the worst of the best `size` of some rows has, if it is more than what is known."""
    if len(sums) < size:
        return least
    return max(least, float(np.partition(sums, len(sums) - size)[len(sums) - size]))


def _of(words: Bm25, one: Said, rows: Integers) -> Floats:
    """What some rows score for a term."""
    scores = np.zeros(len(rows))
    for block, place in one.places:
        times = block.times(place, rows)
        says = np.flatnonzero(times)
        scores[says] += one.weight * words.shares(rows[says], times[says])
    return scores
