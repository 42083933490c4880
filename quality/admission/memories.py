"""Memories of a namespace after each act, and what one does to another.

What a memory says is never edited in place. It has its own text, and the memories that it absorbed have
theirs; its content is always made from these. So a merge can be taken back at any time, and exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from slowwave.quality.admission.labels import Labels, WeighedMemory, unite
from slowwave.quality.admission.types import (
    LIVE,
    MERGED,
    SUPERSEDED,
    AdmissionContext,
    AdmissionDecision,
    AdmissionRecord,
    MemoryChange,
    Turn,
    Vector,
)
from slowwave.quality.neighbours import DECIMALS, SLACK
from slowwave.scoring.feedback.promotion import effective_tier


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
        parts = self.parts(record)
        return unite(record.labels, (part.labels for part in parts)) if parts else record.labels

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


class BatchMemories(Memories):
    """The memories while a batch is taken.

    Attributes:
        before: as they were, by id.
        entered: ids of the notes that were let in.
        elsewhere: live with another vector than the neighbours have.
        withdrawn: not to be found for now.
        by_hash: ids of all that say or said a text, by its hash.
        version: counts the changes.
        latest: the latest turn of any that is or was here.
    """

    def __init__(self, around: AdmissionContext) -> None:
        super().__init__()
        self._around = around
        self.before: dict[str, AdmissionRecord] = {}
        self.entered: set[str] = set()
        self.elsewhere: set[str] = set()
        self.withdrawn: set[str] = set()
        self.by_hash: dict[str, set[str]] = {}
        self.version = 0
        self._grown: set[str] = set()
        self._shelf: list[str] = []  # whose vectors are the rows of the next
        self._rows = np.zeros((0, 0), np.float32)
        self._shelved: dict[str, list[Vector]] = {}
        self.latest: tuple[int, str, str] = (-(2**63), "", "")
        self._touched: set[str] = set()
        self._contents: dict[tuple[str, ...], str] = {}
        self._vectors: dict[tuple[str, str], Vector] = {}
        self.learn(around.known.values())
        self.recall_missing(around.neighbours.ids())

    def snapshot(self) -> Callable[[], None]:
        """See `Memories`; what was loaded meanwhile stays loaded."""
        records, loaded = dict(self.records), len(self.before)
        elsewhere, entered, touched = set(self.elsewhere), set(self.entered), set(self._touched)

        def restore() -> None:
            self.records = records | dict(islice(self.before.items(), loaded, None))
            self.elsewhere, self.entered, self._touched = set(elsewhere), set(entered), set(touched)
            self.version += 1

        return restore

    def enter(self, note: AdmissionRecord) -> None:
        """See `Memories`."""
        self.entered.add(note.memory_id)
        self.put(note)

    def remove(self, name: str) -> None:
        """See `Memories`."""
        super().remove(name)
        self.version += 1

    def is_live(self, name: str) -> bool:
        """Whether a memory can be found now."""
        record = self.records.get(name)
        return record is not None and record.status == LIVE and name not in self.withdrawn

    def known(self, name: str) -> AdmissionRecord | None:
        """A memory as it is now, loaded when it is not here yet; None where there is none."""
        self.recall_missing([name] if name else [])
        return self.records.get(name)

    def recall_missing(self, names: Iterable[str]) -> None:
        """Load those of these memories that are not here yet."""
        lacking = [name for name in names if name not in self.before and name not in self.records]
        self.learn(self._around.recall(lacking) if lacking else ())

    def learn(self, found: Iterable[AdmissionRecord]) -> list[str]:
        """Take in memories of before, those that are not here yet; gives the names of all."""
        names = []
        for record in found:
            name = record.memory_id
            names.append(name)
            if name not in self.before and name not in self.records:
                self.before[name] = record
                super().put(record)
                self._index(record)
        return names

    def _index(self, record: AdmissionRecord) -> None:
        self.latest = max(self.latest, record.turn)
        if record.absorbed:
            self._grown.add(record.memory_id)
        for vector in (record.vector, record.merged_vector):
            if vector is not None:
                self._shelve(record.memory_id, vector)
        self.by_hash.setdefault(record.content_hash, set()).add(record.memory_id)

    def put(self, record: AdmissionRecord) -> None:
        """What a memory is from now on; those that absorbed it say something else then, too."""
        super().put(record)
        self._index(record)
        self.version += 1
        one: AdmissionRecord | None = record
        while one is not None:
            self._touched.add(one.memory_id)
            if self._placed(one):
                self.elsewhere.discard(one.memory_id)
            else:
                self.elsewhere.add(one.memory_id)
            one = self.known(one.replaced_by or "") if one.status == MERGED else None

    def nearest(self, note: AdmissionRecord, floor: float) -> list[tuple[str, float]]:
        """What was live here at its turn and resembles a memory, the most similar first."""
        assert note.vector is not None
        exact = note.vector.astype(np.float64)
        near = []
        for record in self.resembling([note.vector], floor):
            name = record.memory_id
            then = self.as_of(record, note.turn)
            if name == note.memory_id or record.sensitivity != note.sensitivity or then.status != LIVE:
                continue
            if record.turn >= note.turn or name in self.withdrawn:
                continue
            similarity = round(float(exact @ self.vector(then).astype(np.float64)), DECIMALS)
            if similarity >= floor:
                near.append((-similarity, name))
        return [(name, -negative) for negative, name in sorted(near)]

    def as_of(self, record: AdmissionRecord, turn: Turn) -> AdmissionRecord:
        """A memory as it was at a turn: what newer ones did to it was not done yet."""
        parts = tuple(
            name for name in record.absorbed if (part := self.known(name)) is not None and part.turn < turn
        )
        if record.status == SUPERSEDED and (by := self.known(record.replaced_by or "")) and by.turn > turn:
            return replace(record, status=LIVE, replaced_by=None, absorbed=parts)
        return replace(record, absorbed=parts)

    def resembling(self, vectors: Sequence[Vector], floor: float) -> list[AdmissionRecord]:
        """What is here and said at any time something that resembles one of these vectors."""
        wanted = np.array(vectors, dtype=np.float32)
        if not len(wanted) or not self._shelf:
            return []
        rows = self._rows[: len(self._shelf)]
        close = np.flatnonzero((rows @ wanted.T).max(axis=1) >= floor - SLACK)
        found = {self._shelf[at] for at in close.tolist()}
        for name in self._grown - found:
            record = self.records.get(name)
            if record and any((wanted @ said).max() >= floor - SLACK for said in self.sayings(record)):
                found.add(name)
        return [self.records[name] for name in sorted(found) if name in self.records]

    def _shelve(self, name: str, vector: Vector) -> None:
        known = self._shelved.setdefault(name, [])
        if any(one is vector for one in known):
            return
        known.append(vector)
        count = len(self._shelf)
        if count == len(self._rows):
            longer = np.zeros((max(64, 2 * count), len(vector)), np.float32)
            if count:
                longer[:count] = self._rows
            self._rows = longer
        self._rows[count] = vector
        self._shelf.append(name)

    def sayings(self, record: AdmissionRecord) -> list[Vector]:
        """The vectors of all that a memory said since it absorbed nothing."""
        grown = (record.absorbed[:count] for count in range(len(record.absorbed) + 1))
        return [self.vector(replace(record, absorbed=parts)) for parts in grown]

    def _placed(self, record: AdmissionRecord) -> bool:
        """Whether `neighbours` has the vector of what a memory says now."""
        if record.memory_id in self.entered:
            return self.content(record) == record.content
        before = self.before[record.memory_id]
        return before.status == LIVE and self.content(record) == _said(before)

    def parts(
        self, record: AdmissionRecord, among: Mapping[str, AdmissionRecord] | None = None
    ) -> list[AdmissionRecord]:
        """See `Memories`."""
        self.recall_missing(record.absorbed)
        return super().parts(record, among)

    def _unchanged(self, record: AdmissionRecord) -> AdmissionRecord | None:
        """What the memory was before, if it still says the same."""
        before = self.before.get(record.memory_id)
        if before is None or (before.revision, before.absorbed) != (record.revision, record.absorbed):
            return None
        now = [(part.memory_id, part.revision) for part in self.parts(record)]
        then = [(part.memory_id, part.revision) for part in self.parts(before, self.before)]
        return before if now == then else None

    def content(self, record: AdmissionRecord) -> str:
        """What a memory says, with all that it absorbed."""
        if (before := self._unchanged(record)) is not None:
            return _said(before)
        key = (record.memory_id, record.revision, *(p.memory_id + p.revision for p in self.parts(record)))
        if key not in self._contents:
            self._contents[key] = super().content(record)
        return self._contents[key]

    def standing(self, record: AdmissionRecord) -> WeighedMemory:
        """A memory as it is weighed against another one."""
        labels = self.labels(record)
        contexts = (one.context for one in (record, *self.parts(record)))
        return WeighedMemory(
            labels, effective_tier(labels.importance_tier, record.promoted or None), record.vault,
            record.sensitivity, next(filter(None, contexts), ""),
        )  # fmt: skip

    def protected(self, record: AdmissionRecord) -> bool:
        """Whether a person has to say so before it is merged or superseded (rule 2.5)."""
        return any(one.protected or one.labels.protected for one in (record, *self.parts(record)))

    def vector(self, record: AdmissionRecord) -> Vector:
        """Vector of what a memory says."""
        if (before := self._unchanged(record)) is not None and before.merged_vector is not None:
            return before.merged_vector
        content = self.content(record)
        if record.vector is not None and content == record.content:
            return record.vector
        key = (record.title, content)
        if key not in self._vectors:
            self._vectors[key] = self._around.embed(record.title, content)
        return self._vectors[key]

    def changed(self) -> tuple[dict[str, MemoryChange], dict[str, MemoryChange]]:
        """What entered, and what of before is different now; by id."""
        entered: dict[str, MemoryChange] = {}
        changes: dict[str, MemoryChange] = {}
        for name in sorted(self._touched):
            record, before = self.records[name], self.before.get(name)
            change = replace(self.change(record), vector=self.vector(record))
            if name in self.entered:
                entered[name] = change
            elif before is not None and (
                self._unchanged(record) is None or record.relations != before.relations
            ):
                changes[name] = change
        return entered, changes


def _said(record: AdmissionRecord) -> str:
    """What a memory of before says, with what it had absorbed."""
    return record.content if record.merged_content is None else record.merged_content
