"""Notes as journal entries: what an act looks like before anything is decided about it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from slowwave.common import ids
from slowwave.journal import Entry, payload_of
from slowwave.journal.frames import ENTRY_SCHEMA
from slowwave.journal.kinds.note import Unreadable, payload_digest, save_of, text_in
from slowwave.notes import Note, NoteFailure, content_hash, lent
from slowwave.scoring.days import day_of

if TYPE_CHECKING:
    from slowwave.journal import Journal

KEYLESS = "saved/"
"""What the sources of notes begin with that were saved without a key."""


def placed(notes: Sequence[Note], named: Sequence[bool], journal: Journal, namespace: str) -> list[Note]:
    """The notes of one call, with what they take from what was said before: sensitivity and context.

    A note that replaces another and names no sensitivity keeps the one that this had: who knows the key of a
    secret note does not open it by saying something else under it.

    A note that follows another one and brings no context gets the end of what the other one says: an earlier
    note of the call, or else what the journal has of it, whether it was let in or not, unless it was
    forgotten. So a call, its halves and single saves come to the same, and a memory that is not known lends
    nothing.

    Args:
        notes: as they were given.
        named: of each, whether it says how sensitive it is.
        journal: has what was said before.
        namespace: of the notes.
    """
    said: dict[str, Note | Entry] = {}
    asked = set()
    for note, says in zip(notes, named, strict=True):
        asked |= {note.follows} if _asks(note) and note.follows not in said else set()
        asked |= set() if says or note.source in said or note.source.startswith(KEYLESS) else {note.source}
        said[note.source] = note
    said = dict(journal.latest(namespace, asked)) if asked else {}
    standing = {name: _last_save(one, journal) for name, one in said.items()}
    done = []
    for note, says in zip(notes, named, strict=True):
        before = standing.get(note.source)
        kept = "" if says or before is None else _sensitivity(before)
        one = replace(note, sensitivity=kept) if kept else note
        lender = said.get(one.follows) if _asks(one) else None
        done.append(replace(one, context=_lent(lender, one)) if lender is not None else one)
        said[note.source] = standing[note.source] = done[-1]
    return done


def _last_save(newest: Note | Entry, journal: Journal) -> Note | Entry:
    """The act that last said how sensitive a source is: to forget a secret does not open it."""
    if isinstance(newest, Note) or newest.kind == "save":
        return newest
    saves = [one for one in journal.about(newest.namespace, newest.subject) if one.kind == "save"]
    return saves[-1] if saves else newest


def _asks(note: Note) -> bool:
    return bool(note.follows) and not note.context and note.follows != note.source


def _sensitivity(before: Note | Entry) -> str:
    return str(before.sensitivity if isinstance(before, Note) else before.payload.get("sensitivity") or "")


def _lent(before: Note | Entry, note: Note) -> str:
    """What a note gives to the one after it; nothing, if the journal has no text of it."""
    if isinstance(before, Note):
        return lent(before.content, before.sensitivity, to=note.sensitivity)
    content = text_in(before.payload)
    if before.kind != "save" or content is None:
        return ""
    return lent(content, str(before.payload.get("sensitivity") or "internal"), to=note.sensitivity)


def save_entry(
    note: Note,
    *,
    namespace: str,
    source: str,
    origin: str,
    occurred_at: datetime,
    principal: str,
    digest: str | None = None,
    event_id: str | None = None,
) -> Entry:
    """The act of saving a note. Without an event id it gets a fresh one; `digest` is of its raw bytes."""
    payload = save_of(note)
    return Entry(
        event_id=event_id or ids.new_event_id(),
        kind="save",
        namespace=namespace,
        subject=source,
        occurred_at=occurred_at,
        principal=principal,
        digest=digest or payload_digest(payload),
        content_hash=content_hash(note.content),
        origin=origin,
        payload=payload,
    )


def unreadable_entry(
    failure: NoteFailure,
    *,
    namespace: str,
    source: str,
    origin: str,
    occurred_at: datetime,
    principal: str,
    digest: str,
    event_id: str,
) -> Entry:
    """The act of finding a file that cannot be read as a note; it is quarantined with the reason."""
    return Entry(
        event_id=event_id,
        kind="unreadable",
        namespace=namespace,
        subject=source,
        occurred_at=occurred_at,
        principal=principal,
        digest=digest,
        origin=origin,
        payload=Unreadable(
            title=source.rsplit("/", 1)[-1],
            content=failure.excerpt,
            reason=failure.reason,
            message=failure.message,
            size_bytes=failure.size_bytes,
        ),
    )


def forget_entry(
    *,
    namespace: str,
    source: str,
    origin: str,
    occurred_at: datetime,
    principal: str,
    event_id: str | None = None,
) -> Entry:
    """The act of forgetting what `source` says."""
    return Entry(
        event_id=event_id or ids.new_event_id(),
        kind="forget",
        namespace=namespace,
        subject=source,
        occurred_at=occurred_at,
        principal=principal,
        origin=origin,
    )


def undo_entry(*, namespace: str, decision_id: str, occurred_at: datetime, principal: str) -> Entry:
    """The act of taking a decision of the log back."""
    return Entry(
        event_id=ids.digest("undo", decision_id),
        kind="undo",
        namespace=namespace,
        subject=decision_id,
        occurred_at=occurred_at,
        principal=principal,
    )


def accept_entry(*, namespace: str, decision_id: str, occurred_at: datetime, principal: str) -> Entry:
    """The act of letting happen what a decision of the log proposes."""
    return Entry(
        event_id=ids.digest("accept", decision_id),
        kind="accept",
        namespace=namespace,
        subject=decision_id,
        occurred_at=occurred_at,
        principal=principal,
    )


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
