"""Vectors of past queries with feedback, and the writer of their table (rules 7.1, 8.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.common import ids, progress
from slowwave.common.ids import normalised_query
from slowwave.feedback.rows import rows_by
from slowwave.index.questions import TABLE, QuestionIndexes
from slowwave.quality.instructions import is_instruction
from slowwave.store.tables import CANARY_NAMESPACE

if TYPE_CHECKING:
    from slowwave.embedding import Embedder
    from slowwave.home.workspace import Workspace
    from slowwave.store import Store
    from slowwave.store.tenancy import Readable

_FEW = 8  # maximum questions embedded without a progress bar (count)


def question_indexes(space: Workspace) -> QuestionIndexes:
    """Return the question indexes of a home."""
    return space.part("question indexes", lambda: QuestionIndexes(space.store))


def with_query_ids(rows: pl.DataFrame) -> pl.DataFrame:
    """Add ``query_id`` to rows with ``namespace`` and ``query``."""
    queries = rows.select("namespace", "query").unique()
    names = [ids.query_id(*query) for query in queries.iter_rows()]
    return rows.join(
        queries.with_columns(query_id=pl.Series(names, dtype=pl.String)),
        on=["namespace", "query"], how="left", maintain_order="left",
    )  # fmt: skip


def asked_in(store: Readable, searches: Sequence[str]) -> pl.DataFrame:
    """Read the queries of some searches, without instructions to an assistant.

    Returns:
        ``search_id``, ``namespace``, ``query``, ``query_id``.
    """
    columns = ["search_id", "namespace", "query"]
    rows = with_query_ids(rows_by(store, "searches", "search_id", searches, columns))
    instructions = [query for query in rows["query"].unique() if not query or is_instruction(query)]
    return rows.filter(~pl.col("query").is_in(instructions))


def remember_of(store: Store, embedder: Embedder, signals: pl.DataFrame) -> None:
    """Store the missing question vectors of some rows of ``usage_signals``."""
    asked = signals.select("query_id", "search_id").drop_nulls().unique("query_id", keep="first")
    new = _unknown(store, asked)
    if new.height:  # one search of each
        remember(store, embedder, asked_in(store, new["search_id"].to_list()))


def remember(store: Store, embedder: Embedder, questions: pl.DataFrame) -> None:
    """Store the missing vectors of questions.

    Args:
        store: Store of the table.
        embedder: Model of its vectors.
        questions: ``namespace``, ``query_id``, ``query``.
    """
    once = questions.unique("query_id").sort("query_id")
    new = _unknown(store, once)
    if new.height:
        store.upsert(TABLE, with_vectors(embedder, new), insert_only=True)


def _unknown(store: Store, questions: pl.DataFrame) -> pl.DataFrame:
    """Return the questions (``query_id``) without a vector in the table."""
    existing = rows_by(store, TABLE, "query_id", questions["query_id"].to_list(), ["query_id"])
    return questions.join(existing, on="query_id", how="anti", maintain_order="left")


def with_vectors(embedder: Embedder, questions: pl.DataFrame) -> pl.DataFrame:
    """Return table rows of questions; all spellings share the vector of the normalised one.

    Args:
        embedder: Model of the vectors.
        questions: ``namespace``, ``query_id``, ``query``.
    """
    plain = [normalised_query(query) for query in questions["query"]]
    embedded = vectors_of(embedder, plain)
    embedded[(questions["namespace"] == CANARY_NAMESPACE).to_numpy()] = 0.0  # near to no question
    vectors = pl.Series(embedded, dtype=pl.Array(pl.Float32, embedder.dimension))
    return questions.select(
        "query_id", "namespace", query=pl.Series(plain, dtype=pl.String), vector=vectors
    )  # fmt: skip


def vectors_of(embedder: Embedder, queries: Sequence[str]) -> npt.NDArray[np.float32]:
    """Embed each query, (n, dimension)."""
    vectors = np.zeros((len(queries), embedder.dimension), dtype=np.float32)
    if len(queries) <= _FEW:
        for at, query in enumerate(queries):
            vectors[at] = embedder.embed_query(query)
        return vectors
    with progress.task("embedding questions", len(queries)) as advance:
        for at, query in enumerate(queries):
            vectors[at] = embedder.embed_query(query)
            advance(1)
    return vectors
