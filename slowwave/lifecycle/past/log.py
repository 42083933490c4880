"""What was decided then: the verdicts and decisions of the time, of which none is made anew."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

import polars as pl

from slowwave.common import ids
from slowwave.lifecycle.past.events import PastEvent
from slowwave.lifecycle.quarantine import RESOLVED
from slowwave.quality.admission.types import CHANGED, REORDERED, AdmissionDecision

DECISION = (
    "decision_id", "memory_id", "revision", "other_memory", "outcome", "refused", "decided_at", "undone_at",
    "undone_why",
)  # fmt: skip
REFUSAL = ("memory_id", "revision", "duplicate_of", "duplicate_revision", "status")


@dataclass(frozen=True, slots=True)
class LoggedDecision:
    """What was decided about one version of a note, and when that ended: a row of the decision log."""

    decision: AdmissionDecision
    undone_at: datetime | None
    undone_why: str | None


class Log:
    """What is known of the verdicts and decisions of the time."""

    def __init__(
        self, decisions: pl.DataFrame, refusals: pl.DataFrame, known: pl.DataFrame, moments: set[datetime]
    ) -> None:
        self._late: dict[datetime, list[LoggedDecision]] = {}
        self.by_id: dict[str, LoggedDecision] = {}
        self._about: dict[tuple[str, str], LoggedDecision] = {}
        self._happened: dict[tuple[str, str], list[LoggedDecision]] = {}
        self._looks: list[tuple[str, datetime]] = []
        self._reordered: dict[datetime, list[LoggedDecision]] = {}
        entered = {(name, ids.note_revision(state)) for name, state in known.iter_rows()}
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
                    continue  # made and taken back within one batch
            if row["decision_id"] == ids.decision_id(*text):
                self._about[text] = decided
                entered.add(text)
            elif row["decided_at"] in moments:  # an act's, not of a person who asked for a look
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
        """Whether this note was kept out when it came."""
        return (act.memory_id, act.revision) in self._refused

    def original(self, act: PastEvent) -> tuple[str, str] | None:
        """Memory and revision that a refused note repeats, if it may have been let in when that was gone."""
        return self._refused.get((act.memory_id, act.revision))

    def about(self, act: PastEvent) -> LoggedDecision | None:
        """What was decided about a note that was let in."""
        return self._about.get((act.memory_id, act.revision))

    def reordered(self, moment: datetime) -> list[LoggedDecision]:
        """What held no longer from that moment on, since an older note came late."""
        return self._reordered.get(moment, [])

    def late(self, moment: datetime) -> list[LoggedDecision]:
        """What was decided anew because a note of this moment came late."""
        return self._late.get(moment, [])

    def parted(self, memory_id: str, revision: str, moment: datetime) -> bool:
        """Whether a merge of this text was dissolved because of what the target said from that moment on."""
        return any(
            one.decision.outcome == "merge" and one.undone_at == moment and one.undone_why == CHANGED
            for one in self._happened.get((memory_id, revision), ())
        )

    def supersedes(self, memory_id: str, revision: str, other: str) -> list[LoggedDecision]:
        """The decisions with which this text of a memory superseded the other."""
        decided = self._happened.get((memory_id, revision), ())
        return [one for one in decided if (one.decision.outcome, one.decision.other) == ("supersede", other)]

    def looks(self, before: datetime) -> list[PastEvent]:
        """Decisions of looks at what was live already, as acts."""
        return [
            PastEvent(-1, "look", at.date().isoformat(), one.memory_id, one.revision, name, at)
            for name, at in self._looks
            if at < before and (one := self.by_id[name].decision)
        ]
