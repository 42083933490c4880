"""Vectors of the past questions that got feedback: their table is filled here (rules 7.1 and 8.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.common import ids, progress
from slowwave.common.ids import normalised_query
from slowwave.index.questions import TABLE, QuestionIndexes
from slowwave.quality.instructions import is_instruction
from slowwave.store.tables import CANARY_NAMESPACE

if TYPE_CHECKING:
    from slowwave.embedding import Embedder
    from slowwave.home.workspace import Workspace
    from slowwave.store import Store
    from slowwave.store.tenancy import Readable

_FEW = 8  # questions that are embedded without a bar (count)


def question_indexes(space: Workspace) -> QuestionIndexes:
    """Those of a home."""
    return space.part("question indexes", lambda: QuestionIndexes(space.store))


def with_query_ids(rows: pl.DataFrame) -> pl.DataFrame:
    """Rows with ``namespace`` and ``query``, and the id of the query (``query_id``)."""
    asked = rows.select("namespace", "query").unique()
    names = [ids.query_id(*one) for one in asked.iter_rows()]
    return rows.join(
        asked.with_columns(query_id=pl.Series(names, dtype=pl.String)),
        on=["namespace", "query"], how="left", maintain_order="left",
    )  # fmt: skip


def asked_in(store: Readable, searches: Sequence[str]) -> pl.DataFrame:
    """Read what some searches asked, but no order to an assistant, which is no question.

    Returns:
        ``search_id``, ``namespace``, ``query``, ``query_id``.
    """
    columns = ["search_id", "namespace", "query"]
    rows = with_query_ids(store.read_by("searches", "search_id", searches, columns=columns))
    orders = [query for query in rows["query"].unique() if not query or is_instruction(query)]
    return rows.filter(~pl.col("query").is_in(orders))


def remember_of(store: Store, embedder: Embedder, signals: pl.DataFrame) -> None:
    """Keep the vectors of the questions of some rows of ``usage_signals``, where they are not yet."""
    remember(store, embedder, asked_in(store, signals["search_id"].drop_nulls().unique().to_list()))


def remember(store: Store, embedder: Embedder, asked: pl.DataFrame) -> None:
    """Keep the vectors of questions that have none yet.

    Args:
        store: of the table.
        embedder: of its vectors.
        asked: ``namespace``, ``query_id``, ``query``.
    """
    once = asked.unique("query_id").sort("query_id")
    there = store.read_by(TABLE, "query_id", once["query_id"].to_list(), columns=["query_id"])
    new = once.join(there, on="query_id", how="anti", maintain_order="left")
    if new.height:
        store.upsert(TABLE, with_vectors(embedder, new), insert_only=True)


def with_vectors(embedder: Embedder, asked: pl.DataFrame) -> pl.DataFrame:
    """Rows of the table: a question in all its spellings has one vector, that of its plainest.

    Args:
        embedder: turns questions into vectors.
        asked: ``namespace``, ``query_id``, ``query``.
    """
    plain = [normalised_query(query) for query in asked["query"]]
    made = vectors_of(embedder, plain)
    made[(asked["namespace"] == CANARY_NAMESPACE).to_numpy()] = 0.0  # near to no question
    vectors = pl.Series(made, dtype=pl.Array(pl.Float32, embedder.dimension))
    return asked.select(
        "query_id", "namespace", query=pl.Series(plain, dtype=pl.String), vector=vectors
    )  # fmt: skip


def vectors_of(embedder: Embedder, queries: Sequence[str]) -> npt.NDArray[np.float32]:
    """The vector of each query, (n, dimension)."""
    made = np.zeros((len(queries), embedder.dimension), dtype=np.float32)
    if len(queries) <= _FEW:
        for at, query in enumerate(queries):
            made[at] = embedder.embed_query(query)
        return made
    with progress.task("embedding questions", len(queries)) as advance:
        for at, query in enumerate(queries):
            made[at] = embedder.embed_query(query)
            advance(1)
    return made
