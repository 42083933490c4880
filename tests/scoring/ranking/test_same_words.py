"""Memories with the same words are one result that names the others (rule 3.9)."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NOW, PLAIN, build, near, policies, worlds

from slowwave.scoring.ranking import rank
from slowwave.scoring.ranking.duplicates import duplicates

FERRY = "The ferry leaves at 7:40 from pier three."


def grouped(*texts, titles=None):
    names = [f"m{at}" for at in range(len(texts))]
    return duplicates(names, [0] * len(texts), [1] * len(texts), texts, titles or [""] * len(texts))


def test_memories_that_their_titles_tell_apart_are_no_duplicates():
    hours = "The office opens at 7:45."
    assert grouped(hours, hours, titles=["Berlin office", "Munich office"]) == {}
    assert grouped(hours, hours, titles=["Berlin office", "berlin  office."]) == {"m1": "m0"}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ((FERRY, FERRY), {"m1": "m0"}),
        ((FERRY, FERRY.upper(), "  The ferry leaves\nat 7:40, from pier three!"), {"m1": "m0", "m2": "m0"}),
        ((FERRY, "Something else.", FERRY), {"m2": "m0"}),
        ((FERRY, "The ferry leaves at 7:50 from pier three."), {}),
        (("Ada sued Bob.", "Bob sued Ada."), {}),
        (("I write in C", "I write in C++"), {}),
        (("It is 5 degrees.", "It is -5 degrees."), {}),
        ((), {}),
    ],
)
def test_the_same_words_in_the_same_order_are_duplicates(texts, expected):
    assert grouped(*texts) == expected


def test_long_memories_are_duplicates_if_all_that_was_found_of_them_is():
    names, ordinals = ["a", "a", "b", "b", "c"], [0, 1, 0, 1, 0]
    texts = ["first part", "second part", "first part", "second part", "first part"]
    assert duplicates(names, ordinals, [2] * 5, texts, [""] * 5) == {"b": "a"}
    assert duplicates(names, ordinals, [2, 2, 3, 3, 2], texts, [""] * 5) == {}
    assert duplicates(names, ordinals, [2] * 5, [*texts[:3], "another part", texts[4]], [""] * 5) == {}


def test_the_best_of_a_group_is_returned_and_names_the_others():
    found = build(near(a=0.7, b=0.9, c=0.8, d=0.6), same_as={"b": "a", "c": "a"})
    ranking = rank(found, PLAIN, as_of=NOW, limit=2)
    assert [(one.memory_id, one.duplicates) for one in ranking.results] == [("b", ("a", "c")), ("d", ())]
    omitted = [(one.memory_id, one.reason) for one in ranking.unshown]
    assert omitted == [("c", "duplicate"), ("a", "duplicate")]
    plain = rank(found, replace(PLAIN, collapse_duplicates=False), as_of=NOW, limit=2)
    assert [one.memory_id for one in plain.results] == ["b", "c"]


@given(worlds(), policies, st.integers(0, 6))
def test_a_list_has_one_of_each_group_and_the_limit_is_filled_with_others(found, policy, limit):
    policy = replace(policy, sparse_recall=False, abstention_floor=0.0, collapse_duplicates=True)
    shown = [one.memory_id for one in rank(found, policy, as_of=NOW, limit=limit).results]
    everyone = rank(found, replace(policy, collapse_duplicates=False), as_of=NOW, limit=100).results
    names = set(found.memory_ids)
    known = {name: other for name, other in found.same_as.items() if {name, other} <= names}
    first = list(dict.fromkeys(known.get(one.memory_id, one.memory_id) for one in everyone))
    assert [known.get(name, name) for name in shown] == first[:limit]
