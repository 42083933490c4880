"""Newer values of memories: supersessions, and rule 3.12 among the nearest memories.

Every list and page asks here, so a memory has one mark everywhere. Its candidates depend on the memory
alone: the passages nearest to its own, and those of memories that reconsolidation found related.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from slowwave.home.channels import channels_in
from slowwave.home.visibility import open_rows, open_where
from slowwave.index.near_passages import NearPassages, near_passages
from slowwave.index.table_cache import TableCache
from slowwave.quality.admission.statuses import LIVE, RETIRED, SUPERSEDED
from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.dates import written_date
from slowwave.quality.outdated.updates import first_newer, may_be_replaced
from slowwave.store import one_of, quote

if TYPE_CHECKING:
    from slowwave.home.tenant import MemoryRecord, Tenant

OWN: Final = 1  # first passages of a memory that are compared (count)
NEAR: Final = 10  # nearest passages to each of them, as many as in a search (count)
MAX_RELATED: Final = 20  # related memories of one, the latest (count)
MAX_STEPS: Final = 20  # along a chain of newer values (count)
_SUPERSEDED: Final = ("memory_id", "title", "content", "sensitivity", "status", "created_at")


class NewerValue(NamedTuple):
    """Memory whose value replaces another one's.

    Attributes:
        memory_id: Of the newest memory of a chain.
        title: Of it.
        until: Moment from which the next value of the chain holds.
        following: Memory with that next value.
    """

    memory_id: str
    title: str
    until: datetime
    following: str


class _Next(NamedTuple):
    """Next value of a memory: memory, title, and moment from which it holds."""

    memory_id: str
    title: str
    at: datetime


def newer_values(tenant: Tenant, memory_ids: Collection[str]) -> dict[str, NewerValue]:
    """Return the newer memory of each one that is outdated.

    It is the same whatever other memories are asked for.

    A superseded memory has the one that supersedes it. A current one has the first that replaces one of its
    values. Secret and forgotten memories have no part in it.

    Args:
        tenant: Namespace of the memories.
        memory_ids: Memories; those of other namespaces are left out.
    """
    following = _known(tenant).following
    ahead = [name for name in dict.fromkeys(memory_ids) if name not in following]
    for _ in range(MAX_STEPS):
        if ahead:
            following |= dict.fromkeys(ahead) | _next_values(tenant, ahead)
        ends = {step.memory_id for name in memory_ids if (step := _last(name, following))}
        ahead = sorted(ends - following.keys())
        if not ahead:
            break
    return {
        name: NewerValue(last.memory_id, last.title, first.at, first.memory_id)
        for name in memory_ids
        if (first := following[name]) and (last := _last(name, following))
    }


def with_newer_values(tenant: Tenant, rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return rows with outdated_by, newer_title and valid_until, as search results have them.

    Args:
        tenant: Namespace of the memories.
        rows: Rows with memory_id; refused notes have no newer value.
    """
    newer = newer_values(tenant, [row["memory_id"] for row in rows])
    return [{**row, **_fields(newer.get(row["memory_id"]))} for row in rows]


def with_newer_value(tenant: Tenant, record: MemoryRecord) -> MemoryRecord:
    """Return a memory with the newer value that replaces it, if one does."""
    return replace(record, **_fields(newer_values(tenant, [record.memory_id]).get(record.memory_id)))


def _fields(newer: NewerValue | None) -> dict[str, Any]:
    """Return the fields of a result that name its newer value."""
    return {
        "outdated_by": newer.memory_id if newer else "",
        "newer_title": newer.title if newer else "",
        "valid_until": newer.until if newer else None,
    }


def near_memories(tenant: Tenant, memory_id: str) -> list[str]:
    """Return the open current memories with the passages nearest to those of one."""
    near = _known(tenant).near
    if memory_id not in near:
        near |= {memory_id: [], **_names_of(_near(tenant, [memory_id]))}
    return near[memory_id]


def _names_of(found: NearPassages) -> dict[str, list[str]]:
    """Return the memories of the nearest passages of each memory."""
    names = found.table.column("memory_id").to_pylist()
    return {name: list(dict.fromkeys(names[row] for row in rows)) for name, rows in found.near.items()}


class _Known(NamedTuple):
    """Facts about memories that were read since the last write of the tables; callers add to them."""

    following: dict[str, _Next | None]
    near: dict[str, list[str]]


def _known(tenant: Tenant) -> _Known:
    space = tenant.space
    cached: TableCache[str, _Known] = space.part(
        "newer values",
        lambda: TableCache(
            lambda _: (*map(space.store.mark, ("chunks", "memories", "edges")), space.now().date()),
            lambda *_: _Known({}, {}),
        ),
    )
    return cached.of(tenant.namespace)


