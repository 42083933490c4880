"""Confidence in a memory, from what it says of itself; derived at each search, never stored (rule 3.6)."""

from __future__ import annotations

from typing import Literal, NamedTuple

Tier = Literal["high", "medium", "low"]

_TIERS: tuple[Tier, ...] = ("low", "medium", "high")
_WEIGHTY_TYPES = frozenset({"constraint", "decision", "project"})
NOTE_POINTS = {"high": 6, "medium": 0, "low": -4}
LIFECYCLE_POINTS = {"high": 5, "medium": 0, "low": -3}


class Confidence(NamedTuple):
    """How far a memory is to be trusted.

    Attributes:
        tier: high, medium or low.
        points: what that is worth; a policy says how much a point is.
        field: the label that decided.
    """

    tier: Tier = "medium"
    points: int = 0
    field: str = ""


MEDIUM = Confidence()


def note_confidence(
    *, source_of_truth: bool, retrieval_priority: str, memory_type: str, sensitivity: str
) -> Confidence:
    """Confidence in a note of a vault, whose front matter tells."""
    if source_of_truth:
        return Confidence("high", NOTE_POINTS["high"], "source_of_truth")
    if retrieval_priority == "high" and memory_type in _WEIGHTY_TYPES:
        return Confidence("high", NOTE_POINTS["high"], "retrieval_priority")
    if retrieval_priority == "low":
        return Confidence("low", NOTE_POINTS["low"], "retrieval_priority")
    if sensitivity == "secret":
        return Confidence("low", NOTE_POINTS["low"], "sensitivity")
    return MEDIUM


def lifecycle_confidence(*, state: str, source_kind: str, sensitivity: str) -> Confidence:
    """Confidence in a fact that an application saved, from its state and who said it."""
    if state == "canonical":
        tier, field = "high", "state"
    elif state == "accepted":
        tier, field = ("high" if source_kind == "manual" else "medium"), "source_kind"
    elif state in ("candidate", "draft"):
        tier, field = "low", "state"
    else:
        tier, field = "medium", "state"
    if sensitivity == "secret":
        tier, field = _TIERS[max(_TIERS.index(tier) - 1, 0)], "sensitivity"
    return Confidence(tier, LIFECYCLE_POINTS[tier], field)  # type: ignore[arg-type]
