"""Learning-gate decisions from the evidence of a moment (rule 6.7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.home.processing_watermarks import FEEDBACK
from slowwave.learning.active_boosts import in_use
from slowwave.learning.events import LearningError, latest_decision
from slowwave.learning.gate_evidence import Evidence
from slowwave.quality.learning_gate import Effect, GateDecision, GateEvidence, Progress, decide_gate
from slowwave.scoring.days import day_end, last_day
from slowwave.scoring.evaluation.comparison import Comparison, compare
from slowwave.scoring.feedback import noise
from slowwave.scoring.feedback.learned import KEYS, KINDS, WORDS, Kind, Measured, well_taught
from slowwave.scoring.feedback.noise import Noise
from slowwave.scoring.measures import MRR

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

DRAWS = 2_000
"""Bootstrap draws of the intervals shown beside the conditions (count). No condition depends on them."""


def gates_now(evidence: Evidence, among: Sequence[str] | None = None) -> list[GateDecision]:
    """Return the current gate decision of each namespace and kind of learning.

    Args:
        evidence: Evidence up to today.
        among: Namespaces; None is all of the evidence.
    """
    return [
        decide(evidence, name, evidence.now, kind)
        for name in (evidence.namespaces if among is None else among)
        for kind in KINDS
    ]


def gates(
    evidence: Evidence,
    days: Sequence[str],
    kind: Kind,
    *,
    among: Sequence[str] | None = None,
    open_cycle: bool = True,
) -> dict[tuple[str, str], GateDecision]:
    """Return the gate decision of each namespace at the end of each day.

    A day that has not ended is decided as of now: a gate that opens by its end must not apply anything
    earlier.

    Args:
        evidence: Evidence up to the last of the days, or a later one.
        days: Days in question (YYYY-MM-DD).
        kind: Kind of learning.
        among: Namespaces; None is all of the evidence.
        open_cycle: Report the progress of the open cycle, which is only known as of the last day.
    """
    last = max(days)
    return {
        (day, namespace): decide(
            evidence, namespace, min(day_end(day), evidence.now), kind, last, open_cycle=open_cycle
        )
        for namespace in (evidence.namespaces if among is None else among)
        for day in days
    }


def decide(
    evidence: Evidence,
    namespace: str,
    as_of: datetime,
    kind: Kind = WORDS,
    until: str = "",
    *,
    open_cycle: bool = True,
) -> GateDecision:
    """Return the gate decision of a namespace from what was known at a moment; see `evidence_at`."""
    key = (namespace, as_of, kind, until, open_cycle)
    if key not in evidence.gates:
        facts = evidence_at(evidence, namespace, as_of, kind, until, open_cycle=open_cycle)
        evidence.gates[key] = decide_gate(namespace, facts, as_of, evidence.space.gate_bounds, kind)
    return evidence.gates[key]


def evidence_at(
    evidence: Evidence,
    namespace: str,
    as_of: datetime,
    kind: Kind = WORDS,
    until: str = "",
    *,
    open_cycle: bool = True,
) -> GateEvidence:
    """Collect the evidence of a namespace as of a moment, for the gate's conditions.

    Args:
        evidence: Evidence up to the moment, or a later one.
        namespace: Namespace of the gate.
        as_of: Moment of the decision.
        kind: Kind of learning.
        until: Day of the open cycle; empty is the last day of the evidence.
        open_cycle: Report the progress of the open cycle.
    """
    space = evidence.space
    taught = evidence.standing(namespace, as_of, kind)
    if kind == KEYS:
        taught = taught.filter(pl.col("taken") > 0)
    approval, regression = latest_decision(evidence.acts_of(namespace, as_of), kind)
    first = taught["taught_at"].min()
    assert first is None or isinstance(first, datetime)
    return GateEvidence(
        enabled=in_use(space, kind),
        progress=_progress(evidence, namespace, as_of, until or evidence.until, open_cycle=open_cycle),
        first_proposal=first,
        noise=_noise(evidence, namespace, taught, as_of, kind),
        effect=_would_be_effect(evidence, namespace, first, as_of, kind),
        leaks=evidence.leaks,
        regression=regression,
        approval=approval,
    )


def compared(
    evidence: Evidence,
    namespace: str,
    metric: str,
    first: str,
    as_of: datetime,
    kind: Measured,
    *,
    live: bool = False,
    rated: bool | None = None,
) -> Comparison:
    """Compare, by query, searches with and without what was learned.

    Args:
        evidence: Evidence up to the moment, or a later one.
        namespace: Namespace of the searches.
        metric: Column of ``learned_effect``.
        first: First day (YYYY-MM-DD).
        as_of: End of the last day.
        kind: Kind of learning.
        live: Only searches whose results learning changed.
        rated: Only searches with (True) or without (False) earlier feedback on a right answer; None is all.
    """
    days = pl.col("day").is_between(pl.lit(first), pl.lit(last_day(as_of)))
    rows = evidence.effect(namespace, kind).filter(days)
    if live:
        rows = rows.filter("live", "moved")
    if rated is not None:
        rows = rows.filter(pl.col("rated").fill_null(value=False) == rated)
    by_query = rows.group_by("query_id").agg(pl.col(metric).mean(), pl.col(f"{metric}_learned").mean())
    by_query = by_query.sort("query_id")
    margin = evidence.space.settings.evaluation.margin
    return compare(by_query[metric], by_query[f"{metric}_learned"], margin=margin, n_draws=DRAWS)


def _progress(
    evidence: Evidence, namespace: str, as_of: datetime, until: str, *, open_cycle: bool
) -> Progress:
    """Sum the closed cycles of local searches, and the open one."""
    progress = Progress()
    for cycle in evidence.cycles(namespace, until):
        if cycle.closed_on is None:
            if open_cycle and day_end(cycle.opened_on) <= as_of:
                progress = replace(progress, open_searches=cycle.counted, open_days=cycle.days)
        elif day_end(cycle.closed_on) <= as_of:
            progress = replace(
                progress,
                cycles=progress.cycles + 1,
                searches=progress.searches + cycle.counted,
                days=progress.days + cycle.days,
            )
    return progress


def _noise(evidence: Evidence, namespace: str, taught: pl.DataFrame, as_of: datetime, kind: Kind) -> Noise:
    """Measure how often recent learned matches were unwanted.

    Expired rows count. Rolled-back rows, and terms that have no effect without them, do not.
    """
    policy = evidence.space.learning_policy if kind == WORDS else evidence.space.key_teaching
    first = (as_of - policy.ttl).date().isoformat()
    recent = evidence.matches(namespace, kind).filter(pl.col("day") > first, pl.col("day") <= last_day(as_of))
    if kind == KEYS:
        counted = taught.select("memory_id", term="query_id").unique()
        return noise.of_keys(recent.join(counted, on=["memory_id", "term"], how="semi"))
    counted = well_taught(taught, evidence.space.learning_policy)
    return noise.of_terms(recent.join(counted, on=["memory_id", "term"], how="semi"))


def _would_be_effect(
    evidence: Evidence, namespace: str, first: datetime | None, as_of: datetime, kind: Kind
) -> Effect:
    if first is None:
        return Effect()
    comparison = compared(evidence, namespace, MRR.column, first.date().isoformat(), as_of, kind)
    return Effect(comparison.n, comparison.baseline, comparison.candidate, comparison.low, comparison.high)


def refuse_late_clock(space: Workspace) -> None:
    """Reject an approval dated before the latest feedback.

    It would apply selections made after its own date.

    Raises:
        LearningError: the clock of this machine is behind the latest feedback.
    """
    today, processed = f"{space.now():%F}", max(FEEDBACK.finished(space.store), default="")
    if processed > today:
        raise LearningError(
            f"The clock of this machine says {today}, but feedback up to {processed} is processed. Set the "
            f"clock, then approve."
        )
