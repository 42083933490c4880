"""How search keys lift, as data (rule 7); each constant is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyPolicy:
    """How keys lift.

    Attributes:
        weight: most that they add to a score.
        prior: looks without taking that every memory starts with, as near as its nearest key.
        nearest: searches that a query is compared with at most, the nearest (count).
        reach: most of a score that one of three voices adds alone; of more, so much less.
        minority: share of the voices of three or more that are bounded so together; at least one is.
    """

    weight: float = 0.3
    prior: float = 1.0
    nearest: int = 50
    reach: float = 0.03
    minority: float = 0.06

    def __post_init__(self) -> None:
        if not 0 <= self.weight <= 1:
            raise ValueError(f"weight = {self.weight} is not in 0 … 1")
        if not self.prior > 0:
            raise ValueError(f"prior = {self.prior} is not above 0")
        if self.nearest < 1:
            raise ValueError(f"nearest = {self.nearest} is not 1 or more")
        if not 0 <= self.reach <= 1:
            raise ValueError(f"reach = {self.reach} is not in 0 … 1")
        if not 0 <= self.minority < 1:
            raise ValueError(f"minority = {self.minority} is not from 0 to below 1")
