"""Queries of LanceDB, as those who watch see them: what was done to which table, how long, how many rows."""

from __future__ import annotations

from slowwave.common.deadline import check
from slowwave.telemetry import Off, Span, span

_METRIC = "db.client.operation.duration"


def observe_query(operation: str, table: str) -> Span | Off:
    """The time of one query; neither its filter nor what it looks for is told.

    Args:
        operation: what is done: select, scan, count, merge_insert, add, delete, vector_search,
            full_text_search.
        table: its logical name.

    Raises:
        OverdueError: the call that asks has no more time.
    """
    check()
    return span(
        f"{operation} {table}",
        kind="client",
        metric=_METRIC,
        system="lancedb",
        operation=operation,
        table=table,
    )
