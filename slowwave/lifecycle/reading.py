"""Reading of one whole memory from the tables."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import polars as pl

from slowwave.errors import NotFoundError
from slowwave.feedback.states import states_in
from slowwave.feedback.tiers import with_tiers
from slowwave.home.tenant import MemoryRecord, Tenant
from slowwave.store import one_of

_DERIVED = ("sources", "outdated_by", "newer_title", "valid_until")
_COLUMNS = [part.name for part in fields(MemoryRecord) if part.name not in _DERIVED]


def record_of(tenant: Tenant, memory_id: str) -> MemoryRecord:
    """Return a memory by its id, whatever its status; its newer value is not looked up.

    Raises:
        NotFoundError: The namespace has no such memory.
    """
    where = tenant.mine(f"{one_of('memory_id', [memory_id])} AND content_hash IS NOT NULL")
    rows = tenant.store.read("memories", where, columns=[*_COLUMNS, "path"])
    if rows.is_empty():
        raise NotFoundError(
            f"Namespace {tenant.namespace!r} has no memory {memory_id!r}. Ids come from save() and search(); "
            f"`slowwave show` lists those of the last one."
        )
    rows = with_tiers(rows, states_in(tenant.space).promoted(tenant.namespace))
    row: dict[str, Any] = rows.row(0, named=True)
    place = row.pop("path") or row["source"]
    lists = {name: tuple(row[name] or ()) for name in ("tags", "trigger_phrases", "absorbed")}
    return MemoryRecord(**row | lists, sources=(place, *_sources(tenant, lists["absorbed"])))


def _sources(tenant: Tenant, absorbed: tuple[str, ...]) -> Iterator[str]:
    """Yield the sources of absorbed memories, each followed by those that it had absorbed."""
    if not absorbed:
        return
    where = tenant.mine(one_of("memory_id", absorbed))
    rows = tenant.store.read("memories", where, columns=["memory_id", "source", "path", "absorbed"])
    rows = rows.select("memory_id", pl.coalesce("path", "source"), "absorbed")
    by_id = {name: (source, tuple(parts or ())) for name, source, parts in rows.iter_rows()}
    for source, parts in (by_id[name] for name in absorbed if name in by_id):
        yield source
        yield from _sources(tenant, parts)
