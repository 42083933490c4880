"""The vectors of past questions: a table of their own, in no index that a search asks (rule 7.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.common import progress
from slowwave.common.ids import normalised_query
from slowwave.store.tables import CANARY_NAMESPACE
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.embedding import Embedder
    from slowwave.store import Store
    from slowwave.store.tenancy import Readable

TABLE: Final = "question_vectors"
_FEW = 8  # questions that are embedded without a bar (count)


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions of a namespace with their vectors.

    Attributes:
        names: their ids, ascending, n.
        texts: the questions, n.
        vectors: of length 1, (n, dimension).
    """

    names: Sequence[str]
    texts: Sequence[str]
    vectors: npt.NDArray[np.float32]

    @cached_property
    def number(self) -> dict[str, int]:
        """Row of each question."""
        return {name: at for at, name in enumerate(self.names)}


def questions_in(store: Readable, namespace: str, dimension: int) -> Questions:
    """Those of a namespace of which anything was said.

    Args:
        store: has them.
        namespace: whose questions.
        dimension: numbers of a vector.
    """
    rows = store.scan(TABLE, within(namespace), columns=["query_id", "query", "vector"]).sort("query_id")
    rows = rows.drop_nulls("vector")
    vectors = rows["vector"].to_numpy() if rows.height else np.zeros((0, dimension), dtype=np.float32)
    sound = np.isfinite(vectors).all(axis=1)  # who damages one vector takes no other away
    rows, vectors = rows.filter(pl.Series(sound, dtype=pl.Boolean)), vectors[sound]
    return Questions(rows["query_id"].to_list(), rows["query"].to_list(), vectors)


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
