"""What acts do to memories: each transition once, whether its verdict is made now or was made long ago.

The machine knows what becomes of the memories when a note comes, when one is forgotten and when a decision
is taken back. What it does not know it asks of a source of verdicts: by day and night that decides
(`slowwave.quality.admission.batch`), for a day of the past it reads the decision log
(`slowwave.lifecycle.past`).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Protocol

from slowwave.quality.admission.memories import Memories
from slowwave.quality.admission.records import (
    CHANGED,
    FORGOTTEN,
    LIVE,
    MERGED,
    REORDERED,
    RETIRED,
    SUPERSEDED,
    AdmissionDecision,
    AdmissionRecord,
    Lapse,
)


@dataclass(frozen=True, slots=True)
class AdmissionVerdict:
    """What becomes of a note that comes, and of newer memories where it comes late.

    Attributes:
        decision: about the note.
        back: what holds no longer once it is there and is taken back before it enters: who did it, and to
            which memory.
        looks: decisions about newer memories, in their turn; they take effect after the one about the note.
        again: those of the looks that are others than before.
        lapsed: newer memories whose decision of before holds no longer.
    """

    decision: AdmissionDecision
    back: tuple[tuple[str, str], ...] = ()
    looks: tuple[AdmissionDecision, ...] = ()
    again: tuple[AdmissionDecision, ...] = ()
    lapsed: tuple[AdmissionRecord, ...] = ()


class Verdicts(Protocol):
    """Where it is known from what becomes of a note."""

    def stays(self, part: AdmissionRecord, note: AdmissionRecord) -> bool:
        """Whether what a memory absorbed stays in it, now that it says what this note says."""

    def about(self, note: AdmissionRecord, old: AdmissionRecord | None) -> AdmissionVerdict:
        """What becomes of a note; the memories are as they are without it and without its old text."""


class Machine:
    """The memories of one namespace while acts happen to them, one after the other."""

    def __init__(self, memories: Memories, verdicts: Verdicts) -> None:
        self._memories, self._verdicts = memories, verdicts
        self._lapses: dict[tuple[str, str], tuple[str, str]] = {}
        self._acting = ""

    def lapses(self) -> list[Lapse]:
        """Decisions of before that hold no longer."""
        return [Lapse(*text, *why) for text, why in self._lapses.items()]

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
