"""Whether anything that was found is an answer at all (rule 3.9)."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np

from slowwave.scoring.arrays import Floats, bounded, finite
from slowwave.scoring.ranking.candidates import Candidates
from slowwave.scoring.ranking.columns import Columns, columns_of, greatest

COVERAGE = 0.2
"""What it counts that a chunk has all words of the query, beside its cosine."""
WORDS_ALONE = 0.37
"""Power that brings the share of words to the scale of cosines where nothing else speaks.

A chunk with 15 % of the query's words has .5, which is the default model's floor; 99 of 100 questions have an
answer with so many in Chinese, and with more in Thai and English.
"""


def signals(columns: Columns, key_weight: float = 0.3) -> Floats:
    """How sure it is, for each of n searches, that one of its candidates is an answer: (n,), in [0, 1].

    The best of ``(cosine + .2 · coverage) / 1.2``, coverage being the share of the query's words that a
    chunk has. It is absolute: fused scores are not, because BM25 is scaled by the query's own best. It tells
    that a memory is about something else; it cannot tell that it is about this and does not say it. Where the
    embedding model does not know the language of the query, as far as it does not, coverage alone speaks.
    What search keys add to a memory is added here, too: questions like this one had an answer. A memory whose
    trigger phrase the query says is always an answer.

    Args:
        columns: the candidates.
        key_weight: most that search keys count, as in the score (rule 7.3).
    """
    near = bounded((finite(columns.cosine) + COVERAGE * columns.coverage) / (1 + COVERAGE), 0.0, 1.0)
    heard = columns.say * near + (1 - columns.say) * columns.coverage**WORDS_ALONE
    heard = np.minimum(heard + bounded(columns.key, 0.0, key_weight)[columns.memory], 1.0)
    best = greatest(heard, columns.chunk_starts)
    return np.where(columns.phrase_said, 1.0, best)


def signal(candidates: Candidates) -> float:
    """`signals` of one search."""
    return float(signals(columns_of(candidates, _ANY)[0])[0]) if len(candidates) else 0.0


_ANY = datetime(2000, 1, 1, tzinfo=UTC)  # a signal does not depend on the moment
