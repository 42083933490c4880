"""What the learning gate says (rule 6.7), of the evidence that there was at a moment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.learning.acts import last_word
from slowwave.learning.evidence import Evidence
from slowwave.quality.learning_gate import Effect, GateDecision, GateEvidence, Progress, decide_gate
from slowwave.scoring.days import day_end, last_day
from slowwave.scoring.evaluation.comparison import Comparison, compare
from slowwave.scoring.feedback.learned import well_taught
from slowwave.scoring.measures import MRR

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

DRAWS = 2_000
"""Of the intervals beside the conditions; none of them is decided by an interval (count)."""


def gate(space: Workspace, namespace: str, day: str = "") -> GateDecision:
    """What the gate of a namespace says.

    Args:
        space: has the evidence.
        namespace: whose gate.
        day: at whose end, by the evidence of then; empty, or a day that is not over: now.
    """
    evidence = Evidence(space, day, among=[namespace])
    return decide(evidence, namespace, min(day_end(day), evidence.now) if day else evidence.now)


def gates_now(evidence: Evidence, among: Sequence[str] | None = None) -> list[GateDecision]:
    """What the gates say now, of some namespaces or of all that are asked about.

    Args:
        evidence: up to today.
        among: namespaces.
    """
    return [
        decide(evidence, name, evidence.now) for name in (evidence.namespaces if among is None else among)
    ]


def gates(
    evidence: Evidence,
    days: Sequence[str],
    *,
    among: Sequence[str] | None = None,
    open_cycle: bool = True,
) -> dict[tuple[str, str], GateDecision]:
    """The same of every namespace at the end of each of some days, by day and namespace.

    Of a day that is not over: now, or what is open only by its end would let it in before.

    Args:
        evidence: up to the last of the days, or a later one.
        days: in question.
        among: namespaces.
        open_cycle: whether to say how far the open cycle is; it is only known as it is on the last day.
    """
    last = max(days)
    return {
        (day, namespace): decide(
            evidence, namespace, min(day_end(day), evidence.now), last, open_cycle=open_cycle
        )
        for namespace in (evidence.namespaces if among is None else among)
        for day in days
    }


def decide(
    evidence: Evidence, namespace: str, as_of: datetime, until: str = "", *, open_cycle: bool = True
) -> GateDecision:
    """The gate of a namespace at a moment, by what was known then; see `evidence_at`."""
    then = evidence_at(evidence, namespace, as_of, until, open_cycle=open_cycle)
    return decide_gate(namespace, then, as_of, evidence.space.gate_bounds)


def evidence_at(
    evidence: Evidence, namespace: str, as_of: datetime, until: str = "", *, open_cycle: bool = True
) -> GateEvidence:
    """What was known of a namespace at a moment; whether the store is isolated is looked at now.

    Args:
        evidence: up to the moment, or a later one.
        namespace: whose gate.
        as_of: the moment.
        until: the day of the cycle that is open; empty: the last one of the evidence.
        open_cycle: whether to say how far that is.
    """
    space = evidence.space
    lessons = evidence.standing(namespace, as_of)
    noisy, judged = _noise(evidence, namespace, lessons, as_of)
    approval, regression = last_word(evidence.acts_of(namespace, as_of))
    first = lessons["taught_at"].min()
    assert first is None or isinstance(first, datetime)
    return GateEvidence(
        enabled=space.settings.learning.enabled,
        progress=_progress(evidence, namespace, as_of, until or evidence.until, open_cycle=open_cycle),
        first_proposal=first,
        noisy=noisy,
        judged=judged,
        effect=_would_be_effect(evidence, namespace, first, as_of),
        leaks=evidence.leaks,
        regression=regression,
        approval=approval,
    )


def compared(
    evidence: Evidence, namespace: str, metric: str, first: str, as_of: datetime, *, live: bool = False
) -> Comparison:
    """By query, the searches of some days without what was learned and with it.

    Args:
        evidence: up to the moment, or a later one.
        namespace: of the searches.
        metric: column.
        first: the first day.
        as_of: the end of the last one.
        live: only searches whose results what was learned has changed.
    """
    rows = evidence.effect(namespace).filter(pl.col("day").is_between(pl.lit(first), pl.lit(last_day(as_of))))
    if live:
        rows = rows.filter("live", "moved")
    by_query = rows.group_by("query_id").agg(pl.col(metric).mean(), pl.col(f"{metric}_learned").mean())
    by_query = by_query.sort("query_id")
    margin = evidence.space.settings.evaluation.margin
    return compare(by_query[metric], by_query[f"{metric}_learned"], margin=margin, n_draws=DRAWS)


def _progress(
    evidence: Evidence, namespace: str, as_of: datetime, until: str, *, open_cycle: bool
) -> Progress:
    """How far the cycles are of what was asked and said here."""
    done = Progress()
    for one in evidence.cycles(namespace, until):
        if one.closed_on is None:
            if open_cycle and day_end(one.opened_on) <= as_of:
                done = replace(done, open_searches=one.counted, open_days=one.days)
        elif day_end(one.closed_on) <= as_of:
            done = replace(
                done, cycles=done.cycles + 1, searches=done.searches + one.counted, days=done.days + one.days
            )
    return done


def _noise(evidence: Evidence, namespace: str, lessons: pl.DataFrame, as_of: datetime) -> tuple[int, int]:
    """Learned terms whose matches were mostly not wanted, and those with a verdict, of the last weeks.

    Also of terms that have expired meanwhile; not of those that have no effect without what was taken back.
    """
    policy = evidence.space.learning_policy
    term = ["namespace", "memory_id", "term"]
    first = (as_of - policy.ttl).date().isoformat()
    recent = evidence.matches(namespace).filter(pl.col("day") > first, pl.col("day") <= last_day(as_of))
    stand = well_taught(lessons, policy)
    verdicts = recent.join(stand, on=term, how="semi").group_by(term).agg(pl.col("relevant").mean())
    return verdicts.filter(pl.col("relevant") < 0.5).height, verdicts.height


def _would_be_effect(evidence: Evidence, namespace: str, first: datetime | None, as_of: datetime) -> Effect:
    if first is None:
        return Effect()
    found = compared(evidence, namespace, MRR.column, first.date().isoformat(), as_of)
    return Effect(found.n, found.baseline, found.candidate, found.low, found.high)
