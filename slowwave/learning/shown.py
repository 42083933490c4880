"""What may be listed of selections and of what they taught: no word that belongs to a secret memory."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

import polars as pl

from slowwave.common import ids
from slowwave.home.visibility import Viewer, closed_queries, sight, veiled
from slowwave.store import quote

if TYPE_CHECKING:
    from slowwave.scoring.feedback.learned import Rollback
    from slowwave.store import Store

_WORDS = ("title", "term", "detail", "query", "terms", "taught", "trigger_id")


def listed(store: Store, namespace: str, rows: pl.DataFrame, *, named: Collection[str] = ()) -> pl.DataFrame:
    """The rows without titles and words of secret memories that nobody named.

    Args:
        store: the tables.
        namespace: whose the rows are.
        rows: with ``memory_id``.
        named: memories that a person named by their ids.
    """
    return sight(store, namespace, rows["memory_id"].unique(), Viewer.REPORT, named=named).veiled(
        rows, *_WORDS
    )


def taken_back(store: Store, rows: pl.DataFrame, asked: Rollback) -> pl.DataFrame:
    """Lessons that a rollback is about; one of a memory names it."""
    return listed(store, asked.namespace, rows, named=[asked.value] if asked.scope == "memory" else [])


def titled(store: Store, namespace: str, rows: pl.DataFrame, *, named: Collection[str] = ()) -> pl.DataFrame:
    """The same with the titles of the memories."""
    titles = store.read_by(
        "memories", "memory_id", rows["memory_id"].unique().to_list(), columns=["memory_id", "title"],
        also=f"namespace = {quote(namespace)}",
    )  # fmt: skip
    return listed(
        store, namespace, rows.join(titles, on="memory_id", how="left", maintain_order="left"), named=named
    )


def proposals(store: Store, namespace: str, rows: pl.DataFrame) -> pl.DataFrame:
    """Proposals with titles; of a question that a secret memory was shown for no word is there."""
    asked = pl.Series([ids.query_id(namespace, one or "") for one in rows["query"]], dtype=pl.String)
    about = asked.is_in(sorted(closed_queries(store, namespace)))
    return veiled(titled(store, namespace, rows), pl.lit(about), "query", "terms", "taught")