def _last(name: str, following: Mapping[str, _Next | None]) -> _Next | None:
    """Return the end of a memory's chain, as far as it is known; None if nothing follows."""
    last, seen = following.get(name), {name}
    while last and (step := following.get(last.memory_id)) and step.memory_id not in seen:
        seen.add(last.memory_id)
        last = step
    return last


def _next_values(tenant: Tenant, memory_ids: Sequence[str]) -> dict[str, _Next]:
    """Return the next value of each of these memories that has one."""
    ends = f"{one_of('from_memory', memory_ids)} OR {one_of('to_memory', memory_ids)}"
    edges = tenant.store.read(
        "edges", tenant.mine(f"kind IN ('supersedes', 'related') AND ({ends})"),
        columns=["from_memory", "to_memory", "kind", "created_at"],
    ).sort("created_at", "from_memory", "to_memory")  # fmt: skip
    pairs = edges.select("from_memory", "to_memory")
    superseding = {old: new for new, old in pairs.filter(edges["kind"] == "supersedes").iter_rows()}
    related: dict[str, list[str]] = {name: [] for name in memory_ids}
    for pair in pairs.filter(edges["kind"] == "related").iter_rows():
        for name, other in (pair, pair[::-1]):
            if name in related:
                related[name].append(other)
    return _replaced(tenant, related) | _superseded(tenant, superseding)


def _superseded(tenant: Tenant, superseding: Mapping[str, str]) -> dict[str, _Next]:
    """Return the memory that supersedes each of these, with its own date."""
    if not superseding:
        return {}
    rows = tenant.store.read_by(
        "memories", "memory_id", [*superseding, *superseding.values()], columns=_SUPERSEDED,
        also=tenant.mine(f"content_hash IS NOT NULL AND status <> {quote(RETIRED)}"),
    ).filter(open_rows())  # fmt: skip
    known = {row["memory_id"]: row for row in rows.iter_rows(named=True)}
    return {
        older: _Next(newer, known[newer]["title"] or "", said_at(known[newer]))
        for older, newer in superseding.items()
        if newer in known and older in known and known[older]["status"] == SUPERSEDED
    }


def said_at(row: Mapping[str, Any]) -> datetime:
    """Return the date that a memory's text begins with, else that of its note.

    Args:
        row: content and created_at of a memory.
    """
    moment: datetime = written_date(row["content"] or "") or row["created_at"]
    return moment


def _replaced(tenant: Tenant, related: Mapping[str, Sequence[str]]) -> dict[str, _Next]:
    """Return the first memory that replaces a value of each current one (rule 3.12).

    Args:
        tenant: Namespace of the memories.
        related: The memories, each with those that reconsolidation found related, the latest last.
    """
    first_texts = channels_in(tenant.space)(tenant.namespace).first_texts
    found = _near(tenant, list(related))
    _known(tenant).near.update(_names_of(found))
    others = sorted({other for names in related.values() for other in names[-MAX_RELATED:]})
    beside = _near(tenant, others, near=0)
    now = tenant.space.now()
    passages, more = _passages(found, first_texts), _passages(beside, first_texts)
    marks = {}
    for name, rows in found.own.items():
        own = [passages[row] for row in rows]
        near = [passages[row] for row in found.near[name]]
        near += [more[row] for other in related[name][-MAX_RELATED:] for row in beside.own.get(other, ())]
        compared = [
            [passage for passage in dict.fromkeys(ones) if not passage.is_ahead(now)] for ones in (own, near)
        ]
        if newer := first_newer(compared[0], compared[1]):
            marks[name] = _Next(newer.memory_id, newer.title, newer.moment)
    return marks


def _near(tenant: Tenant, memory_ids: Sequence[str], near: int = NEAR) -> NearPassages:
    """Return the first passages of memories, and the nearest ones of other open current memories."""
    where = tenant.mine(f"status = {quote(LIVE)} AND {open_where()}")
    return near_passages(
        channels_in(tenant.space)(tenant.namespace), memory_ids, where,
        own=OWN, near=near, is_asked=may_be_replaced,
    )  # fmt: skip


def _passages(
    found: NearPassages, first_texts: Callable[[Sequence[str]], Mapping[str, str]]
) -> list[DatedPassage]:
    """Return the passages of the table, each with the date of its memory."""
    rows = found.table.to_pylist()
    later = {row["memory_id"] for row in rows if row["ordinal"] and not written_date(row["text"])}
    texts = first_texts(sorted(later)) if later else {}
    return [
        DatedPassage(
            row["memory_id"], row["title"] or "", row["text"], row["sensitivity"] or "", row["created_at"],
            row["updated_at"], written_date(texts.get(row["memory_id"], "")) if row["ordinal"] else None,
        )
        for row in rows
    ]  # fmt: skip
