"""What is about a home as a whole: works on its tables, their records, and when the save gate begins."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, TypeGuard


class WorkBegun(TypedDict):
    """A work on the tables has begun: the command that finishes it, and what that needs to know."""

    command: str
    facts: Mapping[str, Any]


class WorkEnded(TypedDict, total=False):
    """A work has ended, by the id of its announcement; `lost` are acts that the journal never had."""

    ends: str
    lost: Sequence[str]


class Gate(TypedDict, total=False):
    """From when on the save gate refuses (ISO 8601)."""

    begins: str
    why: str


class TableChange(TypedDict, total=False):
    """Of kind record: what changed in a table.

    `whole` says that nothing that was recorded before counts; `delete` is a filter; `columns` are values of
    `rows` rows by their names; `full`: all of each row is recorded, also what acts say; `insert_only`: rows
    whose key is there stay as they are.
    """

    whole: bool
    delete: str
    insert_only: bool
    full: bool
    rows: int
    columns: Mapping[str, Any]


def of_every_slice(change: TableChange) -> TableChange:
    """What of a change every entry says that its rows are cut into, and not the first one alone."""
    kept = TableChange()
    if "full" in change:
        kept["full"] = change["full"]
    if "insert_only" in change:
        kept["insert_only"] = change["insert_only"]
    return kept


def is_end(payload: Mapping[str, Any]) -> TypeGuard[WorkEnded]:
    """Whether an act on a work says that it has ended."""
    return "ends" in payload


def begins_in(payload: Mapping[str, Any]) -> datetime | None:
    """The moment from which the save gate refuses; None where an act of this kind names none."""
    begins = payload.get("begins")
    return datetime.fromisoformat(begins) if begins else None


def lost_in(payload: Mapping[str, Any]) -> Sequence[str]:
    """Ids of acts that the journal lost and the tables told it of."""
    found: Sequence[str] = payload.get("lost", ())
    return found
