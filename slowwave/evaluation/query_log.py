"""Query log: searches of the journal with their candidates, for replay with other policies."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.feedback.questions import with_query_ids
from slowwave.journal.kinds.fields import decoded, struct
from slowwave.journal.kinds.search import CANDIDATE_COLUMNS, OPTIONAL_COLUMNS, SearchPayload, shown_rows
from slowwave.scoring.evaluation.batch import CANDIDATES, Batch, moments

if TYPE_CHECKING:
    from slowwave.journal import Journal

SEARCHES_AT_ONCE: Final = 2_000
"""Searches in memory at a time (count). 100 candidates take about 40 kB, as text and as columns."""

_WHOLE: Final = ("vector_rank", "bm25_rank", "chunk_count", "ordinal")
_SHOWN: Final = ("rank", "memory_id", "score", "channels")
_PAYLOAD: Final = struct(
    SearchPayload, "query", "limit", "as_of", "policy_version", "abstained", "signal",
    *(f"shown.{name}" for name in _SHOWN),
    candidates=pl.Struct({"chunk_id": pl.List(pl.String), **CANDIDATES}),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoggedSearches:
    """Logged searches in the order of writing.

    Attributes:
        searches: ``search`` (its place in the batch), ``search_id``, ``day``, ``namespace``, ``query_id``,
            ``query``, ``limit``, ``policy_version``, ``abstained``, ``signal``, ``occurred_at``,
            ``principal``.
        shown: Returned results: ``search``, ``rank``, ``memory_id``, ``score``, ``channels``.
        batch: Candidates.
        left_out: Ids of entries that cannot be replayed: unreadable, or imported without candidates.
    """

    searches: pl.DataFrame
    shown: pl.DataFrame
    batch: Batch
    left_out: tuple[str, ...]


def logged_searches(
    journal: Journal, days: Sequence[str], namespace: str, *, only: pl.Series | None = None
) -> Iterator[LoggedSearches]:
    """Yield the searches of these days (UTC, YYYY-MM-DD) in a namespace, slice by slice.

    Args:
        journal: Journal of the home.
        days: Days of the searches.
        namespace: Namespace of the searches.
        only: Ids of the wanted searches; None is all.
    """
    for page in journal.pages(kinds=("search",), days=days, namespace=namespace, size=SEARCHES_AT_ONCE):
        wanted = page if only is None else page.filter(pl.col("event_id").is_in(only.implode()))
        if wanted.height:
            yield of_entries(wanted)


def of_entries(entries: pl.DataFrame) -> LoggedSearches:
    """Return the logged searches of journal entries of kind ``search``."""
    readable, broken = decoded(entries, _PAYLOAD)
    rows = readable.with_columns(
        pl.col("candidates").struct.unnest(),
        as_of=moments(readable["as_of"]),
        there=pl.col("candidates").is_not_null(),
    ).with_columns(
        pl.col("chunk_id", *CANDIDATE_COLUMNS).fill_null([])
    )  # a search without candidates has no lists
    name = pl.element().str.splitn(":", 2)
    rows = rows.with_columns(
        memory_id=pl.col("chunk_id").list.eval(name.struct[0]),
        ordinal=pl.col("chunk_id").list.eval(name.struct[1].cast(pl.Int64, strict=False)),
    )
    whole = rows.filter(_can_be_ranked())
    left_out = [*broken, *rows.join(whole, on="event_id", how="anti")["event_id"]]
    whole = whole.with_columns(search=pl.int_range(pl.len(), dtype=pl.Int64))
    return LoggedSearches(
        searches=with_query_ids(whole).select(
            "search", "day", "namespace", "query_id", "query", "limit", "policy_version", "abstained",
            "signal", "occurred_at", "principal",
            search_id="event_id",
        ),
        shown=shown_rows(whole, "search").select("search", *_SHOWN),
        batch=Batch.of_frame(whole),
        left_out=tuple(left_out),
    )  # fmt: skip


def _can_be_ranked() -> pl.Expr:
    size = pl.col("chunk_id").list.len()
    required = ("query", "limit", "as_of")
    return pl.all_horizontal(
        pl.col("there"),
        *(pl.col(name).is_not_null() for name in required),
        pl.col("limit") >= 0,
        *(pl.col(name).list.len() == size for name in CANDIDATE_COLUMNS),
        *(pl.col(name).is_null() | (pl.col(name).list.len() == size) for name in OPTIONAL_COLUMNS),
        *(pl.col(name).list.drop_nulls().list.len() == size for name in _WHOLE),
    )
