"""State of a source, or of a named call, before a save.

The journal has every text that was saved, and the memories have those that were let in. A memory's state is
that of its last text that was let in; a refused text decides nothing.

A repeated save is idempotent if the caller names the call. Name and user make the event id, which the
journal has once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from slowwave.common import ids
from slowwave.common.arguments import shown, sound_text, within
from slowwave.errors import ArgumentError, JournalConflictError
from slowwave.journal.kinds.note import text_in
from slowwave.notes.arguments import STANDING
from slowwave.notes.sensitivity import SENSITIVITY, most_closed
from slowwave.store import one_of
from slowwave.store.labels import OWN, SCHEMA, own

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry, Journal

_STANDS: Final = ["memory_id", "revision", SENSITIVITY, OWN, *SCHEMA]


@dataclass(frozen=True, slots=True)
class SourceState:
    """State of sources before something is saved under them.

    Attributes:
        newest: Newest event per source.
        stands: Labels of `STANDING` per source, from its last text that was let in. A text refused since
            opens nothing: the more closed sensitivity counts.
        waiting: Sources with a save that is neither in their memory yet nor refused.
    """

    newest: Mapping[str, Entry]
    stands: Mapping[str, Mapping[str, Any]]
    waiting: Collection[str]

    def place(self, source: str) -> int:
        """Return the journal seq of a source's newest event; 0 if there is none."""
        newest = self.newest.get(source)
        return (newest.seq or 0) if newest else 0


def read_source_state(
    space: Workspace, namespace: str, sources: Collection[str], others: Collection[str] = ()
) -> SourceState:
    """Read the state of sources, once from the journal and once from the memories.

    Args:
        sources: State and newest event of these.
        others: Newest event only of these.
    """
    names = {*sources, *others}
    newest = space.journal.latest(namespace, names) if names else {}
    by_memory = {ids.memory_id(namespace, source): source for source in sources if source in newest}
    if not by_memory:
        return SourceState(newest, {}, ())
    space.refresh_if_changed()
    rows = own(space.store.read_by("memories", "memory_id", [*by_memory], columns=_STANDS))
    by_source = {by_memory[row["memory_id"]]: row for row in rows.iter_rows(named=True)}
    stands: dict[str, Mapping[str, Any]] = {}
    waiting = []
    for source in by_memory.values():
        row = by_source.get(source, {})
        refused: Sequence[Entry] = ()
        if ids.note_revision(row.get("revision", "")) != _revision(newest[source]):
            refused, waits = entries_after(space, namespace, source, space.journal.about(namespace, source))
            if any(entry.kind == "save" for entry in waits):  # a forget does not change the labels
                waiting.append(source)
        closed = most_closed([row.get(SENSITIVITY), *(entry.payload.get(SENSITIVITY) for entry in refused)])
        stands[source] = {**{name: row.get(name) for name in STANDING}, SENSITIVITY: closed}
    return SourceState(newest, stands, waiting)


def entries_after(
    space: Workspace, namespace: str, source: str, entries: Sequence[Entry]
) -> tuple[list[Entry], list[Entry]]:
    """Return a source's events after its memory's revision: refused saves, and those that wait.

    Unreadable files are left out.
    """
    where = one_of("memory_id", [ids.memory_id(namespace, source)])
    rows = space.store.read("memories", where, columns=["revision", "status"])
    last = max(map(ids.note_revision, rows["revision"]), default="")
    forgotten = "retired" in rows["status"]
    later = [
        entry
        for entry in entries
        if entry.kind != "unreadable"
        and _revision(entry) > last
        and not (forgotten and entry.kind == "forget")
    ]
    if not later:
        return [], []
    held = set(space.store.read("quarantine", where, columns=["revision"])["revision"])
    refused = [entry for entry in later if _revision(entry) in held]
    return refused, [entry for entry in later if _revision(entry) not in held]


def _revision(act: Entry) -> str:
    return ids.revision(act.ordered_at or act.occurred_at, act.event_id)


NAME = "idempotency_key"


def source_names(
    notes: Sequence[Mapping[str, Any]], namespace: str, principal: str
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """Return the notes without the names of their calls, and an event id for each.

    Args:
        notes: Arguments of `Memory.save`.

    Raises:
        ArgumentError: A name is no text, or two notes of one call share it.
    """
    names = [note.get(NAME) or "" if isinstance(note, Mapping) else "" for note in notes]
    for at, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise ArgumentError(f"Note {at}: {NAME} = {shown(name)}: it has to be text.")
        within(NAME, name, f"Note {at}: {NAME}")
        sound_text(f"Note {at}: {NAME}", name)
    used = [name for name in names if name]
    if len(set(used)) < len(used):
        raise ArgumentError(f"Two notes of one call have the same {NAME}; give each its own.")
    bare: list[Mapping[str, Any]] = [
        {key: value for key, value in note.items() if key != NAME} if isinstance(note, Mapping) else note
        for note in notes
    ]
    events = [
        ids.digest("asked to save", namespace, principal, name) if name else ids.new_event_id()
        for name in names
    ]
    return bare, events


def stored_spelling(
    journal: Journal, notes: Sequence[Mapping[str, Any]], entries: Sequence[Entry]
) -> list[Entry]:
    """Return the events; repeated ones as the journal has them.

    Args:
        journal: Has what was saved.
        notes: Arguments of the call, with the names.
        entries: Events, as they would be written now.

    Raises:
        JournalConflictError: Another note was saved under that name.
    """
    requests = {
        act.event_id: note[NAME]
        for act, note in zip(entries, notes, strict=True)
        if isinstance(note, Mapping) and note.get(NAME)
    }
    stored = journal.entries(list(requests)) if requests else {}
    for act in entries:
        before = stored.get(act.event_id)
        if before is not None and _labels_of(before) != _labels_of(act):
            raise JournalConflictError(
                f"{NAME} = {shown(requests[act.event_id])} was used before for another note; nothing was "
                f"saved. Give each note a name of its own."
            )
    return [stored.get(act.event_id, act) for act in entries]


def _labels_of(act: Entry) -> tuple[str, str | None, object]:
    return act.subject, text_in(act.payload), act.payload.get("title")
