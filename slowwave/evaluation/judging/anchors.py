"""Anchors: fixed pairs that a judge grades again each cycle, to detect drift (rule 6.2).

A remote model may be replaced without notice. So some pairs are kept as first judged and graded again in
every cycle. These grades only measure drift: they never replace a judgment.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.common import ids
from slowwave.evaluation.judging.model import Judge, Pair, identity_of, judge_payload
from slowwave.evaluation.judging.run_judge import JudgeReport, append_new, asked_within
from slowwave.journal import Entry
from slowwave.journal.entry import JUDGMENT
from slowwave.journal.entry_builders import entries_in
from slowwave.journal.kinds.judgment import Frozen, JudgmentPayload
from slowwave.scoring.evaluation import agreement
from slowwave.scoring.evaluation.judgments import GRADED, HIGHEST, JUDGE

if TYPE_CHECKING:
    from slowwave.journal import Journal

FIRST = ""
"""Cycle of the first grades, which later ones are compared with."""


@dataclass(frozen=True, slots=True)
class Drift:
    """Grades of a judge's anchors in one cycle, compared with its first grades.

    Attributes:
        cycle_id: Id of the cycle.
        judge: Name, model, version and prompt in that cycle.
        changed: Whether version, model or prompt differ from the first ones.
        pairs: Pairs graded both times (count).
        exact: Share with the same grade.
        tolerant: Share with grades at most one apart.
        shift: Mean of the grade minus the first one.
    """

    cycle_id: str
    judge: str
    changed: bool
    pairs: int
    exact: float
    tolerant: float
    shift: float


def freeze_anchors(
    journal: Journal,
    namespace: str,
    judge: Judge,
    graded: Sequence[tuple[Entry, Pair]],
    *,
    most: int,
    now: datetime,
) -> int:
    """Freeze just judged pairs as anchors, up to `most`, by digest; return their number."""
    if not graded or most <= 0:
        return 0
    existing = {entry.payload["anchor_id"] for entry in _anchors(journal, namespace, judge.name, FIRST)}
    new = {}
    for entry, pair in graded:
        anchor = ids.digest("anchor", namespace, judge.name, entry.subject, entry.payload["memory_id"])
        if anchor not in existing:
            new[anchor] = (entry, pair)
    selected = sorted(new)[: max(0, most - len(existing))]
    journal.append(
        [_entry(namespace, judge, anchor, FIRST, *_first(new[anchor]), now) for anchor in selected]
    )
    return len(selected)


def _first(judged: tuple[Entry, Pair]) -> tuple[Pair, str, int, str]:
    entry, pair = judged
    return pair, entry.payload["memory_id"], entry.payload["grade"], entry.payload["explanation"]


def judge_again(
    journal: Journal, namespace: str, judge: Judge, cycle_id: str, *, now: datetime, budget: int
) -> JudgeReport:
    """Have the anchors graded again for a cycle; idempotent, as graded ones are skipped.

    Raises:
        JudgeError: the judge refuses every request; earlier grades are kept.
        ValueError: no cycle is named.
    """
    if cycle_id == FIRST:
        raise ValueError("cycle_id is empty; pass the id of the cycle")
    report = JudgeReport(judge.name)
    graded = {entry.payload["anchor_id"] for entry in _anchors(journal, namespace, judge.name, cycle_id)}
    firsts = _anchors(journal, namespace, judge.name, FIRST)
    waiting = [entry for entry in firsts if entry.payload["anchor_id"] not in graded]
    report.skipped = len(firsts) - len(waiting)
    pairs = [Pair(**entry.payload["frozen"]) for entry in waiting]
    for some, grades in asked_within(judge, pairs, report, budget):
        entries = [
            _entry(
                namespace, judge, waiting[at].payload["anchor_id"], cycle_id, pairs[at],
                waiting[at].payload["memory_id"], grade.grade, grade.explanation, now,
            )
            for at, grade in zip(some, grades, strict=True)
            if grade.grade is not None
        ]  # fmt: skip
        append_new(journal, entries)
    return report


def drift(journal: Journal, namespace: str, judge_name: str) -> list[Drift]:
    """Compute the drift of a judge in each cycle, earliest first."""
    entries = [
        anchor
        for anchor in _anchors(journal, namespace, judge_name)
        if _is_grade(anchor.payload.get("grade"))
    ]
    first = {anchor.payload["anchor_id"]: anchor for anchor in entries if anchor.payload["cycle_id"] == FIRST}
    cycles: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.payload["cycle_id"] != FIRST and entry.payload["anchor_id"] in first:
            cycles.setdefault(entry.payload["cycle_id"], []).append(entry)
    return [_drift(cycle_id, first, repeats) for cycle_id, repeats in cycles.items()]


def _is_grade(value: object) -> bool:
    """Return whether it is a valid grade; a journal edited by hand may hold anything."""
    return isinstance(value, int) and 0 <= value <= HIGHEST


def _drift(cycle_id: str, first: dict[str, Entry], repeats: Sequence[Entry]) -> Drift:
    now = [payload.payload for payload in repeats]
    originals = [first[payload["anchor_id"]].payload for payload in now]
    first_grades, grades = ([payload["grade"] for payload in payloads] for payloads in (originals, now))
    result = agreement(first_grades, grades, n_draws=1)
    return Drift(
        cycle_id, identity_of(now[-1]["judge"]),
        any(payload["judge"] != old["judge"] for payload, old in zip(now, originals, strict=True)),
        result.n, result.exact.value, result.tolerant.value, (sum(grades) - sum(first_grades)) / result.n,
    )  # fmt: skip


def _anchors(journal: Journal, namespace: str, judge_name: str, cycle_id: str | None = None) -> list[Entry]:
    """Return the anchor entries of a judge, oldest first."""
    rows = journal.read(kinds=[JUDGMENT], namespace=namespace)
    return [
        entry
        for entry in entries_in(rows.filter((rows["principal"] == judge_name) & (rows["origin"] == JUDGE)))
        if entry.payload.get("anchor") and cycle_id in (None, entry.payload.get("cycle_id"))
    ]


def _entry(
    namespace: str,
    judge: Judge,
    anchor_id: str,
    cycle_id: str,
    pair: Pair,
    memory_id: str,
    grade: int,
    explanation: str,
    at: datetime,
) -> Entry:
    payload = JudgmentPayload(
        anchor=True, anchor_id=anchor_id, cycle_id=cycle_id, query=pair.query, memory_id=memory_id,
        grade=grade, state=GRADED, explanation=explanation, judge=judge_payload(judge),
        text_hash=pair.text_hash,
    )  # fmt: skip
    if cycle_id == FIRST:
        payload["frozen"] = Frozen(query=pair.query, title=pair.title, text=pair.text)
    return Entry(
        event_id=ids.digest("judgment", anchor_id, cycle_id), kind=JUDGMENT, namespace=namespace,
        subject=ids.query_id(namespace, pair.query), occurred_at=at, principal=judge.name, origin=JUDGE,
        payload=payload,
    )  # fmt: skip
