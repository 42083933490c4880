"""The memories of a namespace while a batch is taken: as they were, and as they are after each act.

What a memory says is never edited in place. It has its own text, and the memories that it absorbed have
theirs; its content is always made from these. So a merge can be taken back at any time, and exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from quality.admission.merging import merge_lines
from quality.admission.records import LIVE, MERGED, AdmissionPolicy, Change, Record, Vector
from quality.neighbours import Neighbours


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What is known around a batch, and how to come to know more.

    Attributes:
        known: the memories that the batch touches, by id.
        neighbours: the live memories by similarity, with the notes of the batch.
        policy: the rules.
        recall: loads memories by id, as `known` has them.
        embed: vector of a memory with this title and content.
        apart: pairs that a person has kept apart; they are never decided against each other.
    """

    known: Mapping[str, Record]
    neighbours: Neighbours
    policy: AdmissionPolicy
    recall: Callable[[Iterable[str]], Iterable[Record]]
    embed: Callable[[str, str], Vector]
    apart: frozenset[frozenset[str]] = frozenset()


class Memories:
    """The memories while a batch is taken.

    Attributes:
        before: as they were, by id.
        records: as they are.
        entered: ids of the notes that were let in.
        elsewhere: live with another vector than the neighbours have.
        withdrawn: not to be found for now.
        by_hash: ids of all that say or said a text, by its hash.
        behind: ids of all that another absorbed or superseded, by its id.
        version: counts the changes.
    """

    def __init__(self, around: Surroundings) -> None:
        self._around = around
        self.before = dict(around.known)
        self.records = dict(around.known)
        self.entered: set[str] = set()
        self.elsewhere: set[str] = set()
        self.withdrawn: set[str] = set()
        self.by_hash: dict[str, set[str]] = {}
        self.behind: dict[str, set[str]] = {}
        self.version = 0
        self._touched: set[str] = set()
        self._contents: dict[tuple[str, ...], str] = {}
        self._vectors: dict[tuple[str, str], Vector] = {}
        for record in around.known.values():
            self._index(record)
        self.recall_missing(around.neighbours.ids())

    def snapshot(self) -> tuple[dict[str, Record], set[str]]:
        """What `restore` takes."""
        return dict(self.records), set(self.elsewhere)

    def restore(self, snapshot: tuple[dict[str, Record], set[str]]) -> None:
        """Let everything be as it was; what was loaded meanwhile stays loaded."""
        records, self.elsewhere = snapshot
        self.records = self.before | records
        self.version += 1

    def remove(self, name: str) -> None:
        """Take a memory away, since its next text is about to be judged."""
        del self.records[name]
        self.version += 1

    def is_live(self, name: str) -> bool:
        """Whether a memory can be found now."""
        record = self.records.get(name)
        return record is not None and record.status == LIVE and name not in self.withdrawn

    def known(self, name: str) -> Record | None:
        """A memory as it is now, loaded when it is not here yet; None where there is none."""
        self.recall_missing([name] if name else [])
        return self.records.get(name)

    def recall_missing(self, names: Iterable[str]) -> None:
        """Load those of these memories that are not here yet."""
        lacking = [name for name in names if name not in self.before and name not in self.records]
        for record in self._around.recall(lacking) if lacking else ():
            self.before[record.memory_id] = record
            self.records[record.memory_id] = record
            self._index(record)

    def _index(self, record: Record) -> None:
        self.by_hash.setdefault(record.content_hash, set()).add(record.memory_id)
        if record.replaced_by:
            self.behind.setdefault(record.replaced_by, set()).add(record.memory_id)

    def put(self, record: Record) -> None:
        """What a memory is from now on; those that absorbed it say something else then, too."""
        self.records[record.memory_id] = record
        self._index(record)
        self.version += 1
        one: Record | None = record
        while one is not None:
            self._touched.add(one.memory_id)
            if self._placed(one):
                self.elsewhere.discard(one.memory_id)
            else:
                self.elsewhere.add(one.memory_id)
            one = self.known(one.replaced_by or "") if one.status == MERGED else None

    def _placed(self, record: Record) -> bool:
        """Whether `neighbours` has the vector of what a memory says now."""
        if record.memory_id in self.entered:
            return self.content(record) == record.content
        before = self.before[record.memory_id]
        return before.status == LIVE and self.content(record) == _said(before)

    def _parts(self, record: Record, records: Mapping[str, Record] | None = None) -> list[Record]:
        """What a memory absorbed, and what that had absorbed, in order; now, or among other records."""
        self.recall_missing(record.absorbed)
        among = self.records if records is None else records
        parts = []
        for name in record.absorbed:
            if (part := among.get(name)) is not None:
                parts += [part, *self._parts(part, records)]
        return parts

    def _unchanged(self, record: Record) -> Record | None:
        """What the memory was before, if it still says the same."""
        before = self.before.get(record.memory_id)
        if before is None or (before.revision, before.absorbed) != (record.revision, record.absorbed):
            return None
        now = [(part.memory_id, part.revision) for part in self._parts(record)]
        then = [(part.memory_id, part.revision) for part in self._parts(before, self.before)]
        return before if now == then else None

    def content(self, record: Record) -> str:
        """What a memory says, with all that it absorbed."""
        if (before := self._unchanged(record)) is not None:
            return _said(before)
        key = (record.memory_id, record.revision, *(p.memory_id + p.revision for p in self._parts(record)))
        if key not in self._contents:
            content = record.content
            for part in self._parts(record):
                content, _ = merge_lines(content, part.content)
            self._contents[key] = content
        return self._contents[key]

    def vector(self, record: Record) -> Vector:
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

    def changed(self) -> tuple[dict[str, Change], dict[str, Change]]:
        """What entered, and what of before is different now; by id."""
        entered: dict[str, Change] = {}
        changes: dict[str, Change] = {}
        for name in sorted(self._touched):
            record, before = self.records[name], self.before.get(name)
            content = self.content(record)
            rewritten = before is None or content != _said(before)
            parts = tuple((part.memory_id, part.revision) for part in self._parts(record))
            change = Change(record, content, self.vector(record), parts, rewritten)
            if name in self.entered:
                entered[name] = change
            elif before is not None and (change.rewritten or _standing(record) != _standing(before)):
                changes[name] = change
        return entered, changes


def _said(record: Record) -> str:
    """What a memory of before says, with what it had absorbed."""
    return record.content if record.merged_content is None else record.merged_content


def _standing(record: Record) -> tuple[object, ...]:
    return record.status, record.replaced_by, record.absorbed
