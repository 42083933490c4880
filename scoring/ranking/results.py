"""What a ranking is: memories with the account of their scores, and what is not shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from slowwave.scoring.ranking.breakdown import Contribution
from slowwave.scoring.ranking.confidence import Confidence
from slowwave.scoring.ranking.sparse_recall import Injection

HIGHLY_EFFECTIVE = "highly_effective"
RECALL_INJECTED = "recall_injected"


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """One memory of a ranking.

    Attributes:
        rank: from 1.
        score: in [0, 1]; the sum of the values of `contributions`.
        best: position in the candidates of the chunk that gives the score.
        chunks: positions of all its candidate chunks, in document order.
        confidence: in the memory; it is worth a few points, and shown.
        flags: highly_effective, recall_injected.
        contributions: the breakdown.
        semantic: score of the text alone, before feedback has its part.
        effectiveness: that counted, .5 where there are too few data points.
        combined: of these two.
        feedback_count: data points (count).
        multiplier: of not-useful votes, 1 where there are none.
    """

    rank: int
    memory_id: str
    score: float
    best: int
    chunks: tuple[int, ...]
    confidence: Confidence
    flags: tuple[str, ...]
    contributions: tuple[Contribution, ...]
    semantic: float
    effectiveness: float
    combined: float
    feedback_count: int
    multiplier: float


@dataclass(frozen=True, slots=True)
class OmittedResult:
    """A memory that was found and is not shown.

    Attributes:
        place: it had among all, from 1.
        reason: cut, displaced or abstained.
    """

    memory_id: str
    score: float
    place: int
    reason: str


@dataclass(frozen=True)
class Ranking:
    """What a policy makes of candidates.

    Attributes:
        results: what is shown, best first.
        signal: how sure it is that there is an answer, in [0, 1].
        abstained: whether nothing is shown because the signal is below the policy's floor.
        injections: the short memories that were given a place, nearest first.
    """

    results: tuple[RankedMemory, ...]
    signal: float
    abstained: bool
    injections: tuple[Injection, ...]
    _ordered: tuple[tuple[str, float], ...]

    @cached_property
    def unshown(self) -> tuple[OmittedResult, ...]:
        """Everything else that was found, best first, and why it is not shown."""
        shown = {one.memory_id for one in self.results}
        displaced = {one.displaced for one in self.injections}
        found = []
        for place, (memory, score) in enumerate(self._ordered, start=1):
            if memory not in shown:
                why = "abstained" if self.abstained else "displaced" if memory in displaced else "cut"
                found.append(OmittedResult(memory, score, place, why))
        return tuple(found)


EMPTY_RANKING = Ranking((), 0.0, abstained=False, injections=(), _ordered=())


def positions(results: Sequence[RankedMemory]) -> npt.NDArray[np.int64]:
    """Positions of every candidate chunk that the results show, in their order."""
    return np.array([at for one in results for at in one.chunks], dtype=np.int64)
