"""Interleaving of two rankings in one result list (rule 6.6)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from slowwave.common import ids
from slowwave.scoring.ranking import Ranking, RankingPolicy
from slowwave.scoring.ranking.results import RECALL_INJECTED

if TYPE_CHECKING:
    from slowwave.scoring.evaluation.interleaving import Team


@dataclass(frozen=True, slots=True)
class InterleavedRanking:
    """Result list drawn from two rankings.

    Attributes:
        ranking: Returned results; each has the score of its own ranking.
        other: Policy beside the one in force.
        teams: By position: ``a`` in force, ``b`` the other one, empty where both agree.
        seed: Seed of the draw.
    """

    ranking: Ranking
    other: RankingPolicy
    teams: tuple[Team, ...]
    seed: str

    @property
    def labels(self) -> tuple[str, ...]:
        """Return a team label per position, meaningless beyond this search; empty without a team."""
        return tuple(team and ids.digest("team", self.seed, team)[:8] for team in self.teams)


def interleave(
    first: Ranking, second: Ranking, other: RankingPolicy, *, seed: str, limit: int
) -> InterleavedRanking | None:
    """Draw one list from two; None if one of them is empty or abstains.

    Args:
        first: Ranking by the policy in force.
        second: Ranking of the same candidates by the other policy.
        other: The other policy.
        seed: Seed of the draw: the search's id.
        limit: Requested results.
    """
    if first.abstained or second.abstained or not first.results or not second.results:
        return None
    from slowwave.scoring.evaluation.interleaving import team_draft

    first_results, second_results = (
        {result.memory_id: result for result in ranking.results} for ranking in (first, second)
    )
    drawn = team_draft(list(first_results), list(second_results), seed=seed, limit=limit)
    results = tuple(
        replace(
            second_results[name] if team == "b" or name not in first_results else first_results[name],
            rank=place,
        )
        for place, (name, team) in enumerate(zip(drawn.results, drawn.teams, strict=True), start=1)
    )
    recalled = {result.memory_id for result in results if RECALL_INJECTED in result.flags}
    by_memory = {result.memory_id: result for ranking in (second, first) for result in ranking.injections}
    injections = tuple(result for name, result in by_memory.items() if name in recalled)
    return InterleavedRanking(
        replace(first, results=results, injections=injections), other, drawn.teams, seed
    )
