"""Browsing of a namespace: memories and refused notes by type, tag, source, date and state."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from slowwave.common.arguments import parsed_day
from slowwave.errors import ArgumentError
from slowwave.home.visibility import Viewer, open_rows, redact
from slowwave.scoring.days import day_start
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

ALL: Final = "all"
STORED: Final = "stored"
"""State of every memory that was let in: all but the refused notes."""
STATES: Final = {
    "current": "live", "merged": "merged", "superseded": "superseded", "forgotten": "retired",
    "quarantined": "held",
}  # fmt: skip
"""States of a memory in words, with its status in the tables."""
SORTS: Final = ("updated", "created", "title", "type", "source")
_COLUMNS = (
    "memory_id", "title", "memory_type", "tags", "source", "path", "origin", "status", "sensitivity",
    "principal", "source_kind", "created_at", "updated_at",
)  # fmt: skip
_BEGINNING: Final = 240  # characters of a text that are shown
_BY = {"updated": "updated_at", "created": "created_at", "title": "title", "type": "memory_type",
       "source": "source"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BrowseOptions:
    """Filter, order and page of a list.

    Attributes:
        state: One of `STATES`, "stored" (all memories) or "all" (also refused notes).
        memory_type: Only of this type.
        tags: Only with all of these.
        source: Only sources that begin so.
        since: First day of the last change (YYYY-MM-DD, UTC).
        until: Last day.
        principal: Only stored by this user.
        source_kind: Only of this kind: manual, generated, imported.
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
    principal: str = ""
    source_kind: str = ""
    sort: str = "updated"
    reverse: bool = False
    limit: int = 50
    skip: int = 0


def browse(
    space: Workspace, namespace: str, options: BrowseOptions, viewer: Viewer = Viewer.REPORT
) -> tuple[list[dict[str, Any]], int]:
    """Return a page of rows, and the count of all that match.

    Args:
        space: Home.
        namespace: Of the memories.
        options: Filter, order and page.
        viewer: A report shows no word of secret memories; an assistant does not see that they exist.

    Returns:
        memory_id, title, beginning (of the text), memory_type, tags, source, origin, state, sensitivity,
        principal, source_kind, created_at and updated_at of each row; and the count.

    Raises:
        ArgumentError: An unknown state, order or day.
    """
    if options.state not in (*STATES, STORED, ALL):
        raise ArgumentError(f"--state {options.state!r}: use one of {', '.join(STATES)} or all.")
    if options.sort not in SORTS:
        raise ArgumentError(f"--sort {options.sort!r}: use one of {', '.join(SORTS)}.")
    parts = []
    if options.state != "quarantined":
        parts.append(_memories(space, namespace))
    if options.state in ("quarantined", ALL):
        parts.append(_held(space, namespace))
    rows = pl.concat(parts, how="diagonal").filter(_wanted(options))
    if viewer is Viewer.ASSISTANT:
        rows = rows.filter(open_rows())
    by = _BY[options.sort]
    newest_first = options.sort in ("updated", "created")
    shown = redact(rows, ~open_rows(), "title", "source", "tags")
    order = shown.sort(by, "memory_id", descending=[newest_first != options.reverse, False], nulls_last=True)
    words = {status: state for state, status in STATES.items()}
    page = order.slice(options.skip, options.limit).with_columns(
        state=pl.col("status").replace_strict(words, default=pl.col("status"))
    )
    return _with_beginnings(space, namespace, page.drop("status")).to_dicts(), rows.height


def facets(
    space: Workspace, namespace: str, viewer: Viewer = Viewer.REPORT
) -> dict[str, list[tuple[str, int]]]:
    """Return the values of memory_type, source_kind, principal and tags with their counts.

    Current memories only. The most frequent value is first; tags are those of open memories.
    """
    rows = _memories(space, namespace).filter(pl.col("status") == STATES["current"])
    if viewer is Viewer.ASSISTANT:
        rows = rows.filter(open_rows())
    tags = rows.filter(open_rows()).select(pl.col("tags").explode())
    columns = {name: rows[name] for name in ("memory_type", "source_kind", "principal")} | {
        "tags": tags["tags"]
    }
    return {name: _counts(column.alias(name)) for name, column in columns.items()}


def _counts(column: pl.Series) -> list[tuple[str, int]]:
    counts = column.drop_nulls().value_counts().sort("count", column.name, descending=[True, False])
    return [(value, count) for value, count in counts.iter_rows() if value]


def _memories(space: Workspace, namespace: str) -> pl.DataFrame:
    rows = space.store.scan("memories", within(namespace, "content_hash IS NOT NULL"), columns=_COLUMNS)
    return rows.with_columns(source=pl.coalesce("path", "source")).drop("path")


def _with_beginnings(space: Workspace, namespace: str, page: pl.DataFrame) -> pl.DataFrame:
    """Return a page with the first words of each open text."""
    texts = space.store.read_by(
        "memories", "memory_id", page["memory_id"].to_list(), columns=["memory_id", "content"],
        also=within(namespace),
    )  # fmt: skip
    text = pl.col("content").fill_null("")
    cut = text.str.slice(0, _BEGINNING) + pl.lit(" …")
    beginning = pl.when(text.str.len_chars() > _BEGINNING).then(cut).otherwise(text)
    beginnings = texts.select("memory_id", beginning=beginning)
    joined = page.join(beginnings, on="memory_id", how="left", maintain_order="left")
    return redact(joined.with_columns(pl.col("beginning").fill_null("")), ~open_rows(), "beginning")


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
    if options.state in STATES and options.state != "quarantined":
        wanted.append(pl.col("status") == STATES[options.state])
    if options.memory_type:
        wanted.append(pl.col("memory_type") == options.memory_type)
    if options.principal:
        wanted.append(pl.col("principal") == options.principal)
    if options.source_kind:
        wanted.append(pl.col("source_kind") == options.source_kind)
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
