"""The maths of one search (rule 3): candidates in, ranked memories out, the same on every machine."""

from scoring.ranking.breakdown import Contribution
from scoring.ranking.candidates import Candidates, MemoryState
from scoring.ranking.confidence import Confidence
from scoring.ranking.policy import SEEDS, RankingPolicy
from scoring.ranking.rank import rank
from scoring.ranking.ranked import RankedMemory, Ranking

__all__ = [
    "SEEDS",
    "Candidates",
    "Confidence",
    "Contribution",
    "MemoryState",
    "RankedMemory",
    "Ranking",
    "RankingPolicy",
    "rank",
]
