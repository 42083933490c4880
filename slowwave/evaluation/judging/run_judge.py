"""Budgeted requests to a judge, and the report of a run."""

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
"""Consecutive pairs without an answer after which a run stops as unreachable (count)."""

FEW = 10
"""Maximum problems reported with a reason; the others are counted."""


@dataclass(slots=True)
class JudgeReport:
    """Report of a judge run.

    Attributes:
        judge: Name of the judge.
        asked: Pairs sent to the judge.
        graded: Of these, pairs with a grade.
        failed: Of these, pairs without one: no answer, or an invalid answer.
        skipped: Pairs that this judge had graded already, with the same rules and text.
        unknown: Pairs whose memory does not exist.
        withheld: Pairs whose memory is secret, which a remote judge does not get.
        left: Pairs not sent because the run stopped.
        tokens: Tokens read and written.
        stopped: Reason of an early stop: budget (the next pair might exceed it) or unreachable; else empty.
        problems: First few failures, with the reason.
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
    """Yield batches of pairs and their grades until a limit is reached.

    The report is kept up to date, and names at the end why pairs remain.
    """
    silent = 0
    with progress.task(f"judging ({judge.name})", len(pairs)) as advance:
        at = 0
        while at < len(pairs):
            some = range(at, min(at + judge.batch, len(pairs)))
            if silent >= PATIENCE:
                report.stopped = "unreachable"
            elif report.tokens + sum(judge.cost(pairs[index]) for index in some) > budget:
                report.stopped = "budget"
            if report.stopped:
                report.left = len(pairs) - at
                return
            grades = judge.grade([pairs[index] for index in some])
            for grade in grades:
                report.take(grade)
                silent = 0 if grade.answered else silent + 1
            yield some, grades
            advance(len(some))
            at = some.stop


def append_new(journal: Journal, entries: Sequence[Entry]) -> None:
    """Append entries; an entry that exists with another grade stays."""
    try:
        journal.append(entries)
    except JournalConflictError:  # the same pair was graded by another process meanwhile
        existing = journal.entries([entry.event_id for entry in entries])
        append_new(journal, [entry for entry in entries if entry.event_id not in existing])
