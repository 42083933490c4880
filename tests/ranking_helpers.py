"""Candidates, states and policies that the tests of the ranking share: by hand, and at random."""

from __future__ import annotations

import dataclasses
import math
from datetime import UTC, datetime, timedelta

import numpy as np
from hypothesis import strategies as st

from slowwave.scoring.ranking import Candidates, Confidence, MemoryState, RankingPolicy

NAN = float("nan")
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
# Half of a score is the cosine and half the words, and nothing else has a part in it.
EVEN = RankingPolicy(
    vector_weight=0.5, cosine_floor=0.0, mpab=False, effectiveness_weight=0.0, sparse_recall=False,
    sparse_keeps=0, soft_from=1.0,
)  # fmt: skip
# The score is the cosine, and nothing else has a part in it.
PLAIN = dataclasses.replace(EVEN, vector_weight=1.0)
# The same, and feedback on a memory counts in every search (rules 3.4 and 3.7).
OF_MEMORY = dataclasses.replace(PLAIN, feedback_scope="memory")
SCOPES = ("question", "memory")


def build(found, **known) -> Candidates:
    """Candidates from (memory, cosine, bm25, vector rank, bm25 rank); chunks are numbered per memory."""
    count: dict[str, int] = {}
    chunks, ordinal = [], []
    for memory, *_ in found:
        ordinal.append(count.get(memory, 0))
        chunks.append(f"{memory}:{ordinal[-1]:05d}")
        count[memory] = ordinal[-1] + 1
    memories, cosine, bm25, vector_rank, bm25_rank = zip(*found, strict=True) if found else ((),) * 5
    columns = {
        "ordinal": np.array(ordinal, dtype=np.int64),
        "chunk_count": np.array([count[memory] for memory in memories], dtype=np.int64),
    }
    for name in ("ordinal", "chunk_count"):
        if name in known:
            columns[name] = np.array(known.pop(name), dtype=np.int64)
    if "rerank" in known:
        columns["rerank"] = np.array(known.pop("rerank"), dtype=float)
    return Candidates(
        chunks,
        list(memories),
        np.array(cosine, dtype=float),
        np.array(bm25, dtype=float),
        np.array(vector_rank, dtype=np.int64),
        np.array(bm25_rank, dtype=np.int64),
        **columns,
        **known,
    )


def near(**cosine: float) -> list[tuple]:
    """Rows of memories with one chunk each, found by the vector channel in the order of their cosines."""
    best = sorted(cosine, key=lambda name: (-cosine[name], name))
    return [(name, cosine[name], NAN, best.index(name) + 1, 0) for name in cosine]


def votes(count: int, days: float = 0.0) -> tuple[datetime, ...]:
    """Not-useful votes of one age."""
    return (NOW - timedelta(days=days),) * count


def voted(scope: str, moments: tuple[datetime, ...], near: float = 1.0, **more) -> MemoryState:
    """State of a memory with these not-useful votes in a scope, and none in the other one."""
    if scope == "memory":
        return MemoryState(not_useful_at=moments, **more)
    doubts = tuple((moment, near) for moment in moments)
    return MemoryState(question_not_useful=doubts, question_count=len(doubts), **more)


def served(scope: str, effectiveness: float, count: int = 3, **more) -> MemoryState:
    """State of a memory with this effectiveness in a scope, and a neutral one in the other."""
    if scope == "memory":
        return MemoryState(effectiveness=effectiveness, feedback_count=count, **more)
    return MemoryState(question_effectiveness=effectiveness, question_count=count, **more)


NAMES = "abcdefgh"
rows = st.tuples(
    st.sampled_from(NAMES),
    st.floats(-1, 1) | st.sampled_from([NAN, 0.5, 0.8, 0.85, 0.9]),  # cosine
    st.floats(0, 50) | st.sampled_from([NAN, 7.0]),  # bm25
    st.integers(0, 30),
    st.integers(0, 30),
)
moments = st.floats(-40, 400).map(lambda days: NOW - timedelta(days=days))
near_votes = st.tuples(moments, st.floats(0, 1, exclude_min=True))
asked_states = st.integers(1, 6).flatmap(
    lambda count: st.fixed_dictionaries(
        {
            "question_count": st.just(count),
            "question_effectiveness": st.floats(0, 1),
            "question_not_useful": st.lists(near_votes, max_size=count).map(tuple),
        }
    )
)
"""What was said on near questions: at least something, as there is no unhelpful vote without a vote."""
plain_states = st.builds(
    MemoryState,
    effectiveness=st.floats(0, 1),
    feedback_count=st.integers(0, 6),
    not_useful_at=st.lists(moments, max_size=9).map(tuple),
    learned=st.floats(0, 1),
    key=st.floats(0, 0.4) | st.just(0.0),
    strength=st.floats(0, 1),
)
states = plain_states | st.builds(
    lambda state, asked: dataclasses.replace(state, **asked), plain_states, asked_states
)
confidences = st.sampled_from(
    [
        Confidence("high", 6, "source_of_truth"), Confidence("low", -4, "sensitivity"),
        Confidence("high", 5, "state"), Confidence("low", -3, "state"),
        Confidence("medium", 0, "source_kind"),
    ]
)  # fmt: skip


