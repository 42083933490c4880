"""Deterministic identifiers, so that every write is idempotent.

A memory's id is a hash of its namespace and its source (vault path or caller's key). The same note is the
same memory on every machine and in every rerun, and two tenants never share one.
"""

from __future__ import annotations

import hashlib
import unicodedata
import uuid
from datetime import datetime

from slowwave.scoring.days import to_microseconds

_MOMENT_DIGITS = 16
_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
_BASE32_PAIRS = [first + second for first in _BASE32 for second in _BASE32]
"""Two characters for each 10 bits: several times faster than `base64`, which is in Python."""
_PLACES = range(120, -1, -10)


def digest(*parts: str) -> str:
    """Return BLAKE2b-128 of the parts as 32 hex digits; length prefixes keep parts apart."""
    framed = [len(data).to_bytes(8, "big") + data for data in map(str.encode, parts)]
    return hashlib.blake2b(b"".join(framed), digest_size=16).hexdigest()


def memory_id(namespace: str, source: str) -> str:
    """Return the id of the memory of `source` in `namespace`: 26 characters, lower-case base32."""
    bits = int(digest("memory", namespace, source), 16) << 2  # 128 bits, and 2 for the last character
    return "".join([_BASE32_PAIRS[bits >> place & 0x3FF] for place in _PLACES])


def chunk_id(memory: str, ordinal: int) -> str:
    """Return the id of the `ordinal`-th chunk (from 0) of a memory; it sorts in document order."""
    return f"{memory}:{ordinal:05d}"


def memory_of(chunk: str) -> str:
    """Return the memory that a chunk id belongs to."""
    return chunk.partition(":")[0]


def ordinal_of(chunk: str) -> int:
    """Return the position of a chunk in its memory, from 0."""
    return int(chunk.partition(":")[2])


def embedding_hash(model: str, text: str) -> str:
    """Return the cache key of a text's vector by `model`: equal text is embedded once."""
    return digest("embedding", model, text)


def normalised_query(query: str) -> str:
    """Normalise a query for comparison: NFKC, case-folded, white space as single spaces."""
    return " ".join(unicodedata.normalize("NFKC", query).casefold().split())


def query_id(namespace: str, query: str) -> str:
    """Return the id of a query: searches of a namespace with the same words share it."""
    return digest("query", namespace, normalised_query(query))


def new_event_id() -> str:
    """Return a fresh event id (random UUID, 32 hex digits)."""
    return uuid.uuid4().hex


def revision(ordered_at: datetime, event_id: str) -> str:
    """Return the sortable version of a memory: later journal entries compare greater.

    Every write to a shared table is conditional on it, so the last event wins, whatever the clocks of
    machines say and in whatever order days are processed. A rerun of an old day can never restore an old
    text.

    Args:
        ordered_at: Position in time among all events (`slowwave.journal.Entry.ordered_at`).
        event_id: Of the event.
    """
    return f"{to_microseconds(ordered_at):0{_MOMENT_DIGITS}x}-{event_id}"


def closing_event(revision: str) -> str:
    """Return the event id with which a refused version closes the earlier text."""
    return digest("closed by", revision)


def revision_moment(revision: str) -> int:
    """Return the time of the event behind a revision, in microseconds since 1970."""
    return int(revision[:_MOMENT_DIGITS], 16)


def state_revision(note_revision: str, *standing: str) -> str:
    """Return the version of a memory's state: of its text, and of its standing among others if any.

    Equal text and standing always give the same version, so undoing a merge restores the previous version.
    """
    return f"{note_revision}+{digest('standing', *standing)[:12]}" if standing else note_revision


def note_revision(state: str) -> str:
    """Return the version of a memory's own text, from that of its state."""
    return state.partition("+")[0]


def event_of(revision: str) -> str:
    """Return the event id that a revision names."""
    return note_revision(revision).partition("-")[2]


def decision_id(memory: str, note_revision: str, look: str = "") -> str:
    """Return the id of the decision about one version of a note; a later `look` at it has its own id."""
    return digest("decision", memory, note_revision, *filter(None, [look]))[:20]
