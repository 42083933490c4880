"""State machine of memories: saves, forgets, undos and accepts, one event at a time.

The machine applies transitions. A source of verdicts decides: `admit` computes verdicts, and for a past day
`slowwave.lifecycle.past` reads them from the decision log.

Each note is compared with the memories live at its turn, and a late one is inserted in date order. So a
batch, its halves and single saves give the same memories. The module does no I/O: the caller passes known
memories, and gets decisions and changed memories.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from slowwave.quality.admission.decide import Decider
from slowwave.quality.admission.labels import apart
from slowwave.quality.admission.late_arrivals import OutOfOrderInsert
from slowwave.quality.admission.memories import BatchMemories, Memories, merge_lines
from slowwave.quality.admission.reasons import CHANGED, FORGOTTEN, REORDERED
from slowwave.quality.admission.statuses import LIVE, MERGED, RETIRED, SUPERSEDED
from slowwave.quality.admission.types import (
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
    """Source of verdicts on notes."""

    def stays(self, part: AdmissionRecord, note: AdmissionRecord) -> bool:
        """Whether an absorbed memory stays absorbed under the new text."""

    def about(self, note: AdmissionRecord, old: AdmissionRecord | None) -> AdmissionVerdict:
        """Return the verdict on a note; its memory's old text is already removed."""


class MemoryStateMachine:
    """State machine of one namespace's memories."""

    def __init__(self, memories: Memories, verdicts: Verdicts) -> None:
        self._memories, self._verdicts = memories, verdicts
        self._lapses: dict[tuple[str, str], tuple[str, str]] = {}
        self._acting = ""

    def lapses(self) -> list[ExpiredDecision]:
        """Return earlier decisions that no longer hold."""
        return [ExpiredDecision(*text, *why) for text, why in self._lapses.items()]

    def save(self, note: AdmissionRecord) -> AdmissionVerdict:
        """Save a note as the text of its memory, or leave everything unchanged if refused."""
        memories, name = self._memories, note.memory_id
        self._acting = name
        old = memories.records.get(name)
        restore, lapses = (memories.snapshot(), dict(self._lapses)) if old is not None else (None, {})
        absorbed = () if old is None else self._make_way(old, note)
        entered = note
        if (note.absorbed, note.status, note.replaced_by) != (absorbed, LIVE, None):
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
        if parted:
            entered = replace(entered, absorbed=tuple(name for name in absorbed if name not in parted))
        memories.enter(entered)
        for decision in (verdict.decision, *verdict.looks):
            memories.carry_out(decision)
        for record in verdict.lapsed:
            self._lapse(record, REORDERED)
        return verdict

    def forget(self, name: str, revision: str = "") -> None:
        """Forget a memory; it gets the revision of the event, if there is one."""
        self._acting = name
        if (record := self._memories.records.get(name)) is not None:
            self._leave(record, by=FORGOTTEN)
            record = self._memories.records[name]
            self._memories.put(replace(record, status=RETIRED, revision=revision or record.revision))

    def undo(self, actor: str, other: str, by: str) -> None:
        """Undo the merge or supersede of a pair, if it holds."""
        self._acting = actor
        record = self._memories.known(actor)
        if record is not None and self._memories.take_back(actor, other):
            self._lapse(record, by)

    def _make_way(self, old: AdmissionRecord, note: AdmissionRecord) -> tuple[str, ...]:
        """Remove a memory before its new text is judged; return the absorbed ids that stay."""
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
        """Dissolve the merges and supersedes of a memory."""
        memories = self._memories
        self._lapse(record, by)
        if record.status == MERGED and record.replaced_by:
            self._part(record, by)
        elif record.status == SUPERSEDED and record.replaced_by:
            if (actor := memories.known(record.replaced_by)) is not None:
                self._lapse(actor, by)
            memories.free(record)
        # Memories behind a superseded one stay superseded, or the oldest of a chain would return.
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
        """Record that the decision on this text of a memory no longer holds."""
        self._lapses.setdefault((record.memory_id, record.revision), (by, self._acting))


def admit(acts: Sequence[AdmissionAct], around: AdmissionContext) -> AdmissionResult:
    """Apply events of one namespace and one day in order; each memory has one event at most.

    Args:
        acts: forgets, then saves, then undos (events).
        around: context; `known` has the memories of the events, those they superseded, and live or merged
            memories with the same content hash.
    """
    staying: set[str] = set()
    while True:
        batch = _AdmissionBatch(around)
        # A vault changes as a whole: old texts of its notes are withdrawn before any note is judged. A
        # refused note keeps its old text, which has to count from the start. The set of kept texts only
        # grows, so the loop ends.
        resaved = {act.memory_id for act in acts if act.note is not None and act.note.vault}
        withdrawn = {name for name in resaved if batch.memories.is_live(name)} - staying
        batch.memories.withdrawn = set(withdrawn)
        for act in acts:
            batch.take(act)
        kept = {decision.memory_id for decision in batch.decisions if decision.refused} & withdrawn
        if not kept:
            return batch.result()
        staying |= kept


def reconsider(names: Sequence[str], around: AdmissionContext) -> AdmissionResult:
    """Decide live memories again as if they came in now, each against earlier ones.

    None is refused. The decisions are on `names`, in order; all effects are in `changes`.

    Args:
        names: live memories, by turn.
        around: context; `neighbours` has these memories both as live and as the batch.
    """
    batch = _AdmissionBatch(around)
    batch.memories.withdrawn = set(names)
    for name in names:
        batch.look_again(name)
    return batch.result()


class _AdmissionBatch:
    """Batch in progress, and the source of its verdicts."""

    def __init__(self, around: AdmissionContext) -> None:
        self.memories = BatchMemories(around)
        self.decisions: list[AdmissionDecision] = []
        self._around, self._literal = around, around.policy.reconsolidation == "literal"
        self._decider = Decider(around, self.memories)
        self._machine = MemoryStateMachine(self.memories, self)

    def result(self) -> AdmissionResult:
        """Return all decisions and changes."""
        return AdmissionResult(self.decisions, *self.memories.changed(), self._machine.lapses())

    def take(self, act: AdmissionAct) -> None:
        """Apply one event."""
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
        """Decide a live memory again."""
        record = self.memories.records[name]
        decision = self._decider.against_neighbours(
            replace(record, vector=self.memories.vector(record)), gate=False
        )
        self.memories.withdrawn.discard(name)  # only now, or it would match itself
        self._carry_out(decision)

    def about(self, note: AdmissionRecord, old: AdmissionRecord | None) -> AdmissionVerdict:
        """See `Verdicts`."""
        self.memories.withdrawn.discard(note.memory_id)
        decision = self._decider.decide(note)
        plain, off = AdmissionVerdict(decision), self._around.policy.reconsolidation == "off"
        if decision.refused or off or note.vector is None or not note.vector.any():
            return plain
        # If a similar memory is newer, the note is inserted in date order (rule 2.1).
        return OutOfOrderInsert(self.memories, self._decider, self._around, note).verdict() or plain

    def stays(self, part: AdmissionRecord, note: AdmissionRecord) -> bool:
        """Whether an absorbed memory agrees with the new text.

        One of another sensitivity never stays, nor one whose labels cannot be united.
        """
        return (
            part.sensitivity == note.sensitivity
            and (self._literal or not contradicted(note.content, part.content))
            and not apart(self.memories.standing(part), self.memories.standing(note))
        )

    def _accept(self, wanted: AdmissionDecision) -> None:
        """Apply an accepted proposal, if both memories are unchanged since."""
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
