"""What the learning gate says (rule 6.7), of the evidence that there was at a moment."""

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
"""Of the intervals beside the conditions; none of them is decided by an interval (count)."""


def gates_now(evidence: Evidence, among: Sequence[str] | None = None) -> list[GateDecision]:
    """What the gates say now of each kind of learning, of some namespaces or of all that are asked about.

    Args:
        evidence: up to today.
        among: namespaces.
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
    """The same of every namespace at the end of each of some days, by day and namespace.

    Of a day that is not over: now, or what is open only by its end would let it in before.

    Args:
        evidence: up to the last of the days, or a later one.
        days: in question.
        kind: of learning.
        among: namespaces.
        open_cycle: whether to say how far the open cycle is; it is only known as it is on the last day.
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
    """The gate of a namespace at a moment, by what was known then; see `evidence_at`."""
    key = (namespace, as_of, kind, until, open_cycle)
    if key not in evidence.gates:
        then = evidence_at(evidence, namespace, as_of, kind, until, open_cycle=open_cycle)
        evidence.gates[key] = decide_gate(namespace, then, as_of, evidence.space.gate_bounds, kind)
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
    """What was known of a namespace at a moment; whether the store is isolated is looked at now.

    Args:
        evidence: up to the moment, or a later one.
        namespace: whose gate.
        as_of: the moment.
        kind: of learning.
        until: the day of the cycle that is open; empty: the last one of the evidence.
        open_cycle: whether to say how far that is.
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
    """By query, the searches of some days without what was learned and with it.

    Args:
        evidence: up to the moment, or a later one.
        namespace: of the searches.
        metric: column.
        first: the first day.
        as_of: the end of the last one.
        kind: of learning.
        live: only searches whose results what was learned has changed.
        rated: only searches of which a right answer had feedback before, or had none; None is all.
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


def _noise(evidence: Evidence, namespace: str, taught: pl.DataFrame, as_of: datetime, kind: Kind) -> Noise:
    """How much of what was learned brought up what nobody wanted, in the last weeks.

    Also of what has expired meanwhile; not of what has no effect without what was taken back.
    """
    policy = evidence.space.learning_policy if kind == WORDS else evidence.space.key_teaching
    first = (as_of - policy.ttl).date().isoformat()
    recent = evidence.matches(namespace, kind).filter(pl.col("day") > first, pl.col("day") <= last_day(as_of))
    if kind == KEYS:
        stand = taught.select("memory_id", term="query_id").unique()
        return noise.of_keys(recent.join(stand, on=["memory_id", "term"], how="semi"))
    stand = well_taught(taught, evidence.space.learning_policy)
    return noise.of_terms(recent.join(stand, on=["memory_id", "term"], how="semi"))


def _would_be_effect(
    evidence: Evidence, namespace: str, first: datetime | None, as_of: datetime, kind: Kind
) -> Effect:
    if first is None:
        return Effect()
    found = compared(evidence, namespace, MRR.column, first.date().isoformat(), as_of, kind)
    return Effect(found.n, found.baseline, found.candidate, found.low, found.high)


def refuse_late_clock(space: Workspace) -> None:
    """Reject an approval dated before the latest feedback: it would apply what was selected since.

    Raises:
        LearningError: this machine's clock is behind what is known.
    """
    today, folded = f"{space.now():%F}", max(FEEDBACK.finished(space.store), default="")
    if folded > today:
        raise LearningError(
            f"This machine's clock says {today}, and feedback up to {folded} is known already: set the "
            f"clock right, then approve."
        )
