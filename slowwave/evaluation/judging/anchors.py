"""A fixed set of pairs that a judge grades again and again, to see whether it has changed (rule 6.2).

A model behind an address may be exchanged without a word. So some pairs are kept as they were when they were
first judged, and are graded again in every cycle. These grades only serve the comparison: they never replace
a judgment.
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
"""The cycle of the grades that the later ones are compared with."""


@dataclass(frozen=True, slots=True)
class Drift:
    """How a judge graded its anchors in one cycle, beside its first grades.

    Attributes:
        cycle_id: of the cycle.
        judge: name, model, version and prompt as they were then, and differed or not from the first ones.
        changed: whether version, model or prompt were others than at first.
        pairs: graded both times (count).
        exact: share of them with the same grade.
        tolerant: share of them whose grades are at most one apart.
        shift: mean of the grade minus the first one.
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
    """Freeze pairs that were just judged, in the order of their digests, until there are `most`; how many."""
    if not graded or most <= 0:
        return 0
    have = {entry.payload["anchor_id"] for entry in _anchors(journal, namespace, judge.name, FIRST)}
    new = {}
    for entry, pair in graded:
        anchor = ids.digest("anchor", namespace, judge.name, entry.subject, entry.payload["memory_id"])
        if anchor not in have:
            new[anchor] = (entry, pair)
    chosen = sorted(new)[: max(0, most - len(have))]
    journal.append([_entry(namespace, judge, anchor, FIRST, *_first(new[anchor]), now) for anchor in chosen])
    return len(chosen)


def _first(judged: tuple[Entry, Pair]) -> tuple[Pair, str, int, str]:
    entry, pair = judged
    return pair, entry.payload["memory_id"], entry.payload["grade"], entry.payload["explanation"]


def judge_again(
    journal: Journal, namespace: str, judge: Judge, cycle_id: str, *, now: datetime, budget: int
) -> JudgeReport:
    """Have the anchors graded again for a cycle; those that were are skipped, so it can be repeated.

    Raises:
        JudgeError: the judge refuses every request; what was graded is kept.
        ValueError: no cycle is named.
    """
    if cycle_id == FIRST:
        raise ValueError("name the cycle that the anchors are judged again for")
    report = JudgeReport(judge.name)
    done = {entry.payload["anchor_id"] for entry in _anchors(journal, namespace, judge.name, cycle_id)}
    firsts = _anchors(journal, namespace, judge.name, FIRST)
    waiting = [entry for entry in firsts if entry.payload["anchor_id"] not in done]
    report.skipped = len(firsts) - len(waiting)
    pairs = [Pair(**entry.payload["frozen"]) for entry in waiting]
    for some, grades in asked_within(judge, pairs, report, budget):
        made = [
            _entry(
                namespace, judge, waiting[at].payload["anchor_id"], cycle_id, pairs[at],
                waiting[at].payload["memory_id"], one.grade, one.explanation, now,
            )
            for at, one in zip(some, grades, strict=True)
            if one.grade is not None
        ]  # fmt: skip
        append_new(journal, made)
    return report


def drift(journal: Journal, namespace: str, judge_name: str) -> list[Drift]:
    """How a judge graded its anchors in each cycle, the earliest first."""
    entries = [one for one in _anchors(journal, namespace, judge_name) if _is_grade(one.payload.get("grade"))]
    first = {one.payload["anchor_id"]: one for one in entries if one.payload["cycle_id"] == FIRST}
    cycles: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.payload["cycle_id"] != FIRST and entry.payload["anchor_id"] in first:
            cycles.setdefault(entry.payload["cycle_id"], []).append(entry)
    return [_drift(cycle_id, first, again) for cycle_id, again in cycles.items()]


def _is_grade(given: object) -> bool:
    """Whether it is one: what was written into a journal by hand may be none."""
    return isinstance(given, int) and 0 <= given <= HIGHEST


def _drift(cycle_id: str, first: dict[str, Entry], again: Sequence[Entry]) -> Drift:
    now = [one.payload for one in again]
    before = [first[one["anchor_id"]].payload for one in now]
    was, grades = ([one["grade"] for one in payloads] for payloads in (before, now))
    found = agreement(was, grades, n_draws=1)
    return Drift(
        cycle_id, identity_of(now[-1]["judge"]),
        any(one["judge"] != old["judge"] for one, old in zip(now, before, strict=True)),
        found.n, found.exact.value, found.tolerant.value, (sum(grades) - sum(was)) / found.n,
    )  # fmt: skip


def _anchors(journal: Journal, namespace: str, judge_name: str, cycle_id: str | None = None) -> list[Entry]:
    """The entries of anchors of a judge, the first written first."""
    rows = journal.read(kinds=[JUDGMENT], namespace=namespace)
    return [
        one
        for one in entries_in(rows.filter((rows["principal"] == judge_name) & (rows["origin"] == JUDGE)))
        if one.payload.get("anchor") and cycle_id in (None, one.payload.get("cycle_id"))
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
