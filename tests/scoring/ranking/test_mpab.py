from __future__ import annotations

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from ranking_helpers import NAN, NOW, PLAIN, build

from slowwave.scoring.ranking import SEEDS, RankingPolicy, rank
from slowwave.scoring.ranking.mpab import bonus

chunks = st.lists(st.floats(0, 1), max_size=30)


def mpab(scores, coefficient: float = 0.3, cap: float = math.inf) -> float:
    """Best score of one memory's chunks, with the bonus for the others."""
    best = max(scores, default=0.0)
    return best + bonus(np.array([sum(scores) - best]), np.array([len(scores)]), coefficient, cap).item()


@pytest.mark.parametrize(
    ("scores", "expected"),
    [
        ([], 0), ([0.75], 0.75), ([0.0, 0, 0], 0), ([0.8, 0.4], 0.8848528137), ([0.4, 0.8], 0.8848528137),
        ([0.5] * 3, 0.6732050808), ([0.9, 0.9, 0.3], 1.1078461), ([0.5] * 4, 0.725),
        ([0.9, 0.85, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1], 1.3221640676), ([0.5] * 100, 1.985),
    ],
)  # fmt: skip
def test_the_table_of_the_rule(scores, expected):
    assert mpab(scores) == pytest.approx(expected, abs=1e-7)


@pytest.mark.parametrize("order", list(itertools.permutations([0.9, 0.9, 0.3])))
def test_the_order_of_the_chunks_does_not_matter_and_one_maximum_is_removed(order):
    assert mpab(list(order)) == pytest.approx(0.9 + 0.3 * 1.2 / math.sqrt(3))


@pytest.mark.parametrize("odd", [NAN, math.inf, -math.inf])
def test_a_score_that_is_no_number_counts_as_nothing_but_is_a_chunk(odd):
    policy = replace(PLAIN, mpab=True, mpab_coefficient=0.3, mpab_cap=math.inf)
    for scores, expected in (([odd], 0), ([0.8, odd], 0.8), ([0.8, 0.4, odd], 0.8 + 0.12 / math.sqrt(3))):
        (only,) = rank(build(rows(a=scores)), policy, as_of=NOW).results
        assert only.semantic == pytest.approx(expected)


@given(chunks, st.floats(0, 1), st.floats(0, 1))
def test_the_bounded_form_never_lowers_a_score_and_respects_the_cap(scores, coefficient, cap):
    best = max(scores, default=0.0)
    bounded = mpab(scores, coefficient, cap)
    assert best <= bounded <= best + cap + 1e-12
    assert bounded <= mpab(scores, coefficient) + 1e-12
    assert mpab(scores, 0.0) == best


@given(st.floats(0, 1), st.floats(0, 1), st.floats(0, 2))
def test_a_single_chunk_is_what_it_was(score, coefficient, cap):
    assert mpab([score], coefficient, cap) == score


def test_a_bonus_of_several_memories_at_once():
    earned = bonus(np.array([0.0, 0.4, 49.5, 3.0]), np.array([1, 2, 100, 1]), 0.3, 0.5)
    assert earned == pytest.approx([0, 0.0848528137, 0.5, 0])


def rows(**memories: list[float]) -> list[tuple]:
    return [(name, score, NAN, 1, 0) for name, scores in memories.items() for score in scores]


def test_unbounded_a_long_mediocre_memory_beats_a_short_perfect_one_and_bounded_it_does_not():
    found = build(rows(long=[0.5] * 100, short=[1.0]))
    wild = RankingPolicy(
        vector_weight=1, cosine_floor=0, mpab_coefficient=0.3, mpab_cap=math.inf, sparse_recall=False
    )
    tame = RankingPolicy(vector_weight=1, cosine_floor=0, sparse_recall=False)
    first = {name: rank(found, policy, as_of=NOW).results[0] for name, policy in
             (("wild", wild), ("tame", tame))}  # fmt: skip
    assert first["wild"].memory_id == "long"
    assert first["wild"].semantic == pytest.approx(1.985)
    assert first["tame"].memory_id == "short"
    assert SEEDS.mpab_cap == math.inf


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12), st.floats(0, 1), st.floats(0, 1))
def test_ranking_uses_the_same_formula(scores, coefficient, cap):
    policy = replace(PLAIN, mpab=True, mpab_coefficient=coefficient, mpab_cap=cap)
    (only,) = rank(build(rows(a=scores)), policy, as_of=NOW).results
    assert only.semantic == pytest.approx(mpab(scores, coefficient, cap), abs=1e-12)


def test_all_chunks_among_the_candidates_count_also_those_that_score_nothing():
    policy = replace(PLAIN, mpab=True, mpab_coefficient=0.3, mpab_cap=math.inf)
    (only,) = rank(build(rows(a=[0.8, 0.4, NAN, 0.0])), policy, as_of=NOW).results
    assert only.score == pytest.approx(0.8 + 0.3 * 0.4 / 2)
