from __future__ import annotations

import ir_measures
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.scoring.evaluation import MEASURES, Measure, evaluate
from slowwave.scoring.evaluation.evaluate import evaluate_frame

RESULTS = {"search": pl.Int64, "variant": pl.String, "rank": pl.Int32, "memory_id": pl.String}
JUDGMENTS = {"query_id": pl.String, "memory_id": pl.String, "grade": pl.Float64}
RANKINGS = {"search": pl.Int64, "variant": pl.String, "query_id": pl.String}


def frames(asked, qrels) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Of {(search, variant): (query, memories)} and {query: {memory: grade}}."""
    rankings = [(*key, query) for key, (query, _) in asked.items()]
    results = [
        (*key, rank, memory)
        for key, (_, memories) in asked.items()
        for rank, memory in enumerate(memories, start=1)
    ]
    judgments = [(query, *one) for query, judged in qrels.items() for one in judged.items()]
    return tuple(
        pl.DataFrame(rows, schema=schema, orient="row")
        for rows, schema in ((rankings, RANKINGS), (results, RESULTS), (judgments, JUDGMENTS))
    )


documents = st.sampled_from("abcdefghij")
grades = st.sampled_from([-1.0, 0.0, 0.5, 1.0, 2.25, 3.0])
some_qrels = st.dictionaries(
    st.sampled_from("uvw"), st.dictionaries(documents, grades, max_size=8), max_size=3
)
some_asked = st.dictionaries(
    st.tuples(st.integers(0, 5), st.sampled_from(["one", "two"])),
    st.tuples(st.sampled_from("uvwx"), st.lists(documents, max_size=14)),
    max_size=8,
)
some_measures = st.lists(
    st.builds(
        Measure,
        st.sampled_from(["mrr", "ndcg", "recall", "hit_rate", "precision", "judged"]),
        st.sampled_from([1, 2, 3, 5, 10, 20]),
    ),
    max_size=6,
    unique=True,
)


@pytest.mark.slow
@settings(max_examples=60)
@given(some_asked, some_qrels, some_measures, st.randoms(use_true_random=False))
def test_a_frame_of_rankings_has_the_measures_of_each_ranking(asked, qrels, measures, random):
    rankings, results, judgments = frames(asked, qrels)
    order = list(range(results.height))
    random.shuffle(order)
    found = evaluate_frame(rankings, results[order], judgments, measures)
    expected = []
    for key, (query, memories) in asked.items():
        judged = qrels.get(query, {})
        one = evaluate({query: memories}, {query: judged}, measures)
        relevant = sum(grade > 0 for grade in judged.values())
        expected += [(*key, query, *row[1:], relevant) for row in one.iter_rows()]
    assert found.columns == ["search", "variant", "query_id", *map(str, measures), "relevant"]
    assert found.rows() == [pytest.approx(row, abs=1e-12) if len(row) > 4 else row for row in expected]


def random_run(rng, queries: int, size: int) -> tuple[dict, dict]:
    names = np.array([f"d{at}" for at in range(200)])
    run = {
        f"q{at}": dict(zip(rng.permutation(names)[:size].tolist(), range(size, 0, -1), strict=True))
        for at in range(queries)
    }
    qrels = {
        query: {
            one: int(grade)
            for one, grade in zip(rng.permutation(names)[:12].tolist(), rng.integers(0, 4, 12), strict=True)
        }
        for query in run
    }
    return run, {query: {**judged, next(iter(run[query])): 1} for query, judged in qrels.items()}


REFERENCE = {
    "MRR@5": (ir_measures.RR @ 5, "mrr@5"), "nDCG@10": (ir_measures.nDCG @ 10, "ndcg@10"),
    "Recall@20": (ir_measures.R @ 20, "recall@20"), "HitRate@1": (ir_measures.Success @ 1, "hit_rate@1"),
    "Precision@10": (ir_measures.P @ 10, "precision@10"), "Judged@10": (ir_measures.Judged @ 10, None),
}  # fmt: skip


MEASURED = [
    Measure("mrr", 5), Measure("ndcg", 10), Measure("recall", 20), Measure("hit_rate", 1),
    Measure("precision", 10), Measure("judged", 10),
]  # fmt: skip


def test_random_runs_have_the_figures_of_ir_measures_and_ranx():
    import ranx  # it takes seconds, and who collects this file need not run it

    run, qrels = random_run(np.random.default_rng(0), 300, 40)
    asked = {(at, "v"): (query, list(ranked)) for at, (query, ranked) in enumerate(run.items())}
    found = evaluate_frame(*frames(asked, qrels), MEASURED)
    assert found.height == 300
    ours = {name: dict(found.select("query_id", name).iter_rows()) for name in REFERENCE}
    theirs = {
        (str(one.measure), one.query_id): one.value
        for one in ir_measures.iter_calc([measure for measure, _ in REFERENCE.values()], qrels, run)
    }
    scored = ranx.Run({query: {one: float(s) for one, s in ranked.items()} for query, ranked in run.items()})
    fast = ranx.evaluate(
        ranx.Qrels(qrels), scored, [name for _, name in REFERENCE.values() if name], return_mean=False
    )
    for name, (measure, other) in REFERENCE.items():
        for query, value in ours[name].items():
            assert value == pytest.approx(theirs[str(measure), query], abs=1e-9), name
        if other:
            by_query = dict(zip(scored.keys(), fast[other], strict=True))
            assert ours[name] == pytest.approx(by_query, abs=1e-9), name


def test_a_search_that_shows_nothing_counts_as_nothing_and_one_that_nobody_judged_is_not_counted():
    asked = {(0, "v"): ("u", "ab"), (1, "v"): ("u", ""), (2, "v"): ("x", "a"), (3, "w"): ("none", "a")}
    rankings, results, judgments = frames(asked, {"u": {"a": 0.5}, "none": {"a": 0.0}})
    stray = pl.DataFrame([(9, "v", 1, "a")], schema=RESULTS, orient="row")
    found = evaluate_frame(rankings, pl.concat([results, stray]), judgments)
    assert found.rows() == [(0, "v", "u", 1, 1, 1, 1, 0.5, 1), (1, "v", "u", 0, 0, 0, 0, 0, 1)]


def test_any_column_may_name_a_ranking():
    rankings = pl.DataFrame({"query_id": ["u", "v"]}).with_columns(ranking="query_id")
    results = pl.DataFrame({"ranking": ["v"], "rank": [1], "memory_id": ["a"]})
    judgments = pl.DataFrame({"query_id": ["u", "v"], "memory_id": ["a", "a"], "grade": [1, 3]})
    found = evaluate_frame(rankings, results, judgments, [Measure("mrr", 5)])
    assert found.rows() == [("u", "u", 0.0, 1), ("v", "v", 1.0, 1)]


def test_what_is_there_twice_is_refused():
    rankings, results, judgments = frames({(0, "v"): ("u", "a")}, {"u": {"a": 1}})
    with pytest.raises(ValueError, match="rankings has two rows of the same search and variant"):
        evaluate_frame(pl.concat([rankings] * 2), results, judgments)
    with pytest.raises(ValueError, match="judgments has two rows of the same query_id and memory_id"):
        evaluate_frame(rankings, results, pl.concat([judgments] * 2))


@pytest.mark.parametrize("measures", [MEASURES, ()])
def test_nothing_to_evaluate_gives_an_empty_frame_of_the_same_columns(measures):
    for asked, qrels in (({}, {}), ({}, {"u": {"a": 1}}), ({(0, "v"): ("u", "a")}, {})):
        found = evaluate_frame(*frames(asked, qrels), measures)
        assert found.columns == [*RANKINGS, *map(str, measures), "relevant"]
        assert found.height == 0
