"""What an import found and did."""

from __future__ import annotations

from dataclasses import dataclass, field

from slowwave.evaluation.exchange.frame import LineCounts, LineProblem
from slowwave.journal import Entry
from slowwave.journal.kinds.feedback import words_in
from slowwave.scoring.days import day_of


@dataclass(slots=True)
class LogImportReport(LineCounts):
    """Counts of one import; all of what the logs say, of which `new` was not in the journal before.

    Attributes:
        lines: lines that are not blank.
        searches: searches, each with all its lines.
        shown: results that they showed.
        verdicts: what was said of results and projects, by verdict.
        skipped: events that are no feedback, by the name of their action.
        repeated: acts that the logs have a second time.
        left_out: acts on searches from before the day that was asked for.
        not_shown: verdicts on results that their search is not known to have shown.
        malformed: lines that were not taken.
        problems: the first few of them, with the reason.
        new: entries written, or to be written by an import that is no trial.
        already: entries that were in the journal.
        kept: searches that were in the journal with other results or another text, and stay as they were.
        objects: different results.
        unknown: of these, how many are no memory of the namespace (yet).
        first_day: of what was imported (UTC).
        last_day: the same.
        dry_run: whether nothing was to be written.
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
        """Count what an act says, and its day."""
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
