"""Whether anything that was found is an answer at all (rule 3.9)."""

from __future__ import annotations

import numpy as np

from scoring.ranking.arrays import bounded, finite
from scoring.ranking.candidates import Candidates, Floats
from scoring.ranking.columns import Columns, greatest

COVERAGE = 0.2
"""What it counts that a chunk has all words of the query, beside its cosine."""


def signals(columns: Columns) -> Floats:
    """How sure it is, for each of n searches, that one of its candidates is an answer: (n,), in [0, 1].

    The best of ``(cosine + .2 · coverage) / 1.2``, coverage being the share of the query's words that a
    chunk has. It is absolute: fused scores are not, because BM25 is scaled by the query's own best. It tells
    that a memory is about something else; it cannot tell that it is about this and does not say it. A memory
    whose trigger phrase the query says is always an answer.
    """
    best = greatest(_of_chunks(columns.cosine, columns.coverage), columns.chunk_starts)
    return np.where(columns.phrase_said, 1.0, _scaled(best))


def signal(candidates: Candidates) -> float:
    """`signals` of one search."""
    if any(strength == 1.0 for _, strength in candidates.triggers.values()):
        return 1.0
    best = _of_chunks(candidates.cosine, candidates.coverage).max(initial=0.0)
    return float(_scaled(best))


def _of_chunks(cosine: Floats, coverage: Floats) -> Floats:
    found: Floats = finite(cosine) + COVERAGE * coverage
    return found


def _scaled(best: Floats) -> Floats:
    scaled: Floats = bounded(best / (1 + COVERAGE), 0.0, 1.0)
    return scaled
