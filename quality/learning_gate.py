"""The learning gate (rule 6.7): nothing that use taught is applied before all of its conditions hold.

One pure function of evidence: the sensor asks it, every gated asset asks it before any write, the page and
the command line show it.
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
"""Every condition, in the order in which they are shown; all must be open."""
COLUMNS: Final = ("namespace", "condition", "state", "value", "bound", "number", "kind")
_ROUNDING = 1e-9  # 0.49 is not more than 2 % below 0.50, whatever binary fractions say


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the evaluation of a namespace is; what was imported counts nowhere.

    Attributes:
        cycles: closed ones with enough of its own queries (count).
        searches: evaluated queries of these, each once a day and three times a cycle at most (count).
        days: from the first day of the first to the last day of the last.
        open_searches: of the cycle that is open (count).
        open_days: of the cycle that is open.
    """

    cycles: int = 0
    searches: int = 0
    days: int = 0
    open_searches: int = 0
    open_days: int = 0


@dataclass(frozen=True, slots=True)
class Effect:
    """MRR@5 with what was proposed and without it, on the queries asked since the first proposal.

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
        """Relative change; NaN where nothing was measured, 0 where both are 0."""
        if not self.n or not isfinite(self.before):
            return float("nan")
        if self.before == 0:
            return 0.0
        return (self.after - self.before) / self.before


@dataclass(frozen=True, slots=True)
class Approval:
    """A person's word: the last one that was given up to the moment.

    Attributes:
        who: gave it.
        at: when.
        given: whether it approves; else it was withdrawn.
        why: what was said with it.
    """

    who: str
    at: datetime
    given: bool = True
    why: str = ""


@dataclass(frozen=True, slots=True)
class GateEvidence:
    """All that the gate of a namespace looks at, as it was known at a moment.

    Attributes:
        enabled: whether the setting lets anything be learned.
        progress: of the evaluation.
        first_proposal: moment of the first one that stands; None where there is none.
        noise: how much of what was learned was mostly not used, or judged irrelevant, where it acts.
        effect: would-be effect of the proposals.
        leaks: ways by which learned terms reach the full-text search; None where that was not looked at.
        regression: why learning was found to make results worse, by the guard, since the last approval.
        approval: the last word.
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
    """One condition.

    Attributes:
        name: one of `CONDITIONS`.
        value: what it is, for people.
        bound: what it has to be, for people.
        state: open where it holds, closed where it does not, insufficient where nobody can know yet.
        number: the value as a number, where it is one.
    """

    name: str
    value: str
    bound: str
    state: State
    number: float | None = None

    @property
    def lacking(self) -> str:
        """What it is and what it has to be: "40/200 evaluated (needs 200 evaluated)"."""
        return f"{self.value} (needs {self.bound})"


