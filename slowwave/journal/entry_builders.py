"""Notes as journal entries: what an act looks like before anything is decided about it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Literal, TypedDict, Unpack

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.journal import Entry, payload_of
from slowwave.journal.frames import ENTRY_SCHEMA
from slowwave.journal.kinds.note import Unreadable, payload_digest, save_of, text_in
from slowwave.notes.conversation_context import inherited_context
from slowwave.notes.decoding import content_hash
from slowwave.notes.model import Note, NoteFailure
from slowwave.scoring.days import day_of

KEYLESS = "saved/"
"""What the sources of notes begin with that were saved without a key."""


def context_sources(notes: Sequence[Note]) -> set[str]:
    """Sources from which the notes of one call may get their context, but for earlier ones of the call."""
    said, asked = set[str](), set[str]()
    for note in notes:
        if _asks(note) and note.follows not in said:
            asked.add(note.follows)
        said.add(note.source)
    return asked


def in_context(notes: Sequence[Note], newest: Mapping[str, Entry]) -> list[Note]:
    """The notes of one call, those that bring no context with what the note that they follow lends them.

    That is the end of what it says: an earlier note of the call, or else what the journal has of it, whether
    it was let in or not, unless it was forgotten. So a call, its halves and single saves come to the same,
    and a memory that is not known lends nothing.

    Args:
        notes: with the sensitivity that they will have.
        newest: the newest act of each of their `lenders`.
    """
    said: dict[str, Note | Entry] = dict(newest)
    done = []
    for note in notes:
        lender = said.get(note.follows) if _asks(note) else None
        done.append(note if lender is None else replace(note, context=_inherited(lender, note)))
        said[note.source] = done[-1]
    return done


def _asks(note: Note) -> bool:
    return bool(note.follows) and not note.context and note.follows != note.source


def _inherited(before: Note | Entry, note: Note) -> str:
    """What a note gives to the one after it; nothing, if the journal has no text of it."""
    if isinstance(before, Note):
        return inherited_context(before.content, before.sensitivity, to=note.sensitivity)
    content = text_in(before.payload)
    if before.kind != "save" or content is None:
        return ""
    return inherited_context(
        content, str(before.payload.get("sensitivity") or "internal"), to=note.sensitivity
    )


class Circumstances(TypedDict):
    """What an act has beside its kind and what it says: whose it is, when it happened, and who did it."""

    namespace: str
    occurred_at: datetime
    principal: str


class SourceCircumstances(Circumstances):
    """The same of an act about a source, with the vault that it is from ("" for none)."""

    origin: str


def save_entry(
    note: Note, *, source: str, digest: str = "", event_id: str = "", **found: Unpack[SourceCircumstances]
) -> Entry:
    """The act of saving a note. Without an event id it gets a fresh one; `digest` is of its raw bytes."""
    payload = save_of(note)
    return Entry(
        event_id=event_id or ids.new_event_id(),
        kind="save",
        subject=source,
        digest=digest or payload_digest(payload),
        content_hash=content_hash(note.content),
        payload=payload,
        **found,
    )


def unreadable_entry(
    failure: NoteFailure, *, source: str, digest: str, event_id: str, **found: Unpack[SourceCircumstances]
) -> Entry:
    """The act of finding a file that cannot be read as a note; it is quarantined with the reason."""
    payload = Unreadable(
        title=source.rsplit("/", 1)[-1],
        content=failure.excerpt,
        reason=failure.reason,
        message=failure.message,
        size_bytes=failure.size_bytes,
    )
    return Entry(event_id, "unreadable", subject=source, digest=digest, payload=payload, **found)


def forget_entry(*, source: str, event_id: str = "", **found: Unpack[SourceCircumstances]) -> Entry:
    """The act of forgetting what `source` says."""
    return Entry(event_id or ids.new_event_id(), "forget", subject=source, **found)


def word_entry(kind: Literal["undo", "accept"], decision_id: str, **said: Unpack[Circumstances]) -> Entry:
    """A person's word about a decision of the log: it is taken back, or what it proposes is to happen."""
    return Entry(ids.digest(kind, decision_id), kind, subject=decision_id, **said)


def entries_frame(entries: Sequence[Entry]) -> pl.DataFrame:
    """Entries in the form in which :meth:`slowwave.journal.Journal.read` gives them.

    Those that do not come from a journal are ordered by when they happened.
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
    """The entries that rows of :meth:`slowwave.journal.Journal.read` are, in their order."""
    return [
        Entry(**{**row, "payload": payload_of(row["payload"])})
        for row in rows.drop("day").iter_rows(named=True)
    ]
