from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import get_args

import pytest
from hypothesis import given
from ranking_helpers import policies

from slowwave.scoring.parameters import Declared, parameters
from slowwave.scoring.ranking import SEEDS, RankingPolicy
from slowwave.scoring.ranking_policy import BEFORE

DECLARED = {one.name: one for one in parameters(RankingPolicy)}
NUMBERS = {name: one for name, one in DECLARED.items() if one.kind in (int, float)}
BOUNDS = {name: (one.spec.min, one.spec.max) for name, one in NUMBERS.items()}
WHOLE = [name for name, one in NUMBERS.items() if one.kind is int]
SWITCHES = [name for name, one in DECLARED.items() if one.kind is bool]


def another(one: Declared) -> object:
    """A value of a parameter that is not its default."""
    if one.kind is bool:
        return not one.default
    if one.name in NUMBERS:
        return next(end for end in BOUNDS[one.name] if end != one.default)
    return next(word for word in get_args(one.kind) if word != one.default)


def test_all_but_the_name_is_declared():
    assert {"name", *DECLARED} == {field.name for field in dataclasses.fields(RankingPolicy)}


def test_a_version_changes_with_every_field_and_is_the_same_for_the_same_policy():
    changed = [RankingPolicy(), *(RankingPolicy(**{name: another(one)}) for name, one in DECLARED.items())]
    versions = [policy.version for policy in changed]
    assert len(set(versions)) == len(changed)
    assert versions == [RankingPolicy.from_dict(policy.to_dict()).version for policy in changed]
    assert all(len(version) == 12 and int(version, 16) >= 0 for version in versions)


def test_a_version_does_not_depend_on_the_name():
    assert RankingPolicy(name="a").version == RankingPolicy(name="b").version
    assert RankingPolicy(name="a") != RankingPolicy(name="b")


def test_a_policy_is_data_that_cannot_change():
    plain = RankingPolicy().to_dict()
    assert list(plain) == [field.name for field in dataclasses.fields(RankingPolicy)]
    assert (plain["name"], plain["fusion"], plain["vector_weight"]) == ("default", "convex", 0.75)
    with pytest.raises(dataclasses.FrozenInstanceError):
        RankingPolicy().rrf_k = 3


@given(policies)
def test_a_policy_goes_through_json_and_back(policy):
    text = json.dumps(policy.to_dict(), allow_nan=False)
    again = RankingPolicy.from_dict(json.loads(text))
    assert again == policy
    assert again.version == policy.version


def test_an_infinite_cap_is_none_in_json_and_infinite_again():
    assert SEEDS.mpab_cap == math.inf
    assert SEEDS.to_dict()["mpab_cap"] is None
    assert RankingPolicy.from_dict(json.loads(json.dumps(SEEDS.to_dict()))) == SEEDS


def test_a_parameter_that_is_not_there_has_its_default():
    assert RankingPolicy.from_dict({}) == RankingPolicy()
    assert RankingPolicy.from_dict({"rrf_k": 60}) == RankingPolicy(rrf_k=60)


def test_a_logged_policy_is_what_it_was_and_has_the_version_that_it_had():
    """The version was logged before there were these parameters."""
    then = dataclasses.replace(RankingPolicy(), vector_weight=0.7)
    old = then.to_dict()
    for name in BEFORE:
        del old[name]
    before = {
        "sparse_keeps": 0, "soft_from": 1.0, "bm25_reach": math.inf, "key_weight": 0.4,
        "feedback_scope": "memory", "sparse_limit_factor": 3, "sparse_max_injections": 1,
        "collapse_duplicates": False, "cut_share": 0.0, "fit_floor": 0.0, "mark_outdated": False,
        "time_weight": 0.0,
    }  # fmt: skip
    assert before.items() <= BEFORE.items()
    assert RankingPolicy.logged(old) == dataclasses.replace(then, **before)
    assert RankingPolicy.logged(old).version == "a2b60d7f5f20"
    younger = {"mark_outdated": False, "time_weight": 0.0}
    of_memory = RankingPolicy(feedback_scope="memory", key_weight=0.4, **younger).uncut
    assert of_memory.version == "8400f79004b9"
    assert RankingPolicy(**younger).uncut.version == "2bb99f235507"
    assert RankingPolicy(key_weight=0.4, **younger).uncut.version == "a5bb6062c6f8"
    present = RankingPolicy(rrf_k=60)
    assert RankingPolicy.logged(present.to_dict()) == present


