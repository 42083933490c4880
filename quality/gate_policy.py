"""What the save gate asks for, and from when on (rule 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal

from slowwave.scoring.parameters import Parameter

Formula = Literal["applicable", "seeds"]
"""Formula of a note's content score: from what applies to it, or by the table of the seeds."""
SEEDS_CHARACTERS = 50
"""Least length of a text by the seeds (characters)."""


@dataclass(frozen=True, slots=True)
class Moved:
    """What a person said about when a gate of mode warn begins to refuse.

    Attributes:
        at: when it was said; notes of before are judged as if it had not been.
        begins: from when on refusals count.
    """

    at: datetime
    begins: datetime


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """What the gate asks for.

    Attributes:
        mode: off (everything readable passes), warn (the gate enforces when `warn_days` have passed since
            `activated_at`; until then it only records what it would refuse) or enforce.
        echo_window: for how long a text that a search showed is an echo; zero looks for none.
        echo_share: share of a note that has to come from what was shown.
        moved: what people said about when a gate of mode warn begins to refuse, in their order.
    """

    # fmt: off
    mode: Literal["off", "warn", "enforce"] = "enforce"
    warn_days: Annotated[float, Parameter(
        "Days after activation in which a gate of mode warn only records what it would refuse. Then it "
        "refuses", 0, 36_500, rule="1",
    )] = 14.0
    score: Annotated[Formula, Parameter(
        "applicable: score only what applies to a note, whose text must state something; seeds: require 50 "
        "characters and score six weighted parts for every note", rule="1",
    )] = "applicable"
    min_characters: Annotated[int | None, Parameter(
        "Minimum characters of content. Shorter notes are quarantined. Unset: 50 with `seeds`, else no "
        "minimum", 0, rule="1",
    )] = None
    min_quality: Annotated[float, Parameter(
        "Minimum content score (L2, 0 to 1). Notes below it are quarantined", 0, 1, rule="1",
    )] = 0.40
    # fmt: on
    activated_at: datetime | None = None
    echo_window: timedelta = timedelta(hours=24)
    echo_share: float = 0.8
    moved: tuple[Moved, ...] = ()

    @property
    def least_characters(self) -> int:
        """Least length of the trimmed content (characters)."""
        if self.min_characters is not None:
            return self.min_characters
        return SEEDS_CHARACTERS if self.score == "seeds" else 0

    @property
    def enforces_from(self) -> datetime | None:
        """The moment from which refusals count; None in another mode than warn, or if it was never active."""
        return self._begins(self.moved)

    def enforces_at(self, moment: datetime) -> bool:
        """Whether a note of this moment that has faults is refused, by what had been said by then."""
        start = self._begins([one for one in self.moved if one.at <= moment])
        return self.mode == "enforce" or (start is not None and moment >= start)

    def _begins(self, moved: Sequence[Moved]) -> datetime | None:
        if self.mode != "warn":
            return None
        if moved:
            return moved[-1].begins
        return None if self.activated_at is None else self.activated_at + timedelta(days=self.warn_days)
