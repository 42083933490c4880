"""State of a namespace's memories, with reversible merges and supersedes.

A memory's text is never edited in place. It has its own text, absorbed memories have theirs, and its content
is computed from these. So any merge can be undone exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import islice

import numpy as np

from slowwave.quality.admission.labels import Labels, WeighedMemory, unite
from slowwave.quality.admission.statuses import LIVE, MERGED, SUPERSEDED
from slowwave.quality.admission.types import (
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
    """Memories with their merge and supersede relations.

    Attributes:
        records: current state, by id.
        behind: ids of all memories that another ever absorbed or superseded, by its id.
    """

    def __init__(self) -> None:
        self.records: dict[str, AdmissionRecord] = {}
        self.behind: dict[str, set[str]] = {}

    def known(self, name: str) -> AdmissionRecord | None:
        """Return the current state of a memory; None if there is none."""
        return self.records.get(name)

    def put(self, record: AdmissionRecord) -> None:
        """Set the state of a memory."""
        self.records[record.memory_id] = record
        if record.replaced_by:
            self.behind.setdefault(record.replaced_by, set()).add(record.memory_id)

    def enter(self, note: AdmissionRecord) -> None:
        """Set a note as the text of its memory."""
        self.put(note)

    def remove(self, name: str) -> None:
        """Remove a memory before its next text is judged."""
        del self.records[name]

    def snapshot(self) -> Callable[[], None]:
        """Return a function that restores the current state, any number of times."""
        records = dict(self.records)

        def restore() -> None:
            self.records = dict(records)

        return restore

    # -- what one memory does to another -------------------------------------------------------------

    def carry_out(self, decision: AdmissionDecision) -> None:
        """Apply a decision on a live memory (rule 2.2)."""
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
        """Undo the merge or supersede of a pair, if it holds; return whether it did."""
        if (merged := self.known(actor)) and (merged.status, merged.replaced_by) == (MERGED, other):
            self.part(merged)
        elif (behind := self.known(other)) and (behind.status, behind.replaced_by) == (SUPERSEDED, actor):
            self.free(behind)
        else:
            return False
        return True

    def part(self, merged: AdmissionRecord) -> None:
        """Remove a merged memory from the one that absorbed it."""
        if (target := self.known(merged.replaced_by or "")) is not None:
            remaining = tuple(part for part in target.absorbed if part != merged.memory_id)
            self.put(replace(target, absorbed=remaining))
        self.free(merged)

    def free(self, record: AdmissionRecord) -> None:
        """Make a memory live again."""
        self.put(replace(record, status=LIVE, replaced_by=None))

    def superseded_by(self, name: str) -> list[AdmissionRecord]:
        """Return the memories that this one superseded."""
        behind = map(self.records.get, sorted(self.behind.get(name, ())))
        return [each for each in behind if each and (each.status, each.replaced_by) == (SUPERSEDED, name)]

    def _in_turn(self, absorbed: tuple[str, ...], part: AdmissionRecord) -> tuple[str, ...]:
        """Insert a memory into the absorbed ones, in order of turn."""
        at = len(absorbed)
        while at and (before := self.known(absorbed[at - 1])) is not None and before.turn > part.turn:
            at -= 1
        return (*absorbed[:at], part.memory_id, *absorbed[at:])

    # -- what a memory is ------------------------------------------------------------------------------

    def parts(
        self, record: AdmissionRecord, among: Mapping[str, AdmissionRecord] | None = None
    ) -> list[AdmissionRecord]:
        """Return absorbed memories recursively, in order, now or in the state `among`."""
        records = self.records if among is None else among
        parts = []
        for name in record.absorbed:
            if (part := records.get(name)) is not None:
                parts += [part, *self.parts(part, among)]
        return parts

    def content(self, record: AdmissionRecord) -> str:
        """Return the content of a memory with all absorbed texts."""
        content = record.content
        for part in self.parts(record):
            content, _ = merge_lines(content, part.content)
        return content

    def labels(self, record: AdmissionRecord) -> Labels:
        """Return the labels of a memory with those of all absorbed memories."""
        parts = self.parts(record)
        return unite(record.labels, (part.labels for part in parts)) if parts else record.labels

    def change(self, record: AdmissionRecord, vector: Vector | None = None) -> MemoryChange:
        """Return the new state of a memory with all that it absorbed."""
        parts = tuple((part.memory_id, part.revision) for part in self.parts(record))
        return MemoryChange(record, self.content(record), vector, parts, self.labels(record))


def merge_lines(content: str, addition: str) -> tuple[str, tuple[str, ...]]:
    """Append the missing lines of `addition`; return the content and these lines (rule 2.2)."""
    present = {line.strip() for line in content.split("\n")}
    fresh = []
    for line in addition.split("\n"):
        bare = line.strip()
        if bare and bare not in present:
            present.add(bare)
            fresh.append(line.rstrip())
    return ("\n".join([content.rstrip("\n"), *fresh]) if fresh else content), tuple(fresh)


class BatchMemories(Memories):
    """Memories during a batch.

    Attributes:
        before: state before the batch, by id.
        entered: ids of the accepted notes.
        elsewhere: live ids whose vector differs from that in the neighbours.
        withdrawn: ids that cannot be found for now.
        by_hash: ids of all memories that have or had a text, by its hash.
        version: counter of changes.
        latest: latest turn of any memory, past ones included.
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
        self._shelf: list[str] = []  # ids of the rows of _rows
        self._rows = np.zeros((0, 0), np.float32)
        self._shelved: dict[str, list[Vector]] = {}
        self.latest: tuple[int, str, str] = (-(2**63), "", "")
        self._touched: set[str] = set()
        self._contents: dict[tuple[str, ...], str] = {}
        self._vectors: dict[tuple[str, str], Vector] = {}
        self.learn(around.known.values())
        self.recall_missing(around.neighbours.ids())

    def snapshot(self) -> Callable[[], None]:
        """See `Memories`; memories loaded meanwhile stay loaded."""
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
        """Return the current state of a memory, loading it if needed; None if there is none."""
        self.recall_missing([name] if name else [])
        return self.records.get(name)

    def recall_missing(self, names: Iterable[str]) -> None:
        """Load the memories that are not loaded yet."""
        missing = [name for name in names if name not in self.before and name not in self.records]
        self.learn(self._around.recall(missing) if missing else ())

    def learn(self, loaded: Iterable[AdmissionRecord]) -> list[str]:
        """Add loaded memories that are new here; return the ids of all."""
        names = []
        for record in loaded:
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
        """Set the state of a memory; the content of those that absorbed it changes, too."""
        super().put(record)
        self._index(record)
        self.version += 1
        affected: AdmissionRecord | None = record
        while affected is not None:
            self._touched.add(affected.memory_id)
            if self._placed(affected):
                self.elsewhere.discard(affected.memory_id)
            else:
                self.elsewhere.add(affected.memory_id)
            affected = self.known(affected.replaced_by or "") if affected.status == MERGED else None

    def nearest(self, note: AdmissionRecord, floor: float) -> list[tuple[str, float]]:
        """Return similar memories that were live at a memory's turn, most similar first."""
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
        """Return a memory as it was at a turn, without the effects of newer ones."""
        parts = tuple(
            name for name in record.absorbed if (part := self.known(name)) is not None and part.turn < turn
        )
        if record.status == SUPERSEDED and (by := self.known(record.replaced_by or "")) and by.turn > turn:
            return replace(record, status=LIVE, replaced_by=None, absorbed=parts)
        return replace(record, absorbed=parts)

    def resembling(self, vectors: Sequence[Vector], floor: float) -> list[AdmissionRecord]:
        """Return memories of which any text, past or present, resembles one of the vectors."""
        wanted = np.array(vectors, dtype=np.float32)
        if not len(wanted) or not self._shelf:
            return []
        close = np.flatnonzero((self._rows[: len(self._shelf)] @ wanted.T).max(axis=1) >= floor - SLACK)
        matches = {self._shelf[at] for at in close.tolist()}
        for name in self._grown - matches:
            record = self.records.get(name)
            if record and any((wanted @ vector).max() >= floor - SLACK for vector in self.sayings(record)):
                matches.add(name)
        return [self.records[name] for name in sorted(matches) if name in self.records]

    def _shelve(self, name: str, vector: Vector) -> None:
        vectors = self._shelved.setdefault(name, [])
        if any(shelved is vector for shelved in vectors):
            return
        vectors.append(vector)
        count = len(self._shelf)
        if count == len(self._rows):
            longer = np.zeros((max(64, 2 * count), len(vector)), np.float32)
            if count:
                longer[:count] = self._rows
            self._rows = longer
        self._rows[count] = vector
        self._shelf.append(name)

    def sayings(self, record: AdmissionRecord) -> list[Vector]:
        """Return the vectors of all contents of a memory, from no absorbed text to all."""
        grown = (record.absorbed[:count] for count in range(len(record.absorbed) + 1))
        return [self.vector(replace(record, absorbed=parts)) for parts in grown]

    def _placed(self, record: AdmissionRecord) -> bool:
        """Whether `neighbours` has the vector of the current content."""
        if record.memory_id in self.entered:
            return self.content(record) == record.content
        before = self.before[record.memory_id]
        return before.status == LIVE and self.content(record) == _content_before(before)

    def parts(
        self, record: AdmissionRecord, among: Mapping[str, AdmissionRecord] | None = None
    ) -> list[AdmissionRecord]:
        """See `Memories`."""
        self.recall_missing(record.absorbed)
        return super().parts(record, among)

    def _unchanged(self, record: AdmissionRecord) -> AdmissionRecord | None:
        """Return the state before the batch if the content is unchanged."""
        before = self.before.get(record.memory_id)
        if before is None or (before.revision, before.absorbed) != (record.revision, record.absorbed):
            return None
        now = [(part.memory_id, part.revision) for part in self.parts(record)]
        then = [(part.memory_id, part.revision) for part in self.parts(before, self.before)]
        return before if now == then else None

    def content(self, record: AdmissionRecord) -> str:
        """Return the content of a memory with all absorbed texts."""
        if not record.absorbed and record.memory_id not in self.before:
            return record.content
        if (before := self._unchanged(record)) is not None:
            return _content_before(before)
        key = (record.memory_id, record.revision, *(p.memory_id + p.revision for p in self.parts(record)))
        if key not in self._contents:
            self._contents[key] = super().content(record)
        return self._contents[key]

    def standing(self, record: AdmissionRecord) -> WeighedMemory:
        """Return a memory as compared in decisions."""
        labels = self.labels(record)
        contexts = (part.context for part in (record, *self.parts(record)))
        return WeighedMemory(
            labels, effective_tier(labels.importance_tier, record.promoted or None), record.vault,
            record.sensitivity, next(filter(None, contexts), ""),
        )  # fmt: skip

    def protected(self, record: AdmissionRecord) -> bool:
        """Whether a merge or supersede needs a person's consent (rule 2.5)."""
        return any(part.protected or part.labels.protected for part in (record, *self.parts(record)))

    def vector(self, record: AdmissionRecord) -> Vector:
        """Return the vector of the current content."""
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
        """Return accepted notes and changed memories, by id."""
        entered: dict[str, MemoryChange] = {}
        changes: dict[str, MemoryChange] = {}
        for name in sorted(self._touched):
            record, before = self.records[name], self.before.get(name)
            change = self.change(record, self.vector(record))
            if name in self.entered:
                entered[name] = change
            elif before is not None and (
                self._unchanged(record) is None or record.relations != before.relations
            ):
                changes[name] = change
        return entered, changes


def _content_before(record: AdmissionRecord) -> str:
    """Return the content of a memory before the batch, absorbed texts included."""
    return record.content if record.merged_content is None else record.merged_content
