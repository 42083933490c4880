from __future__ import annotations

import math

import pytest

from slowwave.quality.divergence.comparing import divergence
from slowwave.quality.divergence.difference import Difference
from slowwave.quality.reconsolidation import TOLERANCE, Policy, Thresholds, band, decide, is_near_duplicate

DEFAULT = Thresholds()
EXCHANGED = divergence("We deploy on Thursday.", "We deploy on Tuesday.")
NEW_SAYS_MORE = divergence("We deploy on Thursday from Berlin.", "We deploy on Thursday.")
OLD_SAYS_MORE = divergence("We deploy on Thursday.", "We deploy on Thursday from Berlin.")


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [(1.0, "merge"), (0.88, "merge"), (0.8799, "conflict"), (0.75, "conflict"), (0.7499, "complement"),
     (-1.0, "complement"), (math.nan, "complement")],
)  # fmt: skip
def test_bands_have_the_edges_of_the_rule(similarity: float, expected: str) -> None:
    assert band(similarity, DEFAULT) == expected


@pytest.mark.parametrize(
    ("similarity", "expected"),
    [(0.92, False), (0.92 + 5e-7, False), (0.92 + 2 * TOLERANCE, True), (0.93, True), (math.nan, False)],
)
def test_a_near_duplicate_is_strictly_above_the_threshold(similarity: float, expected: bool) -> None:
    assert is_near_duplicate(similarity, DEFAULT) is expected


@pytest.mark.parametrize(
    ("similarity", "differences", "policy", "same", "gate", "expected"),
    [
        # The gate comes first, whatever the policy.
        (0.95, (), "guarded", False, True, "duplicate"),
        (0.95, (), "off", False, True, "duplicate"),
        (0.95, EXCHANGED, "off", False, True, "complement"),
        (0.95, EXCHANGED, "literal", False, True, "duplicate"),
        (0.95, (), "guarded", False, False, "merge"),
        (0.95, (), "off", False, False, "complement"),
        # What the new text alone says would be lost in a refusal; a merge appends it.
        (0.95, NEW_SAYS_MORE, "guarded", False, True, "merge"),
        (0.95, OLD_SAYS_MORE, "guarded", False, True, "duplicate"),
        (0.95, NEW_SAYS_MORE, "off", False, True, "complement"),
        (0.95, NEW_SAYS_MORE, "literal", False, True, "duplicate"),
        # Bands.
        (0.88, (), "guarded", False, True, "merge"),
        (0.92, (), "guarded", False, True, "merge"),
        (0.8799, (), "guarded", True, True, "related"),
        (0.75, (), "guarded", True, True, "related"),
        (0.7499, EXCHANGED, "guarded", True, True, "complement"),
        (0.95, EXCHANGED, "guarded", True, True, "supersede"),
        (0.80, EXCHANGED, "guarded", True, True, "supersede"),
        (0.80, EXCHANGED, "guarded", False, True, "related"),
        (0.90, EXCHANGED, "guarded", False, True, "related"),
        (0.80, NEW_SAYS_MORE, "guarded", True, True, "related"),
        (0.88, EXCHANGED, "literal", False, True, "merge"),
        (0.8799, (), "literal", False, True, "supersede"),
        (0.75, EXCHANGED, "literal", False, True, "supersede"),
        (0.7499, (), "literal", True, True, "complement"),
        (0.90, (), "off", True, True, "complement"),
        (math.nan, (), "guarded", True, True, "complement"),
        (math.nan, (), "literal", True, True, "complement"),
    ],
)
def test_decisions(
    similarity: float,
    differences: tuple[Difference, ...],
    policy: Policy,
    same: bool,
    gate: bool,
    expected: str,
) -> None:
    outcome = decide(similarity, differences, same_subject=same, thresholds=DEFAULT, policy=policy, gate=gate)
    assert outcome == expected


def test_thresholds_belong_to_the_model() -> None:
    weak = Thresholds(duplicate=0.97, merge=0.95, conflict=0.9)
    assert band(0.94, weak) == "conflict"
    assert not is_near_duplicate(0.96, weak)
