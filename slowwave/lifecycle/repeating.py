"""A save that is asked for again, because nobody knows whether it was done, happens once.

Who saves names the call. The name and who acts make the id of the act, which the journal has once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.common.arguments import shown, sound_text, within
from slowwave.errors import ArgumentError, JournalConflictError
from slowwave.journal.kinds.note import text_in

if TYPE_CHECKING:
    from slowwave.journal import Entry, Journal

NAME = "request"


def named(
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


def as_written(journal: Journal, notes: Sequence[Mapping[str, Any]], entries: Sequence[Entry]) -> list[Entry]:
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
        if before is not None and _says(before) != _says(act):
            raise JournalConflictError(
                f"{NAME} = {shown(asked[act.event_id])} was used before for another note; nothing was "
                f"saved. Give each note a name of its own."
            )
    return [known.get(act.event_id, act) for act in entries]


def _says(act: Entry) -> tuple[str, str | None, object]:
    return act.subject, text_in(act.payload), act.payload.get("title")
