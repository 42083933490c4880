"""Recent feedback on memories: ratings and project outcomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.feedback.text_attribution import Texts, in_force, of_text
from slowwave.store.frames import one_of, quote

if TYPE_CHECKING:
    from slowwave.store import Store

RECENT = 5
VOTES = pl.col("tier") != "implicit"
COLUMNS = ("memory_id", "verdict", "tier", "principal", "search_id", "project", "occurred_at", "signal_id")


def recent_votes(
    store: Store, namespace: str, memory_ids: Sequence[str], as_of: datetime, texts: Texts
) -> dict[str, list[dict[str, Any]]]:
    """Return the latest votes on the current text of memories at a moment, newest first.

    Only votes that the nightly job has processed count.
    """
    if not memory_ids:
        return {}
    at = as_of.astimezone(UTC).isoformat(timespec="microseconds")
    where = (
        f"{one_of('memory_id', memory_ids)} AND tier != 'implicit' "
        f"AND occurred_at <= CAST({quote(at)} AS TIMESTAMP)"
    )
    rows = store.of(namespace).read("usage_signals", where, columns=[*COLUMNS, "text"])
    rows = of_text(rows, in_force(texts(rows["memory_id"].unique().to_list()), as_of))
    newest = rows.sort("occurred_at", "signal_id", descending=True).group_by("memory_id").head(RECENT)
    votes: dict[str, list[dict[str, Any]]] = {}
    for row in newest.iter_rows(named=True):
        votes.setdefault(row["memory_id"], []).append(vote_row(row))
    return votes


def vote_row(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return one vote as plain data for display."""
    return {
        "verdict": row["verdict"], "tier": row["tier"], "by": row["principal"], "search_id": row["search_id"],
        "project": row["project"], "at": row["occurred_at"],
    }  # fmt: skip
