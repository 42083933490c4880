"""What admission is told and what it answers: memories, acts, decisions, changes, and the policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from slowwave.quality.admission.labels import Labels
from slowwave.quality.neighbours import Neighbours
from slowwave.quality.reconsolidation import Policy, Thresholds

Vector = npt.NDArray[np.float32]
Outcome = Literal["duplicate", "merge", "supersede", "related", "complement"]
Turn = tuple[int, str, str]
EXACT_DUPLICATE = "exact_duplicate"
NEAR_DUPLICATE = "near_duplicate"
A_PERSON_DECIDES = "a person has to decide"
DEFAULT_SENSITIVITY = "internal"
LIVE, MERGED, SUPERSEDED, RETIRED = "live", "merged", "superseded", "retired"

# Why a decision holds no longer: one of its memories says something else now or was forgotten, an older note
# came late, a person took it back or accepted what it proposed, or the two are not for the same eyes.
CHANGED, FORGOTTEN, REORDERED = "changed", "forgotten", "reordered"
UNDONE_BY_HAND, ACCEPTED, DIFFERENT_SENSITIVITY = "undo", "accepted", "sensitivity"


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
class AdmissionRecord:
    """One memory or note, as far as admission has to know it.

    Attributes:
        revision: of its own text.
        content: its own text, without what it absorbed.
        vector: of its own text (dimension,), unit length or zero; None where it is not known.
        replaced_by: the memory that absorbed or superseded it.
        absorbed: the memories merged into it, in the order of the merges.
        merged_content: with what it absorbed; None where that is its own text.
        merged_vector: of `merged_content`.
        sensitivity: who may see it; memories of different sensitivity do not concern each other (rule 2.5).
        protected: nothing may become of it without a person's word, whatever its labels say (rule 2.5).
        labels: what it says of itself, without what it absorbed.
        promoted: the importance tier that use gave it, if any.
        context: what has to be known to understand it.
        vault: whether it comes from a watched folder, which changes as a whole.
        warned: the gate only warns of duplicates.
        released: a person let it in.
        moment: microseconds since 1970 of the date that its text carries; where it carries none, of the act
            that said it.
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
    sensitivity: str = DEFAULT_SENSITIVITY
    protected: bool = False
    labels: Labels = field(default_factory=Labels)
    promoted: str = ""
    context: str = ""
    vault: bool = False
    warned: bool = False
    released: bool = False
    moment: int = 0

    @property
    def turn(self) -> Turn:
        """What is newer has the greater one (rule 2.1): by the date it carries, then by the order of acts."""
        return self.moment, self.revision, self.memory_id

    @property
    def relations(self) -> tuple[str, str | None, tuple[str, ...]]:
        """What it is to others."""
        return self.status, self.replaced_by, self.absorbed


@dataclass(frozen=True, slots=True)
class AdmissionAct:
    """Something that happens to memories.

    A save with its note, a forget of an id (with the revision of the act), an undo of a pair, or an accept
    with the decision that a person lets happen.
    """

    kind: Literal["save", "forget", "undo", "accept"]
    memory_id: str
    note: AdmissionRecord | None = None
    other: str | None = None
    by: str = ""
    decision: AdmissionDecision | None = None
    revision: str = ""


@dataclass(frozen=True, slots=True)
class AdmissionDecision:
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
        look: of a memory that was there: the revision of the older note that came late, so that this one was
            looked at again.
        proposed: merge or supersede, where that waits for a person's word; the outcome itself where that was
            a person's word.
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
    look: str = ""
    proposed: str = ""


@dataclass(frozen=True, slots=True)
class ExpiredDecision:
    """Decisions that hold no longer.

    Attributes:
        memory_id: the note that they were about.
        revision: of its text then.
        by: why, such as changed, forgotten, reordered, or what an undo says.
        act: the memory whose act it was.
    """

    memory_id: str
    revision: str
    by: str
    act: str = ""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """What a memory is now.

    Attributes:
        content: with all that it absorbed.
        vector: of the content; None where no vectors are known.
        parts: id and revision of all that it absorbed.
        labels: with those of all that it absorbed.
    """

    record: AdmissionRecord
    content: str
    vector: Vector | None
    parts: tuple[tuple[str, str], ...]
    labels: Labels


@dataclass(frozen=True, slots=True)
class AdmissionResult:
    """What a batch comes to.

    Attributes:
        decisions: one per saved note, in their order, each followed by those about newer memories that had
            to be looked at again.
        entered: what the notes that were let in are now, by id.
        changes: memories of before that are different now, by id.
        lapses: decisions of before that hold no longer.
    """

    decisions: list[AdmissionDecision]
    entered: dict[str, MemoryChange]
    changes: dict[str, MemoryChange]
    lapses: list[ExpiredDecision]


@dataclass(frozen=True, slots=True)
class AdmissionContext:
    """What is known around a batch, and how to come to know more.

    Attributes:
        known: the memories that the batch touches, by id.
        neighbours: the live memories by similarity, with the notes of the batch.
        policy: the rules.
        recall: loads memories by id, as `known` has them.
        embed: vector of a memory with this title and content.
        apart: pairs that a person has kept apart; they are never decided against each other.
        accepted: what a person let happen, by memory and revision of the one that acts.
        latest: moment of the newest memory of before, or anything before the first note of the batch.
        near: memories of before, not forgotten, of a sensitivity, that resemble one of these vectors.
        behind: memories of before that these superseded.
    """

    known: Mapping[str, AdmissionRecord]
    neighbours: Neighbours
    policy: AdmissionPolicy
    recall: Callable[[Iterable[str]], Iterable[AdmissionRecord]]
    embed: Callable[[str, str], Vector]
    apart: frozenset[frozenset[str]] = frozenset()
    accepted: Mapping[tuple[str, str], AdmissionDecision] = field(default_factory=dict)
    latest: int = -(2**63)
    near: Callable[[Sequence[Vector], str], Iterable[AdmissionRecord]] = lambda _vectors, _sensitivity: ()
    behind: Callable[[Iterable[str]], Iterable[AdmissionRecord]] = lambda _: ()


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
