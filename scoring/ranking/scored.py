"""The terms of every candidate memory's score, in the order of the rule (rule 3)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

import numpy as np

from scoring.ranking import effectiveness as served
from scoring.ranking.breakdown import Contribution
from scoring.ranking.candidates import BM25, NEUTRAL, TITLE, TRIGGER, VECTOR, Candidates, Floats, MemoryState
from scoring.ranking.confidence import MEDIUM, Confidence
from scoring.ranking.fusion import FUSIONS
from scoring.ranking.mpab import bonus
from scoring.ranking.negative_feedback import multiplier, vote_weight
from scoring.ranking.policy import RankingPolicy
from scoring.ranking.ranked import HIGHLY_EFFECTIVE, RECALL_INJECTED, RankedMemory
from scoring.ranking.sparse_recall import Injection

BARRED_BELOW = 0.9  # multiplier below which a short memory has lost its guaranteed place

_DAY = 86_400.0


class Scored:
    """The m memories of the candidates, in the order of their ids, with the terms of their scores."""

    def __init__(self, candidates: Candidates, policy: RankingPolicy, as_of: datetime) -> None:
        self._candidates, self._policy = candidates, policy
        ids, chunk_ids, ordinal = candidates.memory_ids, candidates.chunk_ids, candidates.ordinal.tolist()
        by_document = sorted(range(len(ids)), key=lambda at: (ids[at], ordinal[at], chunk_ids[at]))
        self._rows = np.array(by_document)
        in_order = [ids[at] for at in by_document]
        first = [at for at, name in enumerate(in_order) if at == 0 or in_order[at - 1] != name]
        self._first = np.array(first)
        self.names = [in_order[at] for at in first]
        self.place = {name: at for at, name in enumerate(self.names)}
        self._count = np.diff([*first, len(in_order)])
        states, said = candidates.states, candidates.confidence
        self._states: Sequence[MemoryState] = [states.get(name, NEUTRAL) for name in self.names]
        self._confidence: Sequence[Confidence] = [said.get(name, MEDIUM) for name in self.names]
        self._score(as_of)

    def _score(self, as_of: datetime) -> None:
        policy = self._policy
        self._parts, semantic = self._semantic()
        count = np.array([state.feedback_count for state in self._states])
        known = np.array([state.effectiveness for state in self._states])
        self._served = served.counted(known, count, policy.effectiveness_from)
        weight = policy.effectiveness_weight
        self._semantic_score = semantic
        self._combined = served.combined(semantic, self._served, weight)
        learned = np.array([state.learned for state in self._states])
        self._learned = np.clip(learned, 0.0, policy.learned_cap)
        points = np.array([one.points for one in self._confidence], dtype=np.float64)
        self._trusted = policy.confidence_point * points
        raised = self._combined + self._learned + self._trusted
        self._multiplier = self._penalties(as_of)
        self._penalty = raised * (self._multiplier - 1.0)
        # A penalty is never a gain: what is below zero already stays where it is.
        self._penalty = np.minimum(self._penalty, 0.0)
        final = raised + self._penalty
        self.score = np.clip(final, 0.0, 1.0)
        self._clamp = self.score - final
        pushed_down = np.flatnonzero(self._multiplier < BARRED_BELOW).tolist()
        self.barred = frozenset(self.names[at] for at in pushed_down)

    def _semantic(self) -> tuple[dict[str, Floats], Floats]:
        """The terms of the text's score of each memory, and their sum, (m,) each."""
        candidates, policy, rows = self._candidates, self._policy, self._rows
        vector, text = FUSIONS[policy.fusion](candidates, policy)
        triggered = {
            memory: policy.trigger_weight * strength for memory, (_, strength) in candidates.triggers.items()
        }
        trigger = np.array([triggered.get(name, 0.0) for name in self.names])
        fused = np.nan_to_num((vector + text)[rows], nan=0.0, posinf=0.0, neginf=0.0)
        best = np.maximum.reduceat(fused, self._first)
        owner = np.repeat(np.arange(len(self.names)), self._count)
        hits = np.flatnonzero(fused == best[owner])
        _, which = np.unique(owner[hits], return_index=True)  # the first in document order
        self.best = rows[hits[which]]
        title = policy.title_weight * candidates.title[self.best]
        parts = {VECTOR: vector[self.best], BM25: text[self.best], TITLE: title, TRIGGER: trigger}
        if policy.mpab:
            others = np.add.reduceat(fused, self._first) - best
            parts["mpab"] = bonus(others, self._count, policy.mpab_coefficient, policy.mpab_cap)
        if policy.neighbour_weight and candidates.follows:
            parts["neighbour"] = policy.neighbour_weight * self._neighbours(best)
        semantic = np.sum(list(parts.values()), axis=0)
        if policy.rerank_weight and not np.isnan(candidates.rerank).all():
            read = np.fmax.reduceat(candidates.rerank[rows], self._first)
            weight = policy.rerank_weight
            parts = {name: (1 - weight) * part for name, part in parts.items()}
            parts["rerank"] = weight * np.nan_to_num(read, nan=0.0)
            semantic = np.sum(list(parts.values()), axis=0)
        return parts, semantic

    def _neighbours(self, best: Floats) -> Floats:
        """The better score of the memories before and after each one, (m,); 0 where none was found."""
        near: Floats = np.zeros(len(self.names))
        for name, before in self._candidates.follows.items():
            here, there = self.place.get(name), self.place.get(before)
            if here is not None and there is not None and here != there:
                near[here] = max(near[here], best[there])
                near[there] = max(near[there], best[here])
        return near

    def _penalties(self, as_of: datetime) -> Floats:
        """What not-useful votes leave of each score, (m,)."""
        policy = self._policy
        votes = [(at, when) for at, state in enumerate(self._states) for when in state.not_useful_at]
        weight: Floats = np.zeros(len(self.names))
        if votes and policy.negative_feedback:
            now = as_of.timestamp()
            age = np.array([now - when.timestamp() for _, when in votes]) / _DAY
            owner = np.array([at for at, _ in votes])
            counts = vote_weight(age, policy.negative_half_life_days)
            weight = np.bincount(owner, weights=counts, minlength=len(self.names)).astype(np.float64)
        return multiplier(weight, step=policy.negative_step, floor=policy.negative_floor)

    def result(self, at: int, place: int, injection: Injection | None) -> RankedMemory:
        """The memory `at` as the result in this place."""
        state, name = self._states[at], self.names[at]
        first = int(self._first[at])
        flags = []
        enough = state.feedback_count >= self._policy.effectiveness_from
        if enough and self._served[at] >= self._policy.highly_effective:
            flags.append(HIGHLY_EFFECTIVE)
        if injection is not None and injection.memory_id == name:
            flags.append(RECALL_INJECTED)
        return RankedMemory(
            rank=place,
            memory_id=name,
            score=float(self.score[at]),
            best=int(self.best[at]),
            chunks=tuple(self._rows[first : first + int(self._count[at])].tolist()),
            confidence=self._confidence[at],
            flags=tuple(flags),
            contributions=self._breakdown(at),
            semantic=float(self._semantic_score[at]),
            effectiveness=float(self._served[at]),
            combined=float(self._combined[at]),
            feedback_count=state.feedback_count,
            multiplier=float(self._multiplier[at]),
        )

    def _breakdown(self, at: int) -> tuple[Contribution, ...]:
        state, trusted = self._states[at], self._confidence[at]
        weight, chunks = self._policy.effectiveness_weight, int(self._count[at])
        phrase, _ = self._candidates.triggers.get(self.names[at], ("", 0.0))
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
            for source, part in self._parts.items()
            if part[at] != 0 or source in (VECTOR, BM25)
        ]
        votes = f"{state.feedback_count} data points"
        rows.append(Contribution("effectiveness", "feedback", votes, weight * float(self._served[at])))
        if self._learned[at]:
            rows.append(Contribution("learned", "learned_triggers", "", float(self._learned[at])))
        rows.append(Contribution("confidence", trusted.field, trusted.tier, float(self._trusted[at])))
        if self._penalty[at]:
            votes = f"{len(state.not_useful_at)} not useful"
            rows.append(Contribution("negative_feedback", "feedback", votes, float(self._penalty[at])))
        if self._clamp[at]:
            rows.append(Contribution("clamp", "score", "to [0, 1]", float(self._clamp[at])))
        return tuple(rows)
