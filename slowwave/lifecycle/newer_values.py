"""Newer values of the memories on a page of a list (rule 3.12, and supersessions)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final, NamedTuple

import polars as pl

from slowwave.home.visibility import open_rows
from slowwave.quality.admission.types import LIVE
from slowwave.quality.outdated.related import outdated_among
from slowwave.quality.outdated.updates import DatedPassage, written_date
from slowwave.store import one_of

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant

MAX_LINKED: Final = 20  # memories of other pages that are compared, too (count)
_PASSAGE: Final = ("memory_id", "title", "content", "sensitivity", "status", "created_at", "updated_at")


class NewerValue(NamedTuple):
    """Memory whose value replaces another one's.

    Attributes:
        memory_id: Of the newer memory.
        title: Of it; empty if it is not there any more.
        until: Moment from which its value holds.
    """

    memory_id: str
    title: str
    until: datetime


def newer_values(tenant: Tenant, memory_ids: Sequence[str]) -> dict[str, NewerValue]:
    """Return the newer memory of each one that is outdated.

    A superseded memory has the one that supersedes it. The values of current ones are compared with each
    other and with the memories that reconsolidation found related. Secret ones have no part in it.

    Args:
        tenant: Namespace of the memories.
        memory_ids: Those of one page; the cost grows with their square.
    """
    if not memory_ids:
        return {}
    ends = f"{one_of('from_memory', memory_ids)} OR {one_of('to_memory', memory_ids)}"
    edges = tenant.store.read(
        "edges", tenant.mine(f"kind IN ('supersedes', 'related') AND ({ends})"),
        columns=["from_memory", "to_memory", "kind", "created_at"],
    ).sort("created_at", "from_memory")  # fmt: skip
    pairs = edges.select("from_memory", "to_memory").rows()
    on_page = set(memory_ids)
    related = [(a, b) for pair in pairs for a, b in (pair, pair[::-1]) if a in on_page and b not in on_page]
    related = related[-MAX_LINKED:]
    linked = [other for _, other in related]
    rows = tenant.store.read_by(
        "memories", "memory_id", [*memory_ids, *linked], columns=_PASSAGE,
        also=tenant.mine("content_hash IS NOT NULL"),
    ).filter(open_rows())  # fmt: skip
    titles = dict(rows.select("memory_id", "title").iter_rows())
    found = {
        older: NewerValue(newer, titles[newer] or "", at)
        for newer, older, at in edges.filter(pl.col("kind") == "supersedes")
        .select("from_memory", "to_memory", "created_at")
        .rows()
        if {newer, older} <= titles.keys()
    }
    now = tenant.space.now()
    passages = {
        row["memory_id"]: DatedPassage(
            row["memory_id"], row["title"] or "", row["content"] or "", row["sensitivity"] or "",
            row["created_at"], row["updated_at"],
        )
        for row in rows.filter(pl.col("status") == LIVE).sort("memory_id").iter_rows(named=True)
        if (written_date(row["content"] or "") or now) <= now
    }  # fmt: skip
    groups = [[name for name in memory_ids if name in passages]]
    groups += [[name, other] for name, other in related if passages.keys() >= {name, other}]
    for group in groups:
        for name, end in outdated_among([passages[one] for one in group]).items():
            found[name] = NewerValue(end.newest, titles[end.newest] or "", end.until)
    return {name: newer for name, newer in found.items() if name in on_page}
