"""Policy of the save gate, with its activation (rule 1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Literal

from slowwave.scoring.parameters import Parameter

Formula = Literal["applicable", "seeds"]
"""Formula of the content score: applicable parts only, or the table of the seeds."""
SEEDS_CHARACTERS = 50
"""Minimum length of a text in the seeds (characters)."""


@dataclass(frozen=True, slots=True)
class Moved:
    """Change by a person of the moment from which mode warn refuses.

    Attributes:
        at: moment of the change; earlier notes are judged without it.
        begins: moment from which refusals count.
    """

    at: datetime
    begins: datetime


@dataclass(frozen=True, slots=True)
class Trusted:
    """Source whose notes the gate lets in with their reasons, because a person says so.

    Attributes:
        namespace: of the notes.
        source: name as of `source_name`.
        since: moment of the rule; earlier notes are judged without it.
        until: moment of its end; None while it holds.
        by: person who set it.
        why: reason in words.
    """

    namespace: str
    source: str
    since: datetime
    until: datetime | None = None
    by: str = ""
    why: str = ""

    def holds_at(self, moment: datetime) -> bool:
        """Whether the rule counts for a note of this moment."""
        return self.since <= moment and (self.until is None or moment < self.until)


def source_name(origin: str | None, principal: str | None) -> str:
    """Return the source of a note: its vault as ``vault:NAME``, else its user as ``user:NAME``."""
    return f"vault:{origin}" if origin else f"user:{principal or ''}"


@dataclass(frozen=True, slots=True)
class GatePolicy:
    """Policy of the save gate.

    Attributes:
        mode: off (everything readable passes), warn (records what it would refuse, and enforces `warn_days`
            after `activated_at`) or enforce.
        echo_window: time for which a returned text makes a note an echo; zero switches echoes off.
        echo_share: minimum share of a note that comes from returned texts.
        moved: changes of the moment from which mode warn refuses, in order.
        trusted: sources whose notes are let in, also those that are trusted no more.
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
    trusted: tuple[Trusted, ...] = ()

    @property
    def least_characters(self) -> int:
        """Return the minimum length of the trimmed content (characters)."""
        if self.min_characters is not None:
            return self.min_characters
        return SEEDS_CHARACTERS if self.score == "seeds" else 0

    @property
    def enforces_from(self) -> datetime | None:
        """Return the moment from which refusals count.

        None in another mode than warn, or if the gate was never active.
        """
        return self._begins(self.moved)

    def enforces_at(self, moment: datetime) -> bool:
        """Whether a note of this moment with faults is refused.

        Only changes made by that moment count.
        """
        start = self._begins([change for change in self.moved if change.at <= moment])
        return self.mode == "enforce" or (start is not None and moment >= start)

    def refuses(self, namespace: str, origin: str | None, principal: str | None, moment: datetime) -> bool:
        """Whether a note with faults is refused: the gate enforces, and its source is not trusted."""
        if not self.enforces_at(moment):
            return False
        source = source_name(origin, principal) if self.trusted else ""
        return not any(
            (rule.namespace, rule.source) == (namespace, source) and rule.holds_at(moment)
            for rule in self.trusted
        )

    def _begins(self, moved: Sequence[Moved]) -> datetime | None:
        if self.mode != "warn":
            return None
        if moved:
            return moved[-1].begins
        return None if self.activated_at is None else self.activated_at + timedelta(days=self.warn_days)
