"""Every condition of the learning gate: its three states, its bounds, what it says."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.learning_bounds import GateBounds
from slowwave.quality.learning_gate import (
    APPROVAL,
    CONDITIONS,
    CYCLES,
    DAYS,
    ENABLED,
    ISOLATION,
    NOISE,
    QUALITY,
    REGRESSION,
    SEARCHES,
    SHADOW_WEEK,
    Approval,
    Effect,
    GateEvidence,
    Progress,
    decide_gate,
)
from slowwave.scoring.feedback.learned import GATE_CLOSED, SHADOW
from slowwave.scoring.feedback.noise import Noise

NOW = datetime(2026, 3, 31, 2, tzinfo=UTC)
DAY, TICK = timedelta(days=1), timedelta(microseconds=1)
BOUNDS = GateBounds()
PROGRESS = Progress(cycles=2, searches=200, days=28)
EFFECT = Effect(n=20, before=0.5, after=0.5, low=-0.01, high=0.01)
APPROVED = Approval("ann", NOW - DAY, why="looked at the terms")
FULL = GateEvidence(
    enabled=True, progress=PROGRESS, first_proposal=NOW - 7 * DAY, noise=Noise.of_counts(0, 20),
    effect=EFFECT,
    leaks=(), regression="", approval=APPROVED,
)  # fmt: skip


def decided(bounds=BOUNDS, **given):
    if given.keys() & {"noisy", "judged"}:
        counts = {"noisy": FULL.noise.noisy, "judged": FULL.noise.judged} | given
        given = {name: value for name, value in given.items() if name not in ("noisy", "judged")}
        given["noise"] = Noise.of_counts(counts["noisy"], counts["judged"])
    return decide_gate("ada", replace(FULL, **given), NOW, bounds)


def condition(name, **given):
    (found,) = (one for one in decided(**given).conditions if one.name == name)
    return found


def progress(**given):
    return {"progress": replace(PROGRESS, **given)}


def effect(**given):
    return {"effect": replace(EFFECT, **given)}


def test_it_is_open_where_every_condition_is():
    decision = decided()
    assert (decision.state, decision.open, decision.missing, decision.reason) == ("open", True, (), "")
    assert not decision.awaits_only_approval
    assert decision.describe() == "ada: open"
    assert tuple(one.name for one in decision.conditions) == CONDITIONS


EDGES = [
    (ENABLED, {"enabled": False}, "closed", "off"),
    (CYCLES, progress(cycles=1), "insufficient", "1/2 closed"),
    (SEARCHES, progress(searches=199), "insufficient", "199/200 evaluated"),
    (
        SEARCHES, progress(searches=150, open_searches=30), "insufficient",
        "150/200 evaluated and 30 of the open cycle",
    ),
    (DAYS, progress(days=27), "insufficient", "27/28 of closed cycles"),
    (
        DAYS, progress(days=14, open_days=13), "insufficient",
        "14/28 of closed cycles and 13 of the open cycle",
    ),
    (SHADOW_WEEK, {"first_proposal": None}, "insufficient", "no proposal yet"),
    (SHADOW_WEEK, {"first_proposal": NOW - 7 * DAY + TICK}, "insufficient", "6.9/7 days"),
    (SHADOW_WEEK, {"first_proposal": NOW}, "insufficient", "0.0/7 days"),
    (NOISE, {"judged": 4}, "insufficient", "0 of 4 terms with a verdict"),
    (NOISE, {"judged": 4, "noisy": 4}, "insufficient", "4 of 4 terms with a verdict"),
    (NOISE, {"judged": 19, "noisy": 1}, "closed", "5.3% (1 of 19 terms; up to 24.6%)"),
    (NOISE, {"noisy": 1}, "closed", "5.0% (1 of 20 terms; up to 23.6%)"),
    (NOISE, {"noisy": 1_000, "judged": 10_000}, "closed", "10.0% (1,000 of 10,000 terms; up to 10.6%)"),
    (QUALITY, {"effect": Effect()}, "insufficient", "measured on 0/20 queries"),
    (QUALITY, effect(n=19), "insufficient", "measured on 19/20 queries"),
    (QUALITY, effect(after=float("nan")), "insufficient", "measured on 20/20 queries"),
    (
        QUALITY, effect(after=0.4899, low=-0.03, high=0.01), "closed",
        "MRR@5 -2.02% (0.500 to 0.490, -0.0101 [-0.0300, +0.0100], 20 queries)",
    ),
    (ISOLATION, {"leaks": None}, "insufficient", "not checked"),
    (ISOLATION, {"leaks": ("chunks has an index on terms", "canary found")}, "closed",
     "chunks has an index on terms; canary found"),
    (REGRESSION, {"regression": "MRR@5 worse on 2026-03-30"}, "closed", "MRR@5 worse on 2026-03-30"),
    (APPROVAL, {"approval": None}, "insufficient", "not given"),
    (APPROVAL, {"approval": Approval("bob", NOW, given=False, why="holiday")}, "closed",
     "withdrawn by bob on 2026-03-31 02:00 UTC: holiday"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "given", "state", "value"), EDGES)
def test_each_condition_alone_keeps_it_shut(name, given, state, value):
    decision = decided(**given)
    (missing,) = decision.missing
    assert (missing.name, missing.state, missing.value) == (name, state, value)
    assert (decision.state, decision.open) == (state, False)
    assert decision.used == (name not in (ENABLED, ISOLATION, REGRESSION, APPROVAL))
    assert decision.reason == (SHADOW if name == SHADOW_WEEK else GATE_CLOSED)
    assert decision.awaits_only_approval == (name in (APPROVAL, REGRESSION))
    assert decision.describe() == f"ada: {name} {value} (needs {missing.bound})"


@pytest.mark.parametrize(
    ("name", "given", "value"),
    [
        (ENABLED, {}, "on"),
        (CYCLES, progress(cycles=7), "7/2 closed"),
        (SEARCHES, progress(searches=200, open_searches=30), "200/200 evaluated"),
        (DAYS, {}, "28/28 of closed cycles"),
        (SHADOW_WEEK, {}, "7.0/7 days"),
        (SHADOW_WEEK, {"first_proposal": NOW - 90 * DAY}, "7.0/7 days"),
        (NOISE, {}, "0.0% (0 of 20 terms; up to 16.1%)"),
        (NOISE, {"judged": 5}, "0.0% (0 of 5 terms; up to 43.4%)"),
        (NOISE, {"noisy": 1, "judged": 21}, "4.8% (1 of 21 terms; up to 22.7%)"),
        (
            QUALITY, effect(after=0.49, low=-0.03),
            "MRR@5 -2.00% (0.500 to 0.490, -0.0100 [-0.0300, +0.0100], 20 queries)",
        ),
        (
            QUALITY, effect(after=0.6, high=0.15),
            "MRR@5 +20.00% (0.500 to 0.600, +0.1000 [-0.0100, +0.1500], 20 queries)",
        ),
        (
            QUALITY, effect(before=0.0, after=0.0),
            "MRR@5 +0.00% (0.000 to 0.000, +0.0000 [-0.0100, +0.0100], 20 queries)",
        ),
        (ISOLATION, {}, "proven"),
        (REGRESSION, {}, "none"),
        (APPROVAL, {}, "by ann on 2026-03-30 02:00 UTC: looked at the terms"),
    ],
)  # fmt: skip
def test_each_condition_is_open_exactly_at_its_bound(name, given, value):
    assert decided(**given).open
    assert condition(name, **given).value == value


@pytest.mark.parametrize("before", [0.01, 0.1, 1 / 3, 0.5, 0.7, 0.9, 1.0])
def test_two_percent_less_is_not_more_than_two_percent_less(before):
    assert condition(QUALITY, **effect(before=before, after=before * 0.98)).state == "open"
    assert condition(QUALITY, **effect(before=before, after=before * 0.97999)).state == "closed"


def test_five_percent_of_any_number_is_too_much():
    for judged in range(20, 2_000, 20):
        assert condition(NOISE, noisy=judged // 20, judged=judged).state == "closed"
        assert condition(NOISE, noisy=judged // 20, judged=judged + 1).state == "open"


def test_a_first_measure_of_nothing_is_no_loss():
    assert condition(QUALITY, **effect(before=0.0, after=0.2)).state == "open"


def test_bounds_are_what_is_asked_for():
    strict = GateBounds(
        min_closed_cycles=3,
        cycle_queries=300,
        cycle_days=42,
        shadow_days=14,
        max_noise_rate=0.01,
        min_noise_samples=50,
        max_mrr_loss=0,
    )
    names = [one.name for one in decided(strict, **effect(after=0.499)).missing]
    assert names == [CYCLES, SEARCHES, DAYS, SHADOW_WEEK, NOISE, QUALITY]


def test_what_nobody_can_know_yet_is_not_a_refusal():
    nothing = GateEvidence(
        enabled=True, progress=Progress(), first_proposal=None, noise=Noise.of_counts(0, 0), effect=Effect(),
        leaks=None, regression="", approval=None,
    )  # fmt: skip
    decision = decide_gate("ada", nothing, NOW, BOUNDS)
    assert decision.state == "insufficient"
    assert {one.name for one in decision.missing} == set(CONDITIONS) - {ENABLED, REGRESSION}
    assert decision.reason == SHADOW
    off = decide_gate("ada", replace(nothing, enabled=False), NOW, BOUNDS)
    assert off.state == "closed"


def test_the_line_of_a_young_namespace():
    decision = decided(**progress(cycles=1, searches=150, days=20), approval=None)
    assert decision.describe() == (
        "ada: cycles 1/2 closed (needs 2 closed); searches 150/200 evaluated (needs 200 evaluated); "
        "days 20/28 of closed cycles (needs 28 of closed cycles); approval not given (needs a person's "
        "approval)"
    )


def test_only_a_new_approval_opens_it_after_a_regression():
    """The old approval is not enough, and nothing else is missing: a person decides."""
    decision = decided(regression="worse")
    assert [one.name for one in decision.missing] == [REGRESSION]
    assert decision.awaits_only_approval
    withdrawn = Approval("bob", NOW, given=False)
    assert decided(regression="worse", approval=withdrawn).awaits_only_approval
    assert not decided(regression="worse", noisy=9).awaits_only_approval
    assert not decided(regression="worse", leaks=None, approval=None).awaits_only_approval


FAULTS = {name: given for name, given, *_ in EDGES}


@given(st.sets(st.sampled_from(CONDITIONS)))
def test_it_is_open_only_without_any_fault(names):
    counted = {CYCLES, SEARCHES, DAYS}  # all of one argument
    faults = {key: value for name in names - counted for key, value in FAULTS[name].items()}
    decision = decided(**faults, **progress(**dict.fromkeys(names & counted, 0)))
    assert {one.name for one in decision.missing} == names
    assert decision.open == (not names)
