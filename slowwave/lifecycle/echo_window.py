"""Recently served passages, which the save gate checks for echoes (rule 1)."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

import polars as pl

from slowwave.common.ids import memory_of
from slowwave.home.channels import snapshots_in
from slowwave.home.visibility import open_where
from slowwave.journal import payload_of
from slowwave.journal.kinds.search import results_in
from slowwave.quality.echo import ShingleIndex
from slowwave.quality.gate import SERVED_SCHEMA
from slowwave.scoring.days import day_of, day_start, days_from

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.index.incremental_snapshot import Snapshots
    from slowwave.journal import Journal
    from slowwave.store import Store

PRUNE_ABOVE = 10_000
"""Passages above which old ones may be dropped (count)."""

_READ = ("seq", "namespace", "event_id", "occurred_at", "payload")
_SHOWN_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "seq": pl.Int64, "namespace": pl.String, "chunk_id": pl.String, "search_id": pl.String,
    "shown_at": pl.Datetime("us", "UTC"),
}  # fmt: skip


def served_passages(space: Workspace) -> ServedPassages:
    """Return the served passages of a home."""
    return space.part("served", lambda: ServedPassages(space.journal, space.store, snapshots_in(space)))


class _Shown:
    """Passages served in one namespace, read once from the journal.

    Attributes:
        seq: Seq of the last search that was read.
        looked: Last journal entry up to which no later search exists.
        parts: Frames of `_SHOWN_SCHEMA`.
        shingles: Shingles of the passages.
        seen: Passages in `shingles`: chunk id and hash of the text.
    """

    def __init__(self) -> None:
        self.seq = self.looked = 0
        self.parts: list[pl.DataFrame] = []
        self.forget()

    def forget(self) -> None:
        """Drop the texts of the passages."""
        self.shingles, self.seen = ShingleIndex(), set[tuple[str, int]]()

    def since(self, start: datetime) -> pl.DataFrame:
        """Return rows of this moment or later, and drop the older ones."""
        every = pl.concat([pl.DataFrame(schema=_SHOWN_SCHEMA), *self.parts])
        self.parts = [every.filter(pl.col("shown_at") >= start)]
        return self.parts[0]


class ServedPassages:
    """Passages that searches served, from the journal; each search is read once.

    Args:
        journal: Has the searches.
        store: Has the passages.
        snapshots: Have those of namespaces that were searched in this process.
    """

    def __init__(self, journal: Journal, store: Store, snapshots: Snapshots) -> None:
        self._journal, self._store, self._snapshots = journal, store, snapshots
        self._of: dict[str, _Shown] = {}
        self._lock = threading.Lock()

    def recent(
        self, namespace: str, until: datetime, window: timedelta, texts: Sequence[str], share: float, seq: int
    ) -> pl.DataFrame:
        """Return passages served in this namespace from `until - window` on, as `SERVED_SCHEMA`.

        Empty if no text shares enough shingles for an echo. That check needs no pass over single passages:
        it costs as much after 10,000 searches as after one.

        Args:
            until: Last moment.
            window: Length of the window before it.
            texts: Texts that may be echoes.
            share: Share of an echo's shingles that come from passages.
            seq: Seq of the last event of the texts.
        """
        if not window:
            return pl.DataFrame(schema=SERVED_SCHEMA)
        start = until - window
        with self._lock:
            served = self._of.setdefault(namespace, _Shown())
            if served.looked < seq - 1:
                self._read_new(served, namespace, start, until)
            served.looked = max(served.looked, seq)
            if not served.shingles.may_hold(texts, share):
                return pl.DataFrame(schema=SERVED_SCHEMA)
            rows = served.since(start)
        return self._with_texts(rows)

    def _read_new(self, served: _Shown, namespace: str, start: datetime, until: datetime) -> None:
        """Read the searches since the last call."""
        days = days_from(day_of(start), day_of(until))
        entries = self._journal.read(
            kinds=["search"], days=days, namespace=namespace, after_seq=served.seq, columns=_READ
        )
        if entries.is_empty():
            return
        new = _shown(entries)
        served.parts.append(new)
        served.seq = int(entries["seq"].max())  # type: ignore[arg-type]
        if len(served.seen) > PRUNE_ABOVE:
            new = served.since(start)
            if len(served.seen) > 2 * new["chunk_id"].n_unique():  # most passages are older than the window
                served.forget()
        # A passage may have got another text since it was shown the last time.
        texts = self._texts_now(namespace, set(new["chunk_id"]))
        fresh = {(chunk_id, hash(text)): text for chunk_id, text in texts}
        fresh = {version: text for version, text in fresh.items() if version not in served.seen}
        served.shingles.add(list(fresh.values()))
        served.seen.update(fresh)

    def _texts_now(self, namespace: str, chunk_ids: set[str]) -> Iterable[tuple[str, str]]:
        """Return id and text of chunks, without secret ones; from memory where the namespace was searched."""
        snapshot = self._snapshots.in_memory(namespace)
        if snapshot is None:
            return self._texts(list(chunk_ids)).select("chunk_id", "text").iter_rows()
        memories = sorted({memory_of(chunk_id) for chunk_id in chunk_ids})
        rows = snapshot.of(memories, open_where(), len(snapshot)).rows
        pairs = zip(snapshot.named("chunk_id", rows), snapshot.named("text", rows), strict=True)
        return (pair for pair in pairs if pair[0] in chunk_ids)

    def _texts(self, chunk_ids: Sequence[str]) -> pl.DataFrame:
        columns = ["chunk_id", "memory_id", "text", "revision"]
        # Secret texts count as no echo: a refusal would reveal that a user was shown this very text.
        return self._store.read_by("chunks", "chunk_id", chunk_ids, columns=columns, also=open_where())

    def of_days(self, days: list[str], window: timedelta) -> pl.DataFrame:
        """Return passages served in any namespace on these days and in the window before."""
        if not window or not days:
            return pl.DataFrame(schema=SERVED_SCHEMA)
        read = days_from(day_of(day_start(min(days)) - window), max(days))
        return self._with_texts(_shown(self._journal.read(kinds=["search"], days=read, columns=_READ)))

    def _with_texts(self, shown: pl.DataFrame) -> pl.DataFrame:
        if shown.is_empty():
            return pl.DataFrame(schema=SERVED_SCHEMA)
        texts = self._texts(shown["chunk_id"].to_list())
        # A text that was saved or merged since is not what the search served.
        own = ~pl.col("revision").str.contains("+", literal=True)
        moment = pl.col("revision").str.head(16).str.to_integer(base=16, strict=False)
        saved = moment.cast(pl.Datetime("us", "UTC"))
        return (
            shown.join(texts.filter(own), on="chunk_id", how="inner")
            .filter(saved <= pl.col("shown_at"))
            .select(*SERVED_SCHEMA)
        )


def _shown(entries: pl.DataFrame) -> pl.DataFrame:
    """Return one row per passage that a search served; entries have the columns `_READ`."""
    rows = [
        (seq, namespace, chunk, search, at)
        for seq, namespace, search, at, payload in entries.iter_rows()
        for result in results_in(payload_of(payload))
        for chunk in result.get("chunks") or ()
        if isinstance(chunk, str)
    ]
    return pl.DataFrame(rows, schema=_SHOWN_SCHEMA, orient="row")
