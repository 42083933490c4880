"""Begin/end markers for multi-step maintenance (restore, re-embed, erase, rebuild).

A killed operation leaves tables that do not belong together. Its begin marker stays, so every command
refuses to run and names the command that finishes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any

from slowwave.common import ids
from slowwave.errors import StoreError
from slowwave.journal import Entry, payload_of
from slowwave.journal.entry import EVERYBODY, WORK
from slowwave.journal.kinds.home import WorkBegun, WorkEnded, is_end

if TYPE_CHECKING:
    from slowwave.journal import Journal


class PendingOpError(StoreError):
    """Refusal while a maintenance operation is pending; names the command that finishes it."""


@dataclass(frozen=True, slots=True)
class MaintenanceOp:
    """Maintenance operation that has begun.

    Attributes:
        event_id: Id of its begin marker.
        what: Name in words: "the restore of 'before'".
        command: Command that finishes it.
        begun_at: Moment of its begin marker.
        facts: Facts that finishing it needs.
    """

    event_id: str
    what: str
    command: str
    begun_at: datetime
    facts: Mapping[str, Any]


def pending_op(journal: Journal) -> list[MaintenanceOp]:
    """Return the maintenance operations that have begun and not ended, the oldest first."""
    if not journal.count(EVERYBODY, WORK):  # most homes never had one
        return []
    works: dict[str, MaintenanceOp] = {}
    for event_id, what, begun_at, payload in (
        journal.read(kinds=[WORK], namespace=EVERYBODY)
        .select("event_id", "subject", "occurred_at", "payload")
        .iter_rows()
    ):
        marker = payload_of(payload)
        if is_end(marker):
            works.pop(marker["ends"], None)
        else:
            works[event_id] = MaintenanceOp(event_id, what, marker["command"], begun_at, marker["facts"])
    return list(works.values())


def require_none_pending(journal: Journal, *, but: str = "") -> None:
    """Refuse while a maintenance operation is pending, except the one of command `but`.

    Raises:
        PendingOpError: Names the command that finishes it.
    """
    for work in pending_op(journal):
        if work.command != but:
            raise PendingOpError(
                f"{work.what[0].upper()}{work.what[1:]}{_state(work)} If no process is running it, "
                f"finish it: {work.command}"
            )


def _state(work: MaintenanceOp) -> str:
    """Describe the state of an operation.

    The end of a move is in the new journal only.
    """
    begun, to = f"was begun at {work.begun_at:%F %T} UTC", work.facts.get("to", {})
    if "journal" not in to:
        return f" {begun} and has not ended."
    at = ", ".join(to.values())
    return f" to {at} {begun}. If it has ended, the home is there: start this process again."


@contextmanager
def maintenance_op(
    journal: Journal,
    what: str,
    command: str,
    as_of: datetime,
    *,
    facts: Mapping[str, Any] | None = None,
    settles: bool = False,
) -> Iterator[Mapping[str, Any]]:
    """Write a begin marker, run the block, then write the end marker.

    If the block fails or is killed, the begin marker stays. The caller holds the writing lock and has
    checked that the operation can run.

    Args:
        what: Name in words.
        command: Command that finishes it from any state.
        facts: Facts that finishing it needs. The block gets those of the first begin marker.
        settles: Whether its end also ends all other pending operations.
    """
    before = pending_op(journal)
    begun = begin_op(journal, what, command, as_of, facts or {})
    yield begun.facts
    ended = [begun.event_id, *(op.event_id for op in before if settles and op != begun)]
    journal.append([_entry(ids.digest("ended", op), what, WorkEnded(ends=op), as_of) for op in ended])


def begin_op(
    journal: Journal, what: str, command: str, as_of: datetime, facts: Mapping[str, Any]
) -> MaintenanceOp:
    """Write a begin marker, or return the pending operation of the same command.

    Its end is recorded elsewhere.
    """
    begun = next((op for op in pending_op(journal) if op.command == command), None)
    if begun is None:
        begun = MaintenanceOp(ids.new_event_id(), what, command, as_of, facts)
        marker = WorkBegun(command=command, facts=dict(begun.facts))
        journal.append([_entry(begun.event_id, what, marker, as_of)])
    return begun


def describe_op(place: str) -> str:
    """Normalise a place for comparison: a folder without links, an address without a final /."""
    return place.rstrip("/") if "://" in place else os.path.realpath(place)


def require_not_moved(journal: Journal, tables: str) -> None:
    """Refuse a process whose open tables were left by the last move.

    Args:
        tables: Place of the caller's tables.

    Raises:
        StoreError: They are elsewhere now.
    """
    at = ""
    for payload in journal.read(kinds=[WORK], namespace=EVERYBODY)["payload"]:
        marker = payload_of(payload)
        facts = {} if is_end(marker) else marker["facts"]
        if "tables" in facts.get("from", {}):
            was, at = facts["from"]["tables"], facts["to"]["tables"]
    if at and describe_op(was) == describe_op(tables):
        raise StoreError(f"The tables of this home are at {at} now. Start this process again.")


def _entry(event_id: str, what: str, payload: WorkBegun | WorkEnded, as_of: datetime) -> Entry:
    return Entry(event_id, WORK, EVERYBODY, what, as_of, "", payload=payload)
