"""Builders of journal entries from notes and user actions, before anything is decided."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, TypedDict, Unpack

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.journal import Entry, Journal, payload_of
from slowwave.journal.entry import DISCARD
from slowwave.journal.frames import ENTRY_SCHEMA
from slowwave.journal.kinds.note import (
    Discard,
    Unreadable,
    is_released,
    payload_digest,
    released,
    save_of,
    text_in,
)
from slowwave.notes.conversation_context import inherited_context
from slowwave.notes.decoding import content_hash
from slowwave.notes.model import Note, NoteFailure
from slowwave.scoring.days import day_of

MOVED = "moved:"
"""Prefix of the digest of a note that is at another path than its source; its payload has the path."""

KEYLESS = "saved/"
"""Prefix of the sources of notes saved without a key."""


def context_sources(notes: Sequence[Note]) -> set[str]:
    """Return sources outside this call from which its notes may inherit context."""
    earlier, wanted = set[str](), set[str]()
    for note in notes:
        if _inherits(note) and note.follows not in earlier:
            wanted.add(note.follows)
        earlier.add(note.source)
    return wanted


def in_context(notes: Sequence[Note], newest: Mapping[str, Entry]) -> list[Note]:
    """Return the notes of one call; those without context inherit it from the note they follow.

    The inherited context is the end of that note's text: an earlier note of the call, or else its newest
    save in the journal, let in or not, unless it was forgotten. So a call, its halves and single saves give
    the same result. An unknown memory gives nothing.

    Args:
        notes: With their effective sensitivity.
        newest: Newest event of each of their `context_sources`.
    """
    previous: dict[str, Note | Entry] = dict(newest)
    done = []
    for note in notes:
        lender = previous.get(note.follows) if _inherits(note) else None
        done.append(note if lender is None else replace(note, context=_inherited(lender, note)))
        previous[note.source] = done[-1]
    return done


def _inherits(note: Note) -> bool:
    return bool(note.follows) and not note.context and note.follows != note.source


def _inherited(before: Note | Entry, note: Note) -> str:
    """Return the context that a note gives to the next one; empty without a text."""
    if isinstance(before, Note):
        return inherited_context(before.content, before.sensitivity, to=note.sensitivity)
    content = text_in(before.payload)
    if before.kind != "save" or content is None:
        return ""
    return inherited_context(
        content, str(before.payload.get("sensitivity") or "internal"), to=note.sensitivity
    )


class Circumstances(TypedDict):
    """Common fields of an event: tenant, moment and acting user."""

    namespace: str
    occurred_at: datetime
    principal: str


class SourceCircumstances(Circumstances):
    """Common fields of an event on a source, with its vault ("" for none)."""

    origin: str


def save_entry(
    note: Note,
    *,
    source: str,
    digest: str = "",
    event_id: str = "",
    path: str = "",
    before: Entry | None = None,
    **circumstances: Unpack[SourceCircumstances],
) -> Entry:
    """Build the save event of a note.

    Without `event_id` it gets a fresh one; `digest` is of the note's raw bytes.

    Args:
        path: Where a vault's note is now, with the vault's name; other than `source` if it has moved.
        before: Newest event of a note that moves. A released text stays released.
    """
    payload = save_of(note)
    digest, text = digest or payload_digest(payload), content_hash(note.content)
    if before is not None and before.content_hash == text and is_released(before.payload):
        payload = released(payload)
    if path and path != source:
        payload, digest = {**payload, "path": path}, MOVED + digest
    return Entry(
        event_id=event_id or ids.new_event_id(),
        kind="save",
        subject=source,
        digest=digest,
        content_hash=text,
        payload=payload,
        **circumstances,
    )


def unreadable_entry(
    failure: NoteFailure,
    *,
    source: str,
    digest: str,
    event_id: str,
    path: str = "",
    **circumstances: Unpack[SourceCircumstances],
) -> Entry:
    """Build the event of an unreadable file; it is quarantined with the reason.

    `path` as in `save_entry`.
    """
    payload = Unreadable(
        title=source.rsplit("/", 1)[-1],
        content=failure.excerpt,
        reason=failure.reason,
        message=failure.message,
        size_bytes=failure.size_bytes,
    )
    if path and path != source:
        payload["path"], digest = path, MOVED + digest
    return Entry(event_id, "unreadable", subject=source, digest=digest, payload=payload, **circumstances)


def closing_entry(
    journal: Journal, *, source: str, event_id: str, **circumstances: Unpack[SourceCircumstances]
) -> Entry | None:
    """Build the save that makes the last text of a source secret; None if nothing is open.

    The save gate judges it like any version: where it refused the last text, the text before it is closed.
    """
    from slowwave.notes.sensitivity import SENSITIVITIES, SENSITIVITY, most_closed

    entries = journal.about(circumstances["namespace"], source)
    last = next((entry for entry in reversed(entries) if entry.kind != "unreadable"), None)
    if last is None or last.kind != "save" or text_in(last.payload) is None:
        return None
    if most_closed([last.payload.get(SENSITIVITY)]) == SENSITIVITIES[-1]:
        return None
    digest = ids.digest("closed", last.digest)
    digest = MOVED + digest if last.digest.startswith(MOVED) else digest
    payload = {**last.payload, SENSITIVITY: SENSITIVITIES[-1]}
    return replace(
        last, payload=payload, event_id=event_id, digest=digest, seq=None, ordered_at=None, **circumstances
    )


def forget_entry(
    *,
    source: str,
    event_id: str = "",
    content_hash: str = "",
    **circumstances: Unpack[SourceCircumstances],
) -> Entry:
    """Build the forget event of a source; of a vanished file with the hash of its last text."""
    event = event_id or ids.new_event_id()
    return Entry(event, "forget", subject=source, content_hash=content_hash, **circumstances)


def word_entry(
    kind: Literal["undo", "accept"], decision_id: str, **circumstances: Unpack[Circumstances]
) -> Entry:
    """Build the event of a user's undo or accept of a logged decision."""
    return Entry(ids.digest(kind, decision_id), kind, subject=decision_id, **circumstances)


