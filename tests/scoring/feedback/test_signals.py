from __future__ import annotations

import polars as pl
import pytest
from feedback_helpers import HOUR, START, frame

from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.signals import covered_searches, outcome_signals, rating_signals, usage_signals

POLICY = FeedbackPolicy()
SEARCHES = {
    "search_id": pl.String,
    "namespace": pl.String,
    "project": pl.String,
    "occurred_at": pl.Datetime("us", "UTC"),
}


def event(kind, name="e", at=START, **more):
    tier = {"feedback": "quick", "observation": "implicit", "outcome": "detailed"}[kind]
    return {"event_id": name, "day": at.date().isoformat(), "namespace": "ada", "occurred_at": at,
            "principal": "ann", "kind": kind, "tier": tier, **more}  # fmt: skip


def verdict(memory, said, evidence="words", ratio=0.5, beyond=0.5):
    return {"memory_id": memory, "chunk_id": f"{memory}:00000", "verdict": said, "evidence": evidence,
            "keywords": 9, "ratio": ratio, "ratio_beyond_query": beyond, "similarity": None}  # fmt: skip


def test_a_rating_is_a_vote():
    for said, value in (("helpful", 1.0), ("neutral", 0.5), ("unhelpful", 0.0)):
        rows = rating_signals(
            frame("events", [event("feedback", verdict=said, memory_id="m", search_id="s")])
        )
        assert rows.select("signal_id", "value", "weight", "tier", "search_id").row(0) == (
            "e",
            value,
            1.0,
            "quick",
            "s",
        )


@pytest.mark.parametrize(
    ("row", "value", "weight"),
    [
        (verdict("m", "used"), 1.0, 0.25),
        (verdict("m", "used", "citation", beyond=None), 1.0, 0.25),
        (verdict("m", "used", "similarity", ratio=0.2, beyond=0.1), 1.0, 0.25),
        (verdict("m", "used", ratio=0.6, beyond=0.30), 1.0, 0.0),  # by words of the query alone
        (verdict("m", "used", ratio=0.6, beyond=None), 1.0, 0.0),
        (verdict("m", "ignored", ratio=0.1, beyond=0.1), 0.5, 0.25),
        (verdict("m", "ignored", "none", ratio=0.0, beyond=None), 0.5, 0.0),
    ],
)
def test_a_verdict_weighs_a_quarter_where_it_is_evidence(row, value, weight):
    rows = usage_signals(frame("events", [event("observation", verdicts=[row], search_id="s")]), POLICY)
    assert rows.select("signal_id", "value", "weight").rows() == [("e:m", value, weight)]


def test_an_observation_says_something_of_every_memory_and_of_each_once():
    three = [verdict("m", "used"), verdict("n", "ignored"), verdict("m", "ignored")]
    events = frame("events", [event("observation", verdicts=three), event("observation", "f", verdicts=[])])
    assert usage_signals(events, POLICY)["signal_id"].to_list() == ["e:m", "e:n"]
    assert rating_signals(events).is_empty()


def searches(*rows):
    made = [(name, "ada", project, START + hour * HOUR) for name, project, hour in rows]
    return pl.DataFrame(made, schema=SEARCHES, orient="row")


def outcomes(*rows):
    return frame(
        "events",
        [
            event("outcome", name, START + hour * HOUR, verdict=said, project=project)
            for name, project, hour, said in rows
        ],
    )  # fmt: skip


def test_an_outcome_is_about_the_searches_since_the_one_before():
    made = searches(("a", "x", 1), ("b", "x", 3), ("c", "x", 5), ("d", "x", 9), ("o", "y", 1))
    said = outcomes(("1", "x", 2, "success"), ("2", "x", 6, "failure"), ("3", "y", 7, "success"))
    assert sorted(covered_searches(said, said, made).rows()) == [
        ("1", "a"),
        ("2", "b"),
        ("2", "c"),
        ("3", "o"),
    ]
    assert sorted(covered_searches(said[1:2], said, made).rows()) == [("2", "b"), ("2", "c")]


def test_an_outcome_after_another_one_without_a_search_between_corrects_it():
    made = searches(("a", "x", 1), ("b", "x", 3))
    said = outcomes(("1", "x", 2, "success"), ("2", "x", 4, "success"), ("3", "x", 5, "failure"))
    assert sorted(covered_searches(said, said, made).rows()) == [("1", "a"), ("2", "b"), ("3", "b")]


