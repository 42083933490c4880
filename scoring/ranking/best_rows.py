"""The best rows by BM25 without scoring every row that says a common word (MaxScore).

Turtle and Flood, "Query Evaluation: Strategies and Optimizations" (1995): terms are taken by what they can
add at most. As soon as those that are left cannot lift a row that says none of the others to the worst of
the best, only rows that are known already are looked up in them. The rows and their scores are those that
scoring every row gives, to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from slowwave.scoring.ranking.bm25 import Bm25, Flags, Floats, Ints, Said

SLACK = 1 - 1e-9
"""Of a threshold: sums in another order differ in their last bits."""


def best_rows(words: Bm25, said: Sequence[Said], passing: Flags, size: int) -> tuple[Ints, Floats]:
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
    left = np.cumsum([0.0, *(one.most for one in reversed(order))])[::-1]  # from each term on
    sums, last_said = np.zeros(len(passing)), np.zeros(len(passing), dtype=np.int32)  # by which term
    top, least, at = np.empty(0, np.int64), 0.0, 0
    while at < len(order) and left[at] >= least * SLACK:  # a row that says none of the others may come in
        found: list[Ints] = []
        for block, place in order[at].places:
            rows = block.rows[place].astype(np.int64)
            sums[rows] += order[at].weight * words.shares(rows, block.counts[place])
            last_said[rows] = at + 1
            found.append(rows[passing[rows] & (sums[rows] >= least)])
        at += 1
        found.append(top[last_said[top] != at])
        top, least = _cut(np.concatenate(found), sums, size, least)
    rows = np.flatnonzero((last_said > 0) & passing)
    rows = rows[sums[rows] + left[at] >= least * SLACK]
    for rest in range(at, len(order)):
        sums[rows] += _of(words, order[rest], rows)
        _, least = _cut(rows, sums, size, least)
        rows = rows[sums[rows] + left[rest + 1] >= least * SLACK]
    scores = np.zeros(len(rows))
    for one in said:  # in the order in which every row would be scored
        scores += _of(words, one, rows)
    above = scores > 0
    return rows[above], scores[above]


def _cut(rows: Ints, sums: Floats, size: int, least: float) -> tuple[Ints, float]:
    """The rows that are among the best `size`, and what the worst of them has."""
    if len(rows) >= size:
        theirs = sums[rows]
        least = max(least, float(np.partition(theirs, len(rows) - size)[len(rows) - size]))
        rows = rows[theirs >= least]
    return rows, least


def _of(words: Bm25, one: Said, rows: Ints) -> Floats:
    """What some rows score for a term."""
    scores = np.zeros(len(rows))
    for block, place in one.places:
        times = block.times(place, rows)
        says = np.flatnonzero(times)
        scores[says] += one.weight * words.shares(rows[says], times[says])
    return scores
