"""One run of a judge: graded pairs are skipped, and grades are written batch by batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.evaluation.judging.anchors import freeze_anchors
from slowwave.evaluation.judging.entries import judged_entry, judged_id
from slowwave.evaluation.judging.labels import pairs_of
from slowwave.evaluation.judging.model import Judge, Pair, judge_payload
from slowwave.evaluation.judging.run_judge import JudgeReport, append_new, asked_within
from slowwave.journal import Entry

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal


def run(
    space: Workspace,
    namespace: str,
    judge: Judge,
    pairs: Sequence[tuple[str, str]],
    *,
    now: datetime,
    budget: int | None = None,
) -> JudgeReport:
    """Have the judge grade pairs, and write the grades to the journal.

    A run that was killed, stopped at its budget or did not reach the judge can be repeated: graded pairs are
    skipped.

    Args:
        space: Workspace of the home.
        namespace: The tenant.
        judge: Judge to ask.
        pairs: Query and memory id, most wanted first.
        now: Time of the judgments in the journal; earlier judgments keep theirs.
        budget: Maximum tokens of the run; None is the setting's.

    Raises:
        JudgeError: the judge refuses every request; earlier grades are kept.
    """
    report = JudgeReport(judge.name)
    readable, secret = pairs_of(space.store, namespace, pairs)
    report.unknown = len(set(pairs)) - len(readable)
    if judge.remote:
        allowed = {key: pair for key, pair in readable.items() if key[1] not in secret}
        report.withheld, readable = len(readable) - len(allowed), allowed
    waiting = _ungraded(space.journal, namespace, judge, readable)
    report.skipped = len(readable) - len(waiting)
    graded: list[tuple[Entry, Pair]] = []
    judging = space.settings.judge
    limit = judging.budget if budget is None else budget
    try:
        for some, grades in asked_within(judge, [pair for _, pair in waiting], report, limit):
            entries = [
                (
                    judged_entry(namespace, *waiting[at], judge, grade.grade, grade.explanation, now),
                    waiting[at][1],
                )
                for at, grade in zip(some, grades, strict=True)
                if grade.grade is not None
            ]
            append_new(space.journal, [entry for entry, _ in entries])
            graded += entries
    finally:
        freeze_anchors(space.journal, namespace, judge, graded, most=judging.anchors, now=now)
    return report


def _ungraded(
    journal: Journal, namespace: str, judge: Judge, readable: Mapping[tuple[str, str], Pair]
) -> list[tuple[str, Pair]]:
    """Return memory id and pair of pairs that this judge has not graded, in order."""
    new: dict[str, tuple[str, Pair]] = {}
    by = judge_payload(judge)
    for (query, memory), pair in readable.items():
        new.setdefault(judged_id(namespace, query, memory, pair.text_hash, by), (memory, pair))
    graded = journal.entries(new)
    return [item for name, item in new.items() if name not in graded]
