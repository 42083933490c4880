"""Report of a log import."""

from __future__ import annotations

from dataclasses import dataclass, field

from slowwave.evaluation.exchange.frame import LineCounts, LineProblem
from slowwave.journal import Entry
from slowwave.journal.kinds.feedback import words_in
from slowwave.scoring.days import day_of


@dataclass(slots=True)
class LogImportReport(LineCounts):
    """Counts of one log import.

    All counts cover the whole logs; `new` counts the entries that were not in the journal before.

    Attributes:
        lines: Lines that are not blank.
        searches: Searches, each with all its lines.
        shown: Returned results of these searches.
        verdicts: Feedback on results and projects, by verdict.
        skipped: Events that are no feedback, by name of the action.
        repeated: Events that occur twice in the logs.
        left_out: Events on searches before the requested day.
        not_shown: Verdicts on results that their search is not known to have returned.
        malformed: Rejected lines.
        problems: First few rejected lines, with the reason.
        new: Entries written, or to be written in a dry run.
        already: Entries that were in the journal.
        kept: Searches that the journal has with other results or text; they stay unchanged.
        objects: Distinct results.
        unknown: Results that are no memory of the namespace (yet).
        first_day: First imported day (UTC).
        last_day: Last imported day (UTC).
        dry_run: Whether nothing was to be written.
    """

    lines: int = 0
    searches: int = 0
    shown: int = 0
    verdicts: dict[str, int] = field(default_factory=dict)
    skipped: dict[str, int] = field(default_factory=dict)
    repeated: int = 0
    left_out: int = 0
    not_shown: int = 0
    malformed: int = 0
    problems: list[LineProblem] = field(default_factory=list)
    new: int = 0
    already: int = 0
    kept: int = 0
    objects: int = 0
    unknown: int = 0
    first_day: str = ""
    last_day: str = ""
    dry_run: bool = False

    def skip(self, action: str) -> None:
        """Count an event that is no feedback."""
        self.skipped[action] = self.skipped.get(action, 0) + 1

    def count(self, entry: Entry) -> None:
        """Count an event, and its day."""
        day = day_of(entry.occurred_at)
        self.first_day = min(self.first_day or day, day)
        self.last_day = max(self.last_day, day)
        payload = entry.payload
        if entry.kind == "search":
            self.searches += 1
            self.shown += len(payload["shown"])
            return
        for word in words_in(payload):
            self.verdicts[word] = self.verdicts.get(word, 0) + 1
