"""The one exception to "entries are never changed": what a person erases is taken out of its rows.

An erased row stays in its place, with its `seq`, day and moments, as an act of kind ``erased``: no reader of
any other kind meets it, so nothing that is rebuilt from the journal can bring it back.
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
    """What becomes of one row.

    Attributes:
        payload: what it holds from now on.
        columns: other columns that get a new value.
    """

    payload: Mapping[str, Any]
    columns: Mapping[str, str]


def emptied(erasure: str, kind: str, *, subject: str | None = None, digest: str = "") -> Redaction:
    """The change that leaves of an act nothing but that it was.

    Args:
        erasure: id of the act of erasing.
        kind: that the act had.
        subject: in place of a subject that may itself be text; None leaves it. Its event id is replaced, too,
            because that of a look at a vault is a hash of what was read.
        digest: what is kept to know a file again.
    """
    columns = {"kind": ERASED, "digest": digest, "content_hash": ""}
    if subject is not None:
        columns |= {"subject": subject, "event_id": uuid.uuid4().hex}
    return Redaction(ErasedPayload(erased=erasure, was=kind), columns)


def apply(connection: sa.Connection, changes: Mapping[int, Redaction], watched: str | None) -> None:
    """Change these rows in a transaction that is open; see `Journal.erase`.

    Args:
        connection: to the journal's database.
        changes: by seq.
        watched: a namespace whose vaults are watched no more.
    """
    for seq, change in changes.items():
        values: dict[str, Any] = {**change.columns, "payload": encode(change.payload, str(seq))}
        connection.execute(sa.update(entries).where(entries.c.seq == seq).values(values))
    if watched is not None:
        connection.execute(sa.delete(sources).where(sources.c.namespace == watched))


def drop_records(connection: sa.Connection, until: int, erasure: str) -> None:
    """Leave nothing of the records of tables up to a seq; see `Journal.drop_records`."""
    c = entries.c
    payload = encode(ErasedPayload(erased=erasure, was=RECORD), erasure)
    connection.execute(
        sa.update(entries).where(c.kind == RECORD, c.seq <= until).values(kind=ERASED, payload=payload)
    )


def rewrite(connections: Connections) -> str:
    """Write the database anew, so that no page that was given free and no log keeps what was erased.

    Returns:
        What could not be done, in a sentence; empty where nothing is left.

    Raises:
        JournalError: SQLite: other processes do not let go of the file.
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
