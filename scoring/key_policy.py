"""How search keys lift, as data (rule 7); each constant is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from slowwave.scoring.parameters import Parameter, check


@dataclass(frozen=True, slots=True)
class KeyPolicy:
    """How keys lift.

    Raises:
        ValueError: a value is not in its range.
    """

    # fmt: off
    weight: Annotated[float, Parameter(
        "Most that they add to a score", 0, 1, rule="7.3", fixed="it is ranking.key_weight",
    )] = 0.3
    prior: Annotated[float, Parameter(
        "Looks without taking that every memory starts with, as near as its nearest key", above=0, max=100,
        rule="7.3",
    )] = 1.0
    nearest: Annotated[int, Parameter(
        "Past questions that one is compared with, the nearest", 1, 1_000, unit="count", rule="7.3",
    )] = 50
    reach: Annotated[float, Parameter(
        "Most that one of three people adds to a score by what they took; of more, so much less", 0, 0.4,
        rule="7.5",
    )] = 0.03
    minority: Annotated[float, Parameter(
        "Share of the people of three or more that are bounded so together; at least one is", 0, below=1,
        rule="7.5",
    )] = 0.06
    # fmt: on

    def __post_init__(self) -> None:
        check(self)
