"""Finding entries by what a person calls them: the beginning of an id, or that it was the last one."""

from __future__ import annotations

import sys

import sqlalchemy as sa

from slowwave.journal.connection import Connections
from slowwave.journal.schema import entries


def named(connections: Connections, kind: str, namespace: str, beginning: str, most: int) -> list[str]:
    """Event ids of a kind in a namespace that begin so, sorted, at most so many; see `Journal.named`."""
    c = entries.c
    begins = c.event_id.startswith(beginning, autoescape=True)
    if connections.dialect == "sqlite":  # by bytes, so that an index finds them
        begins = sa.and_(c.event_id >= beginning, c.event_id < beginning + chr(sys.maxunicode))
    query = sa.select(c.event_id).where(begins, c.kind == kind, c.namespace == namespace)
    with connections.reading() as connection:
        return list(connection.execute(query.order_by(c.event_id).limit(most)).scalars())


def last(connections: Connections, kind: str, namespace: str, principal: str) -> str | None:
    """Event id of the last row of a kind that somebody wrote in a namespace; see `Journal.last`."""
    c = entries.c
    query = sa.select(c.event_id).where(c.kind == kind, c.namespace == namespace, c.principal == principal)
    with connections.reading() as connection:
        found: str | None = connection.execute(query.order_by(c.seq.desc()).limit(1)).scalar()
    return found
