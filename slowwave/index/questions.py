"""Nearest-neighbour index of past questions with feedback (rules 7.1 and 8.1).

They have their own table, which no full-text index covers. Ratings and search keys share it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.index.table_cache import TableCache
from slowwave.scoring.ranking.nearest import Nearest
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.scoring.arrays import Floats, Integers
    from slowwave.store import Store
    from slowwave.store.tenancy import Readable

TABLE: Final = "question_vectors"


@dataclass(frozen=True, eq=False)
class Questions:
    """Questions of a namespace with their vectors.

    Attributes:
        names: Query ids, ascending, n.
        texts: The questions, n.
        vectors: Unit vectors, (n, dimension).
    """

    names: Sequence[str]
    texts: Sequence[str]
    vectors: npt.NDArray[np.float32]

    @cached_property
    def number(self) -> dict[str, int]:
        """Return the row of each question."""
        return {name: at for at, name in enumerate(self.names)}


class QuestionIndex:
    """Nearest-neighbour index over the questions of a namespace; the last lookup is cached.

    Args:
        questions: Questions of the namespace.
    """

    def __init__(self, questions: Questions) -> None:
        self.questions = questions
        self._nearest = Nearest(questions.vectors)
        self._last: tuple[bytes, float, Integers, Floats] | None = None

    def near(self, vector: npt.NDArray[np.float32], threshold: float) -> tuple[Integers, Floats]:
        """Return the rows of similar questions, nearest first, and their cosines, (k,) each.

        Args:
            vector: Unit vector of the question, (dimension,).
            threshold: Minimum cosine.
        """
        key, last = vector.tobytes(), self._last
        if last is None or last[0] != key or last[1] > threshold:
            last = self._last = (key, threshold, *self._nearest.find(vector, threshold))
        enough = last[3] >= threshold
        return last[2][enough], last[3][enough]


class QuestionIndexes(TableCache[str, QuestionIndex]):
    """Indexes by namespace, rebuilt when the questions change.

    Args:
        store: Store of the questions.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(self.version, self._index)
        self._store = store

    def version(self, _: str) -> int:
        """Return the version of the question table."""
        return self._store.version(TABLE)

    def _index(self, namespace: str, _: int, previous: QuestionIndex | None) -> QuestionIndex:
        questions = questions_in(self._store, namespace, self._store.identity.dimension)
        cached = None if previous is None else previous.questions
        same = cached is not None and (cached.names, cached.texts) == (questions.names, questions.texts)
        return previous if previous is not None and same else QuestionIndex(questions)


def questions_in(store: Readable, namespace: str, dimension: int) -> Questions:
    """Read the questions of a namespace that have feedback.

    Args:
        store: Store of the questions.
        namespace: Namespace of the questions.
        dimension: Dimension of a vector.
    """
    rows = store.scan(TABLE, within(namespace), columns=["query_id", "query", "vector"]).sort("query_id")
    rows = rows.drop_nulls("vector")
    vectors = rows["vector"].to_numpy() if rows.height else np.zeros((0, dimension), dtype=np.float32)
    sound = np.isfinite(vectors).all(axis=1)  # a damaged vector does not affect others
    rows, vectors = rows.filter(pl.Series(sound, dtype=pl.Boolean)), vectors[sound]
    return Questions(rows["query_id"].to_list(), rows["query"].to_list(), vectors)
