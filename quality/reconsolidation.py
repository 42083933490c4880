"""Reconsolidation decision on one pair of memories (rules 1 L3, 2.1-2.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, ClassVar, Literal

from slowwave.scoring.parameters import Parameter, check

if TYPE_CHECKING:
    from slowwave.quality.divergence.difference import Difference

TOLERANCE = 1e-6

Policy = Literal["off", "guarded", "literal"]
Band = Literal["merge", "conflict", "complement"]
Outcome = Literal["duplicate", "merge", "supersede", "related", "complement"]


@dataclass(frozen=True, slots=True)
class Thresholds:
    """Cosines of rule 2.1 for a transformer encoder; they belong to the model (rule 2.4).

    Raises:
        ValueError: not conflict ≤ merge ≤ duplicate.
    """

    # fmt: off
    duplicate: Annotated[float, Parameter(
        "Cosine above which a note is refused as a near duplicate", -1, 1, rule="2.1", of_model=True,
    )] = 0.92
    merge: Annotated[float, Parameter(
        "Minimum cosine to merge a note into a memory", -1, 1, rule="2.1", of_model=True,
    )] = 0.88
    conflict: Annotated[float, Parameter(
        "Minimum cosine to check whether a note conflicts with a memory", -1, 1, rule="2.1", of_model=True,
    )] = 0.75
    # fmt: on
    RISING: ClassVar = ("conflict", "merge", "duplicate")

    def __post_init__(self) -> None:
        check(self)


def band(similarity: float, thresholds: Thresholds) -> Band:
    """Return the band of rule 2.1; lower edges belong to the band.

    NaN (no similarity) is a complement.
    """
    if similarity >= thresholds.merge:
        return "merge"
    return "conflict" if similarity >= thresholds.conflict else "complement"


def is_near_duplicate(similarity: float, thresholds: Thresholds) -> bool:
    """Whether a similarity is strictly above the threshold, with the tolerance of rule 1 L3."""
    return similarity > thresholds.duplicate + TOLERANCE


def decide(
    similarity: float,
    differences: Sequence[Difference],
    *,
    same_subject: bool,
    thresholds: Thresholds,
    policy: Policy,
    gate: bool = True,
) -> Outcome:
    """Decide the outcome of a new memory against its nearest old one.

    Args:
        similarity: cosine of the two.
        differences: ``compare(new, old)``: left is new.
        same_subject: whether the new text replaces the old statement.
        thresholds: cosines of the embedding model.
        policy: ``guarded`` uses the divergence guard, ``literal`` the cosine alone, ``off`` skips
            reconsolidation.
        gate: whether near duplicates are refused first (rule 1 L3).

    A duplicate is refused, so the new text must add nothing to the old one. A merge appends, so one of the
    two may have more text. Under ``guarded``, exchanged or denied values are never refused or merged. A
    superseded memory is hidden, so it must state nothing that the new one neither repeats nor replaces.
    """
    from slowwave.quality.divergence.difference import contradicts, says_more

    nothing_lost = policy == "literal" or not differences or says_more(differences) == "right"
    if gate and is_near_duplicate(similarity, thresholds) and nothing_lost:
        return "duplicate"
    similarity_band = band(similarity, thresholds)
    if policy == "off" or similarity_band == "complement":
        return "complement"
    if policy == "literal":
        return "merge" if similarity_band == "merge" else "supersede"
    if similarity_band == "merge" and (not differences or says_more(differences)):
        return "merge"
    if same_subject and contradicts(differences) and not _says_more_besides(differences):
        return "supersede"
    return "related"


def _says_more_besides(differences: Sequence[Difference]) -> bool:
    """Whether the old text has something that the new one omits; hiding it would lose that."""
    return any(
        difference.right and not difference.left and difference.kind != "negation"
        for difference in differences
    )
