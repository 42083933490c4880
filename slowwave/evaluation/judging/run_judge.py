"""Asking a judge for grades within a budget, and a report of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from slowwave.common import progress
from slowwave.evaluation.judging.model import Grade, Judge, Pair
from slowwave.journal import Entry, JournalConflictError

if TYPE_CHECKING:
    from slowwave.journal import Journal

PATIENCE = 3
"""Pairs in a row without any answer after which a run stops: the judge is not there (count)."""

FEW = 10
"""Problems that are kept with their reasons; the others are only counted."""


@dataclass(slots=True)
class JudgeReport:
    """What a run did.

    Attributes:
        judge: whose grades they are.
        asked: pairs that the judge was asked about.
        graded: of these, those that have a grade now.
        failed: of these, those that have none: no answer, or an answer that is no grade.
        skipped: pairs that this judge had graded already, by the same rules and with the same text.
        unknown: pairs whose memory is not there.
        withheld: pairs whose memory is secret, which a judge elsewhere is not shown.
        left: pairs that were not asked about because the run stopped.
        tokens: read and written.
        stopped: why the run stopped early: budget (the next pair could have taken more tokens than the run
            may use) or unreachable; empty when it did not.
        problems: the first few of what failed, with the reason.
    """

    judge: str
    asked: int = 0
    graded: int = 0
    failed: int = 0
    skipped: int = 0
    unknown: int = 0
    withheld: int = 0
    left: int = 0
    tokens: int = 0
    stopped: str = ""
    problems: list[str] = field(default_factory=list)

    def take(self, grade: Grade) -> None:
        """Count one answer."""
        self.asked += 1
        self.tokens += grade.tokens
        if grade.grade is not None:
            self.graded += 1
            return
        self.failed += 1
        if len(self.problems) < FEW:
            self.problems.append(grade.problem)


def asked_within(
    judge: Judge, pairs: Sequence[Pair], report: JudgeReport, budget: int
) -> Iterator[tuple[range, list[Grade]]]:
    """Ask for some pairs at a time until a limit is reached; the places of the pairs, and their grades.

    The report is kept up to date, and says at the end why pairs are left.
    """
    silent = 0
    with progress.task(f"judging ({judge.name})", len(pairs)) as advance:
        at = 0
        while at < len(pairs):
            some = range(at, min(at + judge.batch, len(pairs)))
            if silent >= PATIENCE:
                report.stopped = "unreachable"
            elif report.tokens + sum(judge.cost(pairs[one]) for one in some) > budget:
                report.stopped = "budget"
            if report.stopped:
                report.left = len(pairs) - at
                return
            grades = judge.grade([pairs[one] for one in some])
            for grade in grades:
                report.take(grade)
                silent = 0 if grade.answered else silent + 1
            yield some, grades
            advance(len(some))
            at = some.stop


def append_new(journal: Journal, entries: Sequence[Entry]) -> None:
    """Write entries; where one is there already with another grade, the first one stays."""
    try:
        journal.append(entries)
    except JournalConflictError:  # the same pair was graded by another process meanwhile
        known = journal.entries([entry.event_id for entry in entries])
        append_new(journal, [entry for entry in entries if entry.event_id not in known])
