from __future__ import annotations

import dataclasses

import pytest

from scoring.ranking import RankingPolicy

CHANGES = {"fusion": "rrf", "vector_weight": 0.71, "cosine_floor": 0.51, "rrf_k": 11}


def test_every_field_has_a_change_to_try():
    assert set(CHANGES) == {field.name for field in dataclasses.fields(RankingPolicy)}


def test_a_version_changes_with_every_field_and_is_the_same_for_the_same_policy():
    policies = [RankingPolicy(), *(RankingPolicy(**{name: value}) for name, value in CHANGES.items())]
    versions = [policy.version for policy in policies]
    assert len(set(versions)) == len(policies)
    assert versions == [RankingPolicy(**policy.to_dict()).version for policy in policies]
    assert all(len(version) == 12 and int(version, 16) >= 0 for version in versions)


def test_a_policy_is_data_that_cannot_change():
    assert RankingPolicy().to_dict() == {
        "fusion": "convex",
        "vector_weight": 0.7,
        "cosine_floor": 0.5,
        "rrf_k": 10,
    }
    with pytest.raises(dataclasses.FrozenInstanceError):
        RankingPolicy().rrf_k = 3


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("vector_weight", -0.01), ("vector_weight", 1.01), ("vector_weight", float("nan")),
        ("cosine_floor", 1.0), ("cosine_floor", -1.01), ("cosine_floor", float("nan")), ("rrf_k", 0),
    ],
)  # fmt: skip
def test_a_value_out_of_range_is_named(field, value):
    with pytest.raises(ValueError, match=rf"{field} = {value}"):
        RankingPolicy(**{field: value})


@pytest.mark.parametrize(
    "fields",
    [{"vector_weight": 0}, {"vector_weight": 1}, {"cosine_floor": -1}, {"cosine_floor": 0.999}, {"rrf_k": 1}],
)
def test_the_ends_of_the_ranges_are_allowed(fields):
    assert RankingPolicy(**fields).to_dict() | fields == RankingPolicy(**fields).to_dict()


def test_an_unknown_fusion_is_named():
    with pytest.raises(ValueError, match="fusion"):
        RankingPolicy(fusion="sum")
