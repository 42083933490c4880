"""Recorded verdicts and decisions of a past day; none is decided again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import polars as pl

from slowwave.common import ids
from slowwave.lifecycle.past.events import PastEvent
from slowwave.quality.admission.reasons import CHANGED, REORDERED
from slowwave.quality.admission.statuses import RESOLVED
from slowwave.quality.admission.types import AdmissionDecision

DECISION = (
    "decision_id", "memory_id", "revision", "other_memory", "outcome", "refused", "decided_at", "undone_at",
    "undone_why",
)  # fmt: skip
REFUSAL = ("memory_id", "revision", "duplicate_of", "duplicate_revision", "status")


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """Recorded decision on one version of a note, and when it ended."""

    decision: AdmissionDecision
    undone_at: datetime | None
    undone_why: str | None


class Log:
    """Index of the recorded verdicts and decisions."""

    def __init__(
        self, decisions: pl.DataFrame, refusals: pl.DataFrame, present: pl.DataFrame, moments: set[datetime]
    ) -> None:
        self._late: dict[datetime, list[LoggedDecision]] = {}
        self.by_id: dict[str, LoggedDecision] = {}
        self._about: dict[tuple[str, str], LoggedDecision] = {}
        self._happened: dict[tuple[str, str], list[LoggedDecision]] = {}
        self._looks: list[tuple[str, datetime]] = []
        self._reordered: dict[datetime, list[LoggedDecision]] = {}
        entered = {(name, ids.note_revision(state)) for name, state in present.iter_rows()}
        for row in decisions.select(DECISION).iter_rows(named=True):
            text = row["memory_id"], row["revision"]
            decision = AdmissionDecision(*text, row["outcome"], row["other_memory"], refused=row["refused"])
            decided = LoggedDecision(decision, row["undone_at"], row["undone_why"])
            self.by_id[row["decision_id"]] = decided
            if row["refused"]:
                continue
            self._happened.setdefault(text, []).append(decided)
            if decided.undone_at is not None and decided.undone_why == REORDERED:
                self._reordered.setdefault(decided.undone_at, []).append(decided)
                if decided.undone_at == row["decided_at"] and row["decision_id"] != ids.decision_id(*text):
                    continue  # made and undone within one batch
            if row["decision_id"] == ids.decision_id(*text):
                self._about[text] = decided
                entered.add(text)
            elif row["decided_at"] in moments:  # an event's, not one of a requested reconsolidation
                self._late.setdefault(row["decided_at"], []).append(decided)
            else:
                self._looks.append((row["decision_id"], row["decided_at"]))
        self._refused: dict[tuple[str, str], tuple[str, str] | None] = {}
        for name, revision, original, text, status in refusals.select(REFUSAL).iter_rows():
            let_in_later = original and (status == RESOLVED or (name, revision) in entered)
            if let_in_later:
                self._refused[name, revision] = (original, text)
            elif (name, revision) not in entered:
                self._refused[name, revision] = None

    def refused(self, act: PastEvent) -> bool:
        """Whether this note was refused when it came."""
        return (act.memory_id, act.revision) in self._refused

    def original(self, act: PastEvent) -> tuple[str, str] | None:
        """Return memory and revision that a refused note repeats, if it may have entered later."""
        return self._refused.get((act.memory_id, act.revision))

    def about(self, act: PastEvent) -> LoggedDecision | None:
        """Return the decision on a note that entered."""
        return self._about.get((act.memory_id, act.revision))

    def reordered(self, moment: datetime) -> list[LoggedDecision]:
        """Return decisions that ended at that moment because an older note came late."""
        return self._reordered.get(moment, [])

    def late(self, moment: datetime) -> list[LoggedDecision]:
        """Return decisions that were repeated because a note of this moment came late."""
        return self._late.get(moment, [])

    def parted(self, memory_id: str, revision: str, moment: datetime) -> bool:
        """Whether a merge of this text ended because the target's text changed at that moment."""
        return any(
            logged.decision.outcome == "merge" and logged.undone_at == moment and logged.undone_why == CHANGED
            for logged in self._happened.get((memory_id, revision), ())
        )

    def supersedes(self, memory_id: str, revision: str, other: str) -> list[LoggedDecision]:
        """Return the decisions by which this text of a memory superseded the other."""
        decided = self._happened.get((memory_id, revision), ())
        return [
            logged
            for logged in decided
            if (logged.decision.outcome, logged.decision.other) == ("supersede", other)
        ]

    def looks(self, before: datetime) -> list[PastEvent]:
        """Return the decisions of reconsolidation runs before a moment, as events."""
        return [
            PastEvent(-1, "look", at.date().isoformat(), decision.memory_id, decision.revision, name, at)
            for name, at in self._looks
            if at < before and (decision := self.by_id[name].decision)
        ]
