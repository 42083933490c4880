"""Abstention signal: certainty that a search has an answer (rule 3.9)."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from slowwave.scoring.arrays import Floats, bounded, finite
from slowwave.scoring.ranking.candidates import Candidates
from slowwave.scoring.ranking.columns import Columns, columns_of, greatest

COVERAGE = 0.2
"""Weight of the word coverage of a chunk beside its cosine."""
WORDS_ALONE = 0.37
"""Power that scales coverage to cosines where the vector channel has no weight.

A chunk with 15 % of the query's words has 0.5, the default model's floor. Of 100 questions, 99 have an answer
with that share in Chinese, and more in Thai and English.
"""


def signals(columns: Columns, key_weight: float = 0.3) -> Floats:
    """Return the abstention signal of each of n searches, (n,), in [0, 1].

    The signal is the best ``(cosine + 0.2 · coverage) / 1.2`` of a chunk; coverage is the share of the
    query's words that the chunk has. Both have an absolute scale, so the floor is one number for all queries.
    The fused score is no such signal: reciprocal ranks and the seeds' BM25 are relative to the query's own
    best.

    A low signal shows that the memories are about something else. A high one does not prove that they have
    the answer. As far as the embedding model does not know the query's language, coverage replaces the
    cosine. The query boost of search keys is added. A query with a whole trigger phrase has signal 1.

    Args:
        columns: candidates of n searches.
        key_weight: maximum that search keys add, as in the score (rule 7.3).
    """
    near = bounded((finite(columns.cosine) + COVERAGE * columns.coverage) / (1 + COVERAGE), 0.0, 1.0)
    evidence = columns.say * near + (1 - columns.say) * columns.coverage**WORDS_ALONE
    evidence = np.minimum(evidence + bounded(columns.key, 0.0, key_weight)[columns.memory], 1.0)
    best = greatest(evidence, columns.chunk_starts)
    return np.where(columns.phrase_said, 1.0, best)


def signal(candidates: Candidates, key_weight: float = 0.3) -> float:
    """Return the `signals` of one search; 0 without candidates."""
    return float(signals(columns_of(candidates, _ANY)[0], key_weight)[0]) if len(candidates) else 0.0


_ANY = datetime(2000, 1, 1, tzinfo=UTC)  # a signal does not depend on the moment
