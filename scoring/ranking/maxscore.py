"""Top rows by BM25 with MaxScore, without scoring every row of a common term.

Turtle and Flood, "Query Evaluation: Strategies and Optimizations" (1995). Terms are processed by descending
maximum score. Once the remaining terms alone cannot bring a row into the best, only rows that may still be
among the best are looked up in them. Pruning uses sums in single precision, with some slack. The surviving
rows are scored in full precision, so rows and scores equal those of a full scan to the last bit.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from slowwave.scoring.arrays import Flags, Floats, Integers
from slowwave.scoring.ranking.bm25 import Bm25, QueryTerm

SLACK = 1 - 1e-4
"""Factor of a threshold; sums of up to a thousand terms in single precision differ by less."""

FULL_SCAN_BELOW = 0.3
"""Share of the current threshold that the remaining terms must reach for a full scan of the next term. Below,
looking the term up in the surviving rows is faster (share, below `SLACK`)."""

SAMPLE_ROWS = 2_048
"""Rows of the first terms that give a lower bound of the threshold (count)."""

LOOK_UP = 16
"""Rows of a term that a scan adds up in the time of one lookup (count)."""

Rows = npt.NDArray[np.int32]
Sums = npt.NDArray[np.float32]


def maxscore_rows(
    words: Bm25, query_terms: Sequence[QueryTerm], passing: Flags, size: int
) -> tuple[Integers, Floats]:
    """Return rows that include the best `size` and all ties with the last.

    Args:
        words: scorer of all rows.
        query_terms: terms of the query (`Bm25.said`).
        passing: rows that may be returned, (n,); no dead row.
        size: rows wanted (count).

    Returns:
        Rows, ascending, and their scores above 0.
    """
    if size < 1:
        return np.empty(0, np.int64), np.empty(0)
    order = sorted((term for term in query_terms if term.places), key=lambda term: -term.most)
    remaining = np.cumsum([0.0, *(term.most for term in reversed(order))])[::-1].tolist()  # from each term on
    sums, sample = np.zeros(len(passing), np.float32), np.empty(0, np.int32)
    at, least = 0, 0.0
    while (
        at < len(order) and remaining[at] >= least * FULL_SCAN_BELOW
    ):  # a row without the earlier terms may enter
        _add(sums, words, order[at])
        sample = _with_some(sample, order[at], passing)
        at, least = at + 1, _least(sums[sample], size, least)
    need = least * SLACK - remaining[at]
    rows = np.flatnonzero((sums >= need if need > 0 else sums > 0) & passing)
    for rest in range(at, len(order) + 1):
        rough = sums[rows]
        least = _least(rough, size, least)
        rows = rows[rough >= least * SLACK - remaining[rest]]
        if rest == len(order):
            break
        if order[rest].rows <= LOOK_UP * len(rows):
            _add(sums, words, order[rest])
        else:
            sums[rows] += _of(words, order[rest], rows)
    scores = np.zeros(len(rows))
    for term in query_terms:  # in the order in which every row would be scored
        scores += _of(words, term, rows)
    above = scores > 0
    return rows[above], scores[above]


def _add(sums: Sums, words: Bm25, term: QueryTerm) -> None:
    """Add the score of a term to the sums of all rows that contain it."""
    for block, place in term.places:
        rows = block.rows[place]
        np.add.at(sums, rows, np.float32(term.weight) * words.rough_shares(rows, block.counts[place]))


def _with_some(sample: Rows, term: QueryTerm, passing: Flags) -> Rows:
    """Extend a small sample with passing rows of one more term; each row is in it once."""
    if len(sample) >= SAMPLE_ROWS:
        return sample
    samples = [block.rows[place][:: max(1, term.rows // SAMPLE_ROWS)] for block, place in term.places]
    rows = np.concatenate(samples)
    rows = np.sort(np.concatenate([sample, rows[passing[rows]]]))
    return rows[np.diff(rows, prepend=-1) > 0]


def _least(sums: Sums, size: int, least: float) -> float:
    """Return the `size`-th greatest sum, if it exceeds the known lower bound."""
    if len(sums) < size:
        return least
    return max(least, float(np.partition(sums, len(sums) - size)[len(sums) - size]))


def _of(words: Bm25, term: QueryTerm, rows: Integers) -> Floats:
    """Return the scores of some rows for a term."""
    scores = np.zeros(len(rows))
    for block, place in term.places:
        times = block.times(place, rows)
        containing = np.flatnonzero(times)
        scores[containing] += term.weight * words.shares(rows[containing], times[containing])
    return scores
