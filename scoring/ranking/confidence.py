"""Confidence in a memory from its labels, derived at each search (rule 3.6)."""

from __future__ import annotations

from functools import lru_cache
from typing import Literal, NamedTuple

Tier = Literal["high", "medium", "low"]

_TIERS: tuple[Tier, ...] = ("low", "medium", "high")
_WEIGHTY_TYPES = frozenset({"constraint", "decision", "project"})
NOTE_POINTS = {"high": 6, "medium": 0, "low": -4}
LIFECYCLE_POINTS = {"high": 5, "medium": 0, "low": -3}


class Confidence(NamedTuple):
    """Confidence tier with its points and the deciding label.

    Attributes:
        tier: high, medium or low.
        points: worth of the tier; the policy sets the score of one point.
        field: the label that decided.
    """

    tier: Tier = "medium"
    points: int = 0
    field: str = ""


MEDIUM = Confidence()


@lru_cache(maxsize=4_096)
def memory_confidence(
    of_vault: str | bool | None, source_of_truth: bool | None, retrieval_priority: str, memory_type: str,
    sensitivity: str, state: str, source_kind: str,
) -> Confidence:  # fmt: skip
    """Compute the confidence in a memory from its labels.

    A vault note is judged by its front matter, a note saved by an application by its life cycle.
    """
    if of_vault or source_of_truth:
        return note_confidence(
            source_of_truth=bool(source_of_truth), retrieval_priority=retrieval_priority,
            memory_type=memory_type, sensitivity=sensitivity,
        )  # fmt: skip
    return lifecycle_confidence(state=state, source_kind=source_kind, sensitivity=sensitivity)


def note_confidence(
    *, source_of_truth: bool, retrieval_priority: str, memory_type: str, sensitivity: str
) -> Confidence:
    """Return the confidence in a note of a vault, from its front matter."""
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
    """Return the confidence in a stored fact, from its state and source kind."""
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
