from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest
from feedback_helpers import DAY, HOUR, START, frame, signal, signals
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.promotion import (
    SOLE,
    Candidate,
    effective_tier,
    fold_promotions,
    principals,
    promote,
    useful_votes,
)

POLICY = FeedbackPolicy()
NOBODY = pl.DataFrame(schema={"memory_id": pl.String, "principal": pl.String, "since": pl.String})


@pytest.mark.parametrize(
    ("tier", "useful", "reason", "to"),
    [
        ("normal", 4, "below_threshold", "normal"),
        ("normal", 5, "promoted", "important"),
        ("normal", 50, "promoted", "important"),
        ("important", 9, "below_threshold", "important"),
        ("important", 10, "promoted", "critical"),
        ("critical", 100, "tier_not_promotable", "critical"),
        ("temporary", 100, "tier_not_promotable", "temporary"),
        ("", 100, "tier_not_promotable", ""),
    ],
)
def test_thresholds(tier, useful, reason, to):
    (one,) = promote([Candidate("m", tier, useful)], [], START, POLICY)
    assert (one.reason, one.from_tier, one.to_tier) == (reason, tier, to)


def test_three_promotions_in_any_eight_hours():
    five = [Candidate(f"m{n}", "normal", 5 + n) for n in range(5)]
    decided = promote(five, [], START, POLICY)
    assert [(one.memory_id, one.reason) for one in decided] == [
        ("m4", "promoted"), ("m3", "promoted"), ("m2", "promoted"), ("m1", "rate_limited"),
        ("m0", "rate_limited"),
    ]  # fmt: skip
    for ago, free in (
        (timedelta(), 1),
        (8 * HOUR - timedelta(microseconds=1), 1),
        (8 * HOUR, 3),
        (9 * HOUR, 3),
    ):
        later = promote(five, [START - ago] * 2, START, POLICY)
        assert sum(one.reason == "promoted" for one in later) == free


@given(
    st.lists(st.tuples(st.integers(0, 40), st.sampled_from(["normal", "important", "critical"])), max_size=12)
)
def test_never_more_than_the_limit_and_never_below_the_threshold(drawn):
    candidates = [Candidate(f"m{n}", tier, useful) for n, (useful, tier) in enumerate(drawn)]
    decided = promote(candidates, [], START, POLICY)
    assert sorted(one.memory_id for one in decided) == sorted(one.memory_id for one in candidates)
    promoted = [one for one in decided if one.reason == "promoted"]
    assert len(promoted) <= 3
    assert all(one.useful >= {"normal": 5, "important": 10}[one.from_tier] for one in promoted)


def test_a_tier_counts_as_the_higher_one():
    assert effective_tier("normal", None) == "normal"
    assert effective_tier("normal", "important") == "important"
    assert effective_tier("critical", "important") == "critical"
    assert effective_tier("temporary", "critical") == "temporary"


def seen(*rows, namespace="ada"):
    """Who acted on which day."""
    return pl.DataFrame(
        [(namespace, *row) for row in rows], schema=["namespace", "principal", "day"], orient="row"
    )


MIN_USERS = principals(seen(("p0", "2026-01-01"), ("writer", "2026-01-01")))


def counted(rows, authors=NOBODY, policy=POLICY, principals=MIN_USERS):
    told = useful_votes(signals(rows), authors, principals, policy)
    return {row[2]: row[3:5] for row in told.iter_rows()}


def helpful(count, *, by="", day=0, first=0):
    moment = START + day * DAY
    return [
        signal("helpful", at=moment + n * HOUR / 9, by=by or f"p{n}", search=f"{by}{first + n}")
        for n in range(count)
    ]


def test_useful_votes_are_counted_by_the_end_of_each_day():
    rows = [
        *helpful(3),
        *helpful(2, by="zoe", day=2),
        signal("neutral", at=START + DAY),
        signal("unhelpful", at=START + DAY, by="x"),
    ]
    assert counted(rows) == {"2026-03-01": (3, 3), "2026-03-03": (5, 4)}


def test_an_author_does_not_count_from_the_day_on_which_he_wrote():
    authors = pl.DataFrame(
        {"memory_id": ["m", "m"], "principal": ["p0", "p1"], "since": ["2026-03-01", "2026-03-02"]}
    )
    assert counted(helpful(3), authors) == {"2026-03-01": (2, 2)}


def test_one_principal_counts_for_so_many_votes():
    assert counted(helpful(40, by="eve")) == {"2026-03-01": (5, 1)}
    assert counted([*helpful(40, by="eve"), *helpful(5)]) == {"2026-03-01": (10, 6)}


def test_a_vote_that_was_taken_back_does_not_count():
    rows = [*helpful(5), signal("unhelpful", at=START + 20 * HOUR, by="p0", search="0")]
    assert counted(rows) == {"2026-03-01": (4, 4)}


