"""Which acts wait for a turn at the memories, and what became of those that another one's turn took in."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from slowwave.journal.connection import Connections, batches

EXPIRES_AFTER_SECONDS = 600
"""For how long an answer is kept that nobody fetches: its process was killed, in seconds."""

_metadata = sa.MetaData()
_queue = sa.Table(
    "journal_queue",
    _metadata,
    sa.Column("event_id", sa.Text, primary_key=True),
    sa.Column("policy", sa.Text, nullable=False),
    sa.Column("joined_at", sa.BigInteger, nullable=False),
    sa.Column("answer", sa.LargeBinary),
)


class GroupCommitQueue:
    """Acts that are in the journal and wait to be taken in; it only ever holds what waits now.

    Losing it loses nothing: the acts are in the journal, and the night takes in what nobody did by day.

    Args:
        connections: of the journal.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        with connections.reading() as connection:
            there = sa.inspect(connection).has_table(_queue.name)
        if not there:
            with connections.writing() as connection:  # another process may have made it meanwhile
                _metadata.create_all(connection)

    def join(self, event_ids: Sequence[str], policy: str) -> None:
        """Let these acts wait for a turn by the rules `policy`; an answer that they had is forgotten."""
        now = int(time.time())
        rows = [{"event_id": event, "policy": policy, "joined_at": now} for event in event_ids]
        with self._connections.writing() as connection:
            for part in batches(event_ids):
                connection.execute(sa.delete(_queue).where(_queue.c.event_id.in_(part)))
            connection.execute(sa.insert(_queue), rows)

    def waiting(self, policy: str, limit: int) -> list[str]:
        """Event ids that wait for a turn by these rules, those that joined first first, at most `limit`."""
        query = sa.select(_queue.c.event_id).where(_queue.c.policy == policy, _queue.c.answer.is_(None))
        with self._connections.reading() as connection:
            return list(connection.execute(query.order_by(_queue.c.joined_at).limit(limit)).scalars())

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Say what became of acts (plain data), in one transaction; the answers of the dead go."""
        rows = [{"event": event, "said": orjson.dumps(said)} for event, said in answers.items()]
        old = _queue.c.joined_at < int(time.time()) - EXPIRES_AFTER_SECONDS
        told = sa.update(_queue).where(_queue.c.event_id == sa.bindparam("event"))
        with self._connections.writing() as connection:
            connection.execute(sa.delete(_queue).where(_queue.c.answer.is_not(None), old))
            connection.execute(told.values(answer=sa.bindparam("said")), rows)

    def answers(self, event_ids: Sequence[str]) -> dict[str, Any]:
        """What became of those of these acts that another one's turn took in."""
        found: dict[str, Any] = {}
        with self._connections.reading() as connection:
            for part in batches(event_ids):
                query = sa.select(_queue.c.event_id, _queue.c.answer).where(
                    _queue.c.event_id.in_(part), _queue.c.answer.is_not(None)
                )
                found |= {event: orjson.loads(said) for event, said in connection.execute(query)}
        return found

    def clear(self) -> None:
        """Nothing waits any more, and no answer is kept; who waits does it by itself when its turn comes."""
        with self._connections.writing() as connection:
            connection.execute(sa.delete(_queue))

    def leave(self, event_ids: Collection[str]) -> None:
        """These acts wait no more."""
        with self._connections.writing() as connection:
            for part in batches(list(event_ids)):
                connection.execute(sa.delete(_queue).where(_queue.c.event_id.in_(part)))
