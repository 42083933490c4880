"""Transitions of memories by acts, each once, whether its verdict is made now or was made long ago.

The machine knows what becomes of the memories when a note comes, when one is forgotten and when a decision
is taken back. What it does not know it asks of a source of verdicts: by day and night that decides (`admit`),
for a day of the past it reads the decision log (`slowwave.lifecycle.past`).

Notes are taken each against what is live at its turn, and a late one is put where it belongs (`turns`), so a
batch, its halves and single saves come to the same memory. Nothing is looked up here and nothing is written:
the caller gives what is known, and gets decisions and the memories that change.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from slowwave.quality.admission.decide import Decider
from slowwave.quality.admission.labels import apart
from slowwave.quality.admission.late_arrivals import OutOfOrderInsert
from slowwave.quality.admission.memories import BatchMemories, Memories, merge_lines
from slowwave.quality.admission.types import (
    CHANGED,
    FORGOTTEN,
    LIVE,
    MERGED,
    REORDERED,
    RETIRED,
    SUPERSEDED,
    AdmissionAct,
    AdmissionContext,
    AdmissionDecision,
    AdmissionRecord,
    AdmissionResult,
    AdmissionVerdict,
    ExpiredDecision,
)
from slowwave.quality.divergence.statements import contradicted


class Verdicts(Protocol):
    """Where it is known from what becomes of a note."""

    def stays(self, part: AdmissionRecord, note: AdmissionRecord) -> bool:
        """Whether what a memory absorbed stays in it, now that it says what this note says."""

    def about(self, note: AdmissionRecord, old: AdmissionRecord | None) -> AdmissionVerdict:
        """What becomes of a note; the memories are as they are without it and without its old text."""


class MemoryStateMachine:
    """The memories of one namespace while acts happen to them, one after the other."""

    def __init__(self, memories: Memories, verdicts: Verdicts) -> None:
        self._memories, self._verdicts = memories, verdicts
        self._lapses: dict[tuple[str, str], tuple[str, str]] = {}
        self._acting = ""

    def lapses(self) -> list[ExpiredDecision]:
        """Decisions of before that hold no longer."""
        return [ExpiredDecision(*text, *why) for text, why in self._lapses.items()]

    def save(self, note: AdmissionRecord) -> AdmissionVerdict:
        """A note comes: it is what its memory says from now on, or it is refused and all is as it was."""
        memories, name = self._memories, note.memory_id
        self._acting = name
        old = memories.records.get(name)
        restore, lapses = (memories.snapshot(), dict(self._lapses)) if old is not None else (None, {})
        absorbed = () if old is None else self._make_way(old, note)
        entered = replace(note, absorbed=absorbed, status=LIVE, replaced_by=None)
        verdict = self._verdicts.about(entered, old)
        if verdict.decision.refused:
            if restore is not None:
                restore()
                self._lapses = lapses
            return verdict
        for actor, other in verdict.back:
            memories.take_back(actor, other)
        parted = {actor for actor, other in verdict.back if other == name}
        memories.enter(replace(entered, absorbed=tuple(one for one in absorbed if one not in parted)))
        for decision in (verdict.decision, *verdict.looks):
            memories.carry_out(decision)
        for record in verdict.lapsed:
            self._lapse(record, REORDERED)
        return verdict

    def forget(self, name: str, revision: str = "") -> None:
        """A memory is forgotten; it has the revision of the act from now on, if there is one."""
        self._acting = name
        if (record := self._memories.records.get(name)) is not None:
            self._leave(record, by=FORGOTTEN)
            record = self._memories.records[name]
            self._memories.put(replace(record, status=RETIRED, revision=revision or record.revision))

    def undo(self, actor: str, other: str, by: str) -> None:
        """What one memory did to another is taken back, if it holds."""
        self._acting = actor
        record = self._memories.known(actor)
        if record is not None and self._memories.take_back(actor, other):
            self._lapse(record, by)

    def _make_way(self, old: AdmissionRecord, note: AdmissionRecord) -> tuple[str, ...]:
        """Take a memory away before its new text is judged; of what it absorbed, what the new text keeps."""
        memories = self._memories
        for part in map(memories.known, old.absorbed):
            if part is None or (part.status, part.replaced_by) != (MERGED, old.memory_id):
                continue
            if not self._verdicts.stays(part, note):
                self._part(part, CHANGED)
        old = memories.records[old.memory_id]
        self._leave(old, by=CHANGED, keep_absorbed=True)
        memories.remove(old.memory_id)
        return old.absorbed if old.status != RETIRED else ()

    def _leave(self, record: AdmissionRecord, *, by: str, keep_absorbed: bool = False) -> None:
        """Dissolve what a memory did to others, and what others did to it."""
        memories = self._memories
        self._lapse(record, by)
        if record.status == MERGED and record.replaced_by:
            self._part(record, by)
        elif record.status == SUPERSEDED and record.replaced_by:
            if (actor := memories.known(record.replaced_by)) is not None:
                self._lapse(actor, by)
            memories.free(record)
        # What a superseded memory had superseded stays behind, or the oldest of a chain would come back.
        if by != FORGOTTEN or record.status != SUPERSEDED:
            for behind in memories.superseded_by(record.memory_id):
                memories.free(behind)
        if not keep_absorbed:
            for part in map(memories.known, record.absorbed):
                if part is not None and part.status == MERGED:
                    self._part(part, by)

    def _part(self, merged: AdmissionRecord, by: str) -> None:
        self._memories.part(merged)
        self._lapse(merged, by)

    def _lapse(self, record: AdmissionRecord, by: str) -> None:
        """What was decided about this text of a memory holds no longer."""
        self._lapses.setdefault((record.memory_id, record.revision), (by, self._acting))


def admit(acts: Sequence[AdmissionAct], around: AdmissionContext) -> AdmissionResult:
    """Take acts of one namespace and one day, in order; each memory is touched by one act at most.

    Args:
        acts: forgets, then saves, then undos.
        around: what is known; `known` has the memories of the acts, what they superseded, and live or merged
            memories with the same content hash.
    """
    staying: set[str] = set()
    while True:
        batch = _AdmissionBatch(around)
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


def reconsider(names: Sequence[str], around: AdmissionContext) -> AdmissionResult:
    """Look at live memories as if they came in now, each against those before it.

    None is refused: what is in stays in. The decisions are about `names`, in their order; everything that
    becomes of them is in `changes`.

    Args:
        names: the live memories, by their turn.
        around: what is known; `neighbours` has these memories both as what is live and as the batch.
    """
    batch = _AdmissionBatch(around)
    batch.memories.withdrawn = set(names)
    for name in names:
        batch.look_again(name)
    return batch.result()


class _AdmissionBatch:
    """One batch under way; the source of the machine's verdicts, which are made now."""

    def __init__(self, around: AdmissionContext) -> None:
        self.memories = BatchMemories(around)
        self.decisions: list[AdmissionDecision] = []
        self._around, self._literal = around, around.policy.reconsolidation == "literal"
        self._decider = Decider(around, self.memories)
        self._machine = MemoryStateMachine(self.memories, self)

    def result(self) -> AdmissionResult:
        """Everything that is different from before."""
        return AdmissionResult(self.decisions, *self.memories.changed(), self._machine.lapses())

    def take(self, act: AdmissionAct) -> None:
        """Let one act happen."""
        if act.kind == "forget":
            self._machine.forget(act.memory_id, act.revision)
        elif act.kind == "undo":
            self._machine.undo(act.memory_id, act.other or "", act.by)
        elif act.decision is not None:
            self._accept(act.decision)
        elif act.note is not None:
            verdict = self._machine.save(act.note)
            self.decisions += [verdict.decision, *verdict.again]

    def look_again(self, name: str) -> None:
        """Decide about a memory that is live already."""
        record = self.memories.records[name]
        decision = self._decider.against_neighbours(
            replace(record, vector=self.memories.vector(record)), gate=False
        )
        self.memories.withdrawn.discard(name)  # only now, or it would be found beside itself
        self._carry_out(decision)

    def about(self, note: AdmissionRecord, old: AdmissionRecord | None) -> AdmissionVerdict:
        """See `Verdicts`."""
        self.memories.withdrawn.discard(note.memory_id)
        decision = self._decider.decide(note)
        plain, off = AdmissionVerdict(decision), self._around.policy.reconsolidation == "off"
        if decision.refused or off or note.vector is None or not note.vector.any():
            return plain
        # It belongs where its date puts it, if any that resembles it is newer (rule 2.1).
        return OutOfOrderInsert(self.memories, self._decider, self._around, note).verdict() or plain

    def stays(self, part: AdmissionRecord, note: AdmissionRecord) -> bool:
        """What was absorbed has to agree with the new text, or it is a memory of its own again.

        What is not for the same eyes as the new text never stays, nor what its labels cannot be united with.
        """
        return (
            part.sensitivity == note.sensitivity
            and (self._literal or not contradicted(note.content, part.content))
            and not apart(self.memories.standing(part), self.memories.standing(note))
        )

    def _accept(self, wanted: AdmissionDecision) -> None:
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
        self._carry_out(replace(wanted, appended=appended, other_revision=other.revision))

    def _carry_out(self, decision: AdmissionDecision) -> None:
        self.decisions.append(decision)
        self.memories.carry_out(decision)
