"""A note that comes late is put where it belongs: what is newer is decided by dates (rule 2.1).

It is decided about beside what was live at its turn, and so are the newer memories that resemble it, once
more and one after the other. What changes by that concerns others in turn, until nothing more does. So the
memories are what they had become if all had come in order.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from slowwave.quality.admission.decide import Decider
from slowwave.quality.admission.memories import BatchMemories
from slowwave.quality.admission.types import (
    MERGED,
    RETIRED,
    SUPERSEDED,
    AdmissionContext,
    AdmissionDecision,
    AdmissionRecord,
    AdmissionVerdict,
    Vector,
)


class OutOfOrderInsert:
    """The place of one note among what resembles it.

    Args:
        memories: without the note.
        decider: decides about it and the newer ones.
        around: what is known.
        note: as it enters.
    """

    def __init__(
        self, memories: BatchMemories, decider: Decider, around: AdmissionContext, note: AdmissionRecord
    ) -> None:
        self._memories, self._decider, self._around, self._note = memories, decider, around, note

    def verdict(self) -> AdmissionVerdict | None:
        """What becomes of the note and of the newer ones in its turn; None if it is the newest of all.

        It is tried out, and the memories are as before.
        """
        memories, note = self._memories, self._note
        if note.vector is None or (memories.latest <= note.turn and self._around.latest < note.moment):
            return None
        later = self._later(self._near([note.vector]))
        restore, start = memories.snapshot(), dict(memories.records)
        self._decider.by_hand = True
        while True:
            verdict = self._replay(later)
            more = set() if verdict.decision.refused else self._later(self._near(self._said(start))) - later
            restore()
            if not more:
                break
            later |= more
        self._decider.by_hand = False
        return verdict

    def _said(self, start: dict[str, AdmissionRecord]) -> list[Vector]:
        """The vectors of all that was said by what is not what it was at the start."""
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
        """Let the note happen in its turn and then these once more."""
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
            looked = replace(then, vector=memories.vector(then))
            looks[name] = replace(self._decider.against_neighbours(looked, gate=False), look=note.revision)
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
        """What a memory did, and what was done to it since: who did it, and to which."""
        record = self._memories.records[name]
        ties = [(name, one.memory_id) for one in self._memories.superseded_by(name)]
        if record.status == MERGED:
            ties.append((name, record.replaced_by or ""))
        elif record.status == SUPERSEDED:
            ties.append((record.replaced_by or "", name))
        return ties

    def _doing(self, name: str) -> tuple[str, ...]:
        """What a memory was merged into or superseded."""
        record = self._memories.records[name]
        if record.status == MERGED:
            return (record.replaced_by or "",)
        return tuple(one.memory_id for one in self._memories.superseded_by(name))

    def _near(self, vectors: Sequence[Vector]) -> list[AdmissionRecord]:
        """All that resembles one of these vectors, loaded."""
        self._memories.learn(self._around.near(vectors, self._note.sensitivity))
        found = self._memories.resembling(vectors, self._around.policy.floor)
        return [one for one in found if one.sensitivity == self._note.sensitivity and one.status != RETIRED]

    def _later(self, records: Iterable[AdmissionRecord]) -> set[str]:
        """Those that have a later turn; not what a folder changes, nor what clings to a newer text."""
        memories, found = self._memories, set[str]()
        for one in records:
            if one.memory_id in memories.withdrawn or one.turn <= self._note.turn:
                continue
            if one.status == MERGED and one.replaced_by == self._note.memory_id:
                continue  # a new text keeps what it absorbed
            by = memories.known(one.replaced_by or "")
            if by is not None and (one.status == MERGED) == (by.turn > one.turn):
                continue  # it was said anew since, and keeps what it absorbed; or a home of before did it
            found.add(one.memory_id)
        return found
