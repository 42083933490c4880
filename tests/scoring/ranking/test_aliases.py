"""Aliases of a note are matched as its title is (rule 3.1)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.aliases import COMMON, AliasIndex, AliasMatch, with_aliases

CLUSTER = AliasIndex({"cluster": ["k8s", "EKS-prod", "container platform"], "wiki": ["handbook"]})


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("what is our k8s deploy day?", {"cluster": AliasMatch("k8s", 1.0, 1.0)}),
        ("K8S", {"cluster": AliasMatch("k8s", 1.0, 1.0)}),
        ("is eks-prod up?", {"cluster": AliasMatch("EKS-prod", 1.0, 1.0)}),
        ("platform of the container", {"cluster": AliasMatch("container platform", 1.0, 0.5)}),
        ("which platform?", {"cluster": AliasMatch("container platform", 0.5, 0.0)}),
        ("handbooks", {"wiki": AliasMatch("handbook", 1.0, 0.5)}),
        ("k9s", {}), ("", {}), ("?!", {}),
    ],
)  # fmt: skip
def test_the_best_alias_of_each_memory_counts(query, expected):
    assert CLUSTER.match(query) == expected


def test_aliases_in_scripts_without_spaces_are_found_inside():
    index = AliasIndex({"rota": ["夜班"]})
    assert index.match("今晚谁上夜班？") == {"rota": AliasMatch("夜班", 1.0, 1.0)}


def test_whole_aliases_trigger_like_phrases_and_the_stronger_counts():
    matches = CLUSTER.match("k8s and the platform of the container handbook")
    assert with_aliases({"wiki": ("how to write", 0.5)}, matches) == {
        "cluster": ("k8s", 1.0),
        "wiki": ("handbook", 1.0),
    }
    assert with_aliases({"cluster": ("deploy day", 1.0)}, matches)["cluster"] == ("deploy day", 1.0)
    assert with_aliases({}, CLUSTER.match("which platform?")) == {}


def test_parts_of_an_alias_that_very_many_share_do_not_count_and_whole_ones_do():
    many = AliasIndex({f"m{at:04}": [f"service number{at}"] for at in range(COMMON + 50)})
    found = many.match("which service is number7 and which number240?")
    assert {name: match.share for name, match in found.items()} == {"m0007": 1.0, "m0240": 1.0}
    alike = AliasIndex({f"m{at:04}": ["service"] for at in range(COMMON + 50)})
    assert len(alike.match("which service?")) == COMMON + 50


@given(
    st.dictionaries(st.text(min_size=1, max_size=4), st.lists(st.text(max_size=12), max_size=3)), st.text()
)
def test_shares_and_strengths_are_within_their_bounds(aliases, query):
    for memory, match in AliasIndex(aliases).match(query).items():
        assert match.alias in aliases[memory]
        assert 0 < match.share <= 1
        assert match.strength in (0.0, 0.5, 1.0)
        assert (match.strength > 0) == (match.share == 1.0)