def discard_entry(quarantine_id: str, *, restored: bool, **circumstances: Unpack[Circumstances]) -> Entry:
    """Build the event of a user's discard of a quarantined note, or of its undo."""
    payload = Discard(restored=True) if restored else Discard()
    return Entry(ids.new_event_id(), DISCARD, subject=quarantine_id, payload=payload, **circumstances)


def entries_frame(entries: Sequence[Entry]) -> pl.DataFrame:
    """Return entries as rows, as :meth:`slowwave.journal.Journal.read` returns them.

    Entries that are not from a journal are ordered by `occurred_at`.
    """
    columns: dict[str, list[Any]] = {
        "seq": [entry.seq or 0 for entry in entries],
        "event_id": [entry.event_id for entry in entries],
        "kind": [entry.kind for entry in entries],
        "namespace": [entry.namespace for entry in entries],
        "subject": [entry.subject for entry in entries],
        "occurred_at": [entry.occurred_at for entry in entries],
        "ordered_at": [entry.ordered_at or entry.occurred_at for entry in entries],
        "day": [day_of(entry.occurred_at) for entry in entries],
        "principal": [entry.principal for entry in entries],
        "digest": [entry.digest for entry in entries],
        "content_hash": [entry.content_hash for entry in entries],
        "origin": [entry.origin for entry in entries],
        "payload": [orjson.dumps(entry.payload) for entry in entries],
    }
    return pl.DataFrame([pl.Series(name, values, ENTRY_SCHEMA[name]) for name, values in columns.items()])


def entries_in(rows: pl.DataFrame) -> list[Entry]:
    """Return rows of :meth:`slowwave.journal.Journal.read` as entries, in their order."""
    return [
        Entry(**{**row, "payload": payload_of(row["payload"])})
        for row in rows.drop("day").iter_rows(named=True)
    ]
