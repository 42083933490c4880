"""Erasure of rows: the one exception to "entries are never changed".

An erased row keeps its place, with its `seq`, day and moments, as an entry of kind ``erased``. No reader of
another kind meets it, so nothing rebuilt from the journal can bring it back.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa

from slowwave.journal.codec import encode
from slowwave.journal.connection import Connections
from slowwave.journal.engines import LOCK_TIMEOUT_S
from slowwave.journal.entry import ERASED, RECORD
from slowwave.journal.errors import JournalError
from slowwave.journal.kinds.erasure import ErasedPayload
from slowwave.journal.schema import entries, sources

_RETRY_S = 0.05


@dataclass(frozen=True, slots=True)
class Redaction:
    """Change of one erased row.

    Attributes:
        payload: New payload.
        columns: Other columns that get a new value.
    """

    payload: Mapping[str, Any]
    columns: Mapping[str, str]


def emptied(erasure: str, kind: str, *, subject: str | None = None, digest: str = "") -> Redaction:
    """Return the redaction that leaves of an event only that it happened.

    Args:
        erasure: Id of the erasure event.
        kind: Previous kind of the event.
        subject: Replaces a subject that may itself be text; None keeps it. The event id is replaced too:
            that of a vault scan is a hash of the text.
        digest: Kept to recognise the file in later scans.
    """
    columns = {"kind": ERASED, "digest": digest, "content_hash": ""}
    if subject is not None:
        columns |= {"subject": subject, "event_id": uuid.uuid4().hex}
    return Redaction(ErasedPayload(erased=erasure, was=kind), columns)


def apply(connection: sa.Connection, changes: Mapping[int, Redaction], watched: str | None) -> None:
    """Apply redactions in an open transaction; see `Journal.erase`.

    Args:
        changes: Redactions by seq.
        watched: Namespace whose vaults are no longer watched.
    """
    for seq, change in changes.items():
        values: dict[str, Any] = {**change.columns, "payload": encode(change.payload, str(seq))}
        connection.execute(sa.update(entries).where(entries.c.seq == seq).values(values))
    if watched is not None:
        connection.execute(sa.delete(sources).where(sources.c.namespace == watched))


def drop_records(connection: sa.Connection, until: int, erasure: str) -> None:
    """Empty the table records up to a seq; see `Journal.drop_records`."""
    c = entries.c
    payload = encode(ErasedPayload(erased=erasure, was=RECORD), erasure)
    connection.execute(
        sa.update(entries).where(c.kind == RECORD, c.seq <= until).values(kind=ERASED, payload=payload)
    )


def rewrite(connections: Connections) -> str:
    """Rewrite the database file, so that no free page and no log keeps erased text.

    Returns:
        What could not be done, in a sentence; empty if nothing is left.

    Raises:
        JournalError: SQLite: other processes hold the file open.
    """
    if connections.dialect != "sqlite":
        return _rewrite_postgres(connections)
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    connections.script(["PRAGMA secure_delete=ON", "VACUUM"])
    while connections.script(["PRAGMA wal_checkpoint(TRUNCATE)"])[0]:  # a reader still sees the old state
        if time.monotonic() > deadline:
            raise JournalError(
                f"another process has been reading {connections.name} for {LOCK_TIMEOUT_S} s, so its old "
                "pages cannot be dropped yet; run `slowwave erase --finish` when it has ended"
            )
        time.sleep(_RETRY_S)
    return ""


def _rewrite_postgres(connections: Connections) -> str:
    kept = "Logs (WAL), replicas and copies of the server keep it as long as the server is set up to."
    try:
        connections.script([f"VACUUM FULL {entries.name}", f"VACUUM FULL {sources.name}"])
    except JournalError as error:
        return f"PostgreSQL keeps the old rows until they are vacuumed: {error}. {kept}"
    return kept
