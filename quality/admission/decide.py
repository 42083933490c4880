"""What becomes of one note beside the memories of its turn (L3 of the save gate; rules 2.2, 2.3 and 2.5)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from slowwave.quality.admission.labels import apart, different_types, unite, weaker
from slowwave.quality.admission.memories import BatchMemories, merge_lines
from slowwave.quality.admission.types import (
    A_PERSON_DECIDES,
    EXACT_DUPLICATE,
    LIVE,
    MERGED,
    NEAR_DUPLICATE,
    AdmissionContext,
    AdmissionDecision,
    AdmissionRecord,
    Outcome,
)
from slowwave.quality.divergence.difference import explain
from slowwave.quality.divergence.guard import DivergenceGuard
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.neighbours import ExtraVectors
from slowwave.quality.reconsolidation import band, decide
from slowwave.quality.titles import is_from_first_words

NOT_COMPARED = (
    "Not compared with what is known: the embedding model knows none of its words, so it may repeat "
    "another memory."
)


class Decider:
    """Decides about notes; changes nothing."""

    def __init__(self, around: AdmissionContext, memories: BatchMemories) -> None:
        self._around, self._memories = around, memories
        self._guard = DivergenceGuard()
        self.by_hand = False  # whether all that may be near is loaded, so that it is looked for there
        self._also: dict[str, ExtraVectors] = {}  # by sensitivity
        self._as_of = 0

    def decide(self, note: AdmissionRecord) -> AdmissionDecision:
        """Whether a note enters, and what it does to the most similar memories."""
        policy = self._around.policy
        asked = policy.gate and not note.released
        if asked and (same := self._same_text(note)) is not None:
            other = self._memories.records[same]
            kept = self._brings(note, other)
            if kept and policy.reconsolidation != "off":
                return self.against_neighbours(note, gate=False)
            exact = AdmissionDecision(
                note.memory_id, note.revision, "duplicate", same, 1.0, (EXACT_DUPLICATE,), refused=True,
                evidence="the same text", other_revision=other.revision,
            )  # fmt: skip
            if kept:
                return _waiting(replace(exact, outcome="merge", reasons=(), refused=False), kept)
            if not note.warned:
                return exact
            return replace(self.against_neighbours(note, gate=False), reasons=(EXACT_DUPLICATE,))
        return self.against_neighbours(note, gate=asked)

    def _same_text(self, note: AdmissionRecord) -> str | None:
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

    def against_neighbours(self, note: AdmissionRecord, *, gate: bool) -> AdmissionDecision:
        """The same, but for exact duplicates; with the gate off none is refused."""
        policy = self._around.policy
        if (word := self._word(note)) is not None:
            return word
        plain = AdmissionDecision(note.memory_id, note.revision, "complement")
        if policy.floor == np.inf:
            return plain
        if note.vector is None or not note.vector.any():
            return replace(plain, skipped=True, evidence=NOT_COMPARED)
        nearest = self._nearest(note)
        if not nearest:
            return plain
        looked = nearest[:1] if policy.reconsolidation == "literal" else nearest
        best: AdmissionDecision | None = None
        for name, similarity in looked:
            other = self._memories.records[name]
            if self.by_hand:
                other = self._memories.as_of(other, note.turn)
            decision = self._pair(note, other, similarity, gate=gate)
            if decision.outcome in ("duplicate", "merge", "supersede"):
                return decision
            best = best or decision
        return best or plain

    def _word(self, note: AdmissionRecord) -> AdmissionDecision | None:
        """What a person let happen to a memory, as far as the other one is there at its turn."""
        word = self._around.accepted.get((note.memory_id, note.revision))
        other = None if word is None else self._memories.known(word.other or "")
        if word is None or other is None or other.memory_id in self._memories.withdrawn:
            return None
        then = self._memories.as_of(other, note.turn)
        there = (then.status, then.revision, then.sensitivity) == (
            LIVE,
            word.other_revision,
            note.sensitivity,
        )
        return word if there else None

    def _pair(
        self, note: AdmissionRecord, other: AdmissionRecord, similarity: float, *, gate: bool
    ) -> AdmissionDecision:
        policy = self._around.policy
        told = AdmissionDecision(
            note.memory_id, note.revision, "complement", other.memory_id, similarity,
            other_revision=other.revision,
        )  # fmt: skip
        if frozenset((note.memory_id, other.memory_id)) in self._around.apart:
            return replace(told, evidence="a person kept these apart")
        literal = policy.reconsolidation == "literal"
        differences, alike = (
            ((), True) if literal else self._guard.compare(self._statement(note), self._statement(other))
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
            if kept := self._brings(note, other):
                told = replace(told, outcome="merge", evidence=evidence or "says the same")
                on = policy.reconsolidation != "off"
                return self._carried_out(told, note, other) if on else _waiting(told, kept)
            if not note.warned:
                evidence = evidence or "no difference that matters"
                refused = replace(told, outcome="duplicate", refused=True, evidence=evidence)
                return replace(refused, reasons=(NEAR_DUPLICATE,))
            reasons = (NEAR_DUPLICATE,)
            outcome = outcome_of(gate=False)
        told = replace(told, reasons=reasons, evidence=evidence)
        if outcome == "complement" and band(similarity, policy.thresholds) == "complement":
            return replace(told, other=None, other_revision=None) if not reasons else told
        if outcome in ("merge", "supersede"):
            return self._carried_out(replace(told, outcome=outcome), note, other)
        return replace(told, outcome=outcome)

    def _carried_out(
        self, told: AdmissionDecision, note: AdmissionRecord, other: AdmissionRecord
    ) -> AdmissionDecision:
        """A merge or superseding, or `related` where it must not be or a person has to decide."""
        protected = self._memories.protected
        if note.released:
            return _related(told, "a person let this in as it is")
        new, old = self._memories.standing(note), self._memories.standing(other)
        if told.outcome == "merge":
            if why := apart(new, old):
                return _related(told, f"not merged: {why}")
            if protected(other) or protected(note):
                return _waiting(told, "protected")
            _, appended = merge_lines(self._memories.content(other), self._memories.content(note))
            return replace(told, appended=appended, evidence=told.evidence or "says the same")
        if protected(other):
            return _waiting(told, "protected")
        if why := weaker(new, old):
            return _waiting(told, f"not superseded: {why}")
        return told

    def _brings(self, note: AdmissionRecord, other: AdmissionRecord) -> str:
        """Why a duplicate is not refused, since what its labels say would be lost; empty if nothing would."""
        new, old = self._memories.standing(note), self._memories.standing(other)
        if self._memories.protected(note) and not self._memories.protected(other):
            return "protected"
        if weaker(old, new):
            return "it stands higher than what says the same"
        if self._around.policy.reconsolidation == "off":
            return ""
        more = different_types(new.labels, old.labels) or unite(old.labels, [new.labels]) != old.labels
        return "its labels say more" if more else ""

    def _statement(self, record: AdmissionRecord) -> ComparedNote:
        content = self._memories.content(record)
        derived = is_from_first_words(record.title, record.content)  # which says nothing of the subject
        return ComparedNote("" if derived else record.title, record.source, content)

    def _nearest(self, note: AdmissionRecord) -> list[tuple[str, float]]:
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

    def _elsewhere(self, sensitivity: str) -> ExtraVectors:
        records = (self._memories.records.get(name) for name in sorted(self._memories.elsewhere))
        live = [
            one
            for one in records
            if one is not None and one.sensitivity == sensitivity and self._memories.is_live(one.memory_id)
        ]
        vectors = [self._memories.vector(one) for one in live]
        return ExtraVectors([one.memory_id for one in live], np.array(vectors, dtype=np.float32))

    def _usable(self, name: str, in_batch: bool) -> bool:
        if (name in self._memories.entered) != in_batch or name in self._memories.elsewhere:
            return False
        loaded = name in self._memories.records or name in self._memories.before
        return self._memories.is_live(name) if loaded else True  # what is not loaded was never touched


def _related(told: AdmissionDecision, why: str) -> AdmissionDecision:
    """The two stay side by side, with the reason before what was found."""
    return replace(told, outcome="related", evidence="; ".join(filter(None, (why, told.evidence))))


def _waiting(told: AdmissionDecision, why: str) -> AdmissionDecision:
    """The same, until a person has decided."""
    return replace(_related(told, f"{why}: {A_PERSON_DECIDES}"), proposed=told.outcome)
