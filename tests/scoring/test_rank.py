from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scoring.ranking import Candidates, RankingPolicy, rank

NAN = np.nan
EVEN = RankingPolicy(vector_weight=0.5, cosine_floor=0.0)
policies = st.builds(
    RankingPolicy,
    fusion=st.sampled_from(["convex", "rrf"]),
    vector_weight=st.floats(0, 1),
    cosine_floor=st.floats(-1, 0.9),
    rrf_k=st.integers(1, 100),
)
rows = st.tuples(
    st.sampled_from("abcde"),  # memory
    st.floats(-1, 1) | st.sampled_from([NAN, np.inf, -np.inf, 0.5]),  # cosine
    st.floats(0, 50) | st.sampled_from([NAN, np.inf, -np.inf, 7.0]),  # bm25
    st.integers(0, 30),
    st.integers(0, 30),
)


def build(found) -> Candidates:
    """Candidates from (memory, cosine, bm25, vector rank, bm25 rank); chunks are numbered per memory."""
    count: dict[str, int] = {}
    chunks = []
    for memory, *_ in found:
        chunks.append(f"{memory}:{count.get(memory, 0):05d}")
        count[memory] = count.get(memory, 0) + 1
    memories, cosine, bm25, vector_rank, bm25_rank = zip(*found, strict=True) if found else ((),) * 5
    return Candidates(
        chunks,
        list(memories),
        np.array(cosine, dtype=float),
        np.array(bm25, dtype=float),
        np.array(vector_rank, dtype=np.int64),
        np.array(bm25_rank, dtype=np.int64),
    )


def test_a_ranking_by_hand():
    found = build(
        [("b", 0.9, NAN, 1, 0), ("a", 0.2, 4.0, 3, 2), ("b", 0.4, 8.0, 2, 1), ("c", NAN, 2.0, 0, 3)]
    )  # fmt: skip
    ranked = rank(found, EVEN, 10)
    assert [(one.rank, one.memory_id) for one in ranked] == [(1, "b"), (2, "a"), (3, "c")]
    assert [one.score for one in ranked] == pytest.approx([0.7, 0.35, 0.125])
    first = ranked[0]
    assert (first.best, first.chunks) == (2, (0, 2))
    assert first.contributions == pytest.approx({"vector": 0.2, "bm25": 0.5})


def test_ties_are_broken_by_memory_id():
    found = build([(memory, 0.5, NAN, 1, 0) for memory in "cab"])
    assert [one.memory_id for one in rank(found, EVEN, 10)] == ["a", "b", "c"]
    assert [one.memory_id for one in rank(found, EVEN, 2)] == ["a", "b"]


def test_of_equal_chunks_the_first_of_the_document_is_the_best():
    found = build([("a", 0.5, NAN, 1, 0), ("a", 0.5, NAN, 2, 0)])
    swapped = Candidates(found.chunk_ids[::-1], *(getattr(found, name)[::-1] for name in (
        "memory_ids", "cosine", "bm25", "vector_rank", "bm25_rank")))  # fmt: skip
    assert found.chunk_ids[rank(found, EVEN, 1)[0].best] == "a:00000"
    assert swapped.chunk_ids[rank(swapped, EVEN, 1)[0].best] == "a:00000"
    assert [swapped.chunk_ids[at] for at in rank(swapped, EVEN, 1)[0].chunks] == ["a:00000", "a:00001"]


def test_a_memory_that_only_its_words_found_can_enter_and_win():
    found = build([("a", 0.3, NAN, 1, 0), ("b", NAN, 9.0, 0, 1), ("c", 0.2, 1.0, 2, 2)])
    ranked = rank(found, EVEN, 1)
    assert [one.memory_id for one in ranked] == ["b"]
    assert ranked[0].contributions == {"vector": 0.0, "bm25": 0.5}
    assert found.channels(1) == ("bm25",)
    assert found.channels(2) == ("vector", "bm25")


def test_a_memory_that_nothing_speaks_for_scores_nothing():
    (only,) = rank(build([("a", NAN, NAN, 0, 0)]), EVEN, 5)
    assert (only.score, only.contributions) == (0.0, {"vector": 0.0, "bm25": 0.0})


def test_scores_that_are_not_numbers_count_as_nothing():
    found = build(
        [("a", np.inf, NAN, 1, 0), ("b", NAN, np.inf, 0, 1), ("c", 0.1, NAN, 2, 0), ("d", -np.inf, NAN, 3, 0)]
    )
    assert [(one.memory_id, one.score) for one in rank(found, EVEN, 5)] == [
        ("c", 0.05), ("a", 0.0), ("b", 0.0), ("d", 0.0),
    ]  # fmt: skip


@pytest.mark.parametrize("policy", [RankingPolicy(), RankingPolicy(fusion="rrf")])
def test_nothing_found_or_nothing_wanted_gives_nothing(policy):
    assert rank(build([]), policy, 5) == []
    assert rank(build([("a", 0.5, NAN, 1, 0)]), policy, 0) == []


def test_a_negative_limit_is_refused():
    with pytest.raises(ValueError, match="limit = -1"):
        rank(build([]), EVEN, -1)


@given(st.lists(rows, max_size=25), policies, st.integers(0, 6))
def test_a_ranking_is_sorted_bounded_and_explained(found, policy, limit):
    candidates = build(found)
    ranked = rank(candidates, policy, limit)
    everything = rank(candidates, policy, 100)
    assert ranked == everything[:limit]
    assert {one.memory_id for one in everything} == set(candidates.memory_ids)
    assert [one.rank for one in everything] == list(range(1, len(everything) + 1))
    keys = [(-one.score, one.memory_id) for one in everything]
    assert [key[0] for key in keys] == sorted(key[0] for key in keys)
    assert len({one.memory_id for one in everything}) == len(everything)
    for one in everything:
        assert 0 <= one.score <= 1
        assert sum(one.contributions.values()) == pytest.approx(one.score, abs=1e-9)
        assert set(one.contributions) == {"vector", "bm25"}
        assert one.best in one.chunks
        mine = [at for at, memory in enumerate(candidates.memory_ids) if memory == one.memory_id]
        assert sorted(one.chunks) == mine
        ordered = [candidates.chunk_ids[at] for at in one.chunks]
        assert ordered == sorted(ordered)


@given(st.lists(rows, max_size=15), policies, st.randoms(use_true_random=False))
def test_the_order_of_the_candidates_does_not_matter(found, policy, random):
    candidates = build(found)
    order = list(range(len(found)))
    random.shuffle(order)
    shuffled = Candidates(
        [candidates.chunk_ids[at] for at in order],
        [candidates.memory_ids[at] for at in order],
        *(getattr(candidates, name)[order] for name in ("cosine", "bm25", "vector_rank", "bm25_rank")),
    )

    def seen(one: Candidates) -> list[tuple]:
        return [
            (
                r.memory_id,
                r.score,
                one.chunk_ids[r.best],
                [one.chunk_ids[at] for at in r.chunks],
                r.contributions,
            )
            for r in rank(one, policy, 100)
        ]

    assert seen(shuffled) == seen(candidates)