def test_an_outcome_of_another_namespace_or_principal_is_another_one():
    made = searches(("a", "x", 1), ("b", "x", 3))
    said = outcomes(("1", "x", 2, "success"), ("2", "x", 4, "success"))
    other = said.with_columns(
        principal=pl.when(pl.col("event_id") == "1").then(pl.lit("bob")).otherwise("principal")
    )
    assert sorted(covered_searches(other, other, made).rows()) == [("1", "a"), ("2", "a"), ("2", "b")]
    away = made.with_columns(namespace=pl.lit("eve"))
    assert covered_searches(said, said, away).is_empty()


def shown(*rows, by="ann", elsewhere=False, searcher="ann", searched_elsewhere=False):
    schema = {
        "search_id": pl.String,
        "memory_id": pl.String,
        "chunk_id": pl.String,
        "used_at": pl.Datetime("us", "UTC"),
    }
    made = [(s, m, f"{m}:00000", None if hour is None else START + hour * HOUR) for s, m, hour in rows]
    return pl.DataFrame(made, schema=schema, orient="row").with_columns(
        used_by=pl.when(pl.col("used_at").is_not_null()).then(pl.lit(by)),
        used_elsewhere=pl.when(pl.col("used_at").is_not_null()).then(pl.lit(elsewhere)),
        searcher=pl.lit(searcher),
        searched_elsewhere=pl.lit(searched_elsewhere),
    )


def test_an_outcome_is_credited_to_what_was_used_before_it():
    said = outcomes(("1", "x", 4, "success"))
    about = pl.DataFrame({"event_id": ["1", "1"], "search_id": ["a", "b"]})
    rows = outcome_signals(
        said, about, shown(("a", "m", 2), ("a", "n", None), ("b", "m", 9), ("b", "n", None))
    )
    told = rows.select("search_id", "memory_id", "weight", "evidence")
    assert {(search, memory): why for search, memory, *why in told.iter_rows()} == {
        ("a", "m"): [1.0, "used"], ("b", "m"): [0.5, "shown"], ("b", "n"): [0.5, "shown"],
    }  # fmt: skip
    assert set(rows["value"]) == {1.0}
    assert set(rows["tier"]) == {"detailed"}
    assert rows["signal_id"].n_unique() == 3
    assert outcome_signals(outcomes(("1", "x", 4 + 24, "failure")), about, shown(("a", "m", 2)))[
        "value"
    ].to_list() == [0.0]


@pytest.mark.parametrize(
    ("by", "expected"),
    [
        ({"by": "ann"}, ("ann", None, False)),
        ({"by": "eve"}, ("ann", "eve", False)),
        ({"by": "ann", "elsewhere": True}, ("ann", None, True)),
        ({"by": "eve", "elsewhere": True}, ("ann", "eve", True)),
    ],
)
def test_an_outcome_is_the_word_of_who_said_what_helped(by, expected):
    """Or a claim of one would become the vote of all who report how their projects ended."""
    about = pl.DataFrame({"event_id": ["1"], "search_id": ["a"]})
    rows = outcome_signals(outcomes(("1", "x", 4, "success")), about, shown(("a", "m", 2), **by))
    assert rows.select("principal", "behind", "imported").rows() == [expected]


def test_an_outcome_of_a_search_of_another_where_nothing_helped_is_the_word_of_who_searched():
    about = pl.DataFrame({"event_id": ["1"], "search_id": ["a"]})
    said = outcomes(("1", "x", 4, "success"))
    rows = outcome_signals(said, about, shown(("a", "m", None), ("a", "n", None), searcher="eve"))
    assert rows.select("behind", "weight", "imported").rows() == [("eve", 0.5, False)] * 2
    own = pl.concat([shown(("a", "m", 2), by="eve"), shown(("a", "m", 3), by="ann")])
    assert outcome_signals(said, about, own).select("behind", "weight").rows() == [(None, 1.0)]


def test_an_imported_outcome_says_nothing_of_when_ones_own_began():
    made = searches(("a", "x", 1), ("b", "x", 5))
    said = outcomes(("1", "x", 3, "failure"), ("2", "x", 6, "success"))
    forged = said.with_columns(
        imported_from=pl.when(pl.col("event_id") == "1").then(pl.lit("jsonl")).otherwise("imported_from")
    )
    assert sorted(covered_searches(forged, forged, made).rows()) == [("1", "a"), ("2", "a"), ("2", "b")]
