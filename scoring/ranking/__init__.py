"""The maths of one search (rule 3): candidates in, ranked memories out, the same on every machine."""

from scoring.ranking.candidates import Candidates
from scoring.ranking.policy import RankingPolicy
from scoring.ranking.rank import RankedMemory, rank

__all__ = ["Candidates", "RankedMemory", "RankingPolicy", "rank"]
