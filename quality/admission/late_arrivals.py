"""Late-arriving notes: inserted in date order among newer memories (rule 2.1).

The note is decided against the memories that were live at its turn. Then the newer memories that resemble it
are decided again, in order. Their changes may affect others, so this repeats until nothing changes. The
result equals that of notes arriving in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from slowwave.quality.admission.decide import Decider
from slowwave.quality.admission.memories import BatchMemories
from slowwave.quality.admission.statuses import MERGED, RETIRED, SUPERSEDED
from slowwave.quality.admission.types import (
    AdmissionContext,
    AdmissionDecision,
    AdmissionRecord,
    AdmissionVerdict,
    Vector,
)


class OutOfOrderInsert:
    """Insertion of one late note among similar memories.

    Args:
        memories: without the note.
        decider: decision logic.
        around: context of the batch.
        note: as it enters.
    """

    def __init__(
        self, memories: BatchMemories, decider: Decider, around: AdmissionContext, note: AdmissionRecord
    ) -> None:
        self._memories, self._decider, self._around, self._note = memories, decider, around, note

    def verdict(self) -> AdmissionVerdict | None:
        """Return the verdict on the note and on newer memories; None if the note is the newest.

        The insertion is a trial run: the memories do not change.
        """
        memories, note = self._memories, self._note
        if note.vector is None or (memories.latest <= note.turn and self._around.latest < note.moment):
            return None
        later = self._later(self._near([note.vector]))
        restore, start = memories.snapshot(), dict(memories.records)
        self._decider.by_hand = True
        while True:
            verdict = self._replay(later)
            more = (
                set()
                if verdict.decision.refused
                else self._later(self._near(self._affected_vectors(start))) - later
            )
            restore()
            if not more:
                break
            later |= more
        self._decider.by_hand = False
        return verdict

    def _affected_vectors(self, start: dict[str, AdmissionRecord]) -> list[Vector]:
        """Return the vectors of all texts of memories whose relations changed."""
        memories = self._memories
        affected = [
            name
            for name, now in memories.records.items()
            if name == self._note.memory_id or now.relations != start.get(name, now).relations
        ]
        return [
            vector
            for name in affected
            for record in (start.get(name), memories.records[name])
            if record is not None
            for vector in memories.sayings(record)
        ]

    def _replay(self, later: set[str]) -> AdmissionVerdict:
        """Insert the note at its turn and decide the later memories again."""
        memories, note = self._memories, self._note
        self._near([vector for name in later for vector in memories.sayings(memories.records[name])])
        memories.learn(self._around.behind(later))
        before = {name: memories.records[name] for name in later}
        did = {name: self._doing(name) for name in later}
        turns = sorted(later, key=lambda name: before[name].turn)
        back: list[tuple[str, str]] = []
        for name in reversed(turns):
            ties = self._ties(name)
            for actor, other in ties:
                memories.take_back(actor, other)
            back += ties
        decision = self._decider.decide(note)
        if decision.refused:
            return AdmissionVerdict(decision)
        memories.enter(note)
        memories.carry_out(decision)
        looks: dict[str, AdmissionDecision] = {}
        for name in turns:
            then = memories.as_of(memories.records[name], before[name].turn)
            record = replace(then, vector=memories.vector(then))
            looks[name] = replace(self._decider.against_neighbours(record, gate=False), look=note.revision)
            memories.carry_out(looks[name])
        changed = [name for name in turns if self._doing(name) != did[name]]
        again = [
            look
            for name, look in looks.items()
            if look.outcome != "complement" and (name in changed or look.other == note.memory_id)
        ]
        lapsed = tuple(before[name] for name in changed if did[name])
        return AdmissionVerdict(decision, tuple(back), tuple(looks.values()), tuple(again), lapsed)

    def _ties(self, name: str) -> list[tuple[str, str]]:
        """Return the merges and supersedes of a memory as pairs of actor and other."""
        record = self._memories.records[name]
        ties = [(name, superseded.memory_id) for superseded in self._memories.superseded_by(name)]
        if record.status == MERGED:
            ties.append((name, record.replaced_by or ""))
        elif record.status == SUPERSEDED:
            ties.append((record.replaced_by or "", name))
        return ties

    def _doing(self, name: str) -> tuple[str, ...]:
        """Return the memories that a memory was merged into or superseded."""
        record = self._memories.records[name]
        if record.status == MERGED:
            return (record.replaced_by or "",)
        return tuple(superseded.memory_id for superseded in self._memories.superseded_by(name))

    def _near(self, vectors: Sequence[Vector]) -> list[AdmissionRecord]:
        """Load and return all memories that resemble one of these vectors."""
        self._memories.learn(self._around.near(vectors, self._note.sensitivity))
        matches = self._memories.resembling(vectors, self._around.policy.floor)
        return [
            record
            for record in matches
            if record.sensitivity == self._note.sensitivity and record.status != RETIRED
        ]

    def _later(self, records: Iterable[AdmissionRecord]) -> set[str]:
        """Return the memories with a later turn.

        Without notes that a vault scan replaces, and without memories attached to a newer text.
        """
        memories, later = self._memories, set[str]()
        for record in records:
            if record.memory_id in memories.withdrawn or record.turn <= self._note.turn:
                continue
            if record.status == MERGED and record.replaced_by == self._note.memory_id:
                continue  # a new text keeps its absorbed memories
            by = memories.known(record.replaced_by or "")
            if by is not None and (record.status == MERGED) == (by.turn > record.turn):
                continue  # a new text keeps what it absorbed, or an older version did it
            later.add(record.memory_id)
        return later
