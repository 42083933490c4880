"""Ranking results with their contributions, and the candidates that were not returned."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from slowwave.scoring.ranking.breakdown import Contribution
from slowwave.scoring.ranking.confidence import Confidence
from slowwave.scoring.ranking.sparse_recall import Injection

STRONG_FIT, FAIR_FIT = 0.28, 0.14
"""Fits from which a result is called strong or fair; half of the strong ones are relevant in short lists."""
HIGHLY_EFFECTIVE = "highly_effective"
RECALL_INJECTED = "recall_injected"
MAY_BE_NEWER = "may_be_newer"
"""Flag of a memory that ranks above another because it may tell of a change (rule 3.12)."""


@dataclass(frozen=True, slots=True)
class RankedMemory:
    """One memory of a ranking.

    Attributes:
        rank: from 1.
        score: in [0, 1]; the sum of the values of `contributions`.
        best: position in the candidates of the chunk that gives the score.
        chunks: positions of all its candidate chunks, in document order.
        confidence: tier of the memory; worth a few points, and shown.
        flags: highly_effective, recall_injected, may_be_newer.
        contributions: breakdown of the score.
        semantic: text score, before feedback.
        effectiveness: used in the score, 0.5 with too few data points.
        combined: text score and effectiveness together.
        feedback_count: data points (count).
        multiplier: from not-useful votes, 1 without any.
        fit: part of the score that the query adds; the cut compares it.
        duplicates: memories with the same words that are not returned for it.
        outdated_by: memory with a newer value of the same thing; empty without one.
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
    fit: float
    duplicates: tuple[str, ...] = ()
    outdated_by: str = ""

    @property
    def fit_label(self) -> str:
        """Return how well it fits the query: strong, fair or weak."""
        return "strong" if self.fit >= STRONG_FIT else "fair" if self.fit >= FAIR_FIT else "weak"


@dataclass(frozen=True, slots=True)
class OmittedResult:
    """Candidate memory that is not returned.

    Attributes:
        place: rank among all candidates, from 1.
        reason: weak (the cut), duplicate, limit, displaced or abstained.
    """

    memory_id: str
    score: float
    place: int
    reason: str


@dataclass(frozen=True)
class Ranking:
    """Results of one search under a policy.

    Attributes:
        results: returned results, best first.
        signal: abstention signal, in [0, 1].
        abstained: whether no results are returned because the signal or the best fit is below its floor.
        injections: short memories that were given a place, the nearest first.
    """

    results: tuple[RankedMemory, ...]
    signal: float
    abstained: bool
    injections: tuple[Injection, ...]
    _ordered: tuple[tuple[str, float, str], ...]

    @cached_property
    def unshown(self) -> tuple[OmittedResult, ...]:
        """Return all other candidates, best first, with the reason that they are not shown."""
        shown = {item.memory_id for item in self.results}
        displaced = {item.displaced for item in self.injections}
        omitted = []
        for place, (memory, score, reason) in enumerate(self._ordered, start=1):
            if memory not in shown:
                why = reason or ("displaced" if memory in displaced else "limit")
                omitted.append(OmittedResult(memory, score, place, "abstained" if self.abstained else why))
        return tuple(omitted)


EMPTY_RANKING = Ranking((), 0.0, abstained=False, injections=(), _ordered=())


def positions(results: Sequence[RankedMemory]) -> npt.NDArray[np.int64]:
    """Return the positions of every candidate chunk in the results, in order."""
    return np.array([at for result in results for at in result.chunks], dtype=np.int64)
