"""Collection of the memories of a namespace that the caller may read."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from slowwave.common import ids
from slowwave.evaluation.exchange.export import is_withheld, withheld_projects
from slowwave.home.visibility import closed_ids, is_open
from slowwave.imports.own.model import EVENTS, TABLES, TYPE, VERSION, Contents, events_frame, schemas
from slowwave.journal.entry import FEEDBACK_KINDS, SOURCE_KINDS, WORDS
from slowwave.journal.entry_builders import entries_in
from slowwave.journal.kinds.erasure import is_erased
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.journal import Entry
    from slowwave.memory import Memory

KINDS = (*SOURCE_KINDS, *WORDS, "search", *FEEDBACK_KINDS)
_PAGE = 1_000  # events in memory at a time
_NAMED = ("memory_id", "other_memory", "from_memory", "to_memory", "duplicate_of")


@dataclass(frozen=True, slots=True)
class Collected:
    """Contents of an export, and the count of memories that were left out as secret."""

    contents: Contents
    withheld: int


def collect(memory: Memory, *, secret: bool = False) -> Collected:
    """Return all memories of a namespace with versions, decisions, relations, searches and ratings.

    Args:
        secret: Include secret memories, and the searches that returned them.
    """
    store, namespace = memory.store, memory.namespace
    columns = schemas(store.specs)
    frames = {
        name: store.read(name, within(namespace), columns=list(columns[name])).sort(store.specs[name].key)
        for name in TABLES
    }
    closed = set() if secret else closed_ids(store, namespace)
    entries = [
        entry
        for page in memory.journal.pages(kinds=KINDS, namespace=namespace, size=_PAGE)
        for entry in entries_in(page)
        if not is_erased(entry.payload)
    ]
    if not secret:
        closed |= _closed_notes(namespace, entries, set(frames["memories"]["memory_id"]))
        entries = _open_entries(memory, entries, closed)
        events = {entry.event_id for entry in entries}
        frames = {name: _open_rows(name, frame, closed, events) for name, frame in frames.items()}
    total = store.count("memories", within(namespace))
    header = {"type": TYPE, "version": VERSION, "namespace": namespace, "model": store.identity.model}
    contents = Contents(header, {EVENTS: events_frame(entries), **frames})
    return Collected(contents, total - frames["memories"].height)


def _closed_notes(namespace: str, entries: Collection[Entry], memories: Collection[str]) -> set[str]:
    """Return notes that never became a memory, and are secret or could not be read."""
    closed = set()
    for entry in entries:
        if entry.kind in ("save", "unreadable") and not _is_open_note(entry):
            name = ids.memory_id(namespace, entry.subject)
            if name not in memories:
                closed.add(name)
    return closed


def _is_open_note(entry: Entry) -> bool:
    return entry.kind == "save" and is_open(entry.payload.get("sensitivity"))


def _open_entries(memory: Memory, entries: Collection[Entry], closed: Collection[str]) -> list[Entry]:
    """Leave out earlier secret versions, and searches of secret memories with their feedback."""
    namespace = memory.namespace
    searches = {entry.event_id for entry in entries if entry.kind == "search" and is_withheld(entry, closed)}
    projects = withheld_projects(memory.journal, namespace, closed)

    def is_shown(entry: Entry) -> bool:
        if entry.kind in SOURCE_KINDS:
            seen = entry.kind == "forget" or _is_open_note(entry)
            return seen and ids.memory_id(namespace, entry.subject) not in closed
        if entry.kind == "outcome":
            return entry.subject not in projects
        return entry.event_id not in searches and entry.subject not in searches

    return [entry for entry in entries if is_shown(entry)]


def _open_rows(
    table: str, frame: pl.DataFrame, closed: Collection[str], events: Collection[str]
) -> pl.DataFrame:
    """Leave out rows that name a closed memory or a version left out."""
    if table in ("decisions", "quarantine"):
        event = pl.col("revision").str.splitn("-", 2).struct[1].str.extract(r"^([^+]*)")
        frame = frame.filter(event.is_in(list(events)))
    names = [name for name in _NAMED if name in frame.columns]
    hidden = pl.any_horizontal(pl.col(name).is_in(list(closed)).fill_null(value=False) for name in names)
    return frame.filter(~hidden)
