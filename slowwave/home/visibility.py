"""Visibility of memories per viewer, decided here alone for every interface.

A memory belongs to one namespace, and every read covers one namespace. Within it a note's ``sensitivity``
decides. ``public``, ``internal`` and no label are open; ``secret`` and every unknown label are closed.

Of a closed memory a viewer sees its id and its labels (type, tier, status, dates, counts, reasons). Its
title, text, source, tags and phrases stay hidden. So do the words of the questions that it answered, its
learned terms, and evidence that quotes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.common import ids
from slowwave.errors import NotFoundError
from slowwave.journal.kinds.search import shown_rows
from slowwave.quality.admission.statuses import RETIRED
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.store.frames import one_of
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.journal import Entry, Journal
    from slowwave.store import Store

SECRET: Final = "secret"  # noqa: S105 - a label
HIDDEN: Final = "(secret)"
UNKNOWN: Final = "unknown"
"""Sensitivity of an unreadable note; it counts as closed."""
_OPEN: Final = ("public", "internal")
_UNSAID: Final = (None, "")


class Viewer(StrEnum):
    """Kind of reader of memories.

    Attributes:
        OWNER: A user who names one memory by its id, at the command line of the home or in Python; sees
            all of it.
        REPORT: Output that lists, counts or is passed on: tables, reports, pages, exported logs, charts.
        ASSISTANT: Remote readers: assistants over MCP, judges on another machine. Notes that were never
            let in are closed to them too: their labels are not trusted yet. So are forgotten memories.
        RECORD: Output kept where no erasure reaches: Dagster's storage, logs, webhook messages. It has
            ids and labels of every memory, and never a title or text.
    """

    OWNER = "owner"
    REPORT = "report"
    ASSISTANT = "assistant"
    RECORD = "record"


def is_open(sensitivity: str | None) -> bool:
    """Whether a memory that was let in with this sensitivity may be listed."""
    return sensitivity in _UNSAID or sensitivity in _OPEN


def may_see(viewer: Viewer, sensitivity: str | None, *, let_in: bool = True) -> bool:
    """Whether a viewer may see more of a memory than its id and labels.

    Args:
        sensitivity: As the note has it; None if it has none.
        let_in: Whether the note passed the save gate; the label of one that did not is unchecked.
    """
    if viewer is Viewer.OWNER:
        return True
    if viewer is Viewer.RECORD:
        return False
    return is_open(sensitivity) and (let_in or viewer is Viewer.REPORT)


def open_rows(column: str = "sensitivity") -> pl.Expr:
    """Return `is_open` of a column, as an expression."""
    return pl.col(column).fill_null("").is_in(["", *_OPEN])


def assistant_rows() -> pl.Expr:
    """Return which memories an assistant may read: open ones that nobody forgot."""
    return open_rows() & (pl.col("status").fill_null("") != RETIRED)


def label(name: str) -> pl.Expr:
    """Return a label column of `KNOWN_WORDS`; of closed notes only known words are shown."""
    shown = open_rows() | pl.col(name).is_in(sorted(KNOWN_WORDS[name]))
    return pl.when(shown).then(pl.col(name)).otherwise(pl.lit(HIDDEN)).alias(name)


def open_where(column: str = "sensitivity") -> str:
    """Return `is_open` as a condition of the store."""
    return f"({column} IS NULL OR {one_of(column, ['', *_OPEN])})"


@dataclass(frozen=True, slots=True)
class AccessView:
    """View of one viewer on some memories of one namespace.

    Attributes:
        hidden: Memories of which only id and labels are visible.
    """

    hidden: frozenset[str]

    def sees(self, *memory_ids: str | None) -> bool:
        """Whether all of these may be seen; None and empty ids hide nothing."""
        return not any(name in self.hidden for name in memory_ids if name)

    def veiled(self, rows: pl.DataFrame, *columns: str, by: Iterable[str] = ("memory_id",)) -> pl.DataFrame:
        """Return the rows, with `HIDDEN` in these columns where one of their memories is hidden.

        Lists become empty lists; an empty cell stays empty.
        """
        closed = pl.any_horizontal(pl.col(name).is_in(list(self.hidden)).fill_null(False) for name in by)
        return redact(rows, closed, *columns)

    def require(self, memory_id: str, namespace: str) -> None:
        """Raise if a memory is hidden or missing; the answer is the same for both.

        Raises:
            NotFoundError: The memory may not be seen.
        """
        if memory_id in self.hidden:
            raise NotFoundError(
                f"Namespace {namespace!r} has no memory {memory_id!r} that may be shown here. If there "
                f"is one, `slowwave history {memory_id}` shows it to a person."
            )


def access_view(
    store: Store, namespace: str, memory_ids: Iterable[str | None], viewer: Viewer,
    *, named: Collection[str] = (), forgotten: bool = False,
) -> AccessView:  # fmt: skip
    """Return the view of a viewer on these memories.

    Args:
        namespace: Namespace of the viewer; memories of another one are never read, and hidden from
            assistants.
        named: Memories that a user named by their ids.
        forgotten: Whether an assistant sees forgotten memories, to report that they are.
    """
    wanted = {name for name in memory_ids if name} - set(named)
    if viewer in (Viewer.OWNER, Viewer.RECORD) or not wanted:
        return AccessView(frozenset(wanted if viewer is Viewer.RECORD else ()))
    rows = store.read_by(
        "memories", "memory_id", sorted(wanted), columns=["memory_id", "sensitivity", "status"],
        also=within(namespace),
    )  # fmt: skip
    can_read = assistant_rows() if viewer is Viewer.ASSISTANT and not forgotten else open_rows()
    seen = set(rows.filter(can_read)["memory_id"])
    # An id without a memory has no title or text to hide; an assistant does not learn even that.
    closed = wanted if viewer is Viewer.ASSISTANT else set(rows["memory_id"])
    return AccessView(frozenset(closed - seen))


def closed_memories(store: Store, namespace: str) -> set[str]:
    """Return every closed memory of a namespace, whatever its status."""
    where = within(namespace, f"NOT {open_where()}")
    return set(store.read("memories", where, columns=["memory_id"])["memory_id"])


def closed_queries(store: Store, namespace: str) -> set[str]:
    """Return the ids of queries that a closed memory was returned for, or judged for.

    Their words may be those of the memory: its trigger phrases are among them.
    """
    closed = sorted(closed_memories(store, namespace))
    if not closed:
        return set()
    condition = within(namespace)
    searches = store.scan("searches", condition, columns=["query", "shown", "left_out"])
    shown = shown_rows(searches.drop("left_out"))
    left_out = searches.select("query", memory_id="left_out").explode("memory_id")
    hit = pl.concat([shown.select("query", "memory_id"), left_out]).filter(pl.col("memory_id").is_in(closed))
    judged = store.read_by("judgments", "memory_id", closed, columns=["query_id"], also=condition)
    return {ids.query_id(namespace, query or "") for query in hit["query"]} | set(judged["query_id"])


def closed_ids(store: Store, namespace: str) -> set[str]:
    """Return the closed memories of a namespace and the queries that returned them."""
    return closed_memories(store, namespace) | closed_queries(store, namespace)


def redact(rows: pl.DataFrame, closed: pl.Expr, *columns: str) -> pl.DataFrame:
    """Return the rows, with `HIDDEN` in these columns where they are closed."""

    def cell(name: str) -> pl.Expr:
        if isinstance(rows.schema[name], pl.List):
            filled, empty = pl.col(name).is_not_null(), pl.lit([], rows.schema[name])
        else:
            filled, empty = pl.col(name).fill_null("") != "", pl.lit(HIDDEN)
        return pl.when(closed & filled).then(empty).otherwise(pl.col(name)).alias(name)

    return rows.with_columns(cell(name) for name in columns if name in rows.columns)


def sensitivities(journal: Journal, revisions: Iterable[str]) -> Mapping[str, str | None]:
    """Return the sensitivity in each version of a note; unknown versions are left out.

    Args:
        journal: Has the notes as they were written.
        revisions: Of notes (`ids.revision`).
    """
    names = {revision: ids.event_of(revision) for revision in revisions}
    entries = journal.entries(set(names.values()))
    labels = {}
    for revision, event in names.items():
        entry = entries.get(event)
        if entry is not None and entry.kind == "save" and "content" in entry.payload:
            labels[revision] = entry.payload.get("sensitivity")
    return labels


def seen_versions(acts: Sequence[Entry], viewer: Viewer) -> set[str]:
    """Return the saves (event_id) whose texts a viewer may see.

    Closing a note closes its earlier texts, too, until one of them is saved as open again.

    Args:
        acts: Events of one source, the oldest first.
    """
    if viewer is Viewer.OWNER:
        return {entry.event_id for entry in acts}
    seen, opened, closes = set(), set(), False
    for entry in reversed(acts):
        if entry.kind != "save":
            continue
        content = entry.payload.get("content")
        if not may_see(viewer, entry.payload.get("sensitivity")):
            closes = True
        elif not closes or content in opened:
            seen.add(entry.event_id)
            opened.add(content)
    return seen


def closed_versions(
    journal: Journal, namespace: str, revisions: Iterable[str | None], viewer: Viewer
) -> set[str]:
    """Return the versions whose texts a viewer may not see (`seen_versions`).

    Notes that were saved with one text alone are left out: their present label decides.
    """
    events = {revision: ids.event_of(revision) for revision in revisions if revision}
    saved = journal.entries(set(events.values()))
    sources = {event: entry.subject for event, entry in saved.items() if entry.kind == "save"}
    rewritten = journal.rewritten(namespace, set(sources.values())) if sources else []
    seen = {
        event for source in rewritten for event in seen_versions(journal.about(namespace, source), viewer)
    }
    return {
        revision
        for revision, event in events.items()
        if sources.get(event) in rewritten and event not in seen
    }
