"""Decision on one note against live memories (L3 of the save gate; rules 2.2, 2.3, 2.5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slowwave.quality.admission.labels import apart, different_types, unite, weaker
from slowwave.quality.admission.memories import BatchMemories, merge_lines
from slowwave.quality.admission.statuses import EXACT_DUPLICATE, LIVE, MERGED, NEAR_DUPLICATE
from slowwave.quality.admission.types import (
    A_PERSON_DECIDES,
    AdmissionContext,
    AdmissionDecision,
    AdmissionRecord,
    Outcome,
)
from slowwave.quality.divergence.difference import Difference, explain
from slowwave.quality.divergence.guard import DivergenceGuard
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.neighbours import ExtraVectors
from slowwave.quality.reconsolidation import band, decide
from slowwave.quality.titles import is_from_first_words

NOT_COMPARED = (
    "Not compared with other memories: the embedding model knows none of its words, so it may repeat one."
)


class Decider:
    """Decision logic for notes; it changes nothing."""

    def __init__(self, around: AdmissionContext, memories: BatchMemories) -> None:
        self._around, self._memories = around, memories
        self._guard = DivergenceGuard()
        self.by_hand = False  # whether near memories are loaded and searched directly
        self._also: dict[str, ExtraVectors] = {}  # by sensitivity
        self._as_of = 0

    def decide(self, note: AdmissionRecord) -> AdmissionDecision:
        """Decide whether a note enters, and its effect on the most similar memories."""
        policy = self._around.policy
        gate = policy.gate and not note.released
        if gate and (same := self._same_text(note)) is not None:
            other = self._memories.records[same]
            reason = self._reason_to_keep(note, other)
            if reason and policy.reconsolidation != "off":
                return self.against_neighbours(note, gate=False)
            exact = AdmissionDecision(
                note.memory_id, note.revision, "duplicate", same, 1.0, (EXACT_DUPLICATE,), refused=True,
                evidence="the same text", other_revision=other.revision,
            )  # fmt: skip
            if reason:
                return _waiting(replace(exact, outcome="merge", reasons=(), refused=False), reason)
            if not note.warned:
                return exact
            return replace(self.against_neighbours(note, gate=False), reasons=(EXACT_DUPLICATE,))
        return self.against_neighbours(note, gate=gate)

    def _same_text(self, note: AdmissionRecord) -> str | None:
        """Return the live memory of the same sensitivity with exactly this text.

        A memory that absorbed such a text counts, too.
        """
        matches = set()
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
                matches.add(record.memory_id)
        return min(matches, default=None)

    def against_neighbours(self, note: AdmissionRecord, *, gate: bool) -> AdmissionDecision:
        """Decide without the check for exact duplicates; with the gate off nothing is refused."""
        policy = self._around.policy
        if (accepted := self._accepted_decision(note)) is not None:
            return accepted
        plain = AdmissionDecision(note.memory_id, note.revision, "complement")
        if policy.floor == np.inf:
            return plain
        if note.vector is None or not note.vector.any():
            return replace(plain, skipped=True, evidence=NOT_COMPARED)
        nearest = self._nearest(note)
        if not nearest:
            return plain
        compared = nearest[:1] if policy.reconsolidation == "literal" else nearest
        best: AdmissionDecision | None = None
        for name, similarity in compared:
            other = self._memories.records[name]
            if self.by_hand:
                other = self._memories.as_of(other, note.turn)
            decision = self._pair(note, other, similarity, gate=gate)
            if decision.outcome in ("duplicate", "merge", "supersede"):
                return decision
            best = best or decision
        return best or plain

    def _accepted_decision(self, note: AdmissionRecord) -> AdmissionDecision | None:
        """Return an accepted decision if the other memory is unchanged at that turn."""
        accepted = self._around.accepted.get((note.memory_id, note.revision))
        other = None if accepted is None else self._memories.known(accepted.other or "")
        if accepted is None or other is None or other.memory_id in self._memories.withdrawn:
            return None
        then = self._memories.as_of(other, note.turn)
        unchanged = (then.status, then.revision, then.sensitivity) == (
            LIVE,
            accepted.other_revision,
            note.sensitivity,
        )
        return accepted if unchanged else None

    def _pair(
        self, note: AdmissionRecord, other: AdmissionRecord, similarity: float, *, gate: bool
    ) -> AdmissionDecision:
        policy = self._around.policy
        decision = AdmissionDecision(
            note.memory_id, note.revision, "complement", other.memory_id, similarity,
            other_revision=other.revision,
        )  # fmt: skip
        if frozenset((note.memory_id, other.memory_id)) in self._around.apart:
            return replace(decision, evidence="a person kept these apart")
        differences: tuple[Difference, ...] = ()
        alike = True
        if policy.reconsolidation != "literal":
            differences, alike = self._guard.compare(
                self._statement(note), self._statement(other), subjects=policy.reconsolidation != "off"
            )

        def outcome_of(*, gate: bool) -> Outcome:
            return decide(
                similarity, differences, same_subject=alike, thresholds=policy.thresholds,
                policy=policy.reconsolidation, gate=gate,
            )  # fmt: skip

        outcome = outcome_of(gate=gate)
        evidence = explain(differences) if differences else ""
        reasons: tuple[str, ...] = ()
        if outcome == "duplicate":
            if reason := self._reason_to_keep(note, other):
                decision = replace(decision, outcome="merge", evidence=evidence or "says the same")
                on = policy.reconsolidation != "off"
                return self._carried_out(decision, note, other) if on else _waiting(decision, reason)
            if not note.warned:
                evidence = evidence or "no difference that matters"
                refused = replace(decision, outcome="duplicate", refused=True, evidence=evidence)
                return replace(refused, reasons=(NEAR_DUPLICATE,))
            reasons = (NEAR_DUPLICATE,)
            outcome = outcome_of(gate=False)
        decision = replace(decision, reasons=reasons, evidence=evidence)
        if outcome == "complement" and band(similarity, policy.thresholds) == "complement":
            return replace(decision, other=None, other_revision=None) if not reasons else decision
        if outcome in ("merge", "supersede"):
            return self._carried_out(replace(decision, outcome=outcome), note, other)
        return replace(decision, outcome=outcome)

    def _carried_out(
        self, decision: AdmissionDecision, note: AdmissionRecord, other: AdmissionRecord
    ) -> AdmissionDecision:
        """Return the merge or supersede, or `related`.

        It is `related` if it is not allowed or a person has to decide.
        """
        protected = self._memories.protected
        if note.released:
            return _related(decision, "a person let this in as it is")
        new, old = self._memories.standing(note), self._memories.standing(other)
        if decision.outcome == "merge":
            if why := apart(new, old):
                return _related(decision, f"not merged: {why}")
            if protected(other) or protected(note):
                return _waiting(decision, "protected")
            _, appended = merge_lines(self._memories.content(other), self._memories.content(note))
            return replace(decision, appended=appended, evidence=decision.evidence or "says the same")
        if protected(other):
            return _waiting(decision, "protected")
        if why := weaker(new, old):
            return _waiting(decision, f"not superseded: {why}")
        return decision

    def _reason_to_keep(self, note: AdmissionRecord, other: AdmissionRecord) -> str:
        """Return the reason to keep a duplicate whose labels would be lost; empty if none."""
        new, old = self._memories.standing(note), self._memories.standing(other)
        if self._memories.protected(note) and not self._memories.protected(other):
            return "protected"
        if weaker(old, new):
            return "its state, tier or confidence is higher than that of the same text"
        if self._around.policy.reconsolidation == "off":
            return ""
        more = different_types(new.labels, old.labels) or unite(old.labels, [new.labels]) != old.labels
        return "its labels say more" if more else ""

    def _statement(self, record: AdmissionRecord) -> ComparedNote:
        content = self._memories.content(record)
        derived = is_from_first_words(record.title, record.content)  # such a title does not name the subject
        return ComparedNote("" if derived else record.title, record.source, content)

    def _nearest(self, note: AdmissionRecord) -> list[tuple[str, float]]:
        """Return the nearest live memories of its sensitivity above the floor, most similar first.

        Memories of another sensitivity are not even counted: their existence must not leak.
        """
        if self._as_of != self._memories.version:
            self._also, self._as_of = {}, self._memories.version
        if note.sensitivity not in self._also:
            self._also[note.sensitivity] = self._elsewhere(note.sensitivity)
        assert note.vector is not None
        if self.by_hand:
            return self._memories.nearest(note, self._around.policy.floor)[: self._around.policy.neighbours]
        nearest = self._around.neighbours.nearest(
            note.memory_id,
            note.vector,
            count=self._around.policy.neighbours + 1,
            usable=lambda name, in_batch: name != note.memory_id and self._usable(name, in_batch),
            also=self._also[note.sensitivity],
        )
        nearest = [pair for pair in nearest if pair[0] != note.memory_id][: self._around.policy.neighbours]
        self._memories.recall_missing(name for name, _ in nearest)
        return nearest

    def _elsewhere(self, sensitivity: str) -> ExtraVectors:
        records = (self._memories.records.get(name) for name in sorted(self._memories.elsewhere))
        live = [
            record
            for record in records
            if record is not None
            and record.sensitivity == sensitivity
            and self._memories.is_live(record.memory_id)
        ]
        vectors = [self._memories.vector(record) for record in live]
        return ExtraVectors([record.memory_id for record in live], np.array(vectors, dtype=np.float32))

    def _usable(self, name: str, in_batch: bool) -> bool:
        if (name in self._memories.entered) != in_batch or name in self._memories.elsewhere:
            return False
        loaded = name in self._memories.records or name in self._memories.before
        return (
            self._memories.is_live(name) if loaded else True
        )  # a memory that is not loaded was never changed


def _related(decision: AdmissionDecision, why: str) -> AdmissionDecision:
    """Return `related` for the pair, with the reason before the evidence."""
    return replace(decision, outcome="related", evidence="; ".join(filter(None, (why, decision.evidence))))


def _waiting(decision: AdmissionDecision, why: str) -> AdmissionDecision:
    """Return a proposal that waits for a person's decision."""
    return replace(_related(decision, f"{why}: {A_PERSON_DECIDES}"), proposed=decision.outcome)
