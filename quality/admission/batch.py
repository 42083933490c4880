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
from slowwave.quality.admission.machine import AdmissionVerdict, Machine
from slowwave.quality.admission.memories import BatchMemories, merge_lines
from slowwave.quality.admission.records import (
    LIVE,
    Admission,
    AdmissionAct,
    AdmissionDecision,
    AdmissionRecord,
    Surroundings,
)
from slowwave.quality.admission.turns import NoteTurn
from slowwave.quality.divergence.statements import contradicted


def admit(acts: Sequence[AdmissionAct], around: Surroundings) -> Admission:
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


def reconsider(names: Sequence[str], around: Surroundings) -> Admission:
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

    def __init__(self, around: Surroundings) -> None:
        self.memories = BatchMemories(around)
        self.decisions: list[AdmissionDecision] = []
        self._around, self._literal = around, around.policy.reconsolidation == "literal"
        self._decider = Decider(around, self.memories)
        self._machine = Machine(self.memories, self)

    def result(self) -> Admission:
        """Everything that is different from before."""
        return Admission(self.decisions, *self.memories.changed(), self._machine.lapses())

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
        """See `slowwave.quality.admission.machine.Verdicts`."""
        self.memories.withdrawn.discard(note.memory_id)
        decision = self._decider.decide(note)
        plain, off = AdmissionVerdict(decision), self._around.policy.reconsolidation == "off"
        if decision.refused or off or note.vector is None or not note.vector.any():
            return plain
        # It belongs where its date puts it, if any that resembles it is newer (rule 2.1).
        return NoteTurn(self.memories, self._decider, self._around, note).verdict() or plain

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
