"""What one may see of a memory: decided here alone, and asked by every face.

A memory belongs to one namespace, and nothing of it is ever seen from another: every read of a face is of
one namespace. Within it a note's ``sensitivity`` decides. ``public`` and ``internal`` are open, as is what
was never said; ``secret`` is closed, and so is every word that nobody knows. Of a closed memory one may see
its id and its labels (type, tier, status, dates, counts, reasons); never its title, text, source, tags,
phrases, the words of a question that it answered, what it was taught by them, or evidence that quotes it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.common import ids
from slowwave.errors import NotFoundError
from slowwave.journal.kinds.search import shown_rows
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.store.frames import one_of
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.store import Store

SECRET: Final = "secret"  # noqa: S105 - a label
HIDDEN: Final = "(secret)"
UNKNOWN: Final = "unknown"
"""The sensitivity of what could not be read: nobody knows it, so it is closed."""
_OPEN: Final = ("public", "internal")
_UNSAID: Final = (None, "")


class Viewer(StrEnum):
    """Who looks.

    Attributes:
        OWNER: who names one memory by its id, at the command line of the home or in Python; sees all of it.
        REPORT: what lists, counts or is handed on: tables, reports, pages, logs to export, charts.
        ASSISTANT: whoever is elsewhere: assistants over MCP, judges on another machine. What was never let
            in is closed to them, too: until it is, its labels are not trusted.
        RECORD: what is kept where no erasure reaches: Dagster's storage, logs, messages to a webhook. It
            has ids and labels of every memory, and never a title or a text of any.
    """

    OWNER = "owner"
    REPORT = "report"
    ASSISTANT = "assistant"
    RECORD = "record"


def is_open(sensitivity: str | None) -> bool:
    """Whether a memory that was let in with this sensitivity may be listed."""
    return sensitivity in _UNSAID or sensitivity in _OPEN


def may_see(viewer: Viewer, sensitivity: str | None, *, let_in: bool = True) -> bool:
    """Whether a viewer may see more of a memory of its own namespace than its id and its labels.

    Args:
        viewer: who looks.
        sensitivity: of the memory, as its note says; None where it does not.
        let_in: whether the note entered the memory; of one that never did nobody has looked at the label.
    """
    if viewer is Viewer.OWNER:
        return True
    if viewer is Viewer.RECORD:
        return False
    return is_open(sensitivity) and (let_in or viewer is Viewer.REPORT)


def open_rows(column: str = "sensitivity") -> pl.Expr:
    """`is_open` of a column."""
    return pl.col(column).fill_null("").is_in(["", *_OPEN])


def label(name: str) -> pl.Expr:
    """A label (a column of `KNOWN_WORDS`) of a note; of a closed one only where it is a known word."""
    shown = open_rows() | pl.col(name).is_in(sorted(KNOWN_WORDS[name]))
    return pl.when(shown).then(pl.col(name)).otherwise(pl.lit(HIDDEN)).alias(name)


def open_where(column: str = "sensitivity") -> str:
    """`is_open` as a condition of the store."""
    return f"({column} IS NULL OR {one_of(column, ['', *_OPEN])})"


@dataclass(frozen=True, slots=True)
class AccessView:
    """What one viewer may see of some memories of one namespace.

    Attributes:
        hidden: of these no more than id and labels.
    """

    hidden: frozenset[str]

    def sees(self, *memory_ids: str | None) -> bool:
        """Whether all of these may be seen; where there is none there is nothing to hide."""
        return not any(one in self.hidden for one in memory_ids if one)

    def veiled(self, rows: pl.DataFrame, *columns: str, by: Iterable[str] = ("memory_id",)) -> pl.DataFrame:
        """The rows, with `HIDDEN` in these columns where a memory of theirs may not be seen.

        Lists become empty lists; a cell that has nothing stays as it is.
        """
        closed = pl.any_horizontal(pl.col(name).is_in(list(self.hidden)).fill_null(False) for name in by)
        return redact(rows, closed, *columns)

    def require(self, memory_id: str, namespace: str) -> None:
        """Raise where there is nothing to show, be it secret or not there: the answer is the same.

        Raises:
            NotFoundError: the memory may not be seen.
        """
        if memory_id in self.hidden:
            raise NotFoundError(
                f"Namespace {namespace!r} has no memory {memory_id!r} that may be shown here. If there "
                f"is one, `slowwave history {memory_id}` shows it to a person."
            )


def access_view(
    store: Store, namespace: str, memory_ids: Iterable[str | None], viewer: Viewer,
    *, named: Collection[str] = (),
) -> AccessView:  # fmt: skip
    """What a viewer may see of these memories.

    Args:
        store: the tables.
        namespace: of the viewer; what is of another one is hidden from assistants, and nothing of it is read.
        memory_ids: that are to be shown.
        viewer: who looks.
        named: those that a person named by their ids.
    """
    wanted = {one for one in memory_ids if one} - set(named)
    if viewer in (Viewer.OWNER, Viewer.RECORD) or not wanted:
        return AccessView(frozenset(wanted if viewer is Viewer.RECORD else ()))
    rows = store.read_by(
        "memories", "memory_id", sorted(wanted), columns=["memory_id", "sensitivity"],
        also=within(namespace),
    )  # fmt: skip
    seen = set(rows.filter(open_rows())["memory_id"])
    # What is no memory has no title and no text that could be listed; an assistant is not told even that.
    closed = wanted if viewer is Viewer.ASSISTANT else set(rows["memory_id"])
    return AccessView(frozenset(closed - seen))


def closed_memories(store: Store, namespace: str) -> set[str]:
    """Every closed memory of a namespace, whatever its status."""
    where = within(namespace, f"NOT {open_where()}")
    return set(store.read("memories", where, columns=["memory_id"])["memory_id"])


def closed_queries(store: Store, namespace: str) -> set[str]:
    """Ids of the queries of a namespace that a closed memory was shown for, or judged or named by.

    Their words may be those of the memory: its trigger phrases are among them.
    """
    closed = sorted(closed_memories(store, namespace))
    if not closed:
        return set()
    mine = within(namespace)
    shown = shown_rows(store.scan("searches", mine, columns=["query", "shown"]))
    hit = shown.filter(pl.col("memory_id").is_in(closed))
    judged = store.read_by("judgments", "memory_id", closed, columns=["query_id"], also=mine)
    return {ids.query_id(namespace, query or "") for query in hit["query"]} | set(judged["query_id"])


def closed_ids(store: Store, namespace: str) -> set[str]:
    """Ids of what is not handed on: closed memories of a namespace, and the queries they were shown for."""
    return closed_memories(store, namespace) | closed_queries(store, namespace)


def redact(rows: pl.DataFrame, closed: pl.Expr, *columns: str) -> pl.DataFrame:
    """The rows, with `HIDDEN` in these columns where they are closed."""

    def cell(name: str) -> pl.Expr:
        if isinstance(rows.schema[name], pl.List):
            told, nothing = pl.col(name).is_not_null(), pl.lit([], rows.schema[name])
        else:
            told, nothing = pl.col(name).fill_null("") != "", pl.lit(HIDDEN)
        return pl.when(closed & told).then(nothing).otherwise(pl.col(name)).alias(name)

    return rows.with_columns(cell(name) for name in columns if name in rows.columns)


def sensitivities(journal: Journal, revisions: Iterable[str]) -> Mapping[str, str | None]:
    """How sensitive each version of a note said that it is; versions of which nobody knows are not there.

    Args:
        journal: has the notes as they were written.
        revisions: of notes (`ids.revision`).
    """
    names = {one: ids.event_of(one) for one in revisions}
    entries = journal.entries(set(names.values()))
    found = {}
    for revision, event in names.items():
        entry = entries.get(event)
        if entry is not None and entry.kind == "save" and "content" in entry.payload:
            found[revision] = entry.payload.get("sensitivity")
    return found
