"""Browsing of a namespace: memories and refused notes by type, tag, source, date and state."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any, Final

import polars as pl

from slowwave.common.arguments import parsed_day
from slowwave.errors import ArgumentError
from slowwave.home.visibility import Viewer, assistant_rows, open_rows, open_where, redact
from slowwave.quality.admission.statuses import LIVE
from slowwave.scoring.days import day_start
from slowwave.store import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant
    from slowwave.home.workspace import Workspace

ALL: Final = "all"
STORED: Final = "stored"
"""State of every memory that was let in: all but the refused notes."""
STATES: Final = {
    "current": "live", "merged": "merged", "superseded": "superseded", "forgotten": "retired",
    "quarantined": "held",
}  # fmt: skip
"""States of a memory in words, with its status in the tables."""
PERSONS_ONLY: Final = ("forgotten", "quarantined")
"""States whose rows no assistant sees."""
WORDS: Final = {"superseded": "outdated"}
"""Words for states in lists, where it is another one; it is understood as a filter, too."""
DATES: Final = {"changed": "updated_at", "created": "created_at"}
"""Dates of a memory in words, with their columns; a memory is created on the date of its note."""
SORTS: Final = ("updated", "created", "title", "type", "source")
_COLUMNS = (
    "memory_id", "title", "memory_type", "tags", "source", "origin", "status", "sensitivity",
    "principal", "source_kind", "created_at", "updated_at",
)  # fmt: skip
_WORDS = ("title", "source", "tags")
_BEGINNING: Final = 240  # characters of a text that are shown
_NAMED: Final = 20  # labels that a hint names, the most frequent first
_TORN: Final = r"\s+\S*$"  # end of a cut text that may be half a word
_BY = {"updated": "updated_at", "created": "created_at", "title": "title", "type": "memory_type",
       "source": "source"}  # fmt: skip


@dataclass(frozen=True, slots=True)
class BrowseOptions:
    """Filter, order and page of a list.

    Attributes:
        state: One of `STATES`, "outdated" (superseded, or with a newer value), "stored" (all memories) or
            "all" (also refused notes).
        memory_type: Only of this type.
        tags: Only with all of these.
        source: Only sources that begin so.
        since: First day (YYYY-MM-DD, UTC).
        until: Last day.
        date: Date that they bound: "changed" (last change) or "created" (the note's own date).
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
    date: str = "changed"
    principal: str = ""
    source_kind: str = ""
    sort: str = "updated"
    reverse: bool = False
    limit: int = 50
    skip: int = 0


def browse(
    tenant: Tenant, options: BrowseOptions, viewer: Viewer = Viewer.REPORT
) -> tuple[list[dict[str, Any]], int]:
    """Return a page of rows, and the count of all that match.

    Args:
        tenant: Namespace of the memories.
        options: Filter, order and page.
        viewer: A report shows no word of secret memories; an assistant sees neither
            them nor forgotten ones.

    Returns:
        memory_id, title, beginning (of the text), memory_type, tags, source, origin, state, sensitivity,
        principal, source_kind, created_at and updated_at of each row; and the count.

    Raises:
        ArgumentError: An unknown state, order, date or day.
    """
    space, namespace = tenant.space, tenant.namespace
    if options.state == WORDS["superseded"]:
        options = replace(options, state="superseded")
    if options.state not in (*STATES, STORED, ALL):
        states = ", ".join(WORDS.get(name, name) for name in STATES)
        raise ArgumentError(f"--state {options.state!r}: use one of {states}, {STORED} or {ALL}.")
    if options.sort not in SORTS:
        raise ArgumentError(f"--sort {options.sort!r}: use one of {', '.join(SORTS)}.")
    if options.date not in DATES:
        raise ArgumentError(f"--date {options.date!r}: use one of {', '.join(DATES)}.")
    may_see_held = viewer is not Viewer.ASSISTANT  # their labels are not trusted yet
    parts, held = [], None
    if options.state in ("quarantined", ALL) and may_see_held:
        held = _held(space, namespace)
    if options.state != "quarantined":
        parts.append(_memories(space, namespace, _columns_of(options)))
    if held is not None:
        parts.append(held)
    rows = pl.concat(parts, how="diagonal").filter(_wanted(options, _of_state(tenant, options.state)))
    if viewer is Viewer.ASSISTANT:
        rows = rows.filter(assistant_rows())
    by = _BY[options.sort]
    newest_first = options.sort in ("updated", "created")
    shown = redact(rows, ~open_rows(), *_WORDS)
    key = pl.col(by) if newest_first else pl.col(by).str.to_lowercase()
    last_first = newest_first != options.reverse
    order = shown.sort(key, by, "memory_id", descending=[last_first, last_first, False], nulls_last=True)
    page = order.slice(options.skip, options.limit).select("memory_id", "status")
    return _details(space, namespace, page, held).to_dicts(), rows.height


def _columns_of(options: BrowseOptions) -> list[str]:
    """Return the columns that the filters and the order read."""
    filters = ("memory_type", "tags", "source", "principal", "source_kind")
    names = {"memory_id", "status", "sensitivity", DATES[options.date], _BY[options.sort]}
    return sorted(names | {name for name in filters if getattr(options, name)})


def _details(space: Workspace, namespace: str, page: pl.DataFrame, held: pl.DataFrame | None) -> pl.DataFrame:
    """Return all columns of a page of rows, without words of secret ones."""
    rows = space.store.read_by(
        "memories", "memory_id", page["memory_id"].to_list(), columns=[*_COLUMNS, "path", "content"],
        also=within(namespace),
    )  # fmt: skip
    text = pl.col("content").fill_null("")
    cut = text.str.slice(0, _BEGINNING).str.replace(_TORN, "") + pl.lit(" …")
    beginning = pl.when(text.str.len_chars() > _BEGINNING).then(cut).otherwise(text)
    rows = rows.with_columns(beginning=beginning, source=pl.coalesce("path", "source"))
    if held is not None:
        rows = pl.concat([rows, held], how="diagonal")
    joined = page.join(rows, on=["memory_id", "status"], how="left", maintain_order="left")
    words = {status: state for state, status in STATES.items()}
    joined = joined.with_columns(
        pl.col("beginning").fill_null(""),
        state=pl.col("status").replace_strict(words, default=pl.col("status")),
    )
    return redact(joined, ~open_rows(), *_WORDS, "beginning").drop("status", "path", "content")


def state_of(status: str) -> str:
    """Return the word of pages and lists for a memory's status in the tables."""
    state = next((name for name, stored in STATES.items() if stored == status), status)
    return WORDS.get(state, state)


def beginning_of(text: str) -> str:
    """Return the beginning of a text, as rows of a list have it."""
    return text if len(text) <= _BEGINNING else f"{re.sub(_TORN, '', text[:_BEGINNING])} …"


def facets(
    space: Workspace, namespace: str, viewer: Viewer = Viewer.REPORT
) -> dict[str, list[tuple[str, int]]]:
    """Return the values of memory_type, source_kind, principal and tags with their counts.

    Current memories only. The most frequent value is first; tags are those of open memories.
    """
    columns = ("memory_type", "source_kind", "principal", "tags", "status", "sensitivity")
    rows = _memories(space, namespace, columns).filter(pl.col("status") == STATES["current"])
    if viewer is Viewer.ASSISTANT:
        rows = rows.filter(assistant_rows())
    tags = rows.filter(open_rows()).select(pl.col("tags").explode())
    values = {name: rows[name] for name in columns[:3]} | {"tags": tags["tags"]}
    return {name: _counts(column.alias(name)) for name, column in values.items()}


def label_hint(space: Workspace, namespace: str, memory_type: str, tags: Sequence[str]) -> str:
    """Return what unknown types and tags may mean, and those of open memories; empty if all are known.

    Args:
        space: Home.
        namespace: Of the memories.
        memory_type: As given; empty: any.
        tags: As given.
    """
    rows = _memories(space, namespace, ("memory_type", "tags", "sensitivity"))
    opened = rows.filter(open_rows())
    types, tagged = opened["memory_type"], opened["tags"].explode()
    secret = set(rows["memory_type"])
    hints = [_hint("type", memory_type, types)] if memory_type.lower() not in {"", *secret} else []
    hints += [_hint("tag", tag, tagged) for tag in tags if _lower(tag) not in set(tagged.str.to_lowercase())]
    return " ".join(hints)


def _hint(kind: str, given: str, values: pl.Series) -> str:
    known = dict(_counts(values))
    near = get_close_matches(given, known, 1)
    meant = f" Did you mean {near[0]!r}?" if near else ""
    named = [f"{name} ({count})" for name, count in list(known.items())[:_NAMED]]
    more = f" and {len(known) - _NAMED:,} more" if len(known) > _NAMED else ""
    here = f" {kind.title()}s here: {', '.join(named)}{more}." if named else ""
    return f"No memory has the {kind} {given!r}.{meant}{here}"


def _lower(tag: str) -> str:
    return tag.strip().lower()


def _counts(column: pl.Series) -> list[tuple[str, int]]:
    counts = column.drop_nulls().value_counts().sort("count", column.name, descending=[True, False])
    return [(value, count) for value, count in counts.iter_rows() if value]


def _memories(space: Workspace, namespace: str, columns: Sequence[str]) -> pl.DataFrame:
    where = within(namespace, "content_hash IS NOT NULL")
    if "source" not in columns:
        return space.store.scan("memories", where, columns=list(columns))
    rows = space.store.scan("memories", where, columns=[*columns, "path"])
    return rows.with_columns(source=pl.coalesce("path", "source")).drop("path")


def _held(space: Workspace, namespace: str) -> pl.DataFrame:
    """Return the refused notes that wait; their labels are unchecked, so titles are hidden if unknown."""
    held = space.store.read(
        "quarantine", within(namespace, "status = 'held'"),
        columns=["memory_id", "title", "source", "status", "revision", "occurred_at"],
    )  # fmt: skip
    held = held.sort("occurred_at").unique("memory_id", keep="last", maintain_order=True)
    from slowwave.home.visibility import UNKNOWN, sensitivities

    known = sensitivities(space.journal, held["revision"])
    labels = [known.get(revision, UNKNOWN) for revision in held["revision"]]
    return held.select(
        "memory_id", "title", "source", "status", pl.Series("sensitivity", labels, pl.String),
        created_at="occurred_at", updated_at="occurred_at",
    )  # fmt: skip


def _of_state(tenant: Tenant, state: str) -> pl.Expr:
    """Return the condition on rows of a state; outdated are also those that a list marks so."""
    if state not in STATES or state == "quarantined":
        return pl.lit(value=True)
    of_state = pl.col("status") == STATES[state]
    if state == "superseded":
        from slowwave.lifecycle.newer_values import newer_values

        current = tenant.store.scan(
            "memories", tenant.mine(f"status = {quote(LIVE)} AND {open_where()}"), columns=["memory_id"]
        )
        of_state |= pl.col("memory_id").is_in(list(newer_values(tenant, current["memory_id"].to_list())))
    return of_state


def _wanted(options: BrowseOptions, of_state: pl.Expr) -> pl.Expr:
    wanted = [of_state]
    if options.memory_type:
        wanted.append(pl.col("memory_type") == options.memory_type.lower())
    if options.principal:
        wanted.append(pl.col("principal") == options.principal)
    if options.source_kind:
        wanted.append(pl.col("source_kind") == options.source_kind)
    if options.source:
        wanted.append(pl.col("source").str.starts_with(options.source) & open_rows())
    tags = pl.col("tags").list.eval(pl.element().str.to_lowercase())
    wanted += [tags.list.contains(_lower(tag)) & open_rows() for tag in options.tags]
    if options.since and options.until and options.since > options.until:
        raise ArgumentError(f"--from {options.since} is after --to {options.until}: nothing can match.")
    dated = pl.col(DATES[options.date])
    if options.since:
        wanted.append(dated >= _start("--from", options.since))
    if options.until:
        wanted.append(dated < _start("--to", options.until) + timedelta(days=1))
    return pl.all_horizontal(wanted)


def _start(option: str, day: str) -> datetime:
    return day_start(parsed_day(option, day).isoformat())
