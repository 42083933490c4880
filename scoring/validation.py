"""Bounds that the rules promise, enforced where a policy is made: files, settings and keywords pass there."""

from __future__ import annotations

from itertools import pairwise


def require_ascending(**values: float | None) -> None:
    """Refuse thresholds that are out of order.

    Args:
        values: in the order in which they have to rise, equal ones allowed; None is not known.

    Raises:
        ValueError: one is above a later one; the message names both with their values, and the order.
    """
    known = [(name, value) for name, value in values.items() if value is not None]
    for (lower, low), (upper, high) in pairwise(known):
        if low > high:
            order = " ≤ ".join(values)
            raise ValueError(f"{lower} = {low:g} is above {upper} = {high:g}; it has to be {order}")


CAP = 0.15
"""Most that learned terms add to a score (rules 3.8 and 5)."""
COEFFICIENT = 0.7
"""Share of its cap that a full match of learned terms is worth, at most (rule 3.8)."""
CROWD = 3
"""Voices of a namespace from which what one says alone is bounded: he, and the two whom he must not outdo."""
