"""What searches showed lately: the gate looks for echoes of it (rule 1)."""

from __future__ import annotations

import threading
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from slowwave.home.visibility import open_where
from slowwave.journal import payload_of
from slowwave.journal.kinds.search import results_in
from slowwave.quality.gate import SERVED_SCHEMA
from slowwave.scoring.days import day_of, day_start, days_from

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal
    from slowwave.store import Store

_SHOWN_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "seq": pl.Int64, "namespace": pl.String, "chunk_id": pl.String, "search_id": pl.String,
    "shown_at": pl.Datetime("us", "UTC"),
}  # fmt: skip


def served_in(space: Workspace) -> Served:
    """What the searches of a home showed."""
    return space.part("served", lambda: Served(space.journal, space.store))


class Served:
    """Passages that searches showed, from the journal; each search is read once.

    Args:
        journal: has the searches.
        store: has the passages.
    """

    def __init__(self, journal: Journal, store: Store) -> None:
        self._journal, self._store = journal, store
        self._shown: dict[str, pl.DataFrame] = {}
        self._lock = threading.Lock()

    def recent(self, namespace: str, until: datetime, window: timedelta) -> pl.DataFrame:
        """Passages shown in this namespace from `until - window` on, as the columns of `SERVED_SCHEMA`."""
        if not window:
            return pl.DataFrame(schema=SERVED_SCHEMA)
        start = until - window
        with self._lock:
            known = self._shown.get(namespace, pl.DataFrame(schema=_SHOWN_SCHEMA))
            seen = int(known["seq"].max() or 0)  # type: ignore[arg-type]
            entries = self._journal.read(
                kinds=["search"],
                days=days_from(day_of(start), day_of(until)),
                namespace=namespace,
                after_seq=seen,
            )
            known = pl.concat([known, _shown(entries)]).filter(pl.col("shown_at") >= start)
            self._shown[namespace] = known
        return self._with_texts(known)

    def of_days(self, days: list[str], window: timedelta) -> pl.DataFrame:
        """Passages shown in any namespace on these days and in the window before them."""
        if not window or not days:
            return pl.DataFrame(schema=SERVED_SCHEMA)
        read = days_from(day_of(day_start(min(days)) - window), max(days))
        return self._with_texts(_shown(self._journal.read(kinds=["search"], days=read)))

    def _with_texts(self, shown: pl.DataFrame) -> pl.DataFrame:
        if shown.is_empty():
            return pl.DataFrame(schema=SERVED_SCHEMA)
        columns = ["chunk_id", "memory_id", "text", "revision"]
        # What is secret is no echo: to be refused for it would tell that somebody was shown this very text.
        texts = self._store.read_by(
            "chunks", "chunk_id", shown["chunk_id"].to_list(), columns=columns, also=open_where()
        )
        # A text that came or was merged since was not what the search showed.
        own = ~pl.col("revision").str.contains("+", literal=True)
        moment = pl.col("revision").str.head(16).str.to_integer(base=16, strict=False)
        saved = moment.cast(pl.Datetime("us", "UTC"))
        return (
            shown.join(texts.filter(own), on="chunk_id", how="inner")
            .filter(saved <= pl.col("shown_at"))
            .select(*SERVED_SCHEMA)
        )


def _shown(entries: pl.DataFrame) -> pl.DataFrame:
    """One row per passage that a search showed."""
    rows = [
        (seq, namespace, chunk, search, at)
        for seq, namespace, search, at, payload in entries.select(
            "seq", "namespace", "event_id", "occurred_at", "payload"
        ).iter_rows()
        for result in results_in(payload_of(payload))
        for chunk in result.get("chunks") or ()
        if isinstance(chunk, str)
    ]
    return pl.DataFrame(rows, schema=_SHOWN_SCHEMA, orient="row")