def grouped(pairs: dict[str, str]) -> dict[str, str]:
    """Duplicates as a search groups them: each with the first one of its group."""
    return {name: other for name, other in pairs.items() if other < name and other not in pairs}


@st.composite
def worlds(draw, min_size: int = 0, **without) -> Candidates:
    """Random candidates with everything that may be known of their memories."""
    found = draw(st.lists(rows, min_size=min_size, max_size=20))
    names = st.sampled_from(NAMES)
    known = {
        "triggers": st.dictionaries(names, st.tuples(st.text(max_size=5), st.sampled_from([0.5, 1.0]))),
        "states": st.dictionaries(names, states),
        "confidence": st.dictionaries(names, confidences),
        "superseded": st.frozensets(names),
        "times": st.dictionaries(names, st.sampled_from([0.5, 1.0])),
        "bm25_bound": st.floats(0, 60) | st.just(NAN),
        "query_words": st.integers(0, 12),
    }
    known["same_as"] = st.dictionaries(names, names).map(grouped)
    if "follows" in {part.name for part in dataclasses.fields(Candidates)}:
        known["follows"] = st.dictionaries(names, names)
    drawn = {name: without[name] if name in without else draw(one) for name, one in known.items()}
    read = draw(st.none() | st.lists(st.floats(0, 1) | st.just(NAN), min_size=20, max_size=20))
    if read is not None and found:
        drawn["rerank"] = read[: len(found)]
    return build(found, **drawn)


policies = st.builds(
    RankingPolicy,
    fusion=st.sampled_from(["convex", "rrf"]),
    vector_weight=st.floats(0, 1),
    cosine_floor=st.floats(-1, 0.9),
    rrf_k=st.integers(1, 100),
    trigger_weight=st.floats(0, 1),
    mpab=st.booleans(),
    mpab_coefficient=st.floats(0, 1),
    mpab_cap=st.floats(0, 2) | st.just(math.inf),
    feedback_scope=st.sampled_from(SCOPES),
    effectiveness_weight=st.floats(0, 0.3),
    effectiveness_from=st.integers(3, 6),
    highly_effective=st.floats(0, 1),
    learned_cap=st.floats(0, 0.15),
    key_weight=st.floats(0, 0.4),
    confidence_point=st.floats(0, 0.1),
    negative_feedback=st.booleans(),
    negative_step=st.floats(0, 0.1),
    negative_floor=st.floats(0.3, 1),
    negative_half_life_days=st.floats(0.5, 1_000),
    sparse_recall=st.booleans(),
    sparse_chunks=st.integers(0, 4),
    sparse_top=st.integers(0, 40),
    sparse_limit_factor=st.integers(0, 4),
    sparse_max_injections=st.integers(0, 3),
    sparse_distance=st.floats(0, 2),
    sparse_keeps=st.sampled_from((0, 3, 4)),
    soft_from=st.floats(0.5, 1) | st.just(1.0),
    bm25_reach=st.floats(1, 9) | st.just(float("inf")),
    abstention_floor=st.floats(0, 1) | st.just(0.0),
    cut_share=st.floats(0, 1) | st.just(0.0),
    fit_floor=st.floats(0, 0.5) | st.just(0.0),
    collapse_duplicates=st.booleans(),
    rerank_weight=st.floats(0, 1) | st.just(0.0),
    rerank_top=st.integers(0, 30),
)


def seen(ranking, candidates) -> list[tuple]:
    """Everything that a ranking says, without the positions of the candidates."""
    return [
        (
            one.rank, one.memory_id, one.score, candidates.chunk_ids[one.best],
            tuple(candidates.chunk_ids[at] for at in one.chunks), one.confidence, one.flags,
            one.contributions, one.semantic, one.effectiveness, one.combined, one.feedback_count,
            one.multiplier,
        )
        for one in ranking.results
    ]  # fmt: skip
