"""Journal record of a search: enough to replay it and to attribute feedback."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.errors import NotFoundError
from slowwave.home.visibility import HIDDEN, closed_ids
from slowwave.journal.kinds.search import (
    Interleaving,
    SearchPayload,
    ShownPayload,
    candidates_kept,
    candidates_of,
    results_in,
)
from slowwave.scoring.ranking import Ranking, RankingPolicy, rank
from slowwave.search.interleaving import InterleavedRanking, interleave
from slowwave.search.searcher import SearchCandidates
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


def logged(
    ranking: Ranking,
    retrieved: SearchCandidates,
    policy: RankingPolicy,
    *,
    query: str,
    limit: int,
    as_of: datetime,
    filters: Mapping[str, Any],
    turns: InterleavedRanking | None = None,
    left_out: Sequence[str] = (),
) -> SearchPayload:
    """Build the payload of a ``search`` entry.

    Args:
        ranking: Ranking of the candidates.
        retrieved: The candidates.
        policy: Policy in force.
        query: Text of the query.
        limit: Requested results.
        as_of: Moment at which votes were counted.
        filters: Given filters.
        turns: The interleaving, if any.
        left_out: Memories of results that the session was given before.
    """
    candidates, results = retrieved.candidates, ranking.results
    origins = candidates.origins([result.best for result in results], [result.chunks for result in results])
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
                memory_id=result.memory_id,
                rank=result.rank,
                score=result.score,
                flags=result.flags,
                channels=channels,
                scores=scores,
                contributions={row.source: row.value for row in result.contributions},
                best=candidates.chunk_ids[result.best],
                chunks=[candidates.chunk_ids[at] for at in result.chunks],
            )
            for result, (channels, scores) in zip(results, origins, strict=True)
        ],
        candidates=candidates_kept(candidates),
    )
    if left_out:
        payload["left_out"] = list(left_out)
    if turns:
        payload["interleaving"] = Interleaving(
            policy=turns.other.to_dict(),
            policy_version=turns.other.version,
            teams=turns.teams,
            seed=turns.seed,
        )
    return payload


def replay(payload: Mapping[str, Any], policy: RankingPolicy | None = None) -> Ranking:
    """Rank a logged search again; its own policy gives the returned ranking exactly.

    Args:
        payload: Payload of a ``search`` entry.
        policy: Another policy to try.
    """
    candidates, left_out = candidates_of(payload), payload.get("left_out") or ()
    limit = payload["limit"] + (len(left_out) if policy is None else 0)  # others took their place

    def ranked(by: RankingPolicy) -> Ranking:
        return rank(candidates, by, as_of=datetime.fromisoformat(payload["as_of"]), limit=limit)

    if policy is not None:
        return ranked(policy)
    return _returned(_drawn(ranked, payload, limit), left_out, len(payload["shown"]))


def _returned(ranking: Ranking, left_out: Sequence[str], returned: int) -> Ranking:
    """Return the ranking of the returned results, without those that were left out."""
    if not left_out:
        return ranking
    kept = [result for result in ranking.results if result.memory_id not in left_out][:returned]
    results = tuple(replace(result, rank=place) for place, result in enumerate(kept, start=1))
    return replace(ranking, results=results)


def _drawn(ranked: Callable[[RankingPolicy], Ranking], payload: Mapping[str, Any], limit: int) -> Ranking:
    """Return the ranking by the policy of a search, interleaved as it was."""
    logged_ranking, drawn = ranked(RankingPolicy.logged(payload["policy"])), payload.get("interleaving")
    if drawn is None:
        return logged_ranking
    other = RankingPolicy.logged(drawn["policy"])
    turns = interleave(logged_ranking, ranked(other), other, seed=drawn["seed"], limit=limit)
    return turns.ranking if turns else logged_ranking


@dataclass(frozen=True, slots=True)
class RecordedResult:
    """Recorded result: rank from 1, score then, and today's title, empty if deleted."""

    rank: int | None
    memory_id: str
    title: str
    score: float | None


@dataclass(frozen=True, slots=True)
class RecordedSearch:
    """Recorded search; if secret, its words, titles and project are hidden."""

    search_id: str
    query: str
    asked_at: datetime
    principal: str
    project: str
    results: tuple[RecordedResult, ...]


def shown_by(space: Workspace, namespace: str, search_id: str) -> RecordedSearch:
    """Return the recorded results of a search of a namespace.

    Raises:
        NotFoundError: the journal has no such search of this namespace.
    """
    entry = space.journal.get(search_id)
    if entry is None or entry.kind != "search" or entry.namespace != namespace:
        raise NotFoundError(f"Namespace {namespace!r} has no search {search_id!r}.")
    rows = results_in(entry.payload)
    names = [row["memory_id"] for row in rows]
    memories = space.store.read_by(
        "memories", "memory_id", names, columns=["memory_id", "title"], also=within(namespace)
    )
    titles, closed = dict(memories.iter_rows()), closed_ids(space.store, namespace)
    query = str(entry.payload.get("query") or "")
    left_out = entry.payload.get("left_out") or ()
    hidden = ids.query_id(namespace, query) in closed or not closed.isdisjoint((*names, *left_out))
    return RecordedSearch(
        search_id=search_id,
        query=HIDDEN if hidden else query,
        asked_at=entry.occurred_at,
        principal=entry.principal,
        project=HIDDEN if hidden and entry.origin else entry.origin,
        results=tuple(
            RecordedResult(
                rank=row.get("rank"),
                memory_id=row["memory_id"],
                title=HIDDEN if row["memory_id"] in closed else titles.get(row["memory_id"]) or "",
                score=row.get("score"),
            )
            for row in rows
        ),
    )
