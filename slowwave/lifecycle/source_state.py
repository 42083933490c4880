"""State of a source, or of a named call, before a save.

The journal has what was said, and the memories what was let in of it. How a memory stands is what the last
text says that was let in; one that the gate refused decides nothing.

A save that is asked for again, because nobody knows whether it was done, happens once: who saves names the
call. The name and who acts make the id of the act, which the journal has once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from slowwave.common import ids
from slowwave.common.arguments import shown, sound_text, within
from slowwave.errors import ArgumentError, JournalConflictError
from slowwave.journal.kinds.note import text_in
from slowwave.notes.arguments import SENSITIVITY, STANDING, most_closed
from slowwave.store import one_of
from slowwave.store.labels import OWN, SCHEMA, own

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Entry, Journal

_STANDS: Final = ["memory_id", "revision", SENSITIVITY, OWN, *SCHEMA]


@dataclass(frozen=True, slots=True)
class SourceState:
    """What is known of sources before something is saved under them.

    Attributes:
        newest: the newest act of each that has one, by source.
        stands: how each memory stands by the last of its texts that was let in: the labels of `KEPT`, by
            source. A text that was refused since opens nothing: the sensitivity is the more closed one.
        waiting: sources under which something was saved that is neither in their memories yet nor refused.
    """

    newest: Mapping[str, Entry]
    stands: Mapping[str, Mapping[str, Any]]
    waiting: Collection[str]

    def place(self, source: str) -> int:
        """Place of the newest act of a source in the journal; 0 where there is none."""
        newest = self.newest.get(source)
        return (newest.seq or 0) if newest else 0


def read_source_state(
    space: Workspace, namespace: str, sources: Collection[str], others: Collection[str] = ()
) -> SourceState:
    """Look at sources, once in the journal and once in the memories.

    Args:
        space: the home.
        namespace: of the sources.
        sources: how these stand.
        others: and what was said last of these.
    """
    asked = {*sources, *others}
    newest = space.journal.latest(namespace, asked) if asked else {}
    there = {ids.memory_id(namespace, source): source for source in sources if source in newest}
    if not there:
        return SourceState(newest, {}, ())
    space.refresh_if_changed()
    rows = own(space.store.read_by("memories", "memory_id", [*there], columns=_STANDS))
    by_source = {there[row["memory_id"]]: row for row in rows.iter_rows(named=True)}
    stands: dict[str, Mapping[str, Any]] = {}
    waiting = []
    for source in there.values():
        row = by_source.get(source, {})
        refused: Sequence[Entry] = ()
        if ids.note_revision(row.get("revision", "")) != _revision(newest[source]):
            refused, waits = entries_after(space, namespace, source, space.journal.about(namespace, source))
            if any(one.kind == "save" for one in waits):  # to forget changes nothing of how it stands
                waiting.append(source)
        closed = most_closed([row.get(SENSITIVITY), *(one.payload.get(SENSITIVITY) for one in refused)])
        stands[source] = {**{name: row.get(name) for name in STANDING}, SENSITIVITY: closed}
    return SourceState(newest, stands, waiting)


def entries_after(
    space: Workspace, namespace: str, source: str, said: Sequence[Entry]
) -> tuple[list[Entry], list[Entry]]:
    """Of what was said of a source after what its memory says: the saves that were refused, and what waits.

    What could not be read says nothing, and waits for nothing.
    """
    mine = one_of("memory_id", [ids.memory_id(namespace, source)])
    known = space.store.read("memories", mine, columns=["revision", "status"])
    last = max(map(ids.note_revision, known["revision"]), default="")
    forgotten = "retired" in known["status"]
    later = [
        one
        for one in said
        if one.kind != "unreadable" and _revision(one) > last and not (forgotten and one.kind == "forget")
    ]
    if not later:
        return [], []
    held = set(space.store.read("quarantine", mine, columns=["revision"])["revision"])
    refused = [one for one in later if _revision(one) in held]
    return refused, [one for one in later if _revision(one) not in held]


def _revision(act: Entry) -> str:
    return ids.revision(act.ordered_at or act.occurred_at, act.event_id)


NAME = "request"


def source_names(
    notes: Sequence[Mapping[str, Any]], namespace: str, principal: str
) -> tuple[list[Mapping[str, Any]], list[str]]:
    """The notes without the names of their calls, and an event id for each.

    Args:
        notes: arguments of `Memory.save`.
        namespace: of who saves.
        principal: who saves.

    Raises:
        ArgumentError: a name is no text, or is that of two notes of one call.
    """
    names = [one.get(NAME) or "" if isinstance(one, Mapping) else "" for one in notes]
    for at, name in enumerate(names, start=1):
        if not isinstance(name, str):
            raise ArgumentError(f"Note {at}: {NAME} = {shown(name)}: it has to be text.")
        within(NAME, name, f"Note {at}: {NAME}")
        sound_text(f"Note {at}: {NAME}", name)
    given = [name for name in names if name]
    if len(set(given)) < len(given):
        raise ArgumentError(f"Two notes of one call have the same {NAME}; give each its own.")
    bare: list[Mapping[str, Any]] = [
        {key: value for key, value in one.items() if key != NAME} if isinstance(one, Mapping) else one
        for one in notes
    ]
    events = [
        ids.digest("asked to save", namespace, principal, name) if name else ids.new_event_id()
        for name in names
    ]
    return bare, events


def stored_spelling(
    journal: Journal, notes: Sequence[Mapping[str, Any]], entries: Sequence[Entry]
) -> list[Entry]:
    """The acts, those that were written under the same name before as they are in the journal.

    Args:
        journal: has what was saved.
        notes: arguments of the call, with the names.
        entries: their acts, as they would be written now.

    Raises:
        JournalConflictError: under that name something else was saved.
    """
    asked = {
        act.event_id: note[NAME]
        for act, note in zip(entries, notes, strict=True)
        if isinstance(note, Mapping) and note.get(NAME)
    }
    known = journal.entries(list(asked)) if asked else {}
    for act in entries:
        before = known.get(act.event_id)
        if before is not None and _labels_of(before) != _labels_of(act):
            raise JournalConflictError(
                f"{NAME} = {shown(asked[act.event_id])} was used before for another note; nothing was "
                f"saved. Give each note a name of its own."
            )
    return [known.get(act.event_id, act) for act in entries]


def _labels_of(act: Entry) -> tuple[str, str | None, object]:
    return act.subject, text_in(act.payload), act.payload.get("title")
