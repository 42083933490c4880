"""The judge that needs nothing but the installation: words, and the bundled cross-encoder.

Its grades are steps of one number: the cross-encoder's relevance of the best passage and the share of the
query's words that the memory has. What that is worth is measured by ``bench/judge.py`` and kept in
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
"""Share of the words in the signal; the rest is the cross-encoder's."""

THRESHOLDS = (0.74, 0.76, 0.82)
"""Signals from which a pair is graded 1, 2 and 3.

Fitted on the first ten results of 55 queries each of XQuAD, Cranfield, LoCoMo and BEAM (``bench/judge.py
--queries 110``): where .50, .55 and .60 of the results from there on are relevant, as the mean of the four.
Cohen's kappa of relevant or not is highest at .76 and within .01 of that at .74.
"""

PASSAGE_WORDS = (100, 150)
"""Least and most words of a passage: what the cross-encoder reads of a text at a time."""

PASSAGES = 8
"""Passages of a long text that are read: those with most of the query's words, the earlier first (count)."""


@dataclass(frozen=True, slots=True)
class Signal:
    """What is seen of a pair: `relevance` of its best passage and share of the query's `words`, in [0, 1]."""

    relevance: float
    words: float

    @property
    def value(self) -> float:
        """The two as one number."""
        return (1 - WORDS_SHARE) * self.relevance + WORDS_SHARE * self.words


class WordsAndModel:
    """Grades by words and the cross-encoder.

    Args:
        reranker: the cross-encoder.

    The same pair gets the same grade in any company.
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
        """Nothing: no tokens are paid for."""
        return 0

    def grade(self, pairs: Sequence[Pair]) -> list[Grade]:
        """The grades of the pairs, with the two numbers as explanation."""
        return [_graded(self.signal(pair)) for pair in pairs]

    def signal(self, pair: Pair) -> Signal:
        """What the grade of a pair is made of."""
        asked = stems(pair.query)
        [words] = coverage(asked, [f"{pair.title}\n{pair.text}"])
        passages = self._passages(asked, pair)
        scores = self._reranker.scores(pair.query, passages)
        return Signal(float(scores.max(initial=0.0)), words)

    def _passages(self, asked: frozenset[str], pair: Pair) -> list[str]:
        texts = [chunk.text for chunk in self._chunker.split(pair.text)] or [""]
        if len(texts) > PASSAGES:
            shares = coverage(asked, texts)
            best = sorted(range(len(texts)), key=lambda at: (-shares[at], at))[:PASSAGES]
            texts = [texts[at] for at in sorted(best)]
        title = pair.title.strip()
        return [text if text.startswith(title) else f"{title}\n{text}" for text in texts]


def _graded(signal: Signal) -> Grade:
    grade = sum(signal.value >= threshold for threshold in THRESHOLDS)
    assert grade <= HIGHEST
    return Grade(grade, f"cross-encoder {signal.relevance:.2f}, words {signal.words:.2f}")
