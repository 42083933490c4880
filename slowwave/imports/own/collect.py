"""Collection of the memories of a namespace that the caller may read."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import polars as pl

from slowwave.common import ids
from slowwave.home.visibility import Viewer, closed_memories, is_open, open_rows, seen_versions
from slowwave.imports.own.model import EVENTS, TABLES, TYPE, VERSION, Contents, events_frame, schemas
from slowwave.journal.entry import FEEDBACK_KINDS, SOURCE_KINDS, WORDS
from slowwave.journal.entry_builders import entries_in
from slowwave.journal.kinds.erasure import is_erased
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.journal import Entry
    from slowwave.memory import Memory

_NOTES = (*SOURCE_KINDS, *WORDS)
KINDS = (*_NOTES, "search", *FEEDBACK_KINDS)
_PAGE = 1_000  # events in memory at a time
_NAMED = ("memory_id", "other_memory", "from_memory", "to_memory", "duplicate_of")


@dataclass(frozen=True, slots=True)
class Collected:
    """Contents of an export.

    Attributes:
        contents: Of the export.
        withheld: Secret memories that were left out.
        searches: Searches that were left out because the namespace has, or had, something secret.
    """

    contents: Contents
    withheld: int
    searches: int


def collect(memory: Memory, *, secret: bool = False) -> Collected:
    """Return all memories of a namespace with versions, decisions, relations, searches and ratings.

    Queries are words that people typed: they may be those of a secret note that no search returned. So a
    namespace with anything secret, in any version, exports searches and ratings only with `secret`.

    Args:
        secret: Include secret memories and versions, and all searches.
    """
    store, namespace = memory.store, memory.namespace
    columns = schemas(store.specs)
    frames = {
        name: store.read(name, within(namespace), columns=list(columns[name])).sort(store.specs[name].key)
        for name in TABLES
    }
    closed = set() if secret else closed_memories(store, namespace)
    had_secrets, reopened = bool(closed), set[str]()
    if not secret:
        for entry in _entries(memory, ("save", "unreadable")):
            if not _is_open_note(entry):
                had_secrets = True
                closed.add(ids.memory_id(namespace, entry.subject))
                reopened.add(entry.subject)
        closed -= set(frames["memories"].filter(open_rows())["memory_id"])  # opened since, or never secret
    hidden = _closed_saves(memory, reopened)
    kinds = _NOTES if had_secrets else KINDS
    parts = [
        events_frame(entry for entry in page if secret or _is_shown(entry, closed, hidden))
        for page in _pages(memory, kinds)
    ]
    events = pl.concat(parts) if parts else events_frame(())
    if not secret:
        shown = set(events["event_id"])
        frames = {name: _open_rows(name, frame, closed, shown) for name, frame in frames.items()}
    header = {"type": TYPE, "version": VERSION, "namespace": namespace, "model": store.identity.model}
    return Collected(
        Contents(header, {EVENTS: events, **frames}),
        store.count("memories", within(namespace)) - frames["memories"].height,
        memory.journal.count(namespace, "search") if had_secrets else 0,
    )


def _pages(memory: Memory, kinds: Sequence[str]) -> Iterator[list[Entry]]:
    for page in memory.journal.pages(kinds=kinds, namespace=memory.namespace, size=_PAGE):
        yield [entry for entry in entries_in(page) if not is_erased(entry.payload)]


def _entries(memory: Memory, kinds: Sequence[str]) -> Iterator[Entry]:
    return (entry for page in _pages(memory, kinds) for entry in page)


def _is_open_note(entry: Entry) -> bool:
    return entry.kind == "save" and is_open(entry.payload.get("sensitivity"))


def _closed_saves(memory: Memory, sources: Collection[str]) -> set[str]:
    """Return the saves (event_id) of these sources that a later secret version closed."""
    closed = set()
    for source in sorted(sources):
        acts = memory.journal.about(memory.namespace, source)
        closed |= {act.event_id for act in acts if act.kind == "save"} - seen_versions(acts, Viewer.REPORT)
    return closed


def _is_shown(entry: Entry, closed: Collection[str], hidden: Collection[str]) -> bool:
    """Whether an event is no secret or closed version, and about no secret note."""
    if entry.event_id in hidden:
        return False
    if entry.kind not in SOURCE_KINDS:
        return True
    seen = entry.kind == "forget" or _is_open_note(entry)
    return seen and ids.memory_id(entry.namespace, entry.subject) not in closed


def _open_rows(
    table: str, frame: pl.DataFrame, closed: Collection[str], events: Collection[str]
) -> pl.DataFrame:
    """Leave out rows that name a closed memory or a version left out."""
    if table in ("decisions", "quarantine"):
        frame = frame.filter(_event_of("revision").is_in(list(events)))
    if "other_revision" in frame.columns:
        frame = frame.filter(_event_of("other_revision").is_in(list(events)).fill_null(value=True))
    names = [name for name in _NAMED if name in frame.columns]
    hidden = pl.any_horizontal(pl.col(name).is_in(list(closed)).fill_null(value=False) for name in names)
    return frame.filter(~hidden)


def _event_of(column: str) -> pl.Expr:
    """Return the events (event_id) of a column of revisions."""
    return pl.col(column).str.splitn("-", 2).struct[1].str.extract(r"^([^+]*)")
