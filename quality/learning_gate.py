"""Learning gate: conditions before anything learned is applied (rule 6.7).

A pure function of evidence. The sensor and every gated asset evaluate it before any write; the web page and
the CLI show it.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from math import floor, isfinite
from typing import Any, Final, Literal

from slowwave.quality.learning_bounds import GateBounds
from slowwave.scoring.days import DAY
from slowwave.scoring.feedback.learned import GATE_CLOSED, SHADOW, WORDS, Kind
from slowwave.scoring.feedback.noise import Noise
from slowwave.scoring.intervals import wilson

State = Literal["open", "closed", "insufficient"]
ENABLED, CYCLES, SEARCHES, DAYS = "enabled", "cycles", "searches", "days"
SHADOW_WEEK, NOISE, QUALITY = "shadow week", "noise", "quality"
ISOLATION, REGRESSION, APPROVAL = "isolation", "regression", "approval"
CONDITIONS: Final = (
    ENABLED, CYCLES, SEARCHES, DAYS, SHADOW_WEEK, NOISE, QUALITY, ISOLATION, REGRESSION, APPROVAL,
)  # fmt: skip
"""All conditions in display order; all must be open."""
COLUMNS: Final = ("namespace", "condition", "state", "value", "bound", "number", "kind")
_ROUNDING = 1e-9  # 0.49 is not more than 2 % below 0.50, despite float rounding


@dataclass(frozen=True, slots=True)
class Progress:
    """Evaluation progress of a namespace; imports do not count.

    Attributes:
        cycles: closed cycles with enough of its own queries (count).
        searches: evaluated queries of these, each once a day and at most three times a cycle (count).
        days: from the first day of the first to the last day of the last.
        open_searches: of the open cycle (count).
        open_days: of the open cycle.
    """

    cycles: int = 0
    searches: int = 0
    days: int = 0
    open_searches: int = 0
    open_days: int = 0


@dataclass(frozen=True, slots=True)
class Effect:
    """MRR@5 with and without the proposals, on queries since the first proposal.

    Attributes:
        n: queries (count).
        before: mean without.
        after: mean with.
        low: lower end of the interval of the difference.
        high: upper end.
    """

    n: int = 0
    before: float = float("nan")
    after: float = float("nan")
    low: float = float("nan")
    high: float = float("nan")

    @property
    def change(self) -> float:
        """Return the relative change; NaN without a measurement, 0 if both are 0."""
        if not self.n or not isfinite(self.before):
            return float("nan")
        if self.before == 0:
            return 0.0
        return (self.after - self.before) / self.before


@dataclass(frozen=True, slots=True)
class Approval:
    """Latest approval or withdrawal by a person.

    Attributes:
        who: person.
        at: moment.
        given: whether it approves; else it is a withdrawal.
        why: reason.
    """

    who: str
    at: datetime
    given: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """Evidence that the learning gate of a namespace evaluates, at a moment.

    Attributes:
        enabled: whether the settings switch learning on.
        progress: progress of the evaluation.
        first_proposal: moment of the first standing proposal; None without one.
        noise: noise of the terms or keys.
        effect: effect of the proposals if applied.
        leaks: ways in which learned terms reach the full-text search; None if not checked.
        regression: finding of the regression guard since the last approval; empty for none.
        approval: latest approval or withdrawal.
    """

    enabled: bool
    progress: Progress
    first_proposal: datetime | None
    noise: Noise
    effect: Effect
    leaks: tuple[str, ...] | None
    regression: str
    approval: Approval | None


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition of the learning gate.

    Attributes:
        name: one of `CONDITIONS`.
        value: current value, as text.
        bound: required value, as text.
        state: open if it holds, closed if not, insufficient if not known yet.
        number: value as a number, if it is one.
    """

    name: str
    value: str
    bound: str
    state: State
    number: float | None = None

    @property
    def lacking(self) -> str:
        """Return value and bound: "40/200 evaluated (needs 200 evaluated)"."""
        return f"{self.value} (needs {self.bound})"


@dataclass(frozen=True, slots=True)
class GateDecision:
    """Decision of the learning gate of a namespace at a moment."""

    namespace: str
    as_of: datetime
    conditions: tuple[Condition, ...]
    kind: Kind = WORDS

    @property
    def state(self) -> State:
        """Return open if all conditions are, closed if one is, else insufficient."""
        states = {condition.state for condition in self.conditions}
        return "open" if states == {"open"} else "closed" if "closed" in states else "insufficient"

    @property
    def open(self) -> bool:
        """Whether proposals may be applied."""
        return self.state == "open"

    @property
    def used(self) -> bool:
        """Whether earlier applied terms or keys stay in effect.

        Missing evidence only stops new ones.
        """
        return not {condition.name for condition in self.missing} & {ENABLED, ISOLATION, REGRESSION, APPROVAL}

    @property
    def missing(self) -> tuple[Condition, ...]:
        """Return the conditions that are not open."""
        return tuple(condition for condition in self.conditions if condition.state != "open")

    @property
    def awaits_only_approval(self) -> bool:
        """Whether only a person's approval is missing; it also clears a regression."""
        names = {condition.name for condition in self.missing}
        return bool(names) and names <= {APPROVAL, REGRESSION}

    @property
    def reason(self) -> str:
        """Return the reason of rule 5 why proposals are not applied; empty if open."""
        if self.open:
            return ""
        return SHADOW if any(condition.name == SHADOW_WEEK for condition in self.missing) else GATE_CLOSED

    def describe(self) -> str:
        """Describe the decision in a line: "ada, keys: 150/200 searches, 20/28 days, …"."""
        if self.open:
            return f"{self.name}: open"
        return (
            f"{self.name}: {'; '.join(f'{condition.name} {condition.lacking}' for condition in self.missing)}"
        )

    @property
    def name(self) -> str:
        """Return the namespace, with the kind of learning unless it is words."""
        return self.namespace if self.kind == WORDS else f"{self.namespace}, {self.kind}"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """Return the conditions as table rows with `COLUMNS`."""
        return [
            {
                "namespace": self.namespace, "condition": one.name, "state": one.state, "value": one.value,
                "bound": one.bound, "number": one.number, "kind": self.kind,
            }
            for one in self.conditions
        ]  # fmt: skip


