"""Search-key index of a namespace: query boosts for a new question (rule 7)."""

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
    """Policies that decide the query boosts.

    Attributes:
        teaching: Policy of what a search teaches.
        policy: Policy of the boost.
        same: Nearness bounds of two questions (`slowwave.embedding.ModelProfile.same_question`).
    """

    teaching: KeyTeaching
    policy: KeyPolicy
    same: tuple[float, float]


def key_rules(space: Workspace) -> KeyRules:
    """Return the key rules of a home."""
    return KeyRules(space.key_teaching, space.key_policy, profile(space.model).same_question)


@dataclass(frozen=True, slots=True)
class LedTo:
    """Query boost of one memory for a question.

    Attributes:
        lift: Boost added to the memory's score.
        count: Near past questions that led to the memory (count).
        nearest: Cosine with the nearest of them.
        question: Id of the nearest question.
        text: Text of the nearest question.
        at: Last time that the nearest question led to the memory.
    """

    lift: float
    count: int
    nearest: float
    question: str
    text: str
    at: datetime | None


class KeyIndex:
    """Index of a namespace's search keys by question vector.

    Args:
        views: Decided views of past searches of the namespace, up to the moment (`decide_views`).
        index: Question index of the namespace.
        as_of: Moment from which the age of keys is computed.
        rules: Policies of the keys.
    """

    def __init__(self, views: pl.DataFrame, index: QuestionIndex, as_of: datetime, rules: KeyRules) -> None:
        self._policy, self._same, self._index = rules.policy, rules.same, index
        questions = index.questions
        keys = aggregate_keys(views, as_of, rules.teaching).filter(
            pl.col("query_id").is_in(list(questions.names))
        )
        names = keys["memory_id"].unique().sort().to_list()
        self._memories: list[str] = names
        self._query_ids: list[str] = keys["query_id"].unique(maintain_order=True).to_list()
        rows = [questions.number[query_id] for query_id in self._query_ids]
        self._texts = [questions.texts[row] for row in rows]
        self._place = np.full(len(questions.names), -1, dtype=np.int64)
        self._place[rows] = np.arange(len(rows))
        self._keys = search_keys_of(keys, {name: at for at, name in enumerate(names)})
        self._last = keys["last"].dt.epoch("us").fill_null(0).to_numpy()

    def __len__(self) -> int:
        """Return the number of past questions."""
        return len(self._query_ids)

    def led(self, vector: npt.NDArray[np.float32]) -> dict[str, LedTo]:
        """Return the query boost of each memory for a question.

        Args:
            vector: Unit vector of the question, (dimension,).
        """
        boosts, cosine = self._boosts(vector)
        led_to = {}
        for memory, lift, count, at in zip(
            boosts.memory.tolist(),
            boosts.lift.tolist(),
            boosts.led.tolist(),
            boosts.nearest.tolist(),
            strict=True,
        ):
            led_to[self._memories[memory]] = LedTo(
                lift, count, cosine[at], self._query_ids[at], self._texts[at], self._when(at, memory)
            )
        return led_to

    def parts(self, vector: npt.NDArray[np.float32]) -> list[tuple[str, float, str, float]]:
        """Return the share of each past question in the query boosts of a question.

        Returns:
            Memory, its boost, id of a past question, and that question's share of the boost in (0, 1]. The
            shares of a memory sum to 1.
        """
        boosts, _ = self._boosts(vector)
        lift = dict(zip(boosts.memory.tolist(), boosts.lift.tolist(), strict=True))
        keys, rows = self._keys, []
        for at, near in zip(boosts.search.tolist(), boosts.near.tolist(), strict=True):
            for row in range(keys.starts[at], keys.starts[at + 1]):
                memory, taken = int(keys.memory[row]), float(keys.taken[row])
                if taken > 0 and memory in lift:
                    rows.append((memory, self._query_ids[at], near * taken))
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

    def _boosts(self, vector: npt.NDArray[np.float32]) -> tuple[Lifts, dict[int, float]]:
        """Return the boosts by memory, and the cosines of the near past questions."""
        near, cosines = self._index.near(vector, self._same[0])
        search = self._place[near]
        search, cosines = search[search >= 0], cosines[search >= 0]
        search, cosines = search[: self._policy.nearest], cosines[: self._policy.nearest]
        boosts = lifted(self._keys, search, question_nearness(cosines, *self._same), self._policy)
        return boosts, dict(zip(search.tolist(), cosines.tolist(), strict=True))

    def _when(self, at: int, memory: int) -> datetime | None:
        begin, end = self._keys.starts[at], self._keys.starts[at + 1]
        led_here = (self._keys.memory[begin:end] == memory) & (self._keys.taken[begin:end] > 0)
        rows = np.flatnonzero(led_here) + begin
        last = int(self._last[rows].max(initial=0))
        return datetime.fromtimestamp(last / 1e6, UTC) if last else None
