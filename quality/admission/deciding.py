"""What becomes of one note beside the memories of its turn (L3 of the save gate; rules 2.2, 2.3 and 2.5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from quality.admission.merging import merge_lines
from quality.admission.records import EXACT_DUPLICATE, MERGED, NEAR_DUPLICATE, Decision, Record
from quality.admission.state import Memories, Surroundings
from quality.divergence import Guard, Statement, explain
from quality.neighbours import Also
from quality.reconsolidation import band, decide


class Decider:
    """Decides about notes; changes nothing."""

    def __init__(self, around: Surroundings, memories: Memories) -> None:
        self._around, self._memories = around, memories
        self._guard = Guard()
        self.by_hand = False  # whether all that may be near is loaded, so that it is looked for there
        self._also: dict[str, Also] = {}  # by sensitivity
        self._as_of = 0

    def decide(self, note: Record) -> Decision:
        """Whether a note enters, and what it does to the most similar memories."""
        policy = self._around.policy
        asked = policy.gate and not note.released
        if asked and (same := self._same_text(note)) is not None:
            exact = Decision(
                note.memory_id, note.revision, "duplicate", same, 1.0, (EXACT_DUPLICATE,), refused=True,
                evidence="the same text", other_revision=self._memories.records[same].revision,
            )  # fmt: skip
            if not note.warned:
                return exact
            return replace(self.against_neighbours(note, gate=False), reasons=(EXACT_DUPLICATE,))
        return self.against_neighbours(note, gate=asked)

    def _same_text(self, note: Record) -> str | None:
        """The live memory of its sensitivity that says exactly this, or that absorbed what did."""
        found = set()
        for name in self._memories.by_hash.get(note.content_hash, ()):
            record = self._memories.records.get(name)
            if name == note.memory_id or record is None or record.content_hash != note.content_hash:
                continue
            if frozenset((name, note.memory_id)) in self._around.apart:
                continue
            while record is not None and record.status == MERGED and record.replaced_by:
                record = self._memories.known(record.replaced_by)
            if (
                record is not None
                and self._memories.is_live(record.memory_id)
                and record.memory_id != note.memory_id
                and record.sensitivity == note.sensitivity
            ):
                found.add(record.memory_id)
        return min(found, default=None)

    def against_neighbours(self, note: Record, *, gate: bool) -> Decision:
        """The same, but for exact duplicates; with the gate off none is refused."""
        policy = self._around.policy
        plain = Decision(note.memory_id, note.revision, "complement")
        if policy.floor == np.inf:
            return plain
        if note.vector is None or not note.vector.any():
            return replace(plain, skipped=True, evidence="duplicates: skipped, there is no embedding")
        nearest = self._nearest(note)
        if not nearest:
            return plain
        looked = nearest[:1] if policy.reconsolidation == "literal" else nearest
        best: Decision | None = None
        for name, similarity in looked:
            other = self._memories.records[name]
            if self.by_hand:
                other = self._memories.as_of(other, note.turn)
            decision = self._pair(note, other, similarity, gate=gate)
            if decision.outcome in ("duplicate", "merge", "supersede"):
                return decision
            best = best or decision
        return best or plain

    def _pair(self, note: Record, other: Record, similarity: float, *, gate: bool) -> Decision:
        policy = self._around.policy
        told = Decision(
            note.memory_id, note.revision, "complement", other.memory_id, similarity,
            other_revision=other.revision,
        )  # fmt: skip
        if frozenset((note.memory_id, other.memory_id)) in self._around.apart:
            return replace(told, evidence="a person kept these apart")
        literal = policy.reconsolidation == "literal"
        differences, alike = (
            ((), True) if literal else self._guard.compare(self._statement(note), self._statement(other))
        )
        outcome = decide(
            similarity, differences, same_subject=alike, thresholds=policy.thresholds,
            policy=policy.reconsolidation, gate=gate,
        )  # fmt: skip
        evidence = explain(differences) if differences else ""
        reasons: tuple[str, ...] = ()
        if outcome == "duplicate":
            if note.protected and not other.protected:
                return replace(told, outcome="related", evidence="protected: a person has to decide")
            if not note.warned:
                evidence = evidence or "no difference that matters"
                refused = replace(told, outcome="duplicate", refused=True, evidence=evidence)
                return replace(refused, reasons=(NEAR_DUPLICATE,))
            reasons = (NEAR_DUPLICATE,)
            outcome = decide(
                similarity, differences, same_subject=alike, thresholds=policy.thresholds,
                policy=policy.reconsolidation, gate=False,
            )  # fmt: skip
        told = replace(told, reasons=reasons, evidence=evidence)
        if outcome in ("merge", "supersede") and (
            note.released or other.protected or (outcome == "merge" and note.protected)
        ):
            why = "a person let this in as it is" if note.released else "protected: a person has to decide"
            return replace(told, outcome="related", evidence="; ".join(filter(None, (why, evidence))))
        if outcome == "complement" and band(similarity, policy.thresholds) == "complement":
            return replace(told, other=None, other_revision=None) if not reasons else told
        if outcome == "merge":
            _, appended = merge_lines(self._memories.content(other), self._memories.content(note))
            return replace(told, outcome="merge", appended=appended, evidence=evidence or "says the same")
        return replace(told, outcome=outcome)

    def _statement(self, record: Record) -> Statement:
        return Statement(record.title, record.source, self._memories.content(record))

    def _nearest(self, note: Record) -> list[tuple[str, float]]:
        """The most similar live memories of its sensitivity at or above the floor, the most similar first.

        Those of another sensitivity are not even counted: who may not see them must not learn of them.
        """
        if self._as_of != self._memories.version:
            self._also, self._as_of = {}, self._memories.version
        if note.sensitivity not in self._also:
            self._also[note.sensitivity] = self._elsewhere(note.sensitivity)
        assert note.vector is not None
        if self.by_hand:
            return self._memories.nearest(note, self._around.policy.floor)[: self._around.policy.neighbours]
        found = self._around.neighbours.nearest(
            note.memory_id,
            note.vector,
            count=self._around.policy.neighbours + 1,
            usable=lambda name, in_batch: name != note.memory_id and self._usable(name, in_batch),
            also=self._also[note.sensitivity],
        )
        found = [pair for pair in found if pair[0] != note.memory_id][: self._around.policy.neighbours]
        self._memories.recall_missing(name for name, _ in found)
        return found

    def _elsewhere(self, sensitivity: str) -> Also:
        records = (self._memories.records.get(name) for name in sorted(self._memories.elsewhere))
        live = [
            one
            for one in records
            if one is not None and one.sensitivity == sensitivity and self._memories.is_live(one.memory_id)
        ]
        vectors = [self._memories.vector(one) for one in live]
        return Also([one.memory_id for one in live], np.array(vectors, dtype=np.float32))

    def _usable(self, name: str, in_batch: bool) -> bool:
        if (name in self._memories.entered) != in_batch or name in self._memories.elsewhere:
            return False
        loaded = name in self._memories.records or name in self._memories.before
        return self._memories.is_live(name) if loaded else True  # what is not loaded was never touched
