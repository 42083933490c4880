"""Results of one search with the explanation of their scores (rule 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from typing import Any

import numpy as np

from slowwave.scoring.ranking.breakdown import Contribution
from slowwave.scoring.ranking.candidates import BM25, LEARNED, NEUTRAL, TITLE, TRIGGER, VECTOR, Candidates
from slowwave.scoring.ranking.columns import Columns
from slowwave.scoring.ranking.confidence import MEDIUM
from slowwave.scoring.ranking.effectiveness import are_highly_effective
from slowwave.scoring.ranking.results import HIGHLY_EFFECTIVE, MAY_BE_NEWER, RECALL_INJECTED, RankedMemory
from slowwave.scoring.ranking.score_terms import ScoredMemories
from slowwave.scoring.ranking.sparse_recall import Injection
from slowwave.scoring.ranking_policy import RankingPolicy

_TERMS = (
    "score", "best", "semantic", "fit", "served", "data_points", "combined", "learned", "key", "trusted",
    "multiplier", "penalty", "update", "clamp",
)  # fmt: skip


class ScoreExplainer:
    """Explainer of the scores of one search.

    Args:
        names: memory ids in the order of the columns.
        scored: scores of the columns under `policy`.
    """

    def __init__(
        self,
        candidates: Candidates,
        names: Sequence[str],
        columns: Columns,
        scored: ScoredMemories,
        policy: RankingPolicy,
    ) -> None:
        self._candidates, self._names, self._policy = candidates, names, policy
        say = candidates.vector_say
        self._meaning = "meaning" if say == 1.0 else f"meaning, the model knows the language by {say:.0%}"
        self._first, self._position, self._scored = columns.first, columns.position, scored
        self._asks_time = max(candidates.times.values(), default=0.0) >= 1.0
        self._may_be_newer = frozenset(() if self._asks_time else candidates.maybe_outdated.values())

    def results(self, memories: Sequence[int], injections: Sequence[Injection]) -> tuple[RankedMemory, ...]:
        """Return the results of some memories, ranked from 1."""
        explained = np.array(memories, dtype=np.int64)
        terms = {name: getattr(self._scored, name)[explained].tolist() for name in _TERMS}
        parts = {source: part[explained].tolist() for source, part in self._scored.parts.items()}
        effective = are_highly_effective(
            terms["served"], list(map(int, terms["data_points"])),
            bound=self._policy.highly_effective, minimum=self._policy.effectiveness_from,
        )  # fmt: skip
        recalled = {injection.memory_id for injection in injections}
        return tuple(
            self._result(
                at, row + 1, flagged, recalled,
                {source: part[row] for source, part in parts.items()},
                {name: values[row] for name, values in terms.items()},
            )
            for row, (at, flagged) in enumerate(zip(memories, effective, strict=True))
        )  # fmt: skip

    def _result(
        self, at: int, rank: int, flagged: bool, recalled: Set[str], parts: Mapping[str, float],
        term: Mapping[str, Any],
    ) -> RankedMemory:  # fmt: skip
        name = self._names[at]
        state = self._candidates.states.get(name, NEUTRAL)
        chunks = tuple(self._position[self._first[at] : self._first[at + 1]].tolist())
        flags = []
        if flagged:
            flags.append(HIGHLY_EFFECTIVE)
        if name in recalled:
            flags.append(RECALL_INJECTED)
        if term["update"] and name in self._may_be_newer:
            flags.append(MAY_BE_NEWER)
        return RankedMemory(
            rank=rank,
            memory_id=name,
            score=term["score"],
            best=int(self._position[term["best"]]),
            chunks=chunks,
            confidence=self._candidates.confidence.get(name, MEDIUM),
            flags=tuple(flags),
            contributions=self._breakdown(name, parts, term, len(chunks)),
            semantic=term["semantic"],
            effectiveness=term["served"],
            combined=term["combined"],
            feedback_count=state.feedback_count,
            multiplier=term["multiplier"],
            fit=term["fit"],
        )

    def _field_of(self, phrase: str, alias: str) -> str:
        """Return what a phrase of the question named: an alias, the days asked for, or a trigger phrase."""
        if alias and phrase == alias:
            return "alias"
        return "dates" if phrase and phrase == self._candidates.time_words else "trigger_phrases"

    def _breakdown(
        self, name: str, parts: Mapping[str, float], term: Mapping[str, Any], chunks: int
    ) -> tuple[Contribution, ...]:
        state = self._candidates.states.get(name, NEUTRAL)
        trusted = self._candidates.confidence.get(name, MEDIUM)
        weight = self._policy.effectiveness_weight
        phrase, _ = self._candidates.triggers.get(name, ("", 0.0))
        alias = self._candidates.aliases.get(name, "")
        labels: Mapping[str, tuple[str, str]] = {
            VECTOR: ("text", self._meaning),
            BM25: ("text", "words"),
            TITLE: ("alias", alias) if alias else ("title", "words of the query"),
            TRIGGER: (self._field_of(phrase, alias), phrase),
            "mpab": ("chunks", f"{chunks - 1} more"),
            "neighbour": ("follows", "before or after"),
            "rerank": ("text", "cross-encoder"),
            "time": ("dates", self._candidates.time_words or "time of the query"),
        }
        rows = [
            Contribution(source, *labels[source], (1 - weight) * part)
            for source, part in parts.items()
            if part != 0 or source in (VECTOR, BM25)
        ]
        rows.append(Contribution("effectiveness", "feedback", self._ratings(name), weight * term["served"]))
        if term["learned"]:
            rows.append(Contribution(LEARNED, "learned_triggers", "", term["learned"]))
        if term["key"]:
            key_evidence = self._candidates.led.get(name)
            why = key_evidence.describe() if key_evidence else "similar searches"
            rows.append(Contribution("key", "search_keys", why, term["key"]))
        rows.append(Contribution("confidence", trusted.field, trusted.tier, term["trusted"]))
        if term["penalty"]:
            of_question = self._policy.feedback_scope == "question"
            votes = f"{len(state.question_not_useful if of_question else state.not_useful_at)} not useful"
            votes += " on questions like this" if of_question else ""
            rows.append(Contribution("negative_feedback", "feedback", votes, term["penalty"]))
        if term["update"]:
            why = "value of the time that is asked for" if self._asks_time else "newer word on the same thing"
            rows.append(Contribution("outdated", "text", why, term["update"]))
        if term["clamp"]:
            rows.append(Contribution("clamp", "score", "to [0, 1]", term["clamp"]))
        return tuple(rows)

    def _ratings(self, name: str) -> str:
        """Describe in a few words the feedback behind effectiveness."""
        state = self._candidates.states.get(name, NEUTRAL)
        count, needed = state.feedback_count, self._policy.effectiveness_from
        if self._policy.feedback_scope == "memory":
            return f"{count} of {needed} data points" if 0 < count < needed else f"{count} data points"
        if rated := self._candidates.rated.get(name):
            return rated.describe(count - rated.count)
        if near := state.question_count:
            return f"{near} rating{'' if near == 1 else 's'} on questions like this"
        return f"no ratings on questions like this; {count} on others" if count else "no ratings"
