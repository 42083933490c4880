"""Line in time of a subject: its values in order, each with the time until which it held.

It joins the versions of a memory with its newer and earlier values (`slowwave.lifecycle.newer_values`).
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

from slowwave.home.visibility import HIDDEN, is_open, open_rows
from slowwave.lifecycle.newer_values import NewerValue, near_memories, newer_values, said_at
from slowwave.quality.outdated.dates import written_date
from slowwave.store import one_of

if TYPE_CHECKING:
    from slowwave.home.tenant import MemoryRecord, Tenant

MAX_ENTRIES: Final = 20  # of a line, the newest ones (count)
MAX_STEPS: Final = 20  # along supersessions (count)
_COLUMNS: Final = ("memory_id", "title", "content", "sensitivity", "created_at")


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


def subject_line(
    tenant: Tenant, record: MemoryRecord, events: Sequence[Mapping[str, Any]]
) -> list[LineEntry]:
    """Return the line of a memory's subject, the newest value first; empty if there is only one.

    Args:
        tenant: Namespace of the memory.
        record: A memory that the reader may see.
        events: Its history, as the reader may see it.
    """
    names = {record.memory_id}
    if is_open(record.sensitivity):
        names |= {*near_memories(tenant, record.memory_id), *_superseding(tenant, record.memory_id)}
    ends = newer_values(tenant, sorted(names))
    own = {name: getattr(record, name) for name in _COLUMNS}
    others = _connected(ends, record.memory_id) - {record.memory_id}
    texts = _texts_of(events)
    corrected = texts[-1]["at"] if len(texts) > 1 and not written_date(record.content) else None
    line = [
        LineEntry(
            row["memory_id"], "", row["title"] or "", row["content"] or "",
            corrected if corrected and row is own else said_at(row),
            end.until if end else None, end.memory_id if end else "",
        )
        for row in (own, *_rows(tenant, others))
        for end in (ends.get(row["memory_id"]),)
    ]  # fmt: skip
    line += _versions(record, texts)
    if len(line) < 2:
        return []
    line.sort(key=lambda entry: (entry.until is None, entry.since, entry.memory_id), reverse=True)
    return line[:MAX_ENTRIES]


def _rows(tenant: Tenant, names: Collection[str]) -> list[dict[str, Any]]:
    """Return the open memories of these names."""
    if not names:
        return []
    rows = tenant.store.read_by(
        "memories", "memory_id", sorted(names), columns=_COLUMNS, also=tenant.mine("content_hash IS NOT NULL")
    )
    return rows.filter(open_rows()).to_dicts()


def _superseding(tenant: Tenant, memory_id: str) -> set[str]:
    """Return the memories that supersessions connect with one, along its line."""
    seen, ahead = {memory_id}, [memory_id]
    for _ in range(MAX_STEPS):
        if not ahead:
            break
        ends = f"{one_of('from_memory', ahead)} OR {one_of('to_memory', ahead)}"
        edges = tenant.store.read(
            "edges", tenant.mine(f"kind = 'supersedes' AND ({ends})"), columns=["from_memory", "to_memory"]
        )
        ahead = sorted({name for pair in edges.iter_rows() for name in pair} - seen)
        seen |= set(ahead)
    return seen


def _connected(ends: Mapping[str, NewerValue], memory_id: str) -> set[str]:
    """Return the memories that newer values connect with one; alone if none does."""
    links = [{old, end.following, end.memory_id} for old, end in ends.items()]
    reached, grows = {memory_id}, True
    while grows:
        more = {name for link in links if link & reached for name in link}
        grows = not more <= reached
        reached |= more
    return reached


def _texts_of(events: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Return the saves of a history that gave the memory another text, the oldest first."""
    saves = [event for event in events if event["text"] not in ("", HIDDEN) and event["event"] != "refused"]
    texts: list[Mapping[str, Any]] = []
    for event in saves:
        if not texts or texts[-1]["text"] != event["text"]:
            texts.append(event)
    return texts


def _versions(record: MemoryRecord, texts: Sequence[Mapping[str, Any]]) -> list[LineEntry]:
    """Return the earlier texts of a memory, each until the next one; the first has the date of its note."""
    first = texts[0] if texts else None
    return [
        LineEntry(
            record.memory_id, event["id"], event["title"] or record.title, event["text"],
            min(event["at"], record.created_at) if event is first else event["at"], later["at"],
        )
        for event, later in pairwise(texts)
    ]  # fmt: skip
