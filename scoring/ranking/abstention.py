"""Whether anything that was found is an answer at all (rule 3.9)."""

from __future__ import annotations

import numpy as np

from scoring.ranking.candidates import Candidates

COVERAGE = 0.2
"""What it counts that a chunk has all words of the query, beside its cosine."""


def signal(candidates: Candidates) -> float:
    """How sure it is that one of the candidates is an answer, in [0, 1].

    The best of ``(cosine + .2 · coverage) / 1.2``, coverage being the share of the query's words that a
    chunk has. It is absolute: fused scores are not, because BM25 is scaled by the query's own best. It tells
    that a memory is about something else; it cannot tell that it is about this and does not say it. A memory
    whose trigger phrase the query says is always an answer.
    """
    if any(strength == 1.0 for _, strength in candidates.triggers.values()):
        return 1.0
    cosine = np.nan_to_num(candidates.cosine, nan=0.0, posinf=0.0, neginf=0.0)
    best = (cosine + COVERAGE * candidates.coverage).max(initial=0.0)
    return float(np.clip(best / (1 + COVERAGE), 0.0, 1.0))
