"""Which sound notes enter, and how: L3 of the save gate and reconsolidation (rules 1 and 2).

Notes are taken one after the other, each against what is live at its turn, so a batch, its halves and single
saves come to the same memory. Nothing is looked up here and nothing is written: the caller gives what is
known, and gets decisions and the memories that change.

What a memory says is never edited in place. It has its own text, and the memories that it absorbed have
theirs; its content is always made from these. So a merge can be taken back at any time, and exactly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
import numpy.typing as npt

from quality.divergence import Guard, Statement, contradicted, explain
from quality.neighbours import Also, Neighbours
from quality.reconsolidation import Policy, Thresholds, band, decide

Vector = npt.NDArray[np.float32]
Outcome = Literal["duplicate", "merge", "supersede", "related", "complement"]
EXACT_DUPLICATE = "exact_duplicate"
NEAR_DUPLICATE = "near_duplicate"
LIVE, MERGED, SUPERSEDED, RETIRED = "live", "merged", "superseded", "retired"


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """What is done with notes that say what is known already.

    Attributes:
        gate: whether duplicates are looked for at all (L3 of the save gate).
        reconsolidation: off, guarded or literal (rule 2.3).
        thresholds: cosines that belong to the embedding model (rule 2.4).
        neighbours: how many of the most similar memories are looked at (count).
    """

    gate: bool = True
    reconsolidation: Policy = "off"
    thresholds: Thresholds = field(default_factory=Thresholds)
    neighbours: int = 3

    @property
    def floor(self) -> float:
        """Cosine below which two memories do not concern each other."""
        if self.reconsolidation != "off":
            return min(self.thresholds.conflict, self.thresholds.merge, self.thresholds.duplicate)
        return self.thresholds.duplicate if self.gate else np.inf


@dataclass(frozen=True, slots=True, eq=False)
class Record:
    """One memory or note, as far as admission has to know it.

    Attributes:
        revision: of its own text.
        content: its own text, without what it absorbed.
        vector: of its own text (dimension,), unit length or zero; None where it is not known.
        replaced_by: the memory that absorbed or superseded it.
        absorbed: the memories merged into it, in the order of the merges.
        merged_content: with what it absorbed; None where that is its own text.
        merged_vector: of `merged_content`.
        protected: critical or a source of truth (rule 2.5).
        vault: whether it comes from a watched folder, which changes as a whole.
        warned: the gate only warns of duplicates.
        released: a person let it in.
    """

    memory_id: str
    revision: str
    title: str
    source: str
    content: str
    content_hash: str
    vector: Vector | None
    status: str = LIVE
    replaced_by: str | None = None
    absorbed: tuple[str, ...] = ()
    merged_content: str | None = None
    merged_vector: Vector | None = None
    protected: bool = False
    vault: bool = False
    warned: bool = False
    released: bool = False


@dataclass(frozen=True, slots=True)
class Act:
    """Something that happens to memories: a save with its note, a forget of an id, or an undo of a pair."""

    kind: Literal["save", "forget", "undo"]
    memory_id: str
    note: Record | None = None
    other: str | None = None
    by: str = ""


@dataclass(frozen=True, slots=True)
class Decision:
    """What became of one note.

    Attributes:
        other: the memory that it was decided against, if any.
        similarity: cosine to it, rounded to 6 decimals; None where it was not measured.
        reasons: of a (would-be) refusal: exact_duplicate, near_duplicate.
        refused: whether it was kept out.
        skipped: whether duplicates could not be looked for, because there is no embedding.
        evidence: what the guard found, for people.
        appended: lines that a merge added.
        other_revision: of the other's own text.
    """

    memory_id: str
    revision: str
    outcome: Outcome
    other: str | None = None
    similarity: float | None = None
    reasons: tuple[str, ...] = ()
    refused: bool = False
    skipped: bool = False
    evidence: str = ""
    appended: tuple[str, ...] = ()
    other_revision: str | None = None


@dataclass(frozen=True, slots=True)
class Lapse:
    """Decisions that hold no longer.

    Attributes:
        memory_id: the note that they were about.
        revision: of its text then.
        by: changed, forgotten, or what an undo says.
        act: the memory whose act it was.
    """

    memory_id: str
    revision: str
    by: str
    act: str = ""


@dataclass(frozen=True, slots=True)
class Change:
    """What a memory is now.

    Attributes:
        content: with all that it absorbed.
        vector: of the content.
        parts: id and revision of all that it absorbed.
        rewritten: whether its content changed, not only its standing.
    """

    record: Record
    content: str
    vector: Vector
    parts: tuple[tuple[str, str], ...]
    rewritten: bool


@dataclass(frozen=True, slots=True)
class Admission:
    """What a batch comes to.

    Attributes:
        decisions: one per saved note, in their order.
        entered: what the notes that were let in are now, by id.
        changes: memories of before that are different now, by id.
        lapses: decisions of before that hold no longer.
    """

    decisions: list[Decision]
    entered: dict[str, Change]
    changes: dict[str, Change]
    lapses: list[Lapse]


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


def admit(
    acts: Sequence[Act],
    known: Mapping[str, Record],
    neighbours: Neighbours,
    policy: AdmissionPolicy,
    *,
    recall: Callable[[Iterable[str]], Iterable[Record]],
    embed: Callable[[str, str], Vector],
    apart: frozenset[frozenset[str]] = frozenset(),
) -> Admission:
    """Take acts of one namespace and one day, in order; each memory is touched by one act at most.

    Args:
        acts: forgets, then saves by (created_at, id), then undos.
        known: what the acts touch: the memories themselves, what they superseded, and live or merged
            memories with the same content hash.
        neighbours: the live memories by similarity, with the notes of this batch.
        policy: the rules.
        recall: loads memories by id, as `known` has them.
        embed: vector of a memory with this title and content.
        apart: pairs that a person has kept apart; they are never decided against each other.
    """
    staying: set[str] = set()
    while True:
        state = _State(known, neighbours, policy, recall, embed, apart)
        # A folder changes as a whole: what its notes said before is withdrawn before any is judged. A note
        # that is refused keeps its old text, which then has to count from the start; what stays only grows,
        # so this comes to an end.
        resaved = {act.memory_id for act in acts if act.note is not None and act.note.vault}
        withdrawn = {name for name in resaved if state.is_live(name)} - staying
        state.withdrawn = set(withdrawn)
        for act in acts:
            state.take(act)
        kept = {one.memory_id for one in state.decisions if one.refused} & withdrawn
        if not kept:
            return state.result()
        staying |= kept


def reconsider(
    names: Sequence[str],
    known: Mapping[str, Record],
    neighbours: Neighbours,
    policy: AdmissionPolicy,
    *,
    recall: Callable[[Iterable[str]], Iterable[Record]],
    embed: Callable[[str, str], Vector],
    apart: frozenset[frozenset[str]] = frozenset(),
) -> Admission:
    """Look at live memories as if they came in now, each against those before it.

    None is refused: what is in stays in. The decisions are about `names`, in their order; everything that
    becomes of them is in `changes`.

    Args:
        names: the live memories, by (created_at, id).
        known: these memories.
        neighbours: with these memories both as what is live and as the batch.
        policy: the rules.
        recall: loads other memories by id.
        embed: vector of a memory with this title and content.
        apart: pairs that a person has kept apart.
    """
    state = _State(known, neighbours, policy, recall, embed, apart)
    state.withdrawn = set(names)
    for name in names:
        state.look_again(name)
    return state.result()


class _State:
    """The memories while a batch is taken."""

    def __init__(
        self,
        known: Mapping[str, Record],
        neighbours: Neighbours,
        policy: AdmissionPolicy,
        recall: Callable[[Iterable[str]], Iterable[Record]],
        embed: Callable[[str, str], Vector],
        apart: frozenset[frozenset[str]],
    ) -> None:
        self._before = dict(known)
        self._records = dict(known)
        self._neighbours, self._policy = neighbours, policy
        self._recall, self._embed, self._apart = recall, embed, apart
        self._contents: dict[tuple[str, ...], str] = {}
        self._vectors: dict[tuple[str, str], Vector] = {}
        self._guard = Guard()
        self._by_hash: dict[str, set[str]] = {}
        self._touched: set[str] = set()
        self._entered: set[str] = set()
        self._elsewhere: set[str] = set()  # live with another vector than `neighbours` has
        self._also: Also | None = None
        self._behind: dict[str, set[str]] = {}
        self.withdrawn: set[str] = set()
        self.decisions: list[Decision] = []
        self._lapses: dict[tuple[str, str], tuple[str, str]] = {}
        self._acting = ""
        for record in known.values():
            self._index(record)
        self._recall_missing(neighbours.ids())

    # -- acts ------------------------------------------------------------------------------------

    def take(self, act: Act) -> None:
        """Let one act happen."""
        self._acting = act.memory_id
        if act.kind == "forget":
            self._leave(act.memory_id, by="forgotten")
            if act.memory_id in self._records:
                self._put(replace(self._records[act.memory_id], status=RETIRED))
        elif act.kind == "undo":
            self._undo(act)
        elif act.note is not None:
            self._save(act.note)

    def look_again(self, name: str) -> None:
        """Decide about a memory that is live already."""
        record = self._records[name]
        decision = self._against_neighbours(replace(record, vector=self._vector(record)), gate=False)
        self.withdrawn.discard(name)  # only now, or it would be found beside itself
        self.decisions.append(decision)
        self._happen(record, decision)

    def _happen(self, record: Record, decision: Decision) -> None:
        """Let a decision about a live memory take effect."""
        other = decision.other
        if decision.outcome == "merge" and other is not None:
            self._put(replace(record, status=MERGED, replaced_by=other))
            target = self._records[other]
            self._put(replace(target, absorbed=(*target.absorbed, record.memory_id)))
        elif decision.outcome == "supersede" and other is not None:
            self._put(replace(self._records[other], status=SUPERSEDED, replaced_by=record.memory_id))

    def _save(self, note: Record) -> None:
        old = self._records.get(note.memory_id)
        self.withdrawn.discard(note.memory_id)
        before = (dict(self._records), set(self._elsewhere), dict(self._lapses)) if old is not None else None
        absorbed: tuple[str, ...] = ()
        if old is not None:
            self._part_contradicted(old, note)
            old = self._records[note.memory_id]
            absorbed = old.absorbed if old.status != RETIRED else ()
            self._leave(note.memory_id, by="changed", keep_absorbed=True)
            del self._records[note.memory_id]
            self._also = None
        decision = self._decide(replace(note, absorbed=absorbed))
        self.decisions.append(decision)
        if decision.refused:
            if before is not None:
                records, self._elsewhere, self._lapses = before
                self._records = self._before | records  # what was loaded meanwhile stays loaded
                self._also = None
            return
        self._entered.add(note.memory_id)
        entered = replace(note, absorbed=absorbed, status=LIVE, replaced_by=None)
        self._put(entered)
        self._happen(entered, decision)

    def _lapse(self, actor: Record, by: str) -> None:
        """What was decided about this text of a memory holds no longer."""
        self._lapses.setdefault((actor.memory_id, actor.revision), (by, self._acting))

    def _leave(self, name: str, *, by: str, keep_absorbed: bool = False) -> None:
        """Dissolve what a memory did to others, and what others did to it."""
        record = self._records.get(name)
        if record is None:
            return
        self._lapse(record, by)
        if record.status == MERGED and record.replaced_by:
            self._part(record, by)
        elif record.status == SUPERSEDED and record.replaced_by:
            actor = self._known(record.replaced_by)
            if actor is not None:
                self._lapse(actor, by)
            self._put(replace(record, status=LIVE, replaced_by=None))
        # What a superseded memory had superseded stays behind, or the oldest of a chain would come back.
        freed = sorted(self._behind.get(name, ())) if by != "forgotten" or record.status != SUPERSEDED else ()
        for behind in freed:
            other = self._records[behind]
            if other.replaced_by == name and other.status == SUPERSEDED:
                self._put(replace(other, status=LIVE, replaced_by=None))
        if not keep_absorbed:
            for part in record.absorbed:
                if (merged := self._known(part)) is not None and merged.status == MERGED:
                    self._part(merged, by)

    def _part(self, merged: Record, by: str) -> None:
        """Take a merged memory out of the one that absorbed it."""
        assert merged.replaced_by is not None
        target = self._known(merged.replaced_by)
        if target is not None:
            left = tuple(part for part in target.absorbed if part != merged.memory_id)
            self._put(replace(target, absorbed=left))
        self._put(replace(merged, status=LIVE, replaced_by=None))
        self._lapse(merged, by)

    def _part_contradicted(self, old: Record, note: Record) -> None:
        """What a memory absorbed has to agree with its new text, or it is a memory of its own again."""
        if self._policy.reconsolidation == "literal":
            return
        for name in old.absorbed:
            part = self._known(name)
            if part is None or part.status != MERGED or part.replaced_by != old.memory_id:
                continue
            if contradicted(note.content, part.content):
                self._part(part, "changed")

    def _undo(self, act: Act) -> None:
        actor, other = self._known(act.memory_id), self._known(act.other or "")
        if actor is None or other is None:
            return
        if actor.status == MERGED and actor.replaced_by == other.memory_id:
            self._part(actor, act.by)
        elif other.status == SUPERSEDED and other.replaced_by == actor.memory_id:
            self._put(replace(other, status=LIVE, replaced_by=None))
            self._lapse(actor, act.by)

    # -- deciding --------------------------------------------------------------------------------

    def _decide(self, note: Record) -> Decision:
        policy = self._policy
        asked = policy.gate and not note.released
        if asked and (same := self._same_text(note)) is not None:
            exact = Decision(
                note.memory_id, note.revision, "duplicate", same, 1.0, (EXACT_DUPLICATE,), refused=True,
                evidence="the same text", other_revision=self._records[same].revision,
            )  # fmt: skip
            if not note.warned:
                return exact
            return replace(self._against_neighbours(note, gate=False), reasons=(EXACT_DUPLICATE,))
        return self._against_neighbours(note, gate=asked)

    def _same_text(self, note: Record) -> str | None:
        """The live memory that says exactly this, or that absorbed what did."""
        found = set()
        for name in self._by_hash.get(note.content_hash, ()):
            record = self._records.get(name)
            if name == note.memory_id or record is None or record.content_hash != note.content_hash:
                continue
            if frozenset((name, note.memory_id)) in self._apart:
                continue
            while record is not None and record.status == MERGED and record.replaced_by:
                record = self._known(record.replaced_by)
            if record is not None and self.is_live(record.memory_id) and record.memory_id != note.memory_id:
                found.add(record.memory_id)
        return min(found, default=None)

    def _against_neighbours(self, note: Record, *, gate: bool) -> Decision:
        policy = self._policy
        plain = Decision(note.memory_id, note.revision, "complement")
        if policy.floor == np.inf:
            return plain
        if note.vector is None or not note.vector.any():
            return replace(plain, skipped=True, evidence="duplicates: skipped, there is no embedding")
        nearest = self._nearest(note)
        if not nearest:
            return plain
        looked = nearest[:1] if policy.reconsolidation == "literal" else nearest
        best: Decision | None = None
        for name, similarity in looked:
            decision = self._pair(note, self._records[name], similarity, gate=gate)
            if decision.outcome in ("duplicate", "merge", "supersede"):
                return decision
            best = best or decision
        return best or plain

    def _pair(self, note: Record, other: Record, similarity: float, *, gate: bool) -> Decision:
        policy = self._policy
        told = Decision(
            note.memory_id, note.revision, "complement", other.memory_id, similarity,
            other_revision=other.revision,
        )  # fmt: skip
        if frozenset((note.memory_id, other.memory_id)) in self._apart:
            return replace(told, evidence="a person kept these apart")
        literal = policy.reconsolidation == "literal"
        differences, alike = (
            ((), True) if literal else self._guard.compare(self._statement(note), self._statement(other))
        )
        outcome = decide(
            similarity, differences, same_subject=alike, thresholds=policy.thresholds,
            policy=policy.reconsolidation, gate=gate,
        )  # fmt: skip
        evidence = explain(differences) if differences else ""
        reasons: tuple[str, ...] = ()
        if outcome == "duplicate":
            if note.protected and not other.protected:
                return replace(told, outcome="related", evidence="protected: a person has to decide")
            if not note.warned:
                evidence = evidence or "no difference that matters"
                refused = replace(told, outcome="duplicate", refused=True, evidence=evidence)
                return replace(refused, reasons=(NEAR_DUPLICATE,))
            reasons = (NEAR_DUPLICATE,)
            outcome = decide(
                similarity, differences, same_subject=alike, thresholds=policy.thresholds,
                policy=policy.reconsolidation, gate=False,
            )  # fmt: skip
        told = replace(told, reasons=reasons, evidence=evidence)
        if outcome in ("merge", "supersede") and (
            note.released or other.protected or (outcome == "merge" and note.protected)
        ):
            why = "a person let this in as it is" if note.released else "protected: a person has to decide"
            return replace(told, outcome="related", evidence="; ".join(filter(None, (why, evidence))))
        if outcome == "complement" and band(similarity, policy.thresholds) == "complement":
            return replace(told, other=None, other_revision=None) if not reasons else told
        if outcome == "merge":
            _, appended = merge_lines(self._content(other), self._content(note))
            return replace(told, outcome="merge", appended=appended, evidence=evidence or "says the same")
        return replace(told, outcome=outcome)

    def _statement(self, record: Record) -> Statement:
        return Statement(record.title, record.source, self._content(record))

    def _nearest(self, note: Record) -> list[tuple[str, float]]:
        """The most similar live memories at or above the floor, the most similar first."""
        if self._also is None:
            names = sorted(name for name in self._elsewhere if self.is_live(name))
            vectors = [self._vector(self._records[name]) for name in names]
            self._also = Also(names, np.array(vectors, dtype=np.float32))
        assert note.vector is not None
        found = self._neighbours.nearest(
            note.memory_id,
            note.vector,
            count=self._policy.neighbours + 1,
            usable=lambda name, in_batch: name != note.memory_id and self._usable(name, in_batch),
            also=self._also,
        )
        found = [pair for pair in found if pair[0] != note.memory_id][: self._policy.neighbours]
        self._recall_missing(name for name, _ in found)
        return found

    def _usable(self, name: str, in_batch: bool) -> bool:
        if (name in self._entered) != in_batch or name in self._elsewhere:
            return False
        loaded = name in self._records or name in self._before
        return self.is_live(name) if loaded else True  # what is not loaded was never touched

    # -- the memories ----------------------------------------------------------------------------

    def is_live(self, name: str) -> bool:
        """Whether a memory can be found now."""
        record = self._records.get(name)
        return record is not None and record.status == LIVE and name not in self.withdrawn

    def _known(self, name: str) -> Record | None:
        self._recall_missing([name] if name else [])
        return self._records.get(name)

    def _recall_missing(self, names: Iterable[str]) -> None:
        lacking = [name for name in names if name not in self._before and name not in self._records]
        for record in self._recall(lacking) if lacking else ():
            self._before[record.memory_id] = record
            self._records[record.memory_id] = record
            self._index(record)

    def _index(self, record: Record) -> None:
        self._by_hash.setdefault(record.content_hash, set()).add(record.memory_id)
        if record.replaced_by:
            self._behind.setdefault(record.replaced_by, set()).add(record.memory_id)

    def _put(self, record: Record) -> None:
        """What a memory is from now on; those that absorbed it say something else then, too."""
        self._records[record.memory_id] = record
        self._index(record)
        self._also = None
        one: Record | None = record
        while one is not None:
            self._touched.add(one.memory_id)
            if self._placed(one):
                self._elsewhere.discard(one.memory_id)
            else:
                self._elsewhere.add(one.memory_id)
            one = self._known(one.replaced_by or "") if one.status == MERGED else None

    def _placed(self, record: Record) -> bool:
        """Whether `neighbours` has the vector of what a memory says now."""
        if record.memory_id in self._entered:
            return self._content(record) == record.content
        before = self._before[record.memory_id]
        return before.status == LIVE and self._content(record) == _said(before)

    def _parts(self, record: Record, records: Mapping[str, Record] | None = None) -> list[Record]:
        """What a memory absorbed, and what that had absorbed, in order; now, or among other records."""
        self._recall_missing(record.absorbed)
        among = self._records if records is None else records
        parts = []
        for name in record.absorbed:
            if (part := among.get(name)) is not None:
                parts += [part, *self._parts(part, records)]
        return parts

    def _unchanged(self, record: Record) -> Record | None:
        """What the memory was before, if it still says the same."""
        before = self._before.get(record.memory_id)
        if before is None or (before.revision, before.absorbed) != (record.revision, record.absorbed):
            return None
        now = [(part.memory_id, part.revision) for part in self._parts(record)]
        then = [(part.memory_id, part.revision) for part in self._parts(before, self._before)]
        return before if now == then else None

    def _content(self, record: Record) -> str:
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

    def _vector(self, record: Record) -> Vector:
        """Vector of what a memory says."""
        if (before := self._unchanged(record)) is not None and before.merged_vector is not None:
            return before.merged_vector
        content = self._content(record)
        if record.vector is not None and content == record.content:
            return record.vector
        key = (record.title, content)
        if key not in self._vectors:
            self._vectors[key] = self._embed(record.title, content)
        return self._vectors[key]

    # -- the outcome -----------------------------------------------------------------------------

    def result(self) -> Admission:
        """Everything that is different from before."""
        entered, changes = {}, {}
        for name in sorted(self._touched):
            record, before = self._records[name], self._before.get(name)
            content = self._content(record)
            rewritten = before is None or content != _said(before)
            parts = tuple((part.memory_id, part.revision) for part in self._parts(record))
            change = Change(record, content, self._vector(record), parts, rewritten)
            if name in self._entered:
                entered[name] = change
            elif before is not None and (change.rewritten or _standing(record) != _standing(before)):
                changes[name] = change
        lapses = [Lapse(*text, *why) for text, why in self._lapses.items()]
        return Admission(self.decisions, entered, changes, lapses)


def _said(record: Record) -> str:
    """What a memory of before says, with what it had absorbed."""
    return record.content if record.merged_content is None else record.merged_content


def _standing(record: Record) -> tuple[object, ...]:
    return record.status, record.replaced_by, record.absorbed
