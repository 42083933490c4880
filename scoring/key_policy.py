"""Constants of the query boost (rule 7); each one is a setting with this default."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

from slowwave.scoring.parameters import Parameter, check


@dataclass(frozen=True, slots=True)
class KeyPolicy:
    """Constants of the query boost.

    Raises:
        ValueError: a value is out of its range.
    """

    # fmt: off
    weight: Annotated[float, Parameter(
        "Maximum query boost added to a score", 0, 1, rule="7.3", fixed="set by `ranking.key_weight`",
    )] = 0.3
    impression_pseudocount: Annotated[float, Parameter(
        "Virtual examinations without a selection that every memory starts with. Higher values lower the "
        "boost of memories with few selections", above=0, max=100, rule="7.3",
    )] = 1.0
    nearest: Annotated[int, Parameter(
        "Past queries that a query is compared with, nearest first. Others give no boost",
        1, 1_000, unit="count", rule="7.3",
    )] = 50
    max_user_boost: Annotated[float, Parameter(
        "Maximum score boost one user can cause in a namespace of three users. Scales as 3/n for n users",
        0, 0.4, rule="7.5",
    )] = 0.03
    minority_fraction: Annotated[float, Parameter(
        "Share of the users who together are bounded like one user, in a namespace of three or more. Rounded "
        "down, at least one user", 0, below=1, rule="7.5",
    )] = 0.06
    # fmt: on

    def __post_init__(self) -> None:
        check(self)