@dataclass(frozen=True, slots=True)
class GateDecision:
    """What the gate of a namespace says at a moment."""

    namespace: str
    as_of: datetime
    conditions: tuple[Condition, ...]
    kind: Kind = WORDS

    @property
    def state(self) -> State:
        """Open where every condition is; closed where one does not hold; else insufficient."""
        states = {one.state for one in self.conditions}
        return "open" if states == {"open"} else "closed" if "closed" in states else "insufficient"

    @property
    def open(self) -> bool:
        """Whether what is proposed may be applied."""
        return self.state == "open"

    @property
    def used(self) -> bool:
        """Whether what was applied before has an effect: a lack of evidence only stops what would be new."""
        return not {one.name for one in self.missing} & {ENABLED, ISOLATION, REGRESSION, APPROVAL}

    @property
    def missing(self) -> tuple[Condition, ...]:
        """The conditions that are not open."""
        return tuple(one for one in self.conditions if one.state != "open")

    @property
    def awaits_only_approval(self) -> bool:
        """Whether a person's word is all that is missing; it also answers a regression."""
        names = {one.name for one in self.missing}
        return bool(names) and names <= {APPROVAL, REGRESSION}

    @property
    def reason(self) -> str:
        """Why a proposal is not applied: one of the reasons of rule 5; empty where the gate is open."""
        if self.open:
            return ""
        return SHADOW if any(one.name == SHADOW_WEEK for one in self.missing) else GATE_CLOSED

    def describe(self) -> str:
        """In a line: "ada, keys: 150/200 searches, 20/28 days, …"."""
        if self.open:
            return f"{self.name}: open"
        return f"{self.name}: {'; '.join(f'{one.name} {one.lacking}' for one in self.missing)}"

    @property
    def name(self) -> str:
        """Whose gate it is, of what: words are what is meant where nothing is said."""
        return self.namespace if self.kind == WORDS else f"{self.namespace}, {self.kind}"

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The table of conditions, wherever it is shown or kept: a row with each of `COLUMNS`."""
        return [
            dict(
                zip(
                    COLUMNS,
                    (self.namespace, one.name, one.state, one.value, one.bound, one.number, self.kind),
                    strict=True,
                )
            )
            for one in self.conditions
        ]


def decide_gate(
    namespace: str, evidence: GateEvidence, as_of: datetime, bounds: GateBounds, kind: Kind = WORDS
) -> GateDecision:
    """Whether what use taught may be applied, and each reason why not.

    Args:
        namespace: whose gate.
        evidence: as of the moment.
        as_of: the moment (aware).
        bounds: what is asked for.
        kind: of learning.
    """
    return GateDecision(namespace, as_of, tuple(_conditions(evidence, as_of, bounds, kind)), kind)


def _conditions(
    evidence: GateEvidence, as_of: datetime, bounds: GateBounds, kind: Kind
) -> Iterable[Condition]:
    done = evidence.progress
    yield Condition(ENABLED, "on" if evidence.enabled else "off", "on", _met(evidence.enabled))
    yield _count(CYCLES, done.cycles, bounds.cycles, "closed")
    yield _count(SEARCHES, done.searches, bounds.cycle_queries, "evaluated", done.open_searches)
    yield _count(DAYS, done.days, bounds.cycle_days, "of closed cycles", done.open_days)
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
    """A count that grows by itself: too few is too early to know."""
    coming = f" and {more:,} of the open cycle" if more and value < bound else ""
    state: State = "open" if value >= bound else "insufficient"
    return Condition(name, f"{value:,}/{bound:,} {unit}{coming}", f"{bound:,} {unit}", state, float(value))


def _shadow(first: datetime | None, as_of: datetime, days: float) -> Condition:
    bound = f"{days:g} days since the first proposal"
    if first is None:
        return Condition(SHADOW_WEEK, "no proposal yet", bound, "insufficient")
    passed = (as_of - first) / DAY
    state: State = "open" if passed >= days else "insufficient"
    shown = floor(min(passed, days) * 10) / 10  # or the last hour of a week would look like all of it
    return Condition(SHADOW_WEEK, f"{shown:.1f}/{days:g} days", bound, state, passed)


def _noise(noise: Noise, bounds: GateBounds, unit: str) -> Condition:
    bound = f"below {bounds.noise:.0%} of {bounds.noise_terms:,} {unit} or more"
    if noise.judged < bounds.noise_terms or not isfinite(noise.share):
        value = f"{noise.noisy:,} of {noise.judged:,} {unit} with a verdict"
        return Condition(NOISE, value, bound, "insufficient")
    counts = f"{noise.noisy:,} of {noise.judged:,} {unit}"
    if noise.share == noise.noisy / noise.judged:
        value = f"{noise.share:.1%} ({counts}; up to {wilson(noise.noisy, noise.judged)[1]:.1%})"
    else:  # of what they did, and not of their number
        value = f"{noise.share:.1%} of what was added ({counts})"
    return Condition(NOISE, value, bound, _met(noise.share < bounds.noise), noise.share)


def _quality(effect: Effect, bounds: GateBounds) -> Condition:
    bound = f"MRR@5 not below −{bounds.loss:.0%}"
    if effect.n < bounds.quality_queries or not isfinite(effect.change):
        value = f"measured on {effect.n:,}/{bounds.quality_queries:,} queries"
        return Condition(QUALITY, value, bound, "insufficient")
    difference = effect.after - effect.before
    value = (
        f"MRR@5 {effect.change:+.2%} ({effect.before:.3f} to {effect.after:.3f}, {difference:+.4f} "
        f"[{effect.low:+.4f}, {effect.high:+.4f}], {effect.n:,} queries)"
    )
    return Condition(QUALITY, value, bound, _met(effect.change >= -bounds.loss - _ROUNDING), effect.change)


def _isolation(leaks: tuple[str, ...] | None) -> Condition:
    bound = "no way into the full-text search"
    if leaks is None:
        return Condition(ISOLATION, "not looked at", bound, "insufficient")
    return Condition(ISOLATION, "; ".join(leaks) or "proven", bound, _met(not leaks))


def _approval(approval: Approval | None) -> Condition:
    bound = "a person's approval"
    if approval is None:
        return Condition(APPROVAL, "not given", bound, "insufficient")
    act = "by" if approval.given else "withdrawn by"
    why = f": {approval.why}" if approval.why else ""
    value = f"{act} {approval.who} on {approval.at:%F %H:%M} UTC{why}"
    return Condition(APPROVAL, value, bound, _met(approval.given))
