"""Telemetry of LanceDB queries: operation, table, duration and row count."""

from __future__ import annotations

from slowwave.common.deadline import check
from slowwave.telemetry import Off, Span, span

_METRIC = "db.client.operation.duration"


def observe_query(operation: str, table: str) -> Span | Off:
    """Start the span of one query; neither its filter nor its values are recorded.

    Args:
        operation: One of select, scan, count, merge_insert, add, delete, vector_search,
            full_text_search.
        table: Logical name.

    Raises:
        OverdueError: The deadline of the call has passed.
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
