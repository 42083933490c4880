"""Default judge: word overlap and the bundled cross-encoder.

The grade is a step function of one signal: the cross-encoder's relevance of the best passage and the share of
query words in the memory. ``bench/judge.py`` measures its validity; the result is in
``docs/benchmarks/evaluation-validity.md``.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from slowwave.common import ids
from slowwave.evaluation.judging.model import Grade, Pair
from slowwave.scoring.evaluation.judgments import HIGHEST
from slowwave.scoring.ranking.words import coverage, stems

if TYPE_CHECKING:
    from slowwave.embedding.reranking import Reranker

WORDS_SHARE = 0.1
"""Weight of the words in the signal; the rest is the cross-encoder's."""

THRESHOLDS = (0.74, 0.76, 0.82)
"""Signals from which a pair is graded 1, 2 and 3.

Fitted on the first ten results of 55 queries each of XQuAD, Cranfield, LoCoMo and BEAM (``bench/judge.py
--queries 110``): where 0.50, 0.55 and 0.60 of the results above are relevant, as the mean of the four.
Cohen's kappa of relevant or not is highest at 0.76 and within 0.01 of that at 0.74.
"""

PASSAGE_WORDS = (100, 150)
"""Minimum and maximum words of a passage, the unit that the cross-encoder reads."""

PASSAGES = 8
"""Maximum passages read of a long text (count): those with most query words, earlier ones first."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Signal of a pair: `relevance` of its best passage and share of the query's `words`, in [0, 1]."""

    relevance: float
    words: float

    @property
    def value(self) -> float:
        """Return the weighted mean of both parts."""
        return (1 - WORDS_SHARE) * self.relevance + WORDS_SHARE * self.words


class WordsAndModel:
    """Judge by word overlap and cross-encoder.

    A pair gets the same grade whatever else is in the batch.
    """

    name = "default"
    version = "1"
    remote = False
    batch = 8

    def __init__(self, reranker: Reranker) -> None:
        from slowwave.notes.chunking import Chunker

        self._reranker = reranker
        self._chunker = Chunker(*PASSAGE_WORDS)
        self.model = reranker.name
        rules = (WORDS_SHARE, THRESHOLDS, PASSAGE_WORDS, PASSAGES)
        self.prompt_hash = ids.digest("rules", *map(repr, rules))

    def cost(self, _pair: Pair) -> int:
        """Return 0: no tokens are paid for."""
        return 0

    def grade(self, pairs: Sequence[Pair]) -> list[Grade]:
        """Return the grades of the pairs, with both parts as explanation."""
        return [_graded(self.signal(pair)) for pair in pairs]

    def signal(self, pair: Pair) -> Signal:
        """Compute the signal that the grade of a pair is derived from."""
        query_stems = stems(pair.query)
        [words] = coverage(query_stems, [f"{pair.title}\n{pair.text}"])
        passages = self._passages(query_stems, pair)
        scores = self._reranker.scores(pair.query, passages)
        return Signal(float(scores.max(initial=0.0)), words)

    def _passages(self, query_stems: frozenset[str], pair: Pair) -> list[str]:
        texts = [chunk.text for chunk in self._chunker.split(pair.text)] or [""]
        if len(texts) > PASSAGES:
            shares = coverage(query_stems, texts)
            best = sorted(range(len(texts)), key=lambda at: (-shares[at], at))[:PASSAGES]
            texts = [texts[at] for at in sorted(best)]
        title = pair.title.strip()
        return [text if text.startswith(title) else f"{title}\n{text}" for text in texts]


def _graded(signal: Signal) -> Grade:
    grade = sum(signal.value >= threshold for threshold in THRESHOLDS)
    assert grade <= HIGHEST
    return Grade(grade, f"cross-encoder {signal.relevance:.2f}, words {signal.words:.2f}")
