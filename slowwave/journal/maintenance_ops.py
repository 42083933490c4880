"""Works on the tables that take several writes: announced in the journal first, and ended there last.

A restore, the switch to another model, an erasure or a rebuilding that was killed leaves tables that do not
belong together. Its announcement stays, so every command refuses and says which one finishes it.
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
    """A work on the tables has begun and not ended; the message names the command that finishes it."""


@dataclass(frozen=True, slots=True)
class MaintenanceOp:
    """A work that has begun.

    Attributes:
        event_id: of its announcement.
        what: it is, in words: "the restore of 'before'".
        command: that finishes it.
        begun_at: when.
        facts: what whoever finishes it needs to know.
    """

    event_id: str
    what: str
    command: str
    begun_at: datetime
    facts: Mapping[str, Any]


def pending_op(journal: Journal) -> list[MaintenanceOp]:
    """The works that have begun and not ended, the first one first."""
    works: dict[str, MaintenanceOp] = {}
    for event_id, what, begun_at, payload in (
        journal.read(kinds=[WORK], namespace=EVERYBODY)
        .select("event_id", "subject", "occurred_at", "payload")
        .iter_rows()
    ):
        told = payload_of(payload)
        if is_end(told):
            works.pop(told["ends"], None)
        else:
            works[event_id] = MaintenanceOp(event_id, what, told["command"], begun_at, told["facts"])
    return list(works.values())


def require_none_pending(journal: Journal, *, but: str = "") -> None:
    """Refuse while a work is under way, unless it is the one of this command.

    Raises:
        UnfinishedError: with the command that finishes it.
    """
    for work in pending_op(journal):
        if work.command != but:
            raise PendingOpError(
                f"{work.what[0].upper()}{work.what[1:]}{_state(work)} If nobody is running it any more, "
                f"finish it: {work.command}"
            )


def _state(work: MaintenanceOp) -> str:
    """What this journal knows of a work; of a move of its own not the end, which is in the new one alone."""
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
    """Announce a work for as long as the block takes; when the block fails or is killed it stays announced.

    The caller holds the writing lock and has seen to it that the work can be done.

    Args:
        journal: of the home.
        what: it is, in words.
        command: that finishes it, whatever has been done of it.
        as_of: the moment.
        facts: what whoever finishes it needs to know; the value of the block: those of the first one who
            began it.
        settles: when it has ended, so have all others.
    """
    before = pending_op(journal)
    begun = begin_op(journal, what, command, as_of, facts or {})
    yield begun.facts
    ended = [begun.event_id, *(one.event_id for one in before if settles and one != begun)]
    journal.append([_entry(ids.digest("ended", one), what, WorkEnded(ends=one), as_of) for one in ended])


def begin_op(
    journal: Journal, what: str, command: str, as_of: datetime, facts: Mapping[str, Any]
) -> MaintenanceOp:
    """Announce a work whose end is said elsewhere, or find it where it was begun before."""
    begun = next((one for one in pending_op(journal) if one.command == command), None)
    if begun is None:
        begun = MaintenanceOp(ids.new_event_id(), what, command, as_of, facts)
        said = WorkBegun(command=command, facts=dict(begun.facts))
        journal.append([_entry(begun.event_id, what, said, as_of)])
    return begun


def describe_op(place: str) -> str:
    """A place as it is compared with others: a folder without links, an address without a / at its end."""
    return place.rstrip("/") if "://" in place else os.path.realpath(place)


def require_not_moved(journal: Journal, tables: str) -> None:
    """Refuse whoever has tables open still that the last move of them has left.

    Args:
        journal: of the home.
        tables: where the caller has them.

    Raises:
        StoreError: they are elsewhere now.
    """
    at = ""
    for payload in journal.read(kinds=[WORK], namespace=EVERYBODY)["payload"]:
        told = payload_of(payload)
        facts = {} if is_end(told) else told["facts"]
        if "tables" in facts.get("from", {}):
            was, at = facts["from"]["tables"], facts["to"]["tables"]
    if at and describe_op(was) == describe_op(tables):
        raise StoreError(f"The tables of this home are at {at} now. Start this process again.")


def _entry(event_id: str, what: str, payload: WorkBegun | WorkEnded, as_of: datetime) -> Entry:
    return Entry(event_id, WORK, EVERYBODY, what, as_of, "", payload=payload)
