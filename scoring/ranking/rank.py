"""Ranking pipeline from candidate chunks to memories, deterministic on every machine (rule 3).

fusion → MPAB → neighbours → cross-encoder → effectiveness → learned → search keys → confidence → negative
multiplier → newest values → squeeze into [0, 1] → order → cut of weak results → limit → recall of short
memories; a search whose signal is below the floor abstains.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime

import numpy as np

from slowwave.scoring.ranking.candidates import Candidates
from slowwave.scoring.ranking.columns import Columns, columns_of
from slowwave.scoring.ranking.explain import ScoreExplainer
from slowwave.scoring.ranking.results import EMPTY_RANKING, RankedMemory, Ranking
from slowwave.scoring.ranking.score_terms import CutList, ScoredMemories
from slowwave.scoring.ranking.sparse_recall import Injection, Recalled, distance
from slowwave.scoring.ranking_policy import RankingPolicy


def rank(candidates: Candidates, policy: RankingPolicy, *, as_of: datetime, limit: int = 10) -> Ranking:
    """Rank memories; ties go by memory id, and the order of the candidates does not matter.

    Args:
        candidates: chunks from all channels.
        policy: constants of the score.
        as_of: moment of the search, from which votes age.
        limit: maximum results; 0 gives none.

    Raises:
        ValueError: `limit` is negative.
    """
    if limit < 0:
        raise ValueError(f"limit = {limit}: ask for 0 or more results")
    if len(candidates) == 0:
        return EMPTY_RANKING
    columns, names = columns_of(candidates, as_of)
    scored = ScoredMemories(columns, policy)
    shown = CutList(scored, columns, policy, np.array([limit]))
    scores = scored.score.tolist()
    left_out = np.where(scored.weak, "weak", np.where(shown.repeated, "duplicate", "")).tolist()
    ordered = tuple((names[at], scores[at], left_out[at]) for at in shown.order.tolist())
    injections = _injections(shown.recalled, candidates, columns, names)
    results = ScoreExplainer(candidates, names, columns, scored, policy).results(
        shown.memories.tolist(), injections
    )
    if shown.repeated.any():
        results = _with_duplicates(results, names, shown)
    results = _with_newest(results, names, scored)
    signal, abstained = float(shown.signal[0]), bool(shown.abstained[0])
    return Ranking(results, signal, abstained, injections=injections, _ordered=ordered)


def _with_duplicates(
    results: Sequence[RankedMemory], names: Sequence[str], shown: CutList
) -> tuple[RankedMemory, ...]:
    """Name the memories that each result is returned for."""
    label = dict(zip(names, shown.label.tolist(), strict=True))
    groups = defaultdict(list)
    for at in np.flatnonzero(shown.repeated).tolist():
        groups[label[names[at]]].append(names[at])
    return tuple(
        replace(result, duplicates=tuple(groups.get(label[result.memory_id], ()))) for result in results
    )


def _with_newest(
    results: Sequence[RankedMemory], names: Sequence[str], scored: ScoredMemories
) -> tuple[RankedMemory, ...]:
    """Name the memory with the newest value in each outdated result."""
    if not (scored.newest >= 0).any():
        return tuple(results)
    following = {names[at]: names[scored.newest[at]] for at in np.flatnonzero(scored.newest >= 0).tolist()}
    newest = {memory: last_of_chain(memory, following) for memory in following}
    return tuple(replace(result, outdated_by=newest.get(result.memory_id, "")) for result in results)


def last_of_chain(memory: str, following: Mapping[str, str]) -> str:
    """Return the end of a chain of memories; a cycle ends before its beginning."""
    seen = {memory}
    while (after := following.get(memory, memory)) not in seen:
        seen.add(after)
        memory = after
    return memory


def _injections(
    recalled: Recalled, candidates: Candidates, columns: Columns, names: Sequence[str]
) -> tuple[Injection, ...]:
    away = distance(columns)
    return tuple(
        Injection(
            memory_id=names[memory],
            chunk_id=candidates.chunk_ids[columns.position[chunk]],
            distance=float(away[chunk]),
            displaced=names[displaced] if displaced >= 0 else None,
        )
        for memory, chunk, displaced in zip(
            recalled.memory.tolist(), recalled.chunk.tolist(), recalled.displaced.tolist(), strict=True
        )
    )
