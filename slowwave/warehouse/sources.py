"""Warehouse sources: few columns of store tables, without texts of notes or queries."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import polars as pl

from slowwave.common import ids
from slowwave.home.visibility import label, open_rows
from slowwave.scoring.evaluation.trend import COLUMNS as TREND
from slowwave.scoring.measures import MEASURES
from slowwave.store import Store


@dataclass(frozen=True, slots=True)
class TableSource:
    """Store table: columns to read, and their preparation for DuckDB."""

    columns: tuple[str, ...]
    prepare: Callable[[pl.DataFrame], pl.DataFrame] | None = None

    def read(self, store: Store, name: str) -> pl.DataFrame:
        """Read the rows in key order, so that sums always round alike."""
        key = store.specs[name].key
        rows = store.scan(name, columns=list(dict.fromkeys((key, *self.columns)))).sort(key)
        return rows if self.prepare is None else self.prepare(rows)


def _searches(rows: pl.DataFrame) -> pl.DataFrame:
    queries = rows.select("namespace", pl.col("query").fill_null("")).unique()
    names = [ids.query_id(namespace or "", query) for namespace, query in queries.iter_rows()]
    query_ids = queries.with_columns(query_id=pl.Series(names, dtype=pl.String))
    shown = pl.col("shown").list.len().fill_null(0).cast(pl.Int64)
    counted = rows.with_columns(pl.col("query").fill_null(""), shown=shown)
    key = ["namespace", "query"]
    return counted.join(query_ids, on=key, how="left", nulls_equal=True, maintain_order="left").drop("query")


def _memories(rows: pl.DataFrame) -> pl.DataFrame:
    times = pl.col("created_at", "updated_at").dt.replace_time_zone(None)
    labels = [label(name) for name in ("memory_type", "importance_tier", "sensitivity")]
    return rows.with_columns(pl.when(open_rows()).then(pl.col("title")), *labels, times)


def _states(rows: pl.DataFrame) -> pl.DataFrame:
    figures = pl.col("effectiveness", "strength", "stability")
    finite = pl.when(figures.is_finite()).then(figures)
    return rows.with_columns(finite, pl.col("last_at").dt.replace_time_zone(None))


SOURCES = {
    "evaluation_scores": TableSource(
        ("day", "namespace", "variant", "query_id", *(one.column for one in MEASURES), "abstained"),
    ),
    "channel_attribution": TableSource(
        ("day", "namespace", "channel", "results", "covered", "exclusive", "single", "multi", "unattributed"),
    ),
    "evaluation_cycles": TableSource(
        ("namespace", "number", "status", "opened_on", "closed_on", "days", "searches", "queries"),
    ),
    "searches": TableSource(
        ("search_id", "day", "namespace", "principal", "project", "query", "abstained", "shown",
         "imported_from"),
        _searches,
    ),
    "events": TableSource(("namespace", "search_id")),
    "usage_signals": TableSource(("day", "namespace", "memory_id", "search_id", "verdict")),
    "promotions": TableSource(("day", "namespace", "memory_id", "reason")),
    "gate_verdicts": TableSource(("day", "namespace", "memory_id", "revision", "verdict", "reasons")),
    "decisions": TableSource(("namespace", "memory_id", "revision", "outcome", "reasons", "refused")),
    "quarantine": TableSource(("namespace", "memory_id", "revision", "status")),
    "memories": TableSource(
        ("memory_id", "namespace", "title", "memory_type", "importance_tier", "status", "sensitivity",
         "frequency", "chunk_count", "created_at", "updated_at"),
        _memories,
    ),
    "memory_state": TableSource(
        ("namespace", "memory_id", "effectiveness", "feedback_count", "strength", "stability", "used",
         "ignored", "last_at", "tier"),
        _states,
    ),
}  # fmt: skip

MADE = {"trend": TREND}
"""Frames computed in Python that marts read, with their columns. Each is an asset as well."""
