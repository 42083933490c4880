"""Browsing of a namespace: memories and refused notes by type, tag, source, date and state."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from slowwave.common.arguments import parsed_day
from slowwave.errors import ArgumentError
from slowwave.home.visibility import open_rows, redact
from slowwave.scoring.days import day_start
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

STATES: Final = {
    "current": "live", "merged": "merged", "superseded": "superseded", "forgotten": "retired",
    "quarantined": "held",
}  # fmt: skip
"""States of a memory in words, with its status in the tables."""
SORTS: Final = ("updated", "created", "title", "type", "source")
_COLUMNS = (
    "memory_id", "title", "memory_type", "tags", "source", "status", "sensitivity", "created_at",
    "updated_at",
)  # fmt: skip
_BY = {"updated": "updated_at", "created": "created_at", "title": "title", "type": "memory_type",
       "source": "source"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BrowseOptions:
    """Filter, order and page of a list.

    Attributes:
        state: One of `STATES`, or all.
        memory_type: Only of this type.
        tags: Only with all of these.
        source: Only sources that begin so.
        since: First day of the last change (YYYY-MM-DD, UTC).
        until: Last day.
        sort: One of `SORTS`; times newest first.
        reverse: Turn the order around.
        limit: Rows of the page (count).
        skip: Rows before it (count).
    """

    state: str = "current"
    memory_type: str = ""
    tags: tuple[str, ...] = field(default=())
    source: str = ""
    since: str = ""
    until: str = ""
    sort: str = "updated"
    reverse: bool = False
    limit: int = 50
    skip: int = 0


def browse(space: Workspace, namespace: str, options: BrowseOptions) -> tuple[list[dict[str, Any]], int]:
    """Return a page of rows, and the count of all that match; secret titles are hidden.

    Raises:
        ArgumentError: An unknown state, order or day.
    """
    if options.state not in (*STATES, "all"):
        raise ArgumentError(f"--state {options.state!r}: use one of {', '.join(STATES)} or all.")
    if options.sort not in SORTS:
        raise ArgumentError(f"--sort {options.sort!r}: use one of {', '.join(SORTS)}.")
    parts = []
    if options.state != "quarantined":
        parts.append(space.store.scan("memories", within(namespace), columns=_COLUMNS))
    if options.state in ("quarantined", "all"):
        parts.append(_held(space, namespace))
    rows = pl.concat(parts, how="diagonal").filter(_wanted(options))
    by = _BY[options.sort]
    newest_first = options.sort in ("updated", "created")
    closed = ~open_rows()
    shown = redact(rows, closed, "title", "source", "tags")
    order = shown.sort(by, "memory_id", descending=[newest_first != options.reverse, False], nulls_last=True)
    words = {status: state for state, status in STATES.items()}
    page = order.slice(options.skip, options.limit).with_columns(
        state=pl.col("status").replace_strict(words, default=pl.col("status"))
    )
    return page.drop("status").to_dicts(), rows.height


def _held(space: Workspace, namespace: str) -> pl.DataFrame:
    """Return the refused notes that wait; their labels are unchecked, so titles are hidden if unknown."""
    held = space.store.read(
        "quarantine", within(namespace, "status = 'held'"),
        columns=["memory_id", "title", "source", "status", "revision", "occurred_at"],
    )  # fmt: skip
    from slowwave.home.visibility import UNKNOWN, sensitivities

    known = sensitivities(space.journal, held["revision"])
    labels = [known.get(revision, UNKNOWN) for revision in held["revision"]]
    return held.select(
        "memory_id", "title", "source", "status", pl.Series("sensitivity", labels, pl.String),
        created_at="occurred_at", updated_at="occurred_at",
    )  # fmt: skip


def _wanted(options: BrowseOptions) -> pl.Expr:
    wanted = [pl.lit(value=True)]
    if options.state not in ("all", "quarantined"):
        wanted.append(pl.col("status") == STATES[options.state])
    if options.memory_type:
        wanted.append(pl.col("memory_type") == options.memory_type)
    if options.source:
        wanted.append(pl.col("source").str.starts_with(options.source) & open_rows())
    wanted += [pl.col("tags").list.contains(tag) & open_rows() for tag in options.tags]
    if options.since:
        wanted.append(pl.col("updated_at") >= _start("--from", options.since))
    if options.until:
        wanted.append(pl.col("updated_at") < _start("--to", options.until) + timedelta(days=1))
    return pl.all_horizontal(wanted)


def _start(option: str, day: str) -> datetime:
    return day_start(parsed_day(option, day).isoformat())
