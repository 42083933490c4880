"""One run of a judge: what is known is skipped, what is asked is written down before more is asked."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.common import progress
from slowwave.evaluation.judging.anchors import found_anchors
from slowwave.evaluation.judging.entries import judge_payload, judged_entry, judged_id
from slowwave.evaluation.judging.labels import pairs_of
from slowwave.evaluation.judging.model import Grade, Judge, Pair
from slowwave.journal import Entry, JournalConflictError

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
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
        stopped: why the run stopped early: budget or unreachable; empty when it did not.
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

    @property
    def stopped_by_budget(self) -> bool:
        """Whether the next pair could have taken more tokens than the run may use."""
        return self.stopped == "budget"

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


def run(
    space: Workspace,
    namespace: str,
    judge: Judge,
    pairs: Sequence[tuple[str, str]],
    *,
    now: datetime,
    budget: int | None = None,
) -> JudgeReport:
    """Have pairs graded and write the grades to the journal.

    A run that is killed, stops at its budget or finds nobody is run again: what was graded is not asked
    again.

    Args:
        space: of the home.
        namespace: the tenant.
        judge: is asked.
        pairs: query and memory id, the most wanted first.
        now: when the judgments were made, as the journal has it; what was written before keeps its moment.
        budget: tokens that the run may use; None: the setting's.

    Raises:
        JudgeError: the judge refuses every request; what was graded is kept.
    """
    report = JudgeReport(judge.name)
    found, secret = pairs_of(space.store, namespace, pairs)
    report.unknown = len(set(pairs)) - len(found)
    if judge.remote:
        allowed = {key: pair for key, pair in found.items() if key[1] not in secret}
        report.withheld, found = len(found) - len(allowed), allowed
    waiting = _unknown(space.journal, namespace, judge, found)
    report.skipped = len(found) - len(waiting)
    graded: list[tuple[Entry, Pair]] = []
    judging = space.settings.judge
    limit = judging.budget if budget is None else budget
    try:
        for some, grades in asked_within(judge, [pair for _, pair in waiting], report, limit):
            made = [
                (
                    judged_entry(namespace, *waiting[at], judge, one.grade, one.explanation, now),
                    waiting[at][1],
                )
                for at, one in zip(some, grades, strict=True)
                if one.grade is not None
            ]
            append_new(space.journal, [entry for entry, _ in made])
            graded += made
    finally:
        found_anchors(space.journal, namespace, judge, graded, most=judging.anchors, now=now)
    return report


def _unknown(
    journal: Journal, namespace: str, judge: Judge, found: Mapping[tuple[str, str], Pair]
) -> list[tuple[str, Pair]]:
    """Memory id and pair of those that this judge has not graded, each once, in their order."""
    new: dict[str, tuple[str, Pair]] = {}
    by = judge_payload(judge)
    for (query, memory), pair in found.items():
        new.setdefault(judged_id(namespace, query, memory, pair.text_hash, by), (memory, pair))
    known = journal.entries(new)
    return [one for name, one in new.items() if name not in known]


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
