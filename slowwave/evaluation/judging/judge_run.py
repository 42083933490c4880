"""One run of a judge: what is known is skipped, what is asked is written down before more is asked."""

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
        freeze_anchors(space.journal, namespace, judge, graded, most=judging.anchors, now=now)
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
