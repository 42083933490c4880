"""Showing the results of two rankings in turn, to learn whose are used more (rule 6.6)."""

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
    """Two rankings in one.

    Attributes:
        ranking: what is shown; each result has the score that its own ranking gives it.
        other: the policy beside the one in force.
        teams: by place: ``a`` in force, ``b`` the other one, empty where the two did not compete.
        seed: of the draw.
    """

    ranking: Ranking
    other: RankingPolicy
    teams: tuple[Team, ...]
    seed: str

    @property
    def labels(self) -> tuple[str, ...]:
        """By place a name for its team that means nothing beyond this search; empty for nobody's."""
        return tuple(team and ids.digest("team", self.seed, team)[:8] for team in self.teams)


def interleave(
    first: Ranking, second: Ranking, other: RankingPolicy, *, seed: str, limit: int
) -> InterleavedRanking | None:
    """Draw one list from two; None where one of them shows nothing: then the one in force stays as it is.

    Args:
        first: by the policy in force.
        second: by the other one, of the same candidates.
        other: the other policy.
        seed: decides the draw: the search's id.
        limit: results asked for.
    """
    if first.abstained or second.abstained or not first.results or not second.results:
        return None
    from slowwave.scoring.evaluation.interleaving import team_draft

    mine, its = ({one.memory_id: one for one in ranking.results} for ranking in (first, second))
    drawn = team_draft(list(mine), list(its), seed=seed, limit=limit)
    shown = tuple(
        replace(its[name] if team == "b" or name not in mine else mine[name], rank=place)
        for place, (name, team) in enumerate(zip(drawn.results, drawn.teams, strict=True), start=1)
    )
    recalled = {one.memory_id for one in shown if RECALL_INJECTED in one.flags}
    given = {one.memory_id: one for ranking in (second, first) for one in ranking.injections}
    injections = tuple(one for name, one in given.items() if name in recalled)
    return InterleavedRanking(replace(first, results=shown, injections=injections), other, drawn.teams, seed)
