"""Bounds that the rules promise, enforced for every policy from files, settings and arguments."""

from __future__ import annotations

from itertools import pairwise


def require_ascending(**values: float | None) -> None:
    """Raise if thresholds are out of order.

    Args:
        values: in ascending order, equal ones allowed; None is unknown.

    Raises:
        ValueError: one is above a later one; with both names and values, and the order.
    """
    given_values = [(name, value) for name, value in values.items() if value is not None]
    for (lower, low), (upper, high) in pairwise(given_values):
        if low > high:
            order = " ≤ ".join(values)
            raise ValueError(f"{lower} = {low:g} is above {upper} = {high:g}; it has to be {order}")


CAP = 0.15
"""Maximum that learned terms add to a score (rules 3.8 and 5)."""
COEFFICIENT = 0.7
"""Maximum share of the cap that a full match of learned terms adds (rule 3.8)."""
MIN_USERS = 3
"""Users of a namespace from which one user's influence is limited (rule 4.3)."""
