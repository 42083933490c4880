"""The memories of a namespace as they are after each act, and what one does to another.

What a memory says is never edited in place. It has its own text, and the memories that it absorbed have
theirs; its content is always made from these. So a merge can be taken back at any time, and exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from slowwave.quality.admission.labels import Labels, unite
from slowwave.quality.admission.records import (
    LIVE,
    MERGED,
    SUPERSEDED,
    AdmissionDecision,
    AdmissionRecord,
    MemoryChange,
)


class Memories:
    """Memories and their standing among each other.

    Attributes:
        records: as they are, by id.
        behind: ids of all that another absorbed or superseded at any time, by its id.
    """

    def __init__(self) -> None:
        self.records: dict[str, AdmissionRecord] = {}
        self.behind: dict[str, set[str]] = {}

    def known(self, name: str) -> AdmissionRecord | None:
        """A memory as it is now; None where there is none."""
        return self.records.get(name)

    def put(self, record: AdmissionRecord) -> None:
        """What a memory is from now on."""
        self.records[record.memory_id] = record
        if record.replaced_by:
            self.behind.setdefault(record.replaced_by, set()).add(record.memory_id)

    def enter(self, note: AdmissionRecord) -> None:
        """Let a note be what its memory says from now on."""
        self.put(note)

    def remove(self, name: str) -> None:
        """Take a memory away, since its next text is about to be judged."""
        del self.records[name]

    def snapshot(self) -> Callable[[], None]:
        """What lets everything be again as it is now, as often as it is called."""
        records = dict(self.records)

        def restore() -> None:
            self.records = dict(records)

        return restore

    # -- what one memory does to another -------------------------------------------------------------

    def carry_out(self, decision: AdmissionDecision) -> None:
        """Let a decision about a live memory take effect (rule 2.2)."""
        if decision.outcome not in ("merge", "supersede") or decision.other is None:
            return
        actor, other = self.records[decision.memory_id], self.records[decision.other]
        if decision.outcome == "merge":
            self.put(replace(actor, status=MERGED, replaced_by=other.memory_id))
            other = self.records[decision.other]
            self.put(replace(other, absorbed=self._in_turn(other.absorbed, actor)))
        else:
            self.put(replace(other, status=SUPERSEDED, replaced_by=actor.memory_id))

    def take_back(self, actor: str, other: str) -> bool:
        """End what one memory did to another, if it holds; whether it did."""
        if (merged := self.known(actor)) and (merged.status, merged.replaced_by) == (MERGED, other):
            self.part(merged)
        elif (behind := self.known(other)) and (behind.status, behind.replaced_by) == (SUPERSEDED, actor):
            self.free(behind)
        else:
            return False
        return True

    def part(self, merged: AdmissionRecord) -> None:
        """Take a merged memory out of the one that absorbed it."""
        if (target := self.known(merged.replaced_by or "")) is not None:
            left = tuple(part for part in target.absorbed if part != merged.memory_id)
            self.put(replace(target, absorbed=left))
        self.free(merged)

    def free(self, record: AdmissionRecord) -> None:
        """Let a memory stand for itself again."""
        self.put(replace(record, status=LIVE, replaced_by=None))

    def superseded_by(self, name: str) -> list[AdmissionRecord]:
        """The memories that stand behind this one."""
        known = map(self.records.get, sorted(self.behind.get(name, ())))
        return [one for one in known if one and (one.status, one.replaced_by) == (SUPERSEDED, name)]

    def _in_turn(self, absorbed: tuple[str, ...], part: AdmissionRecord) -> tuple[str, ...]:
        """What a memory absorbed, with one more in its turn."""
        at = len(absorbed)
        while at and (before := self.known(absorbed[at - 1])) is not None and before.turn > part.turn:
            at -= 1
        return (*absorbed[:at], part.memory_id, *absorbed[at:])

    # -- what a memory is ------------------------------------------------------------------------------

    def parts(
        self, record: AdmissionRecord, among: Mapping[str, AdmissionRecord] | None = None
    ) -> list[AdmissionRecord]:
        """What a memory absorbed, and what that had absorbed, in order; now, or among other records."""
        records = self.records if among is None else among
        parts = []
        for name in record.absorbed:
            if (part := records.get(name)) is not None:
                parts += [part, *self.parts(part, among)]
        return parts

    def content(self, record: AdmissionRecord) -> str:
        """What a memory says, with all that it absorbed."""
        content = record.content
        for part in self.parts(record):
            content, _ = merge_lines(content, part.content)
        return content

    def labels(self, record: AdmissionRecord) -> Labels:
        """What a memory says of itself, with the labels of all that it absorbed."""
        return unite(record.labels, (part.labels for part in self.parts(record)))

    def change(self, record: AdmissionRecord) -> MemoryChange:
        """What a memory is, with all that it absorbed."""
        parts = tuple((part.memory_id, part.revision) for part in self.parts(record))
        return MemoryChange(record, self.content(record), None, parts, self.labels(record))


def merge_lines(content: str, addition: str) -> tuple[str, tuple[str, ...]]:
    """The content with the lines of `addition` that it lacks, and these lines (rule 2.2, merge)."""
    present = {line.strip() for line in content.split("\n")}
    fresh = []
    for line in addition.split("\n"):
        bare = line.strip()
        if bare and bare not in present:
            present.add(bare)
            fresh.append(line.rstrip())
    return ("\n".join([content.rstrip("\n"), *fresh]) if fresh else content), tuple(fresh)
