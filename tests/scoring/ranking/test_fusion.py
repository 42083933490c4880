from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking import Candidates, RankingPolicy
from slowwave.scoring.ranking.columns import Columns, columns_of
from slowwave.scoring.ranking.fusion import (
    FUSIONS,
    convex_combination,
    normalised_bm25,
    normalised_cosine,
    reciprocal_rank,
)

NAN, INF = np.nan, np.inf
scores = st.lists(st.floats(-1, 1) | st.just(NAN), max_size=10).map(np.array)


def columns(cosine, bm25, vector_rank=None, bm25_rank=None) -> Columns:
    size = len(cosine)
    found = Candidates(
        [f"m{at:05d}:00000" for at in range(size)],
        [f"m{at:05d}" for at in range(size)],
        np.array(cosine, dtype=float),
        np.array(bm25, dtype=float),
        np.array(vector_rank if vector_rank is not None else [0] * size, dtype=np.int64),
        np.array(bm25_rank if bm25_rank is not None else [0] * size, dtype=np.int64),
    )
    return columns_of(found, datetime(2026, 3, 1, tzinfo=UTC))[0]


@pytest.mark.parametrize(
    ("floor", "cosine", "expected"),
    [
        (0.3, 0.65, 0.5), (0.3, 0.3, 0), (0.3, 0.29, 0), (0.3, 1, 1), (0.3, 1.0001, 1), (0.3, -1, 0),
        (0.3, NAN, 0), (0.0, 0.25, 0.25), (-1.0, 0.0, 0.5), (-1.0, -1.0, 0), (0.5, 0.9, 0.8), (0.3, -INF, 0),
        (-1.0, NAN, 0),
    ],
)  # fmt: skip
def test_a_cosine_is_scaled_from_its_floor_to_one(floor, cosine, expected):
    assert normalised_cosine(np.array([cosine]), floor)[0] == pytest.approx(expected, abs=1e-12)


def test_an_infinite_cosine_counts_as_nothing():
    assert normalised_cosine(np.array([INF, -INF, 1.0]), 0.3).tolist() == [0, 0, 1]


@given(scores, st.floats(-1, 0.99))
def test_the_scale_of_a_cosine_does_not_depend_on_the_others(cosine, floor):
    together = normalised_cosine(cosine, floor)
    assert together.tolist() == [normalised_cosine(np.array([one]), floor)[0] for one in cosine]


def test_bm25_is_scaled_by_the_best_of_the_query():
    assert normalised_bm25(np.array([4.0, 2.0, NAN, 0.0])).tolist() == [1, 0.5, 0, 0]
    assert normalised_bm25(np.array([INF, 3.0, -INF, 6.0])).tolist() == [0, 0.5, 0, 1]
    assert normalised_bm25(np.array([NAN, NAN])).tolist() == [0, 0]
    assert normalised_bm25(np.array([])).tolist() == []


def test_each_of_several_queries_has_its_own_best_bm25():
    found = np.array([4.0, 2.0, 6.0, NAN, NAN])
    assert normalised_bm25(found, np.array([0, 2, 2, 3, 5])).tolist() == [1, 0.5, 1, 0, 0]


def test_full_text_has_an_absolute_scale():
    found, starts = np.array([4.0, 2.0, 1.0]), np.array([0, 2, 3])

    def scaled(reach: float, *bounds: float) -> list[float]:
        return normalised_bm25(found, starts, np.array(bounds), reach).tolist()

    assert scaled(1, 8, 8) == [0.5, 0.25, 0.125]  # of what a text with all the words could reach
    assert scaled(4, 8, 8) == [1, 0.5, 0.5]  # a quarter of that is enough: 2, and the best where it has more
    assert scaled(INF, 8, 8) == [1, 0.5, 1]  # over the best, whatever it is
    assert scaled(1, NAN, NAN) == [1, 0.5, 1]  # searches of before have no bound
    assert scaled(1, NAN, 4) == [1, 0.5, 0.25]


@given(st.lists(st.floats(0, 50), min_size=1, max_size=9), st.floats(1, 99), st.floats(0.01, 60))
def test_the_scale_keeps_the_order_and_stays_within_1(found: list[float], reach: float, bound: float):
    scores = np.array(found)
    scaled = normalised_bm25(scores, None, np.array([bound]), reach)
    assert ((scaled >= 0) & (scaled <= 1)).all()
    assert (np.diff(scaled[np.argsort(scores, kind="stable")]) >= 0).all()


def test_a_convex_combination_by_hand():
    found = columns([0.65, NAN, 1.0], [2.0, 8.0, NAN])
    vector, text = convex_combination(found, RankingPolicy(vector_weight=0.7, cosine_floor=0.3))
    assert vector == pytest.approx([0.35, 0, 0.7])
    assert text == pytest.approx([0.075, 0.3, 0])


@pytest.mark.parametrize(("weight", "expected"), [(0.0, [0.0, 1.0]), (1.0, [0.5, 0.0])])
def test_a_weight_of_nothing_leaves_the_other_channel_alone(weight, expected):
    found = columns([0.5, NAN], [NAN, 3.0])
    assert (
        sum(convex_combination(found, RankingPolicy(vector_weight=weight, cosine_floor=0.0))).tolist()
        == expected
    )


def test_reciprocal_ranks_by_hand():
    found = columns([NAN] * 5, [NAN] * 5, [1, 2, 10, 0, 0], [1, 0, 3, 2, 0])
    vector, text = reciprocal_rank(found, RankingPolicy(fusion="rrf", rrf_k=10))
    assert vector == pytest.approx([0.5, 11 / 24, 11 / 40, 0, 0])
    assert text == pytest.approx([0.5, 0, 11 / 26, 11 / 24, 0])
    one, _ = reciprocal_rank(found, RankingPolicy(fusion="rrf", rrf_k=60))
    assert one == pytest.approx([0.5, 61 / 124, 61 / 140, 0, 0])


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=20), st.integers(1, 1_000))
def test_a_better_rank_is_never_worth_less(ranks, k):
    found = columns([NAN] * len(ranks), [NAN] * len(ranks), ranks, ranks)
    total = sum(reciprocal_rank(found, RankingPolicy(fusion="rrf", rrf_k=k)))
    for at, rank in enumerate(ranks):
        assert (total[at] > 0) == (rank > 0)
        for other, second in enumerate(ranks):
            if 0 < rank < second:
                assert total[at] > total[other]
    assert total.max() <= 1


@pytest.mark.parametrize("fusion", sorted(FUSIONS))
def test_nothing_found_gives_no_scores(fusion):
    vector, text = FUSIONS[fusion](columns([], []), RankingPolicy())
    assert (len(vector), len(text)) == (0, 0)


@pytest.mark.parametrize(("say", "vector", "text"), [(1.0, 0.3, 0.5), (0.5, 0.15, 0.75), (0.0, 0.0, 1.0)])
def test_the_text_has_the_weight_of_a_channel_that_does_not_know_the_language(say, vector, text):
    found = replace(columns([0.6], [4.0], [1], [1]), vector_say=np.array([say]))
    policy = RankingPolicy(vector_weight=0.5, cosine_floor=0.0)
    assert [part.item() for part in convex_combination(found, policy)] == pytest.approx([vector, text])
    ranks = [part.item() for part in reciprocal_rank(found, policy)]
    assert ranks == pytest.approx([say / 2, 1 - say / 2])
