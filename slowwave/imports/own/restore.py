"""Lossless import of an export: events, then table rows, under their own ids.

Decisions are not made again. What the home changed or erased since stays as it is. After a kill, run it
again.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.imports.model import ImportFailedError
from slowwave.imports.own.model import EVENTS, TABLES, Contents
from slowwave.journal import Entry
from slowwave.journal.entry import SOURCE_KINDS
from slowwave.journal.erasure_tombstones import erased_name, erased_names
from slowwave.lifecycle.ingest_pipeline import labelled
from slowwave.lifecycle.reconcile import delete_chunks, differences, reconcile
from slowwave.maintenance.rebuild.texts import embedded
from slowwave.quality.admission.statuses import MERGED
from slowwave.store.vectors import mean_vectors

if TYPE_CHECKING:
    from slowwave.memory import Memory

_AT_ONCE = 2_000  # events or memories written together
_REVISIONS = ("revision", "other_revision", "duplicate_revision")


@dataclass(slots=True)
class MemoryImportReport:
    """Counts of an import.

    Attributes:
        namespace: Target.
        memories: Memories that came, or would.
        events: New events: versions, searches, ratings.
        already: Memories that were here, unchanged.
        kept: Memories that were changed here since; they stay.
        erased: Memories that were erased here; they stay away.
        edited: Files of the folder that were edited since the export; not read.
    """

    namespace: str
    dry_run: bool
    memories: int = 0
    events: int = 0
    already: int = 0
    kept: int = 0
    erased: int = 0
    edited: int = 0


def restore(memory: Memory, contents: Contents, *, dry_run: bool = False) -> MemoryImportReport:
    """Import an export into its namespace.

    Raises:
        ImportFailedError: It is of another namespace: ids of memories are made of it.
        JournalConflictError: The home has other events under the same ids; nothing was written.
    """
    name = contents.header["namespace"]
    if name != memory.namespace:
        raise ImportFailedError(
            f"The export is of namespace {name!r}, and ids are made of it. Import it with -n {name}."
        )
    report = MemoryImportReport(name, dry_run)
    if dry_run:
        _plan(memory, contents, report)
        return report
    with memory.home.writing():
        entries, wanted, blocked = _plan(memory, contents, report)
        moments: dict[str, str] = {}
        for start in range(0, len(entries), _AT_ONCE):
            batch = entries[start : start + _AT_ONCE]
            for entry in memory.journal.append_next(batch, {}):
                assert entry.ordered_at is not None
                moments[entry.event_id] = ids.revision(entry.ordered_at, entry.event_id)
        frames = {table: _moved(contents.frames[table], moments, wanted, blocked) for table in TABLES}
        for part in frames["memories"].iter_slices(_AT_ONCE):
            _write_memories(memory, part)
        for table in TABLES[1:]:
            rows = _lacking(memory, table, frames[table], wanted)
            if not rows.is_empty():
                memory.store.upsert(table, rows)
        here = set(contents.frames["memories"]["memory_id"]) - wanted - blocked
        chunker = memory.home.chunker  # an earlier attempt may have been killed before it wrote chunks
        reconcile(memory.store, chunker, memory.home.embedder, memory_ids=sorted(here))
        memory.store.settle()
    return report


def _plan(
    memory: Memory, contents: Contents, report: MemoryImportReport
) -> tuple[list[Entry], set[str], set[str]]:
    """Return events to append, memories to write, and memories that stay unchanged."""
    namespace = memory.namespace
    entries = [_entry(row, namespace) for row in contents.frames[EVENTS].iter_rows(named=True)]
    own = {entry.event_id for entry in entries}
    sources = {entry.subject for entry in entries if entry.kind in SOURCE_KINDS}
    latest = memory.journal.latest(namespace, sources)
    changed = {source for source, last in latest.items() if last.event_id not in own}
    erased = erased_names(memory.journal, memory.namespace)
    gone = {source for source in sources if erased_name(namespace, source) in erased} if erased else set()
    blocked = {ids.memory_id(namespace, source) for source in changed | gone}
    memories = contents.frames["memories"].select("memory_id", "revision")
    here = memory.store.read_by(
        "memories", "memory_id", memories["memory_id"].to_list(), columns=["memory_id", "revision"]
    )
    events = {name: ids.event_of(revision) for name, revision in here.iter_rows()}
    wanted = set()
    for name, revision in memories.iter_rows():
        if name in blocked:
            continue
        if events.get(name) == ids.event_of(revision):
            report.already += 1
        else:
            wanted.add(name)
    report.memories, report.kept, report.erased = len(wanted), len(changed - gone), len(gone)
    entries = [
        entry for entry in entries if entry.kind not in SOURCE_KINDS or entry.subject not in changed | gone
    ]
    report.events = len(entries) - len(memory.journal.entries([entry.event_id for entry in entries]))
    return entries, wanted, blocked


def _entry(row: Mapping[str, Any], namespace: str) -> Entry:
    return Entry(**{**row, "payload": orjson.loads(row["payload"])}, namespace=namespace)


def _moved(
    frame: pl.DataFrame, revisions: Mapping[str, str], wanted: Collection[str], blocked: Collection[str]
) -> pl.DataFrame:
    """Return rows to write, with the revisions that this journal gives their events."""
    names = [name for name in ("memory_id", "from_memory", "to_memory") if name in frame.columns]
    if "absorbed" in frame.columns:
        rows = frame.filter(pl.col("memory_id").is_in(list(wanted)))
    else:
        rows = frame.filter(~pl.any_horizontal(pl.col(name).is_in(list(blocked)) for name in names))

    def moved(revision: str | None) -> str | None:
        if revision is None or ids.event_of(revision) not in revisions:
            return revision
        return revisions[ids.event_of(revision)] + revision[len(ids.note_revision(revision)) :]

    changed = {name: [moved(value) for value in rows[name]] for name in _REVISIONS if name in rows.columns}
    if "quarantine_id" in rows.columns:
        pairs = zip(rows["memory_id"], changed["revision"], strict=True)
        changed["quarantine_id"] = [f"{memory}:{revision}" for memory, revision in pairs]
    return rows.with_columns(pl.Series(name, values, pl.String) for name, values in changed.items())


def _lacking(memory: Memory, table: str, rows: pl.DataFrame, wanted: Collection[str]) -> pl.DataFrame:
    """Return the rows that this home lacks, and those of memories to write; its own newer rows stay."""
    key = memory.store.specs[table].key
    here = memory.store.read_by(table, key, rows[key].to_list(), columns=[key])[key].to_list()
    new = ~pl.col(key).is_in(here)
    return rows.filter(new | pl.col("memory_id").is_in(list(wanted)) if "memory_id" in rows.columns else new)


def _write_memories(memory: Memory, rows: pl.DataFrame) -> None:
    """Write memories with their vectors and chunks, which are computed from the texts."""
    space, store = memory.home, memory.store
    chunks = embedded(space, rows.filter(pl.col("content_hash").is_not_null()))
    counts = chunks.group_by("memory_id").agg(cut=pl.len())
    vectors = mean_vectors(chunks, space.embedder.dimension)
    made = (
        rows.join(vectors, on="memory_id", how="left", maintain_order="left")
        .join(counts, on="memory_id", how="left", maintain_order="left")
        .with_columns(
            chunk_count=pl.when(pl.col("chunk_count") > 0)
            .then(pl.coalesce("cut", "chunk_count"))
            .otherwise("chunk_count")
            .cast(rows.schema["chunk_count"])
        )
        .drop("cut")
    )
    shown = made.filter((pl.col("status") != MERGED) & (pl.col("chunk_count") > 0))
    store.upsert("memories", made)
    store.upsert("chunks", labelled(chunks, shown))
    delete_chunks(store, differences(store, rows["memory_id"].to_list()).stale)
