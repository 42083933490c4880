"""Payloads of searches: the query, its results, and the candidates needed to replay it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeGuard

import polars as pl

from slowwave.common import ids
from slowwave.journal.kinds.fields import Small, all_sound, is_number

if TYPE_CHECKING:
    from slowwave.scoring.ranking import Candidates


class ShownPayload(TypedDict, total=False):
    """Result as it was returned.

    `rank` counts from 1; `best` is the chunk whose text was shown; `chunks` are all chunks with shown text.
    An imported result may have its name in the other log as ``object``.
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
    """Second policy of an interleaved search: the team of each result, and the seed."""

    policy: dict[str, Any]
    policy_version: str
    teams: Sequence[str]
    seed: str


class SearchPayload(TypedDict, total=False):
    """Search as stored; an imported one has no policy and no candidates.

    `limit` is the wanted number of results (count). Ratings count up to the moment `as_of`. `signal` is the
    absolute confidence for abstention. `client` has the search's ids in the log that it was imported from.
    `left_out` are memories of results that the session had already: no impressions.
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
    left_out: Sequence[str]
    candidates: dict[str, Any]
    interleaving: Interleaving
    imported_from: str
    client: dict[str, str]


_ITEM = pl.element().struct
LIMIT = pl.col("limit").cast(pl.Int32, strict=False)
"""Wanted results of decoded searches (count); null if the number does not fit 32 bits."""
SOUND = (
    pl.col("query").is_not_null()
    & (LIMIT.is_null() | (LIMIT >= 0))
    & all_sound(
        "shown",
        _ITEM["memory_id"].is_not_null()
        & (_ITEM["rank"].is_null() | (_ITEM["rank"] >= 1))
        & is_number(_ITEM["score"]),
    )
)
"""Soundness of decoded searches: a query and a list of results, each of a memory."""


def results_in(payload: Mapping[str, Any]) -> list[ShownPayload]:
    """Return the valid results of a search's payload; empty for an erased one."""
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
    """Return one row per returned result, in order.

    Args:
        searches: With the list ``shown``, of the journal or of the table ``searches``.
        keep: Their columns that each result gets; none: all.

    Returns:
        These columns and the fields of the results; a search without results has no row.
    """
    rows = searches.select(*keep, "shown") if keep else searches
    return rows.filter(pl.col("shown").list.len() > 0).explode("shown").unnest("shown")


def best_of(row: ShownPayload) -> str:
    """Return the chunk whose text a result showed."""
    return str(
        row.get("best") or next(iter(row.get("chunks") or ()), "") or ids.chunk_id(row["memory_id"], 0)
    )


BEST = pl.coalesce(_ITEM["best"], _ITEM["chunks"].list.first(), _ITEM["memory_id"] + ":00000")
"""`best_of` as an expression on an element of ``shown`` in decoded searches."""


def chunks_of(row: ShownPayload) -> list[str]:
    """Return every chunk that a result showed."""
    return list(row.get("chunks") or (best_of(row),))


# -- candidates -----------------------------------------------------------------------------------

DERIVED = ("memory_id", "ordinal")
"""Candidate columns that follow from the chunk's id, so they are not stored."""
CANDIDATE_COLUMNS = ("cosine", "bm25", "vector_rank", "bm25_rank", "chunk_count")
"""Candidate columns beside ``chunk_id``; none is stored without candidates."""
OPTIONAL_COLUMNS = ("title", "coverage", "rerank")
"""Candidate columns that only some searches read."""
MEMORY_MAPS = (
    "triggers", "follows", "same_as", "outdated", "maybe_outdated", "times", "states", "confidence",
)  # fmt: skip
"""Fields about the memories of the candidates, by their ids."""


def candidates_kept(candidates: Candidates) -> dict[str, Any]:
    """Convert candidates to stored form; empty columns are left out."""
    return {
        name: column
        for name, column in candidates.to_dict().items()
        if name not in DERIVED and (column or column == 0)
    }


def candidates_of(payload: Mapping[str, Any]) -> Candidates:
    """Return the candidates of a logged search."""
    from slowwave.scoring.ranking import Candidates

    kept = payload["candidates"]
    chunks = kept.get("chunk_id", [])
    empty: dict[str, Any] = {
        **dict.fromkeys((*OPTIONAL_COLUMNS, "superseded", "vector_say", "bm25_bound", "query_words")),
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
    """Return the chunk ids of a search's candidates; empty for an imported one."""
    return list(payload.get("candidates", {}).get("chunk_id", ()))


def without(candidates: Mapping[str, Any], memories: Collection[str]) -> Mapping[str, Any]:
    """Return a search's logged candidates without those of some memories."""
    chunks = candidates.get("chunk_id") or []
    keep = [at for at, chunk in enumerate(chunks) if ids.memory_of(chunk) not in memories]
    rest = dict(candidates)
    if len(keep) < len(chunks):
        for name in ("chunk_id", *CANDIDATE_COLUMNS, *OPTIONAL_COLUMNS):
            if isinstance(rest.get(name), list) and len(rest[name]) == len(chunks):
                rest[name] = [rest[name][at] for at in keep]
    for name in MEMORY_MAPS:
        if isinstance(rest.get(name), dict):
            mapped = {key: value for key, value in rest[name].items() if key not in memories}
            rest[name] = {key: value for key, value in mapped.items() if not _is_among(value, memories)}
    return rest


def _is_among(value: object, memories: Collection[str]) -> bool:
    return isinstance(value, str) and value in memories