def decide_gate(
    namespace: str, evidence: GateEvidence, as_of: datetime, bounds: GateBounds, kind: Kind = WORDS
) -> GateDecision:
    """Evaluate the learning gate, with each reason why it is not open.

    Args:
        namespace: namespace of the gate.
        evidence: evidence as of the moment.
        as_of: the moment (aware).
        bounds: required values.
        kind: kind of learning.
    """
    return GateDecision(namespace, as_of, tuple(_conditions(evidence, as_of, bounds, kind)), kind)


def _conditions(
    evidence: GateEvidence, as_of: datetime, bounds: GateBounds, kind: Kind
) -> Iterable[Condition]:
    progress = evidence.progress
    yield Condition(ENABLED, "on" if evidence.enabled else "off", "on", _met(evidence.enabled))
    yield _count(CYCLES, progress.cycles, bounds.min_closed_cycles, "closed")
    yield _count(SEARCHES, progress.searches, bounds.cycle_queries, "evaluated", progress.open_searches)
    yield _count(DAYS, progress.days, bounds.cycle_days, "of closed cycles", progress.open_days)
    yield _shadow(evidence.first_proposal, as_of, bounds.shadow_days)
    yield _noise(evidence.noise, bounds, "terms" if kind == WORDS else "keys")
    yield _quality(evidence.effect, bounds)
    yield _isolation(evidence.leaks)
    bound = "none since the approval"
    yield Condition(REGRESSION, evidence.regression or "none", bound, _met(not evidence.regression))
    yield _approval(evidence.approval)


def _met(holds: bool) -> State:
    return "open" if holds else "closed"


def _count(name: str, value: int, bound: int, unit: str, more: int = 0) -> Condition:
    """Return a condition on a growing count; too few is insufficient, not closed."""
    coming = f" and {more:,} of the open cycle" if more and value < bound else ""
    state: State = "open" if value >= bound else "insufficient"
    return Condition(name, f"{value:,}/{bound:,} {unit}{coming}", f"{bound:,} {unit}", state, float(value))


def _shadow(first: datetime | None, as_of: datetime, days: float) -> Condition:
    bound = f"{days:g} days since the first proposal"
    if first is None:
        return Condition(SHADOW_WEEK, "no proposal yet", bound, "insufficient")
    passed = (as_of - first) / DAY
    state: State = "open" if passed >= days else "insufficient"
    shown = (
        floor(min(passed, days) * 10) / 10
    )  # else the last hour of a week would be displayed as a whole week
    return Condition(SHADOW_WEEK, f"{shown:.1f}/{days:g} days", bound, state, passed)


def _noise(noise: Noise, bounds: GateBounds, unit: str) -> Condition:
    bound = f"below {bounds.max_noise_rate:.0%} of {bounds.min_noise_samples:,} {unit} or more"
    if noise.judged < bounds.min_noise_samples or not isfinite(noise.share):
        value = f"{noise.noisy:,} of {noise.judged:,} {unit} with a verdict"
        return Condition(NOISE, value, bound, "insufficient")
    counts = f"{noise.noisy:,} of {noise.judged:,} {unit}"
    if noise.share == noise.noisy / noise.judged:
        value = f"{noise.share:.1%} ({counts}; up to {wilson(noise.noisy, noise.judged)[1]:.1%})"
    else:  # share of their effect, not of their number
        value = f"{noise.share:.1%} of what was added ({counts})"
    return Condition(NOISE, value, bound, _met(noise.share < bounds.max_noise_rate), noise.share)


def _quality(effect: Effect, bounds: GateBounds) -> Condition:
    bound = f"MRR@5 not below −{bounds.max_mrr_loss:.0%}"
    if effect.n < bounds.quality_queries or not isfinite(effect.change):
        value = f"measured on {effect.n:,}/{bounds.quality_queries:,} queries"
        return Condition(QUALITY, value, bound, "insufficient")
    difference = effect.after - effect.before
    value = (
        f"MRR@5 {effect.change:+.2%} ({effect.before:.3f} to {effect.after:.3f}, {difference:+.4f} "
        f"[{effect.low:+.4f}, {effect.high:+.4f}], {effect.n:,} queries)"
    )
    return Condition(
        QUALITY, value, bound, _met(effect.change >= -bounds.max_mrr_loss - _ROUNDING), effect.change
    )


def _isolation(leaks: tuple[str, ...] | None) -> Condition:
    bound = "no way into the full-text search"
    if leaks is None:
        return Condition(ISOLATION, "not checked", bound, "insufficient")
    return Condition(ISOLATION, "; ".join(leaks) or "proven", bound, _met(not leaks))


def _approval(approval: Approval | None) -> Condition:
    bound = "a person's approval"
    if approval is None:
        return Condition(APPROVAL, "not given", bound, "insufficient")
    act = "by" if approval.given else "withdrawn by"
    why = f": {approval.why}" if approval.why else ""
    value = f"{act} {approval.who} on {approval.at:%F %H:%M} UTC{why}"
    return Condition(APPROVAL, value, bound, _met(approval.given))
