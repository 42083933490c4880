"""Whether anything that was found is an answer at all (rule 3.9)."""

from __future__ import annotations

import numpy as np

from scoring.ranking.candidates import Candidates


def signal(candidates: Candidates) -> float:
    """How near the nearest candidate is to the query: the best cosine, in [0, 1].

    It is absolute: fused scores are not, because BM25 is scaled by the query's own best. A memory whose
    trigger phrase the query says is always an answer.
    """
    if any(strength == 1.0 for _, strength in candidates.triggers.values()):
        return 1.0
    return float(np.clip(np.nan_to_num(candidates.cosine, nan=0.0).max(initial=0.0), 0.0, 1.0))