ANN = pl.DataFrame({"memory_id": ["m"], "principal": ["ann"], "since": ["2026-02-01"]})


def shared(since):
    return principals(seen(("ann", "2026-02-01"), *([("bob", since)] if since else [])))


def test_who_is_seen_second_ends_the_time_of_one():
    rows = seen(("ann", "2026-02-05"), ("ann", "2026-02-01"), ("", "2026-01-01"), ("bob", "2026-03-02"),
                ("eve", "2026-02-09"))  # fmt: skip
    both = pl.concat([rows, seen(("ann", "2026-02-01"), namespace="bob")])
    assert dict(principals(both).iter_rows()) == {"ada": "2026-02-09", "bob": None}


@pytest.mark.parametrize(
    ("since", "wanted"),
    [
        (None, [("2026-03-01", 3, 1, SOLE), ("2026-03-03", 11, 1, SOLE)]),
        ("2026-03-04", [("2026-03-01", 3, 1, SOLE), ("2026-03-03", 11, 1, SOLE)]),
        ("2026-03-03", [("2026-03-01", 3, 1, SOLE)]),
        ("2026-02-01", []),
    ],
)
def test_the_author_counts_while_nobody_else_was_ever_seen(since, wanted):
    rows = signals([*helpful(3, by="ann"), *helpful(8, by="ann", day=2, first=3)])
    told = useful_votes(rows, ANN, shared(since), POLICY)
    assert [row[2:] for row in told.iter_rows()] == wanted


def test_imported_praise_stays_one_voice_beside_the_only_principal():
    rows = [*helpful(6, by="ann"), *({**one, "imported": True} for one in helpful(9, by="file"))]
    told = useful_votes(signals(rows), ANN, shared(None), POLICY)
    assert [row[3:] for row in told.iter_rows()] == [(11, 2, SOLE)]


def test_who_waits_on_the_authors_votes_waits_no_more_when_somebody_came():
    asked = counts([(f"m{n}", "2026-03-01", 9 - n, 1) for n in range(4)]).with_columns(detail=pl.lit(SOLE))
    for then, told in ((SOLE, ["m3", "x"]), ("", ["x"])):
        later = counts([("x", "2026-03-04", 1, 1)]).with_columns(detail=pl.lit(then))
        decided = fold_promotions(
            pl.concat([asked, later]), lambda name, day: "normal", frame("promotions", []), POLICY
        )
        assert [one.detail for one in decided[:4]] == [SOLE] * 4
        assert [one.memory_id for one in decided[4:]] == told


def rows_of(decided):
    return frame(
        "promotions",
        [
            {"promotion_id": f"{one.decided_at}{one.memory_id}",
             "day": (one.decided_at - DAY).date().isoformat(), "namespace": "ada",
             "memory_id": one.memory_id, "from_tier": one.from_tier, "to_tier": one.to_tier,
             "reason": one.reason, "useful": one.useful, "voters": one.voters, "decided_at": one.decided_at,
             "detail": one.detail}
            for one in decided
        ],
    )  # fmt: skip


def counts(rows):
    schema = {
        "namespace": pl.String,
        "memory_id": pl.String,
        "day": pl.String,
        "useful": pl.Int32,
        "voters": pl.Int32,
    }
    made = pl.DataFrame([("ada", *row) for row in rows], schema=schema, orient="row")
    return made.with_columns(detail=pl.lit(""))


def test_who_had_to_wait_is_asked_again_on_the_next_day_of_votes():
    asked = counts([(f"m{n}", "2026-03-01", 9 - n, 5) for n in range(4)] + [("x", "2026-03-04", 1, 1)])
    decided = fold_promotions(asked, lambda name, day: "normal", frame("promotions", []), POLICY)
    assert [(one.memory_id, one.reason) for one in decided] == [
        ("m0", "promoted"), ("m1", "promoted"), ("m2", "promoted"), ("m3", "rate_limited"),
        ("m3", "promoted"),
        ("x", "below_threshold"),
    ]  # fmt: skip
    first = fold_promotions(
        asked.filter(day="2026-03-01"), lambda name, day: "normal", frame("promotions", []), POLICY
    )
    then = fold_promotions(asked.filter(day="2026-03-04"), lambda name, day: "normal", rows_of(first), POLICY)
    assert [*first, *then] == decided


def test_a_promoted_memory_starts_from_its_new_tier():
    asked = counts([("m", "2026-03-01", 5, 5), ("m", "2026-03-02", 9, 5), ("m", "2026-03-03", 10, 5)])
    decided = fold_promotions(asked, lambda name, day: "normal", frame("promotions", []), POLICY)
    assert [(one.from_tier, one.to_tier, one.reason) for one in decided] == [
        ("normal", "important", "promoted"), ("important", "important", "below_threshold"),
        ("important", "critical", "promoted"),
    ]  # fmt: skip
