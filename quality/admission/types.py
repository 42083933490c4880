"""Input and output types of admission: memories, events, decisions, changes, policy."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from slowwave.quality.admission.labels import Labels
from slowwave.quality.admission.statuses import DEFAULT_SENSITIVITY, LIVE
from slowwave.quality.neighbours import Neighbours
from slowwave.quality.reconsolidation import Policy, Thresholds

Vector = npt.NDArray[np.float32]
Outcome = Literal["duplicate", "merge", "supersede", "related", "complement"]
Turn = tuple[int, str, str]
A_PERSON_DECIDES = "a person has to decide"


@dataclass(frozen=True, slots=True)
class AdmissionPolicy:
    """Constants of duplicate detection and reconsolidation.

    Attributes:
        gate: whether duplicates are detected (L3 of the save gate).
        reconsolidation: off, guarded or literal (rule 2.3).
        thresholds: cosines that belong to the embedding model (rule 2.4).
        neighbours: compared most similar memories (count).
    """

    gate: bool = True
    reconsolidation: Policy = "off"
    thresholds: Thresholds = field(default_factory=Thresholds)
    neighbours: int = 3

    @property
    def floor(self) -> float:
        """Return the cosine below which two memories are not compared."""
        if self.reconsolidation != "off":
            return self.thresholds.conflict
        return self.thresholds.duplicate if self.gate else np.inf


@dataclass(frozen=True, slots=True, eq=False)
class AdmissionRecord:
    """Memory or note as input of admission.

    Attributes:
        revision: of its own text.
        content: its own text, without absorbed ones.
        vector: of its own text (dimension,), unit length or zero; None if unknown.
        replaced_by: the memory that absorbed or superseded it.
        absorbed: the memories merged into it, in the order of the merges.
        merged_content: with absorbed texts; None if there are none.
        merged_vector: of `merged_content`.
        sensitivity: label that decides who sees it; different sensitivities are never compared (rule 2.5).
        protected: whether any change needs a person's consent, whatever its labels (rule 2.5).
        labels: its own labels, without those of absorbed memories.
        promoted: promoted importance tier, if any.
        context: context of its text.
        vault: whether it comes from a vault, which changes as a whole.
        warned: whether the gate only warns of duplicates.
        released: whether a person released it.
        moment: microseconds since 1970 of the date in its text, else of its event.
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
        """Return the sort key of age (rule 2.1): date, then order of events; newer is greater."""
        return self.moment, self.revision, self.memory_id

    @property
    def relations(self) -> tuple[str, str | None, tuple[str, ...]]:
        """Return its relations to other memories."""
        return self.status, self.replaced_by, self.absorbed


@dataclass(frozen=True, slots=True)
class AdmissionAct:
    """Event that changes memories.

    A save with its note, a forget of an id (with the revision of the event), an undo of a pair, or an accept
    with the accepted decision.
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
    """Decision on one note.

    Attributes:
        other: memory that it was compared with, if any.
        similarity: cosine to it, rounded to 6 decimals; None if not measured.
        reasons: of a (would-be) refusal: exact_duplicate, near_duplicate.
        refused: whether it was quarantined.
        skipped: whether duplicates were not checked, because there is no embedding.
        evidence: differences that the guard found, as text.
        appended: lines that a merge added.
        other_revision: of the other's own text.
        look: for an existing memory that was decided again: revision of the late note that caused it.
        proposed: merge or supersede that waits for a person's decision, or the outcome that a person decided.
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
    """Earlier decision that no longer holds.

    Attributes:
        memory_id: note of the decision.
        revision: of its text at the time.
        by: reason, such as changed, forgotten, reordered, or that of an undo.
        act: memory whose event caused it.
    """

    memory_id: str
    revision: str
    by: str
    act: str = ""


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """New state of a memory.

    Attributes:
        content: with all absorbed texts.
        vector: of the content; None without vectors.
        parts: id and revision of all absorbed memories.
        labels: with those of all absorbed memories.
    """

    record: AdmissionRecord
    content: str
    vector: Vector | None
    parts: tuple[tuple[str, str], ...]
    labels: Labels


@dataclass(frozen=True, slots=True)
class AdmissionResult:
    """Result of a batch.

    Attributes:
        decisions: one per saved note, in order, each followed by those on newer memories that were decided
            again.
        entered: state of the accepted notes, by id.
        changes: changed memories, by id.
        lapses: earlier decisions that no longer hold.
    """

    decisions: list[AdmissionDecision]
    entered: dict[str, MemoryChange]
    changes: dict[str, MemoryChange]
    lapses: list[ExpiredDecision]


@dataclass(frozen=True, slots=True)
class AdmissionContext:
    """Context of a batch, with loaders for more.

    Attributes:
        known: memories that the batch touches, by id.
        neighbours: live memories by similarity, with the notes of the batch.
        policy: constants of the decisions.
        recall: loads memories by id.
        embed: returns the vector of a title and content.
        apart: pairs that a person keeps apart; they are never compared.
        accepted: decisions that a person accepted, by memory and revision of the acting one.
        latest: moment of the newest existing memory, or any moment before the first note of the batch.
        near: loads existing memories of a sensitivity, not forgotten, that resemble one of the vectors.
        behind: loads existing memories that these superseded.
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
    """Verdict on a note, and on newer memories if it is late.

    Attributes:
        decision: about the note.
        back: relations that are undone before the note enters: actor and other memory.
        looks: decisions on newer memories, in order; applied after the one on the note.
        again: those of `looks` that changed.
        lapsed: newer memories whose earlier decision no longer holds.
    """

    decision: AdmissionDecision
    back: tuple[tuple[str, str], ...] = ()
    looks: tuple[AdmissionDecision, ...] = ()
    again: tuple[AdmissionDecision, ...] = ()
    lapsed: tuple[AdmissionRecord, ...] = ()
