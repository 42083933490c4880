"""Vectors of the past questions that got feedback, and their nearest-neighbour index (rules 7.1 and 8.1).

A table of their own, in no index that a search by text asks. Ratings and search keys share it.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.common import ids, progress
from slowwave.common.ids import normalised_query
from slowwave.quality.orders import is_order
from slowwave.scoring.ranking.nearest import Nearest
from slowwave.store.tables import CANARY_NAMESPACE
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.embedding import Embedder
    from slowwave.home.workspace import Workspace
    from slowwave.scoring.ranking.candidates import Floats, Integers
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


class QuestionIndex:
    """Nearest-neighbour index over the questions of a namespace; the last lookup is kept.

    Args:
        questions: of the namespace.
    """

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self._nearest = Nearest(questions.vectors)
        self._last: tuple[bytes, float, Integers, Floats] | None = None

    def near(self, vector: npt.NDArray[np.float32], threshold: float) -> tuple[Integers, Floats]:
        """Find the questions near to one: their places, the nearest first, and their cosines, (k,) each.

        Args:
            vector: of the question, of length 1, (dimension,).
            threshold: least cosine.
        """
        asked, last = vector.tobytes(), self._last
        if last is None or last[0] != asked or last[1] > threshold:
            last = self._last = (asked, threshold, *self._nearest.find(vector, threshold))
        enough = last[3] >= threshold
        return last[2][enough], last[3][enough]


class QuestionIndexes:
    """Indexes by namespace, each made again when its table has changed.

    Args:
        store: has the questions.
    """

    def __init__(self, store: Store) -> None:
        self._store, self._lock = store, threading.Lock()
        self._held: dict[str, tuple[int, QuestionIndex]] = {}

    def of(self, namespace: str) -> tuple[int, QuestionIndex]:
        """Version of the table, and the index of a namespace."""
        with self._lock:
            version, held = self._store.version(TABLE), self._held.get(namespace)
            if held is None or held[0] != version:
                questions = questions_in(self._store, namespace, self._store.identity.dimension)
                known = held[1].questions if held else None
                same = known is not None and (known.names, known.texts) == (questions.names, questions.texts)
                index = held[1] if held and same else QuestionIndex(questions)
                held = self._held[namespace] = (version, index)
        return held


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
    orders = [query for query in rows["query"].unique() if not query or is_order(query)]
    return rows.filter(~pl.col("query").is_in(orders))


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
