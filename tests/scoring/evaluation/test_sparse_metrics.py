from __future__ import annotations

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation.sparse_recall import diagnose, sparse_recall


def places(*rows: tuple[str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["search_id", "memory_id"], orient="row")


def verdicts(*rows: tuple[str, str, bool | None]) -> pl.DataFrame:
    schema = {"search_id": pl.String, "memory_id": pl.String, "relevant": pl.Boolean}
    return pl.DataFrame(rows, schema=schema, orient="row")


def test_the_figures_by_hand():
    """Five places: two of use, one of them by the second who spoke, one not, two of which nobody spoke."""
    given_ = places(("s1", "a"), ("s2", "a"), ("s3", "b"), ("s4", "c"), ("s5", "c"))
    said = verdicts(
        ("s1", "a", True), ("s2", "a", False), ("s2", "a", True), ("s3", "b", False), ("s4", "c", None),
        ("s5", "x", True), ("s9", "c", True),
    )  # fmt: skip
    found = sparse_recall(given_, said)
    assert found.to_dict() == {
        "sparse_recall_injections": 5,
        "sparse_recall_hit_rate": pytest.approx(2 / 3),
        "sparse_recall_false_positive_rate": pytest.approx(1 / 3),
        "judged": 3,
    }


def test_without_a_verdict_there_is_no_rate():
    found = sparse_recall(places(("s1", "a")), verdicts())
    assert found.sparse_recall_injections == 1
    rates = found.to_dict()
    assert rates["sparse_recall_hit_rate"] is rates["sparse_recall_false_positive_rate"] is None


names = st.sampled_from("abc")


@given(
    st.lists(st.tuples(names, names), max_size=12),
    st.lists(st.tuples(names, names, st.none() | st.booleans()), max_size=20),
)
def test_the_rates_are_of_the_same_whole(rows, said):
    found = sparse_recall(
        pl.DataFrame(rows, schema={"search_id": pl.String, "memory_id": pl.String}, orient="row"),
        verdicts(*said),
    )
    assert 0 <= found.hits <= found.judged <= found.sparse_recall_injections == len(set(rows))
    if found.judged:
        rates = found.to_dict()
        both = rates["sparse_recall_hit_rate"] + rates["sparse_recall_false_positive_rate"]
        assert both == pytest.approx(1)


@pytest.mark.parametrize(
    ("by_id", "by_search", "told"),
    [
        (1.0, 1.0, "passes"), (1.0, 0.9, "passes"), (1.0, 0.89, "retrieval_regression"),
        (0.99, 1.0, "ingestion_failure"), (0.0, 0.0, "ingestion_failure"), (1.0, 0.0, "retrieval_regression"),
    ],
)  # fmt: skip
def test_diagnoses(by_id, by_search, told):
    assert diagnose(by_id, by_search) == told
