from __future__ import annotations

import time
from math import log2
from typing import get_args

import ir_measures
import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import MEASURES, Measure, evaluate
from slowwave.scoring.measures import Metric

QRELS = {"q": {"a": 3, "b": 0, "c": 1, "d": 2, "e": -1}}


def measure(written: str) -> Measure:
    """The measure that is written so."""
    every = (Measure(metric, k) for metric in get_args(Metric) for k in range(1, 21))
    return next(one for one in every if str(one) == written)


def value(written: str, ranking: list[str], qrels=None) -> float:
    (row,) = evaluate({"q": ranking}, {"q": qrels or QRELS["q"]}, [measure(written)]).rows()
    return row[1]


# Relevant are a (3), d (2) and c (1); x and y are not judged. The ideal order is a, d, c.
IDEAL = 3 + 2 / log2(3) + 1 / log2(4)


@pytest.mark.parametrize(
    ("written", "ranking", "expected"),
    [
        ("MRR@5", "a", 1), ("MRR@5", "xbc", 1 / 3), ("MRR@2", "xbc", 0), ("MRR@5", "xybec", 1 / 5),
        ("MRR@5", "", 0), ("MRR@4", "xybec", 0),
        ("nDCG@10", "adc", 1), ("nDCG@3", "adcbxy", 1), ("nDCG@10", "xbe", 0), ("nDCG@10", "", 0),
        ("nDCG@10", "cxa", (1 + 3 / 2) / IDEAL), ("nDCG@10", "eca", (1 / log2(3) + 3 / 2) / IDEAL),
        ("nDCG@1", "da", 2 / 3), ("nDCG@2", "ca", (1 + 3 / log2(3)) / (3 + 2 / log2(3))),
        ("Recall@20", "xca", 2 / 3), ("Recall@2", "xca", 1 / 3), ("Recall@1", "xca", 0),
        ("Recall@9", "cda", 1),
        ("HitRate@1", "ax", 1), ("HitRate@1", "xa", 0), ("HitRate@2", "xa", 1), ("HitRate@3", "ebx", 0),
        ("Precision@5", "ad", 2 / 5), ("Precision@2", "xda", 1 / 2), ("Precision@1", "", 0),
        ("Judged@10", "xbea", 3 / 4), ("Judged@2", "xbea", 1 / 2), ("Judged@3", "b", 1),
        ("Judged@3", "xy", 0), ("Judged@3", "", 0),
    ],
)  # fmt: skip
def test_metrics_by_hand(written, ranking, expected):
    assert value(written, list(ranking)) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("measure", MEASURES, ids=str)
@pytest.mark.parametrize(
    ("twice", "once"), [("xxa", "xa"), ("aac", "ac"), ("acac", "ac"), ("xabaxc", "xabc")]
)
def test_a_repeated_document_counts_once_and_those_behind_move_up(measure, twice, once):
    assert value(str(measure), list(twice)) == value(str(measure), list(once))


def test_the_ideal_knows_documents_that_were_not_found_and_stops_at_the_cutoff():
    many = {f"d{at}": 1 for at in range(30)}
    assert value("nDCG@10", [f"d{at}" for at in range(10)], many) == pytest.approx(1)
    assert value("nDCG@2", ["d0"], many) == pytest.approx(1 / (1 + 1 / log2(3)))
    assert value("Recall@10", [f"d{at}" for at in range(10)], many) == pytest.approx(1 / 3)


def test_a_row_for_each_query_with_a_relevant_judgment_in_the_order_of_the_judgments():
    qrels = {"z": {"a": 1}, "none": {"a": 0, "b": -1}, "empty": {}, "failed": {"a": 2}, "absent": {"a": 1}}
    rankings = {"stray": ["a"], "failed": [], "none": ["a"], "empty": ["a"], "z": ["a"]}
    found = evaluate(rankings, qrels)
    assert found["query_id"].to_list() == ["z", "failed", "absent"]
    assert found.columns == ["query_id", "MRR@5", "nDCG@10", "Recall@20", "HitRate@1", "Judged@10"]
    assert found.drop("query_id").rows() == [(1,) * 5, (0,) * 5, (0,) * 5]


def test_nothing_to_evaluate_gives_an_empty_frame_of_the_same_columns():
    for qrels in ({}, {"q": {"a": 0}}):
        found = evaluate({"q": ["a"]}, qrels)
        assert found.schema == {"query_id": pl.String, **{str(one): pl.Float64 for one in MEASURES}}
        assert found.height == 0
    assert evaluate({}, QRELS, []).rows() == [("q",)]


documents = st.sampled_from("abcdefghijkl")
queries = st.sampled_from("uvwxyz")
some_qrels = st.dictionaries(
    queries, st.dictionaries(documents, st.integers(0, 3), max_size=10), min_size=1, max_size=6
)
some_rankings = st.dictionaries(queries, st.lists(documents, unique=True, max_size=12), max_size=6)
some_measures = st.lists(
    st.builds(
        Measure,
        st.sampled_from(["mrr", "ndcg", "recall", "hit_rate", "precision", "judged"]),
        st.sampled_from([1, 2, 3, 5, 10, 20]),
    ),
    min_size=1,
    max_size=8,
    unique=True,
)
REFERENCE = {
    "mrr": ir_measures.RR, "ndcg": ir_measures.nDCG, "recall": ir_measures.R, "hit_rate": ir_measures.Success,
    "precision": ir_measures.P, "judged": ir_measures.Judged,
}  # fmt: skip


@given(some_rankings, some_qrels, some_measures)
def test_every_metric_equals_that_of_the_reference(rankings, qrels, measures):
    counted = {query: judged for query, judged in qrels.items() if any(judged.values())}
    run = {
        query: {one: float(len(ranking) - at) for at, one in enumerate(ranking)}
        for query, ranking in rankings.items()
        if ranking  # the reference divides by 0 where a query has no results
    }
    expected = {(query, str(measure)): 0.0 for query in counted for measure in measures}
    for measure in measures if counted else ():
        for found in ir_measures.iter_calc([REFERENCE[measure.metric] @ measure.k], counted, run):
            if found.query_id in counted:
                expected[found.query_id, str(measure)] = found.value
    frame = evaluate(rankings, qrels, measures)
    assert frame["query_id"].to_list() == list(counted)
    for row in frame.iter_rows(named=True):
        for measure in measures:
            wanted = expected[row["query_id"], str(measure)]
            assert row[str(measure)] == pytest.approx(wanted, abs=1e-9), str(measure)


def test_ten_thousand_queries_take_well_under_a_second_of_a_core():
    rng = np.random.default_rng(0)
    names = np.array([f"d{at}" for at in range(5_000)])
    rankings = {f"q{at}": names[rng.integers(0, 5_000, 20)].tolist() for at in range(10_000)}
    qrels = {query: dict.fromkeys(ranking[3:9], 2) for query, ranking in rankings.items()}
    start = time.process_time()
    assert evaluate(rankings, qrels).height == 10_000
    assert time.process_time() - start < 2  # 0.15 s on an idle core


def test_a_measure_is_written_as_its_metric_at_its_cutoff():
    assert str(Measure("ndcg", 10)) == "nDCG@10"


@pytest.mark.parametrize("k", [0, -1])
def test_a_cutoff_below_one_is_refused(k):
    with pytest.raises(ValueError, match="a cutoff is 1 or more"):
        Measure("ndcg", k)


def test_a_measure_of_an_unknown_metric_is_refused():
    with pytest.raises(ValueError, match="metric = 'map'"):
        Measure("map", 5)
