"""What the docs and rules promise ("at most", "at least") cannot be had otherwise, by any way in."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NOW, PLAIN, build, near

from slowwave.errors import SettingsError
from slowwave.quality.learning_bounds import GateBounds
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.ranking import RankingPolicy, rank
from slowwave.scoring.ranking.candidates import MemoryState
from slowwave.scoring.ranking.learned import Learned
from slowwave.scoring.validation import CAP, COEFFICIENT
from slowwave.settings import load
from slowwave.settings.ranking_file import read_policy

RANKING = {
    "learned_cap": 0.151, "key_weight": 0.41, "effectiveness_weight": 0.31, "effectiveness_from": 2,
    "negative_step": 0.11, "negative_floor": 0.29,
}  # fmt: skip
FEEDBACK = {
    "implicit_cap": 1.01, "promotions": 4, "promotion_hours": 7.9, "prior": 1.1, "principal_votes": 101,
}  # fmt: skip
GATE = {
    "min_closed_cycles": 1, "cycle_queries": 199, "cycle_days": 27, "shadow_days": 6.9,
    "max_noise_rate": 0.051, "min_noise_samples": 4, "max_mrr_loss": 0.021, "quality_queries": 19,
}  # fmt: skip
SETTINGS = {
    "feedback": {"implicit_cap": 1.01, "promotions": 4, "promotion_hours": 7.9, "principal_votes": 101},
    "learning": {
        "excluded_ranks": 2, "max_events_per_window": 4, "terms_per_selection": 4, "terms_per_memory": 9,
        "ttl_days": 31, "eligible_hours": 71, "min_queries": 1, "min_users": 0,
        "min_closed_cycles": 1, "cycle_queries": 199, "cycle_days": 27, "shadow_days": 6.9,
        "max_noise_rate": 0.06, "min_noise_samples": 4, "max_mrr_loss": 0.03,
    },
    "evaluation": {"cycle_searches": 99, "cycle_days": 13},
    "judge": {"agreement": 0.79},
}  # fmt: skip
PARTS = [(group, name, value) for group, names in SETTINGS.items() for name, value in names.items()]


@pytest.mark.parametrize(
    ("policy", "name", "value"),
    [(RankingPolicy, *one) for one in RANKING.items()]
    + [(FeedbackPolicy, *one) for one in FEEDBACK.items()]
    + [(GateBounds, *one) for one in GATE.items()],
)
def test_no_policy_goes_beyond_what_is_promised(policy, name, value):
    with pytest.raises(ValueError, match=f"{name} = "):
        policy(**{name: value})
    with pytest.raises(ValueError, match=f"{name} = "):
        replace(policy(), **{name: value})


@pytest.mark.parametrize(("name", "value"), [*RANKING.items(), ("learned_cap", 1)])
def test_no_policy_file_does(name, value, tmp_path):
    file = tmp_path / "own.json"
    file.write_text(json.dumps({"policy": {name: value}}))
    with pytest.raises(SettingsError, match=f"{name} = "):
        read_policy(file)


@pytest.mark.parametrize(("group", "name", "value"), PARTS)
def test_no_setting_does(group, name, value, tmp_path, monkeypatch):
    with pytest.raises(SettingsError, match=name):
        load(tmp_path, **{group: {name: value}})
    with monkeypatch.context() as given_by_environment:
        given_by_environment.setenv(f"SLOWWAVE_{group}__{name}".upper(), str(value))
        with pytest.raises(SettingsError, match=name):
            load(tmp_path)
    (tmp_path / "slowwave.toml").write_text(f"[{group}]\n{name} = {value}\n")
    with pytest.raises(SettingsError, match=name):
        load(tmp_path)


@given(st.floats(-10, 10), st.floats(0, 10), st.floats(0, 10))
def test_what_was_learned_adds_no_more_whatever_is_asked_for(share, cap, coefficient):
    assert 0 <= Learned(share, {}).boost(cap, coefficient) <= COEFFICIENT * CAP + 1e-12


@given(st.floats(0, 10), st.floats(0, 10))
def test_nor_does_a_ranking_whose_policy_was_forced(learned, cap):
    policy = replace(PLAIN)
    object.__setattr__(policy, "learned_cap", cap)
    found = build(near(a=0.5), states={"a": MemoryState(learned=learned)})
    (only,) = rank(found, policy, as_of=NOW, limit=5).results
    assert only.score <= 0.5 + CAP + 1e-12
