"""Line in time of a subject: its values in order, each with the time until which it held.

It joins what is stored (versions of a memory, supersessions) with rule 3.12 among the nearest memories.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from slowwave.home.visibility import HIDDEN, is_open, open_rows
from slowwave.quality.admission.types import LIVE
from slowwave.quality.outdated.related import outdated_among
from slowwave.quality.outdated.statements import sentences_with_values
from slowwave.quality.outdated.updates import DatedPassage, Outdated, written_date
from slowwave.quality.titles import is_from_first_words
from slowwave.store import one_of

if TYPE_CHECKING:
    import polars as pl

    from slowwave.home.tenant import MemoryRecord, Tenant

NEIGHBOURS: Final = 10  # nearest memories that are compared, as many as in a search (count)
MAX_QUERY: Final = 200  # characters of a memory that find its neighbours (count)
MAX_ENTRIES: Final = 20  # of a line, the newest ones (count)
MAX_STEPS: Final = 20  # along supersessions (count)
_COLUMNS: Final = ("memory_id", "title", "content", "sensitivity", "status", "created_at", "updated_at")


@dataclass(frozen=True, slots=True)
class LineEntry:
    """One value of a line.

    Attributes:
        memory_id: Memory that has it.
        event: Event of an earlier text of the memory itself; else empty.
        title: Of the memory.
        text: That says it.
        since: Date of the text.
        until: Moment from which a newer one holds; None if it holds.
        newer: Memory with the newer one; empty if that is the next text of the same memory, or none.
    """

    memory_id: str
    event: str
    title: str
    text: str
    since: datetime
    until: datetime | None = None
    newer: str = ""


def neighbour_query(record: MemoryRecord) -> str:
    """Return the words that find the neighbours of a memory: its title and sentences with values."""
    sentences = " ".join(sentences_with_values(record.content))
    title = "" if is_from_first_words(record.title, record.content) else record.title
    return f"{title} {sentences or record.content}".strip()[:MAX_QUERY]


def has_neighbours(record: MemoryRecord) -> bool:
    """Whether other memories are compared with this one: it is current, no secret, and has a value."""
    is_compared = record.status == LIVE and is_open(record.sensitivity)
    return is_compared and bool(sentences_with_values(record.content))


def subject_line(
    tenant: Tenant,
    record: MemoryRecord,
    events: Sequence[Mapping[str, Any]],
    neighbours: Iterable[tuple[str, str]],
) -> list[LineEntry]:
    """Return the line of a memory's subject, the newest value first; empty if there is only one.

    Args:
        tenant: Namespace of the memory.
        record: A memory that the reader may see.
        events: Its history, as the reader may see it.
        neighbours: Memory ids and passages of a search that this reader may make.
    """
    passages_of = {memory_id: text for memory_id, text in neighbours if memory_id != record.memory_id}
    stored = _superseded(tenant, record.memory_id) if is_open(record.sensitivity) else {}
    all_names = {record.memory_id, *passages_of, *stored, *stored.values()}
    rows = {row["memory_id"]: row for row in _rows(tenant, all_names, record.memory_id).iter_rows(named=True)}
    now = tenant.space.now()
    passages = [
        DatedPassage(
            name, row["title"] or "", passages_of.get(name, row["content"] or ""), row["sensitivity"] or "",
            row["created_at"], row["updated_at"],
        )
        for name, row in rows.items()
        if row["status"] == LIVE and (name in passages_of or name == record.memory_id)
    ]  # fmt: skip
    read = [passage for passage in passages if (written_date(passage.text) or now) <= now]
    found = outdated_among(read) if len(read) > 1 else {}
    ends = {
        old: Outdated(new, _date(rows[new]), new) for old, new in stored.items() if {old, new} <= rows.keys()
    }
    ends |= found
    names = _connected(ends, record.memory_id)
    dates = {name: _date(row) for name, row in rows.items() if name in names}
    line = [
        LineEntry(
            name, "", rows[name]["title"] or "", passages_of.get(name, rows[name]["content"] or ""),
            date, _until(name, dates, ends), ends[name].newest if name in ends else "",
        )
        for name, date in dates.items()
    ]  # fmt: skip
    line += _versions(record, events)
    if len(line) < 2:
        return []
    line.sort(key=lambda entry: (entry.until is None, entry.since, entry.memory_id), reverse=True)
    return line[:MAX_ENTRIES]


def _rows(tenant: Tenant, names: Iterable[str], own: str) -> pl.DataFrame:
    """Return the open memories of these names, and the one itself."""
    import polars as pl

    rows = tenant.store.read_by(
        "memories", "memory_id", sorted(names), columns=_COLUMNS, also=tenant.mine("content_hash IS NOT NULL")
    )
    return rows.filter(open_rows() | (pl.col("memory_id") == own)).sort("memory_id")


def _superseded(tenant: Tenant, memory_id: str) -> dict[str, str]:
    """Return the memory that supersedes each one, along the line of a memory."""
    found: dict[str, str] = {}
    seen, ahead = {memory_id}, [memory_id]
    for _ in range(MAX_STEPS):
        if not ahead:
            break
        ends = f"{one_of('from_memory', ahead)} OR {one_of('to_memory', ahead)}"
        edges = tenant.store.read(
            "edges", tenant.mine(f"kind = 'supersedes' AND ({ends})"), columns=["from_memory", "to_memory"]
        )
        found |= {older: newer for newer, older in edges.iter_rows()}
        ahead = sorted({name for pair in edges.iter_rows() for name in pair} - seen)
        seen |= set(ahead)
    return found


def _until(name: str, dates: Mapping[str, datetime], ends: Mapping[str, Outdated]) -> datetime | None:
    """Return the date of the next value in a chain; None for one that holds."""
    if name not in ends:
        return None
    newest = ends[name].newest
    chain = [date for other, date in dates.items() if other == newest or _newest(ends, other) == newest]
    return min((date for date in chain if date > dates[name]), default=ends[name].until)


def _newest(ends: Mapping[str, Outdated], name: str) -> str:
    return ends[name].newest if name in ends else ""


def _connected(ends: Mapping[str, Outdated], memory_id: str) -> set[str]:
    """Return the memories that updates connect with one; alone if none does."""
    reached, grows = {memory_id}, True
    while grows:
        more = {
            name for old, end in ends.items() if {old, end.newest} & reached for name in (old, end.newest)
        }
        grows = not more <= reached
        reached |= more
    return reached


def _versions(record: MemoryRecord, events: Sequence[Mapping[str, Any]]) -> list[LineEntry]:
    """Return the earlier texts of a memory, each until the next one."""
    saves = [event for event in events if event["text"] not in ("", HIDDEN) and event["event"] != "refused"]
    texts: list[Mapping[str, Any]] = []
    for event in saves:
        if not texts or texts[-1]["text"] != event["text"]:
            texts.append(event)
    return [
        LineEntry(
            record.memory_id, event["id"], event["title"] or record.title, event["text"], event["at"],
            later["at"],
        )
        for event, later in pairwise(texts)
    ]  # fmt: skip


def _date(row: Mapping[str, Any]) -> datetime:
    date: datetime = written_date(row["content"] or "") or row["created_at"]
    return date
