"""Ranking of one search (rule 3): pure functions with the same result on every machine."""

from slowwave.scoring.ranking.breakdown import Contribution
from slowwave.scoring.ranking.candidates import Candidates, MemoryState
from slowwave.scoring.ranking.confidence import Confidence
from slowwave.scoring.ranking.rank import rank
from slowwave.scoring.ranking.results import RankedMemory, Ranking
from slowwave.scoring.ranking_policy import SEEDS, RankingPolicy

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
