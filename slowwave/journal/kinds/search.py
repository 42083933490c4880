"""A search: the query, what it showed, and enough of what it considered to rank it again."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeGuard

import polars as pl

from slowwave.common import ids
from slowwave.journal.kinds.fields import Small, all_sound, is_number

if TYPE_CHECKING:
    from slowwave.scoring.ranking import Candidates


class ShownPayload(TypedDict, total=False):
    """A result as it was shown.

    `rank` counts from 1, `best` is the chunk whose text was shown, `chunks` are all whose texts were. Of a
    result that was imported ``object`` may be the name that it had elsewhere.
    """

    memory_id: str
    rank: Small | None
    score: float | None
    flags: Sequence[str]
    channels: Sequence[str]
    scores: dict[str, float]
    contributions: dict[str, float]
    best: str | None
    chunks: Sequence[str]


class Interleaving(TypedDict):
    """The other ranking of a search that showed two in turn: whose each result is, and how it was drawn."""

    policy: dict[str, Any]
    policy_version: str
    teams: Sequence[str]
    seed: str


class SearchPayload(TypedDict, total=False):
    """A search as the journal keeps it; one that was imported has no policy and no candidates.

    `limit` are the results asked for (count), `as_of` is the moment that votes were counted at, `signal` the
    absolute confidence that abstention looks at, `client` what it was called where it was imported from.
    """

    query: str
    limit: int
    as_of: str
    filters: dict[str, Any]
    policy: dict[str, Any]
    policy_version: str
    abstained: bool
    signal: float
    shown: Sequence[ShownPayload]
    candidates: dict[str, Any]
    interleaving: Interleaving
    imported_from: str
    client: dict[str, str]


_ONE = pl.element().struct
LIMIT = pl.col("limit").cast(pl.Int32, strict=False)
"""Results asked for, of decoded searches; null where nobody can have meant that many."""
SOUND = (
    pl.col("query").is_not_null()
    & (LIMIT.is_null() | (LIMIT >= 0))
    & all_sound(
        "shown",
        _ONE["memory_id"].is_not_null()
        & (_ONE["rank"].is_null() | (_ONE["rank"] >= 1))
        & is_number(_ONE["score"]),
    )
)
"""Of decoded searches: a query and a list of results, each of a memory."""


def results_in(payload: Mapping[str, Any]) -> list[ShownPayload]:
    """The results that a search says it showed, without those that are about no memory; none of an erased."""
    shown = payload.get("shown")
    if not isinstance(payload.get("query"), str) or not isinstance(shown, list):
        return []
    return [row for row in shown if _is_shown(row)]


def _is_shown(row: object) -> TypeGuard[ShownPayload]:
    if not isinstance(row, Mapping) or not isinstance(row.get("memory_id"), str):
        return False
    rank = row.get("rank")
    return rank is None or (isinstance(rank, int) and rank >= 1)


def shown_rows(searches: pl.DataFrame, *keep: str) -> pl.DataFrame:
    """One row per result that searches showed, in their order.

    Args:
        searches: with the list ``shown``, of the journal or of the table ``searches``.
        keep: their columns that each result gets; none at all: every one.

    Returns:
        These columns and the fields of the results; a search that showed nothing has no row.
    """
    rows = searches.select(*keep, "shown") if keep else searches
    return rows.filter(pl.col("shown").list.len() > 0).explode("shown").unnest("shown")


def best_of(row: ShownPayload) -> str:
    """The chunk whose text a result showed."""
    return str(
        row.get("best") or next(iter(row.get("chunks") or ()), "") or ids.chunk_id(row["memory_id"], 0)
    )


BEST = pl.coalesce(_ONE["best"], _ONE["chunks"].list.first(), _ONE["memory_id"] + ":00000")
"""The same, of an element of ``shown`` in decoded searches."""


def chunks_of(row: ShownPayload) -> list[str]:
    """Every chunk that a result showed."""
    return list(row.get("chunks") or (best_of(row),))


# -- what was considered ---------------------------------------------------------------------------

DERIVED = ("memory_id", "ordinal")
"""Columns of candidates that follow from the chunk's id, so they are not kept."""
CANDIDATE_COLUMNS = ("cosine", "bm25", "vector_rank", "bm25_rank", "chunk_count")
"""Columns of the candidates beside ``chunk_id``; a search that found nothing keeps none of them."""
OPTIONAL_COLUMNS = ("title", "coverage", "rerank")
"""Columns of the candidates where a search read them."""
MEMORY_MAPS = ("triggers", "follows", "states", "confidence")
"""What was known of the memories of the candidates, by their ids."""


def candidates_kept(candidates: Candidates) -> dict[str, Any]:
    """Candidates as the journal keeps them: columns that say nothing are left out."""
    return {
        name: column
        for name, column in candidates.to_dict().items()
        if name not in DERIVED and (column or column == 0)
    }


def candidates_of(payload: Mapping[str, Any]) -> Candidates:
    """The candidates that a logged search considered."""
    from slowwave.scoring.ranking import Candidates

    kept = payload["candidates"]
    chunks = kept.get("chunk_id", [])
    empty: dict[str, Any] = {
        **dict.fromkeys((*OPTIONAL_COLUMNS, "superseded", "vector_say", "bm25_bound")),
        **{name: {} for name in MEMORY_MAPS},
        **dict.fromkeys(CANDIDATE_COLUMNS, ()),
    }
    return Candidates.from_dict(
        {
            **empty,
            **kept,
            "chunk_id": chunks,
            "memory_id": [ids.memory_of(chunk) for chunk in chunks],
            "ordinal": [ids.ordinal_of(chunk) for chunk in chunks],
        }
    )


def considered(payload: Mapping[str, Any]) -> list[str]:
    """Ids of the chunks that a search considered; none of one that was imported."""
    return list(payload.get("candidates", {}).get("chunk_id", ()))


def without(candidates: Mapping[str, Any], memories: Collection[str]) -> Mapping[str, Any]:
    """The logged candidates of a search without those of some memories."""
    chunks = candidates.get("chunk_id") or []
    keep = [at for at, chunk in enumerate(chunks) if ids.memory_of(chunk) not in memories]
    left = dict(candidates)
    if len(keep) < len(chunks):
        for name in ("chunk_id", *CANDIDATE_COLUMNS, *OPTIONAL_COLUMNS):
            if isinstance(left.get(name), list) and len(left[name]) == len(chunks):
                left[name] = [left[name][at] for at in keep]
    for name in MEMORY_MAPS:
        if isinstance(left.get(name), dict):
            mapped = {key: value for key, value in left[name].items() if key not in memories}
            left[name] = {key: value for key, value in mapped.items() if not _is_one(value, memories)}
    return left


def _is_one(value: object, memories: Collection[str]) -> bool:
    return isinstance(value, str) and value in memories
