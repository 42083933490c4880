"""What the journal keeps of a search: enough to rank it again, under this policy or another."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from slowwave.journal.kinds.search import (
    Interleaving,
    SearchPayload,
    ShownPayload,
    candidates_kept,
    candidates_of,
)
from slowwave.scoring.ranking import Ranking, RankingPolicy, rank
from slowwave.search.interleave import InTurn, in_turn
from slowwave.search.searcher import Found


def logged(
    ranking: Ranking,
    found: Found,
    policy: RankingPolicy,
    *,
    query: str,
    limit: int,
    as_of: datetime,
    filters: Mapping[str, Any],
    turns: InTurn | None = None,
) -> SearchPayload:
    """The payload of a ``search`` entry.

    Args:
        ranking: what was made of the candidates.
        found: the candidates.
        policy: the ranking that was in force.
        query: the text.
        limit: results asked for.
        as_of: the moment that votes were counted at.
        filters: that were given.
        turns: how it was drawn from two rankings, if it was.
    """
    payload = SearchPayload(
        query=query,
        limit=limit,
        as_of=as_of.isoformat(),
        filters=dict(filters),
        policy=policy.to_dict(),
        policy_version=policy.version,
        abstained=ranking.abstained,
        signal=ranking.signal,
        shown=[
            ShownPayload(
                memory_id=one.memory_id,
                rank=one.rank,
                score=one.score,
                flags=one.flags,
                channels=found.candidates.channels_of(one.chunks),
                scores=found.candidates.scores(one.best),
                contributions={row.source: row.value for row in one.contributions},
                best=found.candidates.chunk_ids[one.best],
                chunks=[found.candidates.chunk_ids[at] for at in one.chunks],
            )
            for one in ranking.results
        ],
        candidates=candidates_kept(found.candidates),
    )
    if turns:
        payload["interleaving"] = Interleaving(
            policy=turns.other.to_dict(),
            policy_version=turns.other.version,
            teams=turns.teams,
            seed=turns.seed,
        )
    return payload


def replay(payload: Mapping[str, Any], policy: RankingPolicy | None = None) -> Ranking:
    """Rank a logged search again: under its own policy the ranking that was shown, to the last digit.

    Args:
        payload: of a ``search`` entry.
        policy: another one to try.
    """
    candidates, limit = candidates_of(payload), payload["limit"]

    def ranked(by: RankingPolicy) -> Ranking:
        return rank(candidates, by, as_of=datetime.fromisoformat(payload["as_of"]), limit=limit)

    if policy is not None:
        return ranked(policy)
    own, drawn = ranked(RankingPolicy.logged(payload["policy"])), payload.get("interleaving")
    if drawn is None:
        return own
    other = RankingPolicy.logged(drawn["policy"])
    turns = in_turn(own, ranked(other), other, seed=drawn["seed"], limit=limit)
    return turns.ranking if turns else own
