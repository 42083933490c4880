"""A note that comes late is put where it belongs: what is newer is decided by dates (rule 2.1).

It is decided about beside what was live at its turn, and so are the newer memories that resemble it, once
more and one after the other. What changes by that concerns others in turn, until nothing more does. So the
memories are what they had become if all had come in order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from slowwave.quality.admission.deciding import Decider
from slowwave.quality.admission.records import LIVE, MERGED, RETIRED, SUPERSEDED, Decision, Record, Vector
from slowwave.quality.admission.state import Memories, Surroundings


@dataclass(frozen=True, slots=True)
class Placed:
    """What came of a late note.

    Attributes:
        decision: about it.
        again: decisions about newer memories that are others than before.
        changed: newer memories whose decision of before holds no longer.
    """

    decision: Decision
    again: tuple[Decision, ...] = ()
    changed: tuple[Record, ...] = ()


class Place:
    """The place of one note among what resembles it.

    Args:
        memories: without the note.
        decider: decides about it and the newer ones.
        around: what is known.
        note: as it enters.
    """

    def __init__(self, memories: Memories, decider: Decider, around: Surroundings, note: Record) -> None:
        self._memories, self._decider, self._around, self._note = memories, decider, around, note

    def take(self, happen: Callable[[Record, Decision], None]) -> Placed | None:
        """Let the note enter in its turn; None, and nothing has happened, if it is the newest of all.

        Args:
            happen: lets a decision about a memory take effect.
        """
        memories, note = self._memories, self._note
        if note.vector is None or (memories.latest <= note.turn and self._around.latest < note.moment):
            return None
        later = self._later(self._near([note.vector]))
        start = memories.snapshot()
        self._decider.by_hand = True
        while True:
            placed = self._replay(later, happen)
            affected = [
                name
                for name, now in memories.records.items()
                if name == note.memory_id or _standing(now) != _standing(start[0].get(name, now))
            ]
            seen = [
                vector
                for name in affected
                for record in (start[0].get(name), memories.records[name])
                if record is not None
                for vector in memories.sayings(record)
            ]
            more = set() if placed.decision.refused else self._later(self._near(seen)) - later
            if not placed.decision.refused and not more:
                break
            memories.restore((start[0], set(start[1])))
            if note.memory_id not in start[0]:
                memories.records.pop(note.memory_id, None)
                memories.entered.discard(note.memory_id)
            if placed.decision.refused:
                break
            later |= more
        self._decider.by_hand = False
        return placed

    def _replay(self, later: set[str], happen: Callable[[Record, Decision], None]) -> Placed:
        memories, note = self._memories, self._note
        self._near([vector for name in later for vector in memories.sayings(memories.records[name])])
        memories.learn(self._around.behind(later))
        before = {name: memories.records[name] for name in later}
        did = {name: self._doing(name) for name in later}
        turns = sorted(later, key=lambda name: before[name].turn)
        for name in reversed(turns):
            self._stand_back(name)
        decision = self._decider.decide(note)
        if decision.refused:
            return Placed(decision)
        memories.entered.add(note.memory_id)
        memories.put(note)
        happen(note, decision)
        looks: dict[str, Decision] = {}
        for name in turns:
            then = memories.as_of(memories.records[name], before[name].turn)
            looked = replace(then, vector=memories.vector(then))
            looks[name] = replace(self._decider.against_neighbours(looked, gate=False), look=note.revision)
            happen(memories.records[name], looks[name])
        changed = [name for name in turns if self._doing(name) != did[name]]
        again = [
            look
            for name, look in looks.items()
            if look.outcome != "complement" and (name in changed or look.other == note.memory_id)
        ]
        return Placed(decision, tuple(again), tuple(before[name] for name in changed if did[name]))

    def _stand_back(self, name: str) -> None:
        """Take back what a memory did, and what was done to it since."""
        memories = self._memories
        record = memories.records[name]
        for one in self._superseded_by(name):
            memories.put(replace(one, status=LIVE, replaced_by=None))
        if record.status == MERGED and (target := memories.known(record.replaced_by or "")) is not None:
            left = tuple(part for part in target.absorbed if part != name)
            memories.put(replace(target, absorbed=left))
        memories.put(replace(record, status=LIVE, replaced_by=None))

    def _doing(self, name: str) -> tuple[str, ...]:
        """What a memory was merged into or superseded."""
        record = self._memories.records[name]
        if record.status == MERGED:
            return (record.replaced_by or "",)
        return tuple(one.memory_id for one in self._superseded_by(name))

    def _superseded_by(self, name: str) -> list[Record]:
        known = map(self._memories.records.get, sorted(self._memories.behind.get(name, ())))
        return [one for one in known if one and (one.status, one.replaced_by) == (SUPERSEDED, name)]

    def _near(self, vectors: Sequence[Vector]) -> list[Record]:
        """All that resembles one of these vectors, loaded."""
        self._memories.learn(self._around.near(vectors, self._note.sensitivity))
        found = self._memories.resembling(vectors, self._around.policy.floor)
        return [one for one in found if one.sensitivity == self._note.sensitivity and one.status != RETIRED]

    def _later(self, records: Iterable[Record]) -> set[str]:
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


def _standing(record: Record) -> tuple[object, ...]:
    return record.status, record.replaced_by, record.absorbed
