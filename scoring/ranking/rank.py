"""From candidate chunks to ranked memories (rule 3): one pass, the same on every machine.

fusion → MPAB → neighbours → cross-encoder → effectiveness → learned → confidence → negative multiplier →
clamp → order → cut → recall of short memories; a search that finds nothing near enough abstains.
"""

from __future__ import annotations

from datetime import datetime

import numpy as np

from scoring.ranking.abstention import signal
from scoring.ranking.candidates import Candidates
from scoring.ranking.policy import RankingPolicy
from scoring.ranking.ranked import NOTHING, Ranking
from scoring.ranking.scored import Scored
from scoring.ranking.sparse_recall import recall


def rank(candidates: Candidates, policy: RankingPolicy, *, as_of: datetime, limit: int = 10) -> Ranking:
    """Rank memories; ties are broken by memory id, and the order of the candidates does not matter.

    Args:
        candidates: what the channels found.
        policy: how scores are made.
        as_of: the moment of the search, at which votes have their age.
        limit: memories wanted; 0 gives none.

    Raises:
        ValueError: `limit` is negative.
    """
    if limit < 0:
        raise ValueError(f"limit = {limit}: ask for 0 or more results")
    if len(candidates) == 0:
        return NOTHING
    scored = Scored(candidates, policy, as_of)
    order = np.argsort(-scored.score, kind="stable")  # memories are in the order of their ids
    ordered = tuple((scored.names[at], float(scored.score[at])) for at in order.tolist())
    sure = signal(candidates)
    if sure < policy.abstention_floor:
        return Ranking((), sure, abstained=True, injection=None, _ordered=ordered)
    shown = order[:limit].tolist()
    found = recall(candidates, policy, [scored.names[at] for at in shown], limit, scored.barred)
    if found is not None:
        shown = [at for at in shown if scored.names[at] != found.displaced]
        shown.append(scored.place[found.memory_id])
    results = tuple(scored.result(at, place, found) for place, at in enumerate(shown, start=1))
    return Ranking(results, sure, abstained=False, injection=found, _ordered=ordered)
