"""Acts happen to the memories one after the other; decisions and changes come of it.

Notes are taken each against what is live at its turn, and a late one is put where it belongs (`turns`), so
a batch, its halves and single saves come to the same memory. Nothing is looked up here and nothing is
written: the caller gives what is known, and gets decisions and the memories that change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from slowwave.quality.admission.deciding import Decider
from slowwave.quality.admission.labels import apart
from slowwave.quality.admission.merging import merge_lines
from slowwave.quality.admission.records import (
    LIVE,
    MERGED,
    RETIRED,
    SUPERSEDED,
    Act,
    Admission,
    Decision,
    Lapse,
    Record,
)
from slowwave.quality.admission.state import Memories, Surroundings
from slowwave.quality.admission.turns import Place, Placed
from slowwave.quality.divergence import contradicted


def admit(acts: Sequence[Act], around: Surroundings) -> Admission:
    """Take acts of one namespace and one day, in order; each memory is touched by one act at most.

    Args:
        acts: forgets, then saves, then undos.
        around: what is known; `known` has the memories of the acts, what they superseded, and live or merged
            memories with the same content hash.
    """
    staying: set[str] = set()
    while True:
        batch = _Batch(around)
        # A folder changes as a whole: what its notes said before is withdrawn before any is judged. A note
        # that is refused keeps its old text, which then has to count from the start; what stays only grows,
        # so this comes to an end.
        resaved = {act.memory_id for act in acts if act.note is not None and act.note.vault}
        withdrawn = {name for name in resaved if batch.memories.is_live(name)} - staying
        batch.memories.withdrawn = set(withdrawn)
        for act in acts:
            batch.take(act)
        kept = {one.memory_id for one in batch.decisions if one.refused} & withdrawn
        if not kept:
            return batch.result()
        staying |= kept


def reconsider(names: Sequence[str], around: Surroundings) -> Admission:
    """Look at live memories as if they came in now, each against those before it.

    None is refused: what is in stays in. The decisions are about `names`, in their order; everything that
    becomes of them is in `changes`.

    Args:
        names: the live memories, by their turn.
        around: what is known; `neighbours` has these memories both as what is live and as the batch.
    """
    batch = _Batch(around)
    batch.memories.withdrawn = set(names)
    for name in names:
        batch.look_again(name)
    return batch.result()


class _Batch:
    """One batch under way."""

    def __init__(self, around: Surroundings) -> None:
        self.memories = Memories(around)
        self.decisions: list[Decision] = []
        self._policy, self._around = around.policy, around
        self._decider = Decider(around, self.memories)
        self._lapses: dict[tuple[str, str], tuple[str, str]] = {}
        self._acting = ""

    def result(self) -> Admission:
        """Everything that is different from before."""
        lapses = [Lapse(*text, *why) for text, why in self._lapses.items()]
        return Admission(self.decisions, *self.memories.changed(), lapses)

    def take(self, act: Act) -> None:
        """Let one act happen."""
        self._acting = act.memory_id
        if act.kind == "forget":
            self._leave(act.memory_id, by="forgotten")
            if act.memory_id in self.memories.records:
                self.memories.put(replace(self.memories.records[act.memory_id], status=RETIRED))
        elif act.kind == "undo":
            self._undo(act)
        elif act.decision is not None:
            self._accept(act.decision)
        elif act.note is not None:
            self._save(act.note)

    def look_again(self, name: str) -> None:
        """Decide about a memory that is live already."""
        record = self.memories.records[name]
        decision = self._decider.against_neighbours(
            replace(record, vector=self.memories.vector(record)), gate=False
        )
        self.memories.withdrawn.discard(name)  # only now, or it would be found beside itself
        self.decisions.append(decision)
        self.happen(record, decision)

    def happen(self, record: Record, decision: Decision) -> None:
        """Let a decision about a live memory take effect."""
        other = decision.other
        if decision.outcome == "merge" and other is not None:
            self.memories.put(replace(record, status=MERGED, replaced_by=other))
            target = self.memories.records[other]
            self.memories.put(replace(target, absorbed=self.memories.in_turn(target.absorbed, record)))
        elif decision.outcome == "supersede" and other is not None:
            self.memories.put(
                replace(self.memories.records[other], status=SUPERSEDED, replaced_by=record.memory_id)
            )

    def _save(self, note: Record) -> None:
        old = self.memories.records.get(note.memory_id)
        self.memories.withdrawn.discard(note.memory_id)
        before = (self.memories.snapshot(), dict(self._lapses)) if old is not None else None
        absorbed: tuple[str, ...] = ()
        if old is not None:
            self._part_contradicted(old, note)
            old = self.memories.records[note.memory_id]
            absorbed = old.absorbed if old.status != RETIRED else ()
            self._leave(note.memory_id, by="changed", keep_absorbed=True)
            self.memories.remove(note.memory_id)
        entered = replace(note, absorbed=absorbed, status=LIVE, replaced_by=None)
        decision = self._decider.decide(entered)
        placed = None if decision.refused else self._in_turn(entered)
        if placed is not None:
            decision = placed.decision
        self.decisions.append(decision)
        if decision.refused:
            if before is not None:
                snapshot, self._lapses = before
                self.memories.restore(snapshot)
            return
        if placed is not None:
            self.decisions += placed.again
            for actor in placed.changed:
                self._lapse(actor, by="reordered")
            return
        self.memories.entered.add(note.memory_id)
        self.memories.put(entered)
        self.happen(entered, decision)

    def _in_turn(self, entered: Record) -> Placed | None:
        """Put a note where it belongs among those that resemble it, if any of them is newer (rule 2.1)."""
        if self._policy.reconsolidation == "off" or entered.vector is None or not entered.vector.any():
            return None
        place = Place(self.memories, self._decider, self._around, entered)
        return place.take(self.happen)

    def _lapse(self, actor: Record, by: str) -> None:
        """What was decided about this text of a memory holds no longer."""
        self._lapses.setdefault((actor.memory_id, actor.revision), (by, self._acting))

    def _leave(self, name: str, *, by: str, keep_absorbed: bool = False) -> None:
        """Dissolve what a memory did to others, and what others did to it."""
        record = self.memories.records.get(name)
        if record is None:
            return
        self._lapse(record, by)
        if record.status == MERGED and record.replaced_by:
            self._part(record, by)
        elif record.status == SUPERSEDED and record.replaced_by:
            actor = self.memories.known(record.replaced_by)
            if actor is not None:
                self._lapse(actor, by)
            self.memories.put(replace(record, status=LIVE, replaced_by=None))
        # What a superseded memory had superseded stays behind, or the oldest of a chain would come back.
        freed = (
            sorted(self.memories.behind.get(name, ()))
            if by != "forgotten" or record.status != SUPERSEDED
            else ()
        )
        for behind in freed:
            other = self.memories.records[behind]
            if other.replaced_by == name and other.status == SUPERSEDED:
                self.memories.put(replace(other, status=LIVE, replaced_by=None))
        if not keep_absorbed:
            for part in record.absorbed:
                if (merged := self.memories.known(part)) is not None and merged.status == MERGED:
                    self._part(merged, by)

    def _part(self, merged: Record, by: str) -> None:
        """Take a merged memory out of the one that absorbed it."""
        assert merged.replaced_by is not None
        target = self.memories.known(merged.replaced_by)
        if target is not None:
            left = tuple(part for part in target.absorbed if part != merged.memory_id)
            self.memories.put(replace(target, absorbed=left))
        self.memories.put(replace(merged, status=LIVE, replaced_by=None))
        self._lapse(merged, by)

    def _part_contradicted(self, old: Record, note: Record) -> None:
        """What a memory absorbed has to agree with its new text, or it is a memory of its own again.

        What is not for the same eyes as the new text never stays, nor what its labels cannot be united with.
        """
        literal = self._policy.reconsolidation == "literal"
        for name in old.absorbed:
            part = self.memories.known(name)
            if part is None or part.status != MERGED or part.replaced_by != old.memory_id:
                continue
            agrees = literal or not contradicted(note.content, part.content)
            agrees = agrees and not apart(self.memories.standing(part), self.memories.standing(note))
            if part.sensitivity != note.sensitivity or not agrees:
                self._part(part, "changed")

    def _accept(self, wanted: Decision) -> None:
        """Let happen what a person accepted, if both memories are what they were when it was proposed."""
        actor, other = self.memories.known(wanted.memory_id), self.memories.known(wanted.other or "")
        if actor is None or other is None or not actor.status == other.status == LIVE:
            return
        changed = (actor.revision, other.revision) != (
            wanted.revision,
            wanted.other_revision or other.revision,
        )
        parted = frozenset((actor.memory_id, other.memory_id)) in self._around.apart
        if changed or parted or actor.sensitivity != other.sensitivity:
            return
        appended: tuple[str, ...] = ()
        if wanted.outcome == "merge":
            _, appended = merge_lines(self.memories.content(other), self.memories.content(actor))
        done = replace(wanted, appended=appended, other_revision=other.revision)
        self.decisions.append(done)
        self.happen(actor, done)

    def _undo(self, act: Act) -> None:
        actor, other = self.memories.known(act.memory_id), self.memories.known(act.other or "")
        if actor is None or other is None:
            return
        if actor.status == MERGED and actor.replaced_by == other.memory_id:
            self._part(actor, act.by)
        elif other.status == SUPERSEDED and other.replaced_by == actor.memory_id:
            self.memories.put(replace(other, status=LIVE, replaced_by=None))
            self._lapse(actor, act.by)
