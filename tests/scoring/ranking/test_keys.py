"""Search keys: questions like this one led there (rule 7)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.keys import KeyPolicy, Keys, lifts, nearness, threshold_of

POLICY = KeyPolicy()
Row = tuple[int, float, float]


def at(cosine: float) -> np.ndarray:
    """A vector that has this cosine with the first axis."""
    return np.array([cosine, np.sqrt(max(0.0, 1 - cosine**2))], dtype=np.float32)


def keys_of(*searches: tuple[float, list[Row]]) -> Keys:
    """Searches by the cosine with what is asked, each with (memory, taken, examined)."""
    rows = [row for _, shown in searches for row in shown]
    return Keys(
        np.array([at(cosine) for cosine, _ in searches], dtype=np.float32).reshape(-1, 2),
        np.cumsum([0, *(len(shown) for _, shown in searches)]),
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.float64),
        np.array([row[2] for row in rows], dtype=np.float64),
    )


def lifted(keys: Keys, policy: KeyPolicy = POLICY, threshold: float = 0.8) -> dict[int, float]:
    found = lifts(keys, keys.vectors @ at(1.0), threshold, policy)
    return dict(zip(found.memory.tolist(), found.lift.tolist(), strict=True))


def test_nearness_is_a_line_from_the_threshold_to_the_same_question():
    assert nearness(np.array([1.0, 0.9, 0.8, 0.5, -1.0, 1.0001]), 0.8) == pytest.approx([1, 0.5, 0, 0, 0, 1])


def test_what_keys_add_by_hand():
    # Asked again word for word, taken from rank 1: .4 · 1 · 1 / (1 + 1).
    assert lifted(keys_of((1.0, [(7, 1.0, 1.0)]))) == pytest.approx({7: 0.2}, abs=1e-6)
    # Taken from a rank that half look at: .4 · 1 / (.5 + 1).
    assert lifted(keys_of((1.0, [(7, 1.0, 0.5)]))) == pytest.approx({7: 0.4 / 1.5}, abs=1e-6)
    # Half as near: .4 · .5 · .5 / (.5 + .5).
    assert lifted(keys_of((0.9, [(7, 1.0, 1.0)]))) == pytest.approx({7: 0.1}, abs=1e-6)
    # Shown in front once more and not taken: .4 · 1 / (2 + 1); used, not rated: .7 of it.
    passed_over = keys_of((1.0, [(7, 1.0, 1.0)]), (1.0, [(7, 0.0, 1.0)]))
    assert lifted(passed_over) == pytest.approx({7: 0.4 / 3}, abs=1e-6)
    assert lifted(keys_of((1.0, [(7, 0.7, 1.0)]))) == pytest.approx({7: 0.14}, abs=1e-6)


def test_what_was_only_shown_is_not_lifted():
    assert lifted(keys_of((1.0, [(7, 0.0, 1.0), (8, 1.0, 1.0)]))).keys() == {8}


def test_nothing_near_lifts_nothing():
    assert lifted(keys_of((0.799, [(7, 1.0, 1.0)]), (0.1, [(7, 1.0, 1.0)]))) == {}
    assert lifted(keys_of()) == {}


def test_the_nearest_searches_count_alone():
    searches = [(0.95, [(1, 1.0, 1.0)]), (0.99, [(2, 1.0, 1.0)]), (0.97, [(3, 1.0, 1.0)])]
    keys = keys_of(*searches)
    found = lifts(keys, keys.vectors @ at(1.0), 0.8, KeyPolicy(nearest=2))
    assert found.search.tolist() == [1, 2]
    assert found.memory.tolist() == [2, 3]


SEARCHES = st.lists(
    st.tuples(
        st.floats(0.5, 1),
        st.lists(st.tuples(st.integers(0, 5), st.sampled_from([0.0, 0.7, 1.0]), st.floats(0, 1)), max_size=4),
    ),
    max_size=8,
)


@given(SEARCHES)
def test_it_is_the_formula_and_never_more_than_its_weight(searches):
    def by_hand(memory: int) -> float:
        every = [(max(0.0, (cosine - 0.8) / 0.2), row) for cosine, rows in searches for row in rows]
        mine = [(near, taken, looked) for near, (name, taken, looked) in every if name == memory]
        best = max((near for near, taken, _ in mine if taken), default=0.0)
        if not best:
            return 0.0
        wanted, looks = sum(w * a for w, a, _ in mine), sum(w * x for w, _, x in mine)
        return 0.4 * min(1.0, best * wanted / (looks + best))

    found = lifted(keys_of(*searches))
    assert all(0 < lift <= POLICY.weight for lift in found.values())
    for memory in range(6):
        assert found.get(memory, 0.0) == pytest.approx(by_hand(memory), abs=2e-5)


@given(SEARCHES, st.randoms())
def test_the_order_of_searches_does_not_matter(searches, random):
    mixed = list(searches)
    random.shuffle(mixed)
    assert lifted(keys_of(*mixed)) == pytest.approx(lifted(keys_of(*searches)), abs=1e-9)


def test_the_threshold_follows_from_the_queries_of_the_namespace():
    random = np.random.default_rng(1)
    few = random.normal(size=(49, 8)).astype(np.float32)
    assert threshold_of(few, 0.75, 0.9, otherwise=0.8) == 0.8
    many = random.normal(size=(200, 8)).astype(np.float32)
    many /= np.linalg.norm(many, axis=1, keepdims=True)
    pairs = (many @ many.T)[np.triu_indices(200, 1)]
    assert threshold_of(many, -1, 1, otherwise=0.8) == pytest.approx(np.quantile(pairs, 0.995))
    assert threshold_of(many, 0.9, 0.95, otherwise=0.8) == 0.9
    assert threshold_of(many, 0.1, 0.2, otherwise=0.8) == 0.2


@pytest.mark.parametrize(
    "wrong", [{"weight": -0.1}, {"weight": 1.1}, {"prior": 0.0}, {"nearest": 0}, {"quantile": 1.0}]
)
def test_a_policy_that_makes_no_sense_is_named(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        KeyPolicy(**wrong)
