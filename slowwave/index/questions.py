"""Nearest-neighbour index of the past questions that got feedback (rules 7.1 and 8.1).

A table of their own, in no index that a search by text asks. Ratings and search keys share it.
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


class QuestionIndexes(TableCache[str, QuestionIndex]):
    """Indexes by namespace, each made again when its table has other questions.

    Args:
        store: has the questions.
    """

    def __init__(self, store: Store) -> None:
        super().__init__(self.version, self._index)
        self._store = store

    def version(self, _: str) -> int:
        """Return the version of the table that has the questions."""
        return self._store.version(TABLE)

    def _index(self, namespace: str, _: int, before: QuestionIndex | None) -> QuestionIndex:
        questions = questions_in(self._store, namespace, self._store.identity.dimension)
        known = None if before is None else before.questions
        same = known is not None and (known.names, known.texts) == (questions.names, questions.texts)
        return before if before is not None and same else QuestionIndex(questions)


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
