from __future__ import annotations

import math
from datetime import timedelta

import numpy as np
import pytest
from feedback_helpers import DAY, HOUR, START, frame, signal, signals

from slowwave.scoring.days import DAY_S
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.strength import Strengths, current, fold_strength, reinforcement

POLICY = FeedbackPolicy()


def after(state: Strengths, seconds: float, *, used: bool) -> tuple[float, float]:
    moment = state.last_us + int(seconds * 1e6)
    state.meet(1, moment, np.array([used]))
    return float(state.strength[0]), float(state.stability[0])


def fresh(*, strength: float = 1.0, stability: float = DAY_S) -> Strengths:
    state = Strengths.fresh(np.array([0]))
    state.strength[0], state.stability[0] = strength, stability
    return state


def test_golden_use_and_neglect():
    assert after(fresh(), 0, used=True)[1] == pytest.approx(1.7 * DAY_S)
    assert after(fresh(stability=3_600), 0, used=False)[1] == 1_800  # an hour, ignored: half an hour
    assert after(fresh(stability=80), 0, used=False)[1] == 60
    assert after(fresh(strength=0.5), 0, used=True)[0] == pytest.approx(0.6)
    assert after(fresh(), 0, used=True)[0] == 1.0
    assert after(fresh(), DAY_S, used=False)[0] == pytest.approx(0.9 * math.exp(-1))


def test_a_use_never_weakens():
    for uses in (0, 7, 8, 9, 100, 10_000):
        assert reinforcement(1.0, uses) >= 1.0
    assert reinforcement(1.0, 8) == 1.0  # 1.7 / 1.8 would be a loss
    assert reinforcement(0.0, 0) == pytest.approx(3.5)


def test_what_is_left_fades_with_time_and_never_grows():
    assert current(0.8, DAY_S, 0.0) == pytest.approx(0.8)
    assert current(0.8, DAY_S, DAY_S) == pytest.approx(0.8 / math.e)
    assert current(0.8, DAY_S, -5.0) == pytest.approx(0.8)


def test_a_verdict_without_evidence_changes_nothing():
    none = [signal("ignored", evidence="none"), signal("helpful"), signal("success")]
    assert fold_strength(signals(none), frame("strength", []), POLICY).is_empty()


def test_a_day_has_one_row_a_memory_with_what_is_left_at_its_end():
    rows = [signal("used", at=START + HOUR), signal("used", at=START + 2 * HOUR, search="t")]
    row = fold_strength(signals(rows), frame("strength", []), POLICY).row(0, named=True)
    assert (row["used"], row["ignored"], row["interval"], row["last_at"]) == (2, 0, 4.0, START + 2 * HOUR)
    assert row["current"] == pytest.approx(math.exp(-22 * 3_600 / row["stability"]))


def test_a_flood_of_one_principal_moves_it_no_further_than_his_verdicts_of_a_day():
    flood = [signal("ignored", at=START + timedelta(minutes=n), by="eve", search=f"s{n}") for n in range(90)]
    few = fold_strength(signals(flood[:5]), frame("strength", []), POLICY).row(0, named=True)
    many = fold_strength(signals(flood), frame("strength", []), POLICY).row(0, named=True)
    assert few == many
    also = [
        *flood,
        signal("used", at=START + 2 * HOUR, by="ann"),
        signal("ignored", at=START + DAY, by="eve"),
    ]
    rows = fold_strength(signals(also), frame("strength", []), POLICY).sort("day")
    assert rows["ignored"].to_list() == [5, 6]
    assert rows["used"].to_list() == [1, 1]


def test_a_thousand_uses_stay_finite():
    rows = [signal("used", at=START + n * HOUR, by=f"p{n}", search=f"s{n}") for n in range(1_500)]
    row = fold_strength(signals(rows), frame("strength", []), POLICY).sort("day").row(-1, named=True)
    assert row["used"] == 1_500
    assert math.isfinite(row["interval"])
    assert math.isfinite(row["stability"])
