"""The search keys of a namespace at a moment: where a new question is led (rule 7)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import polars as pl

from slowwave.embedding import profile
from slowwave.scoring.feedback.query_key_features import aggregate_keys, search_keys_of
from slowwave.scoring.nearness import question_nearness
from slowwave.scoring.ranking.keys import Lifts, lifted

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.index.questions import QuestionIndex
    from slowwave.scoring.feedback.policy import KeyTeaching
    from slowwave.scoring.key_policy import KeyPolicy


@dataclass(frozen=True, slots=True)
class KeyRules:
    """All that decides where keys lead.

    Attributes:
        teaching: what a search teaches.
        policy: how keys lift.
        same: nearness of two questions (`slowwave.embedding.ModelProfile.same_question`).
    """

    teaching: KeyTeaching
    policy: KeyPolicy
    same: tuple[float, float]


def key_rules(space: Workspace) -> KeyRules:
    """Those of a home."""
    return KeyRules(space.key_teaching, space.key_policy, profile(space.model).same_question)


@dataclass(frozen=True, slots=True)
class LedTo:
    """Where keys lead a question.

    Attributes:
        lift: what is added to the memory's score.
        count: past questions near to it that led to the memory (count).
        nearest: cosine with the nearest of them.
        question: id of that one.
        text: what it asked.
        at: when it last led there.
    """

    lift: float
    count: int
    nearest: float
    question: str
    text: str
    at: datetime | None


class KeyIndex:
    """Keys of a namespace, found by the vector of a question.

    Args:
        views: what counts of past searches of the namespace, up to the moment (`decide_views`).
        index: finds the questions of the namespace.
        as_of: the moment, at which keys have their age.
        rules: that decide.
    """

    def __init__(self, views: pl.DataFrame, index: QuestionIndex, as_of: datetime, rules: KeyRules) -> None:
        self._policy, self._same, self._index = rules.policy, rules.same, index
        questions = index.questions
        folded = aggregate_keys(views, as_of, rules.teaching).filter(
            pl.col("query_id").is_in(list(questions.names))
        )
        names = folded["memory_id"].unique().sort().to_list()
        self._memories: list[str] = names
        self._asked: list[str] = folded["query_id"].unique(maintain_order=True).to_list()
        rows = [questions.number[one] for one in self._asked]
        self._texts = [questions.texts[row] for row in rows]
        self._place = np.full(len(questions.names), -1, dtype=np.int64)
        self._place[rows] = np.arange(len(rows))
        self._keys = search_keys_of(folded, {name: at for at, name in enumerate(names)})
        self._last = folded["last"].dt.epoch("us").fill_null(0).to_numpy()

    def __len__(self) -> int:
        """Number of past questions."""
        return len(self._asked)

    def led(self, vector: npt.NDArray[np.float32]) -> dict[str, LedTo]:
        """Memories that a question is led to.

        Args:
            vector: of the question, of length 1, (dimension,).
        """
        found, cosine = self._found(vector)
        told = {}
        for memory, lift, count, at in zip(
            found.memory.tolist(),
            found.lift.tolist(),
            found.led.tolist(),
            found.nearest.tolist(),
            strict=True,
        ):
            told[self._memories[memory]] = LedTo(
                lift, count, cosine[at], self._asked[at], self._texts[at], self._when(at, memory)
            )
        return told

    def parts(self, vector: npt.NDArray[np.float32]) -> list[tuple[str, float, str, float]]:
        """What each past question has to do with where a question is led.

        Returns:
            Memory, its lift, id of a past question that led there, and the part of the lift that is its own,
            in (0, 1]; those of a memory sum to 1.
        """
        found, _ = self._found(vector)
        lift = dict(zip(found.memory.tolist(), found.lift.tolist(), strict=True))
        keys, rows = self._keys, []
        for at, near in zip(found.search.tolist(), found.near.tolist(), strict=True):
            for row in range(keys.starts[at], keys.starts[at + 1]):
                memory, taken = int(keys.memory[row]), float(keys.taken[row])
                if taken > 0 and memory in lift:
                    rows.append((memory, self._asked[at], near * taken))
        whole: dict[int, float] = {}
        for memory, _, weight in rows:
            whole[memory] = whole.get(memory, 0.0) + weight
        parts: dict[tuple[int, str], float] = {}
        for memory, question, weight in rows:
            parts[memory, question] = parts.get((memory, question), 0.0) + weight / whole[memory]
        return [
            (self._memories[memory], lift[memory], question, part)
            for (memory, question), part in parts.items()
        ]

    def _found(self, vector: npt.NDArray[np.float32]) -> tuple[Lifts, dict[int, float]]:
        """What keys add, and the cosines with the past questions that are near."""
        near, cosines = self._index.near(vector, self._same[0])
        search = self._place[near]
        search, cosines = search[search >= 0], cosines[search >= 0]
        search, cosines = search[: self._policy.nearest], cosines[: self._policy.nearest]
        found = lifted(self._keys, search, question_nearness(cosines, *self._same), self._policy)
        return found, dict(zip(search.tolist(), cosines.tolist(), strict=True))

    def _when(self, at: int, memory: int) -> datetime | None:
        begin, end = self._keys.starts[at], self._keys.starts[at + 1]
        mine = (self._keys.memory[begin:end] == memory) & (self._keys.taken[begin:end] > 0)
        rows = np.flatnonzero(mine) + begin
        last = int(self._last[rows].max(initial=0))
        return datetime.fromtimestamp(last / 1e6, UTC) if last else None
