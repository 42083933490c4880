"""Payloads about the home as a whole: maintenance operations, table records and the gate's start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, TypedDict, TypeGuard


class WorkBegun(TypedDict):
    """Begin marker of a maintenance operation: the command and facts that finish it."""

    command: str
    facts: Mapping[str, Any]


class WorkEnded(TypedDict, total=False):
    """End marker of a maintenance operation; `lost` are events that the journal never had."""

    ends: str
    lost: Sequence[str]


class Gate(TypedDict, total=False):
    """Start of the save gate's enforcement (ISO 8601), or a rule on a source.

    The rule is whether `source` is `trusted` in the namespace `of`.
    """

    begins: str
    why: str
    of: str
    source: str
    trusted: bool


class TableChange(TypedDict, total=False):
    """Change of a table (kind record).

    `whole`: earlier records of the table no longer count. `delete` is a filter. `columns` are the values of
    `rows` rows by column. `full`: every column of each row is recorded, also those that events have.
    `insert_only`: existing keys stay unchanged.
    """

    whole: bool
    delete: str
    insert_only: bool
    full: bool
    rows: int
    columns: Mapping[str, Any]


def of_every_slice(change: TableChange) -> TableChange:
    """Return the part of a change that every slice of its rows repeats."""
    kept = TableChange()
    if "full" in change:
        kept["full"] = change["full"]
    if "insert_only" in change:
        kept["insert_only"] = change["insert_only"]
    return kept


def is_end(payload: Mapping[str, Any]) -> TypeGuard[WorkEnded]:
    """Whether an entry ends a maintenance operation."""
    return "ends" in payload


def begins_in(payload: Mapping[str, Any]) -> datetime | None:
    """Return the start of the save gate's enforcement; None if the entry names none."""
    begins = payload.get("begins")
    return datetime.fromisoformat(begins) if begins else None


def trust_in(payload: Mapping[str, Any]) -> tuple[str, str, bool] | None:
    """Return namespace, source, and whether it is trusted; None if the entry is no such change."""
    if "trusted" not in payload:
        return None
    return payload["of"], payload["source"], bool(payload["trusted"])