def test_a_search_of_before_the_scope_of_feedback_is_replayed_in_that_of_the_memory():
    """The default changed: with that of today, a replay of an old search would not be what was shown."""
    old = RankingPolicy(feedback_scope="memory").to_dict()
    del old["feedback_scope"]
    assert RankingPolicy.logged(old).feedback_scope == "memory"
    assert RankingPolicy.logged(old).version == RankingPolicy(feedback_scope="memory").version
    today = RankingPolicy().to_dict()
    assert today["feedback_scope"] == "question"
    assert RankingPolicy.logged(today) == RankingPolicy()
    assert RankingPolicy.from_dict(old).feedback_scope == "question"  # a policy of today that leaves it out
    assert SEEDS.feedback_scope == "memory"


def test_an_unknown_parameter_is_named_with_those_that_are_known():
    with pytest.raises(ValueError, match="mpab_koefficient: unknown ranking parameter") as caught:
        RankingPolicy.from_dict({"mpab_koefficient": 0.3, "rrf_k": 3})
    assert "mpab_coefficient" in str(caught.value)


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_a_value_out_of_range_is_named(name):
    low, high = BOUNDS[name]
    for value in (low - 0.01, high + 0.01, -math.inf, math.nan, True, "1", None):
        if value == high:
            continue  # an infinite bound has nothing above it
        with pytest.raises(ValueError, match=re.escape(f"{name} = {value} is not in")):
            RankingPolicy(**{name: value})


@pytest.mark.parametrize("name", sorted(BOUNDS))
def test_the_ends_of_the_ranges_are_allowed(name):
    assert [getattr(RankingPolicy(**{name: end}), name) for end in BOUNDS[name]] == list(BOUNDS[name])


@pytest.mark.parametrize("name", sorted(set(BOUNDS) - {"mpab_cap", "bm25_reach"}))
def test_few_may_be_without_a_bound(name):
    with pytest.raises(ValueError, match=f"{name} = inf"):
        RankingPolicy.from_dict({name: None})


@pytest.mark.parametrize("name", WHOLE)
def test_a_count_is_a_whole_number(name):
    with pytest.raises(ValueError, match=rf"{name} = 4\.0 is not a whole number"):
        RankingPolicy(**{name: 4.0})


@pytest.mark.parametrize("name", SWITCHES)
@pytest.mark.parametrize("value", [0, 1, "on", None])
def test_a_switch_is_on_or_off(name, value):
    with pytest.raises(ValueError, match=f"{name} = {value!r} is not true or false"):
        RankingPolicy(**{name: value})


def test_an_unknown_fusion_is_named():
    with pytest.raises(ValueError, match="fusion = 'sum' is not one of convex, rrf"):
        RankingPolicy(fusion="sum")


def test_an_unknown_scope_is_named():
    with pytest.raises(ValueError, match="feedback_scope = 'home' is not one of question, memory"):
        RankingPolicy(feedback_scope="home")


def test_equal_policies_have_one_version():
    whole, broken = RankingPolicy(vector_weight=1), RankingPolicy(vector_weight=1.0)
    assert whole == broken
    assert whole.version == broken.version


@pytest.mark.parametrize("keeps", [1, 2])
def test_fewer_first_places_than_the_rule_has_are_refused(keeps):
    """Where a setting refuses it, a program is refused, too; 0 is what logged searches kept."""
    with pytest.raises(ValueError, match=rf"sparse_keeps = {keeps} is not in \[3, 1000\]"):
        RankingPolicy(sparse_keeps=keeps)
    assert RankingPolicy(sparse_keeps=0).sparse_keeps == 0
