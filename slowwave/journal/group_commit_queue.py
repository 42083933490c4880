"""Group-commit queue: events that wait for a writer's turn, and the outcomes of applied ones."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from slowwave.journal.connection import Connections, batches

EXPIRES_AFTER_SECONDS = 600
"""Age at which an unfetched answer of a killed process is deleted (seconds)."""

_metadata = sa.MetaData()
_queue = sa.Table(
    "journal_queue",
    _metadata,
    sa.Column("event_id", sa.Text, primary_key=True),
    sa.Column("policy", sa.Text, nullable=False),
    sa.Column("joined_at", sa.BigInteger, nullable=False),
    sa.Column("answer", sa.LargeBinary),
)


def _waiting() -> sa.Select[tuple[str]]:
    """Return the query for waiting events, the oldest first.

    Its parameters are `policy`, the rules of the turn, and `most`, the maximum.
    """
    query = sa.select(_queue.c.event_id).where(
        _queue.c.policy == sa.bindparam("policy"), _queue.c.answer.is_(None)
    )
    return query.order_by(_queue.c.joined_at).limit(sa.bindparam("most"))


class GroupCommitQueue:
    """Queue of journalled events that wait to be applied.

    Losing it loses nothing: the events are in the journal, and the nightly job applies those that nobody
    applied by day.
    """

    def __init__(self, connections: Connections) -> None:
        self._connections = connections
        with connections.reading() as connection:
            exists = sa.inspect(connection).has_table(_queue.name)
        if not exists:
            with connections.writing() as connection:  # another process may have created it meanwhile
                _metadata.create_all(connection)
        self._waiting = connections.prepare("waiting", _waiting)

    def join(self, event_ids: Sequence[str], policy: str) -> None:
        """Enqueue events for a turn under the rules `policy`; their earlier answers are dropped."""
        now = int(time.time())
        rows = [{"event_id": event, "policy": policy, "joined_at": now} for event in event_ids]
        with self._connections.writing() as connection:
            for part in batches(event_ids):
                connection.execute(sa.delete(_queue).where(_queue.c.event_id.in_(part)))
            connection.execute(sa.insert(_queue), rows)

    def waiting(self, policy: str, limit: int) -> list[str]:
        """Return event ids that wait for a turn under these rules, oldest first."""
        rows = self._connections.rows(self._waiting, {"policy": policy, "most": limit})
        return [event for (event,) in rows]

    def answer(self, answers: Mapping[str, Any]) -> None:
        """Store the outcomes of events (plain data), and delete expired ones, in one transaction."""
        rows = [{"event": event, "outcome": orjson.dumps(outcome)} for event, outcome in answers.items()]
        old = _queue.c.joined_at < int(time.time()) - EXPIRES_AFTER_SECONDS
        update = sa.update(_queue).where(_queue.c.event_id == sa.bindparam("event"))
        with self._connections.writing() as connection:
            connection.execute(sa.delete(_queue).where(_queue.c.answer.is_not(None), old))
            connection.execute(update.values(answer=sa.bindparam("outcome")), rows)

    def answers(self, event_ids: Sequence[str]) -> dict[str, Any]:
        """Return the outcomes of those of these events that another writer applied."""
        outcomes: dict[str, Any] = {}
        with self._connections.reading() as connection:
            for part in batches(event_ids):
                query = sa.select(_queue.c.event_id, _queue.c.answer).where(
                    _queue.c.event_id.in_(part), _queue.c.answer.is_not(None)
                )
                outcomes |= {event: orjson.loads(answer) for event, answer in connection.execute(query)}
        return outcomes

    def clear(self) -> None:
        """Delete all queued events and answers; waiting writers apply their own events."""
        with self._connections.writing() as connection:
            connection.execute(sa.delete(_queue))

    def leave(self, event_ids: Collection[str]) -> None:
        """Remove these events from the queue."""
        with self._connections.writing() as connection:
            for part in batches(list(event_ids)):
                connection.execute(sa.delete(_queue).where(_queue.c.event_id.in_(part)))
