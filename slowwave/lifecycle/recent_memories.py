"""What was stored lately, and by whom: what was saved without a person's saying so is among it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.home.visibility import Viewer, open_rows, redact

if TYPE_CHECKING:
    from slowwave.home.tenant import Tenant

_ORDER = ["memory_id", "updated_at", "principal", "source_kind", "sensitivity", "status"]
_SHOWN = [
    "memory_id", "title", "content", "updated_at", "principal", "source_kind", "status", "memory_type",
    "tags", "origin", "source", "sensitivity",
]  # fmt: skip
_BEGINNING = 240  # characters of a text that are shown


@dataclass(frozen=True, slots=True)
class RecentMemories:
    """Some of what was stored, the newest first.

    Attributes:
        rows: memory_id, title, beginning (of the text), updated_at, principal, source_kind, status,
            memory_type, tags, origin, source.
        total: how many there are with these filters (count).
        principals: all who stored something, by how much (name and count).
        kinds: all ways by which something came about, by how much (name and count).
    """

    rows: list[dict[str, Any]]
    total: int
    principals: list[tuple[str, int]]
    kinds: list[tuple[str, int]]


def recent_memories(
    tenant: Tenant, *, principal: str = "", source_kind: str = "", skip: int = 0, limit: int = 50,
    viewer: Viewer = Viewer.REPORT,
) -> RecentMemories:  # fmt: skip
    """What a namespace was told last.

    Args:
        tenant: the namespace.
        principal: only what this one stored.
        source_kind: only what came about so: manual, generated, imported, ...
        skip: rows to leave out, the newest (count).
        limit: rows (count).
        viewer: who looks: of what is secret a report has no word, and an assistant does not know.
    """
    there = tenant.store.scan("memories", tenant.mine("content_hash IS NOT NULL"), columns=_ORDER)
    if viewer is Viewer.ASSISTANT:
        there = there.filter(open_rows())
    principals, kinds = _counts(there, "principal"), _counts(there, "source_kind")
    if principal:
        there = there.filter(pl.col("principal") == principal)
    if source_kind:
        there = there.filter(pl.col("source_kind") == source_kind)
    names = _newest_first(there).slice(skip, limit)["memory_id"].to_list()
    rows = tenant.store.read_by("memories", "memory_id", names, columns=_SHOWN, also=tenant.mine("true"))
    rows = rows.with_columns(beginning=_beginning()).drop("content")
    rows = redact(_newest_first(rows), ~open_rows(), "title", "beginning", "tags", "source")
    return RecentMemories(rows.drop("sensitivity").to_dicts(), there.height, principals, kinds)


def _newest_first(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("updated_at", "memory_id", descending=[True, False])


def _beginning() -> pl.Expr:
    text = pl.col("content").fill_null("")
    cut = text.str.slice(0, _BEGINNING) + pl.lit(" …")
    return pl.when(text.str.len_chars() > _BEGINNING).then(cut).otherwise(text)


def _counts(rows: pl.DataFrame, column: str) -> list[tuple[str, int]]:
    found = rows.group_by(pl.col(column).fill_null("")).len().sort("len", column, descending=[True, False])
    return [(name, count) for name, count in found.iter_rows() if name]
