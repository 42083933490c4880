"""Identifiers: deterministic, so that every write can be repeated.

A memory's id is a hash of its namespace and its source (vault path or caller's key): the same note is
the same memory on every machine and in every rerun, and two tenants can never share one.
"""

from __future__ import annotations

import base64
import hashlib
import unicodedata
import uuid
from datetime import datetime

from slowwave.scoring.days import to_microseconds

_MOMENT_DIGITS = 16


def digest(*parts: str) -> str:
    """BLAKE2b-128 of the parts as 32 hex digits; parts are length-prefixed, so they cannot run together."""
    state = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode()
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()


def memory_id(namespace: str, source: str) -> str:
    """Id of the memory that `source` is in `namespace`: 26 characters, lower-case base32."""
    raw = bytes.fromhex(digest("memory", namespace, source))
    return base64.b32encode(raw).decode().rstrip("=").lower()


def chunk_id(memory: str, ordinal: int) -> str:
    """Id of the `ordinal`-th chunk (from 0) of a memory; it sorts in document order."""
    return f"{memory}:{ordinal:05d}"


def memory_of(chunk: str) -> str:
    """The memory that a chunk id belongs to."""
    return chunk.partition(":")[0]


def ordinal_of(chunk: str) -> int:
    """The place of a chunk in its memory, from 0."""
    return int(chunk.partition(":")[2])


def embedding_hash(model: str, text: str) -> str:
    """Key of the vector that `model` gives `text`: equal text is embedded once."""
    return digest("embedding", model, text)


def normalised_query(query: str) -> str:
    """A query as it is compared with others: NFKC, without case, white space as single spaces."""
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split())


def query_id(namespace: str, query: str) -> str:
    """Id of what was asked: searches of a namespace with the same words are searches of one query."""
    return digest("query", namespace, normalised_query(query))


def new_event_id() -> str:
    """A fresh event id (random UUID, 32 hex digits)."""
    return uuid.uuid4().hex


def revision(ordered_at: datetime, event_id: str) -> str:
    """Sortable version of a memory: what was written to the journal later compares greater.

    Every write to a shared table is conditional on it, so the last word wins whatever the clocks of machines
    say and in whatever order days are worked on; a rerun of an old day can never put an old text back.

    Args:
        ordered_at: the moment that the act has among all acts (`slowwave.journal.Entry.ordered_at`).
        event_id: of the act.
    """
    return f"{to_microseconds(ordered_at):0{_MOMENT_DIGITS}x}-{event_id}"


def revision_moment(revision: str) -> int:
    """Microseconds since 1970 of the act that made this version."""
    return int(revision[:_MOMENT_DIGITS], 16)


def state_revision(note_revision: str, *standing: str) -> str:
    """Version of what a memory is: of its own text, and of its standing among others where it has one.

    The same text and the same standing always give the same version, so taking a merge back brings back the
    version that the memory had.
    """
    return f"{note_revision}+{digest('standing', *standing)[:12]}" if standing else note_revision


def note_revision(state: str) -> str:
    """Version of a memory's own text, from the version of what it is."""
    return state.partition("+")[0]


def event_of(revision: str) -> str:
    """Event id of the act that a revision names."""
    return note_revision(revision).partition("-")[2]


def decision_id(memory: str, note_revision: str, look: str = "") -> str:
    """Id of the decision about one version of a note; a later `look` at it has an id of its own."""
    return digest("decision", memory, note_revision, *filter(None, [look]))[:20]
