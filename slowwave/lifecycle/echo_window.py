"""What searches showed lately: the gate looks for echoes of it (rule 1)."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from slowwave.home.visibility import open_where
from slowwave.journal import payload_of
from slowwave.journal.kinds.search import results_in
from slowwave.quality.echo import ShingleIndex
from slowwave.quality.gate import SERVED_SCHEMA
from slowwave.scoring.days import day_of, day_start, days_from

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal
    from slowwave.store import Store

PRUNE_ABOVE = 10_000
"""Passages from which it is looked whether most of those known were shown long ago (count)."""

_SHOWN_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "seq": pl.Int64, "namespace": pl.String, "chunk_id": pl.String, "search_id": pl.String,
    "shown_at": pl.Datetime("us", "UTC"),
}  # fmt: skip


def served_passages(space: Workspace) -> ServedPassages:
    """What the searches of a home showed."""
    return space.part("served", lambda: ServedPassages(space.journal, space.store))


class _Shown:
    """What searches showed in one namespace, read once.

    Attributes:
        seq: of the last search that was read.
        looked: up to which entry of the journal there is none after it.
        rows: `_SHOWN_SCHEMA`.
        heard: shingles of the passages.
        seen: passages that were heard, with the revision that their text had.
    """

    def __init__(self) -> None:
        self.seq = self.looked = 0
        self.parts: list[pl.DataFrame] = []
        self.forget()

    def forget(self) -> None:
        """The passages' texts."""
        self.heard, self.seen = ShingleIndex(), set[tuple[str, str]]()

    def since(self, start: datetime) -> pl.DataFrame:
        """Rows of this moment or later; the others are needed no more."""
        every = pl.concat([pl.DataFrame(schema=_SHOWN_SCHEMA), *self.parts])
        self.parts = [every.filter(pl.col("shown_at") >= start)]
        return self.parts[0]


class ServedPassages:
    """Passages that searches showed, from the journal; each search is read once.

    Args:
        journal: has the searches.
        store: has the passages.
    """

    def __init__(self, journal: Journal, store: Store) -> None:
        self._journal, self._store = journal, store
        self._of: dict[str, _Shown] = {}
        self._lock = threading.Lock()

    def recent(
        self, namespace: str, until: datetime, window: timedelta, texts: Sequence[str], share: float, seq: int
    ) -> pl.DataFrame:
        """Passages shown in this namespace from `until - window` on, as the columns of `SERVED_SCHEMA`.

        None at all where no text has enough of them for an echo. That is told without looking at each, so it
        costs as much after ten thousand searches as after one.

        Args:
            namespace: the tenant.
            until: the last moment.
            window: how long before it.
            texts: that may be echoes.
            share: of its shingles that an echo has from passages.
            seq: of the last of their acts in the journal.
        """
        if not window:
            return pl.DataFrame(schema=SERVED_SCHEMA)
        start = until - window
        with self._lock:
            mine = self._of.setdefault(namespace, _Shown())
            if mine.looked < seq - 1:
                self._listen(mine, namespace, start, until)
            mine.looked = max(mine.looked, seq)
            if not mine.heard.may_hold(texts, share):
                return pl.DataFrame(schema=SERVED_SCHEMA)
            known = mine.since(start)
        return self._with_texts(known)

    def _listen(self, mine: _Shown, namespace: str, start: datetime, until: datetime) -> None:
        """Take in what searches showed since the last time."""
        days = days_from(day_of(start), day_of(until))
        entries = self._journal.read(kinds=["search"], days=days, namespace=namespace, after_seq=mine.seq)
        if entries.is_empty():
            return
        new = _shown(entries)
        mine.parts.append(new)
        mine.seq = int(entries["seq"].max())  # type: ignore[arg-type]
        if len(mine.seen) > PRUNE_ABOVE:
            new = mine.since(start)
            if len(mine.seen) > 2 * new["chunk_id"].n_unique():  # most of it was shown long ago
                mine.forget()
        # A passage may have got another text since it was shown the last time.
        texts = self._texts(new["chunk_id"].unique().to_list())
        said = texts.select("chunk_id", "revision").iter_rows()
        fresh = texts.filter(pl.Series([one not in mine.seen for one in said], dtype=pl.Boolean))
        mine.heard.add(fresh["text"].to_list())
        mine.seen.update(fresh.select("chunk_id", "revision").iter_rows())

    def _texts(self, chunk_ids: Sequence[str]) -> pl.DataFrame:
        columns = ["chunk_id", "memory_id", "text", "revision"]
        # What is secret is no echo: to be refused for it would tell that somebody was shown this very text.
        return self._store.read_by("chunks", "chunk_id", chunk_ids, columns=columns, also=open_where())

    def of_days(self, days: list[str], window: timedelta) -> pl.DataFrame:
        """Passages shown in any namespace on these days and in the window before them."""
        if not window or not days:
            return pl.DataFrame(schema=SERVED_SCHEMA)
        read = days_from(day_of(day_start(min(days)) - window), max(days))
        return self._with_texts(_shown(self._journal.read(kinds=["search"], days=read)))

    def _with_texts(self, shown: pl.DataFrame) -> pl.DataFrame:
        if shown.is_empty():
            return pl.DataFrame(schema=SERVED_SCHEMA)
        texts = self._texts(shown["chunk_id"].to_list())
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
