"""The results of one search with the account of their scores (rule 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from scoring.ranking.breakdown import Contribution
from scoring.ranking.candidates import BM25, NEUTRAL, TITLE, TRIGGER, VECTOR, Candidates
from scoring.ranking.columns import Columns
from scoring.ranking.confidence import MEDIUM
from scoring.ranking.policy import RankingPolicy
from scoring.ranking.ranked import HIGHLY_EFFECTIVE, RECALL_INJECTED, RankedMemory
from scoring.ranking.scored import Scored
from scoring.ranking.sparse_recall import Injection


class Account:
    """What is said of the memories of one search.

    Args:
        candidates: of the search.
        names: ids of its memories, in the order of the columns.
        columns: the candidates as columns.
        scored: their scores.
        policy: that made them.
    """

    def __init__(
        self,
        candidates: Candidates,
        names: Sequence[str],
        columns: Columns,
        scored: Scored,
        policy: RankingPolicy,
    ) -> None:
        self._candidates, self._names = candidates, names
        self._columns, self._scored, self._policy = columns, scored, policy

    def result(self, at: int, place: int, injection: Injection | None) -> RankedMemory:
        """The memory `at` as the result in this place."""
        scored, columns, name = self._scored, self._columns, self._names[at]
        state = self._candidates.states.get(name, NEUTRAL)
        first, end = int(columns.first[at]), int(columns.first[at + 1])
        flags = []
        enough = state.feedback_count >= self._policy.effectiveness_from
        if enough and scored.served[at] >= self._policy.highly_effective:
            flags.append(HIGHLY_EFFECTIVE)
        if injection is not None and injection.memory_id == name:
            flags.append(RECALL_INJECTED)
        return RankedMemory(
            rank=place,
            memory_id=name,
            score=float(scored.score[at]),
            best=int(columns.position[scored.best[at]]),
            chunks=tuple(columns.position[first:end].tolist()),
            confidence=self._candidates.confidence.get(name, MEDIUM),
            flags=tuple(flags),
            contributions=self._breakdown(at),
            semantic=float(scored.semantic[at]),
            effectiveness=float(scored.served[at]),
            combined=float(scored.combined[at]),
            feedback_count=state.feedback_count,
            multiplier=float(scored.multiplier[at]),
        )

    def _breakdown(self, at: int) -> tuple[Contribution, ...]:
        scored, name = self._scored, self._names[at]
        state = self._candidates.states.get(name, NEUTRAL)
        trusted = self._candidates.confidence.get(name, MEDIUM)
        weight, chunks = self._policy.effectiveness_weight, int(self._columns.count[at])
        phrase, _ = self._candidates.triggers.get(name, ("", 0.0))
        said: Mapping[str, tuple[str, str]] = {
            VECTOR: ("text", "meaning"),
            BM25: ("text", "words"),
            TITLE: ("title", "words of the query"),
            TRIGGER: ("trigger_phrases", phrase),
            "mpab": ("chunks", f"{chunks - 1} more"),
            "neighbour": ("follows", "before or after"),
            "rerank": ("text", "cross-encoder"),
        }
        rows = [
            Contribution(source, *said[source], (1 - weight) * float(part[at]))
            for source, part in scored.parts.items()
            if part[at] != 0 or source in (VECTOR, BM25)
        ]
        votes = f"{state.feedback_count} data points"
        rows.append(Contribution("effectiveness", "feedback", votes, weight * float(scored.served[at])))
        if scored.learned[at]:
            rows.append(Contribution("learned", "learned_triggers", "", float(scored.learned[at])))
        rows.append(Contribution("confidence", trusted.field, trusted.tier, float(scored.trusted[at])))
        if scored.penalty[at]:
            votes = f"{len(state.not_useful_at)} not useful"
            rows.append(Contribution("negative_feedback", "feedback", votes, float(scored.penalty[at])))
        if scored.clamp[at]:
            rows.append(Contribution("clamp", "score", "to [0, 1]", float(scored.clamp[at])))
        return tuple(rows)
