"""Searches of the journal with all that they considered, so that other policies can be tried on them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.common import ids
from slowwave.journal.kinds.fields import decoded, struct
from slowwave.journal.kinds.search import CANDIDATE_COLUMNS, OPTIONAL_COLUMNS, SearchPayload, shown_rows
from slowwave.scoring.evaluation.batch import CANDIDATES, Batch, moments

if TYPE_CHECKING:
    from slowwave.journal import Journal

SEARCHES_AT_ONCE: Final = 2_000
"""A hundred candidates are about 20 kilobytes in the journal, and as much again as columns (count)."""

_WHOLE: Final = ("vector_rank", "bm25_rank", "chunk_count", "ordinal")
_SHOWN: Final = ("rank", "memory_id", "score", "channels")
_PAYLOAD: Final = struct(
    SearchPayload, "query", "limit", "as_of", "policy_version", "abstained", "signal",
    *(f"shown.{name}" for name in _SHOWN),
    candidates=pl.Struct({"chunk_id": pl.List(pl.String), **CANDIDATES}),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class LoggedSearches:
    """Some searches, in the order in which they were written.

    Attributes:
        searches: ``search`` (its place in the batch), ``search_id``, ``day``, ``namespace``, ``query_id``,
            ``query``, ``limit``, ``policy_version``, ``abstained``, ``signal``, ``occurred_at``,
            ``principal``.
        shown: what they showed: ``search``, ``rank``, ``memory_id``, ``score``, ``channels``.
        batch: what they considered.
        left_out: ids of entries that cannot be ranked again: they are unreadable, or were imported from
            where nobody noted what was considered.
    """

    searches: pl.DataFrame
    shown: pl.DataFrame
    batch: Batch
    left_out: tuple[str, ...]


def logged_searches(
    journal: Journal,
    days: Sequence[str],
    namespace: str,
    *,
    only: pl.Series | None = None,
    at_once: int = SEARCHES_AT_ONCE,
) -> Iterator[LoggedSearches]:
    """The searches of these days (UTC, YYYY-MM-DD) in a namespace, a slice after the other.

    Args:
        journal: has them.
        days: whose searches are wanted.
        namespace: whose searches are wanted.
        only: ids of the searches that are wanted; None is all.
        at_once: entries of a slice, at most (count).
    """
    for page in journal.pages(kinds=("search",), days=days, namespace=namespace, size=at_once):
        wanted = page if only is None else page.filter(pl.col("event_id").is_in(only.implode()))
        if wanted.height:
            yield of_entries(wanted)


def of_entries(entries: pl.DataFrame) -> LoggedSearches:
    """The searches of journal entries, which are of kind ``search``."""
    readable, broken = decoded(entries, _PAYLOAD)
    rows = readable.with_columns(
        pl.col("candidates").struct.unnest(),
        as_of=moments(readable["as_of"]),
        there=pl.col("candidates").is_not_null(),
    ).with_columns(
        pl.col("chunk_id", *CANDIDATE_COLUMNS).fill_null([])
    )  # a search that found nothing keeps no lists
    name = pl.element().str.splitn(":", 2)
    rows = rows.with_columns(
        memory_id=pl.col("chunk_id").list.eval(name.struct[0]),
        ordinal=pl.col("chunk_id").list.eval(name.struct[1].cast(pl.Int64, strict=False)),
    )
    whole = rows.filter(_can_be_ranked())
    left_out = [*broken, *rows.join(whole, on="event_id", how="anti")["event_id"]]
    whole = whole.with_columns(search=pl.int_range(pl.len(), dtype=pl.Int64))
    return LoggedSearches(
        searches=_named(whole),
        shown=shown_rows(whole, "search").select("search", *_SHOWN),
        batch=Batch.of_frame(whole),
        left_out=tuple(left_out),
    )


def _can_be_ranked() -> pl.Expr:
    size = pl.col("chunk_id").list.len()
    said = ("query", "limit", "as_of")
    return pl.all_horizontal(
        pl.col("there"),
        *(pl.col(name).is_not_null() for name in said),
        pl.col("limit") >= 0,
        *(pl.col(name).list.len() == size for name in CANDIDATE_COLUMNS),
        *(pl.col(name).is_null() | (pl.col(name).list.len() == size) for name in OPTIONAL_COLUMNS),
        *(pl.col(name).list.drop_nulls().list.len() == size for name in _WHOLE),
    )


def _named(searches: pl.DataFrame) -> pl.DataFrame:
    asked = searches.select("namespace", "query").unique()
    known = [ids.query_id(namespace, query) for namespace, query in asked.iter_rows()]
    named = searches.join(
        asked.with_columns(query_id=pl.Series(known, dtype=pl.String)),
        on=["namespace", "query"],
        how="left",
        maintain_order="left",
    )
    return named.select(
        "search", "day", "namespace", "query_id", "query", "limit", "policy_version", "abstained", "signal",
        "occurred_at", "principal",
        search_id="event_id",
    )  # fmt: skip
