"""Recently stored memories and their authors, including saves without a user's request."""

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
    "tags", "origin", "source", "path", "sensitivity",
]  # fmt: skip
_BEGINNING = 240  # characters of a text that are shown


@dataclass(frozen=True, slots=True)
class RecentMemories:
    """Page of stored memories, the newest first.

    Attributes:
        rows: memory_id, title, beginning (of the text), updated_at, principal, source_kind, status,
            memory_type, tags, origin, source.
        total: Memories with these filters (count).
        principals: All users who stored something, by count (name and count).
        kinds: All source kinds, by count (name and count).
    """

    rows: list[dict[str, Any]]
    total: int
    principals: list[tuple[str, int]]
    kinds: list[tuple[str, int]]


def recent_memories(
    tenant: Tenant, *, principal: str = "", source_kind: str = "", skip: int = 0, limit: int = 50,
    viewer: Viewer = Viewer.REPORT,
) -> RecentMemories:  # fmt: skip
    """Return the memories of a namespace that changed last.

    Args:
        principal: Only stored by this user.
        source_kind: Only of this kind: manual, generated, imported, ...
        skip: Newest rows to leave out (count).
        limit: Rows (count).
        viewer: A report shows no word of secret memories; an assistant does not see that they exist.
    """
    rows = tenant.store.scan("memories", tenant.mine("content_hash IS NOT NULL"), columns=_ORDER)
    if viewer is Viewer.ASSISTANT:
        rows = rows.filter(open_rows())
    principals, kinds = _counts(rows, "principal"), _counts(rows, "source_kind")
    if principal:
        rows = rows.filter(pl.col("principal") == principal)
    if source_kind:
        rows = rows.filter(pl.col("source_kind") == source_kind)
    names = _newest_first(rows).slice(skip, limit)["memory_id"].to_list()
    page = tenant.store.read_by("memories", "memory_id", names, columns=_SHOWN, also=tenant.mine("true"))
    page = page.with_columns(beginning=_beginning(), source=pl.coalesce("path", "source"))
    page = page.drop("content", "path")
    page = redact(_newest_first(page), ~open_rows(), "title", "beginning", "tags", "source")
    return RecentMemories(page.drop("sensitivity").to_dicts(), rows.height, principals, kinds)


def _newest_first(rows: pl.DataFrame) -> pl.DataFrame:
    return rows.sort("updated_at", "memory_id", descending=[True, False])


def _beginning() -> pl.Expr:
    text = pl.col("content").fill_null("")
    cut = text.str.slice(0, _BEGINNING) + pl.lit(" …")
    return pl.when(text.str.len_chars() > _BEGINNING).then(cut).otherwise(text)


def _counts(rows: pl.DataFrame, column: str) -> list[tuple[str, int]]:
    counts = rows.group_by(pl.col(column).fill_null("")).len().sort("len", column, descending=[True, False])
    return [(name, count) for name, count in counts.iter_rows() if name]
