from __future__ import annotations

from datetime import timedelta

import polars as pl
import pytest
from feedback_helpers import DAY, HOUR, START, frame, signal, signals
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.feedback.effectiveness import FIXED_MOMENT, SUMS, effectiveness, fold_effectiveness
from slowwave.scoring.feedback.policy import FeedbackPolicy

POLICY = FeedbackPolicy()
END = START + DAY
MOMENT = END - timedelta(microseconds=1)  # so late that nothing has faded by the end of the day


def fold(rows, policy=POLICY):
    return fold_effectiveness(signals(rows), frame("effectiveness", []), signals([]), policy)


def whole(rows, policy=POLICY):
    found = fold(rows, policy).filter(pl.col("chunk_id").is_null())
    assert found.height == 1
    return found.row(0, named=True)


def said(verdict, count, *, by="", at=MOMENT):
    return [signal(verdict, at=at, by=by or f"{verdict}{n}", search=f"{verdict}{n}") for n in range(count)]


@pytest.mark.parametrize(
    ("rows", "expected", "count"),
    [
        (said("helpful", 1), 2 / 3, 1),
        (said("helpful", 3), 0.8, 3),
        (said("unhelpful", 3), 0.2, 3),
        (said("neutral", 7), 0.5, 7),
        (said("helpful", 2) + said("unhelpful", 2), 0.5, 4),
        (said("success", 3), 0.8, 3),
        (said("failure", 2), 0.25, 2),
        (said("used", 1), (1 + 0.25) / 2.25, 1),
        (said("used", 4), 2 / 3, 4),
        (said("used", 400), 2 / 3, 400),  # all implicit evidence is worth one vote
        (said("used", 2) + said("ignored", 2), (1 + 0.75) / 3, 2),
        (said("ignored", 30), 0.5, 0),
        (said("used", 400) + said("unhelpful", 1), (1 + 1) / 4, 401),
    ],
)
def test_golden(rows, expected, count):
    row = whole(rows)
    assert row["effectiveness"] == pytest.approx(expected, abs=1e-9)
    assert row["feedback_count"] == count


def test_it_drifts_back_to_neutral_by_half_in_ninety_days():
    row = frame("effectiveness", [whole(said("helpful", 6))])
    for ago, weight in ((0, 6.0), (90, 3.0), (180, 1.5), (90 * 40, 0.0)):
        value = effectiveness(row, END + timedelta(days=ago), POLICY)[0]
        assert value == pytest.approx((1 + weight) / (2 + weight), abs=1e-9)


def test_the_cap_on_implicit_evidence_holds_at_every_moment():
    row = frame("effectiveness", [whole(said("used", 8))])  # two votes' worth, cut to one
    for ago, weight in ((0, 1.0), (90, 1.0), (180, 0.5)):
        assert effectiveness(row, END + timedelta(days=ago), POLICY)[0] == pytest.approx(
            (1 + weight) / (2 + weight)
        )


def test_nothing_said_is_neutral():
    empty = pl.DataFrame({name: [0.0] for name in SUMS})
    assert effectiveness(empty, END, POLICY).to_list() == [0.5]
    assert fold([]).is_empty()
    assert fold([signal("used", weight=0.0)]).is_empty()


def test_one_principal_moves_nothing_beyond_his_cap():
    flood = [signal("unhelpful", at=START + n * HOUR / 9, by="eve", search=f"s{n}") for n in range(200)]
    flooded, capped = whole([*said("helpful", 4), *flood]), whole([*said("helpful", 4), *flood[-5:]])
    assert flooded["feedback_count"] == capped["feedback_count"] == 9
    assert flooded["effectiveness"] == pytest.approx(capped["effectiveness"], abs=1e-12)


def test_a_memory_is_the_evidence_of_its_chunks_together():
    rows = fold(
        [
            signal("helpful", chunk="m:00000", search="a", at=MOMENT),
            signal("helpful", chunk="m:00000", search="b", at=MOMENT),
            signal("unhelpful", chunk="m:00007", search="c", at=MOMENT),
        ]
    )
    values = {row["chunk_id"]: round(row["effectiveness"], 9) for row in rows.iter_rows(named=True)}
    assert values == {"m:00000": 0.75, "m:00007": round(1 / 3, 9), None: 0.6}


def test_a_correction_on_another_chunk_takes_the_first_one_back():
    rows = fold(
        [
            signal("helpful", chunk="m:00000", search="a", at=START + HOUR),
            signal("unhelpful", chunk="m:00001", search="a", at=START + 2 * HOUR),
        ]
    )
    values = {
        row["chunk_id"]: (row["effectiveness"], row["feedback_count"]) for row in rows.iter_rows(named=True)
    }
    assert values["m:00000"] == (pytest.approx(0.5, abs=1e-9), 0)
    assert values["m:00001"] == (pytest.approx(1 / 3, abs=3e-3), 1)


def test_votes_of_before_the_fixed_moment_count():
    old = FIXED_MOMENT - timedelta(days=400)
    row = whole(said("helpful", 3, at=old.replace(hour=23, minute=59)))
    assert row["effectiveness"] == pytest.approx(0.8, abs=1e-4)


@pytest.mark.slow
@given(st.lists(st.sampled_from(["helpful", "neutral", "unhelpful", "used", "ignored"]), max_size=12))
def test_a_helpful_vote_never_lowers_it_and_an_unhelpful_one_never_raises_it(verdicts):
    rows = [signal(verdict, by=f"p{n}", search=f"s{n}", at=MOMENT) for n, verdict in enumerate(verdicts)]
    before = whole(rows)["effectiveness"] if fold(rows).height else 0.5
    assert whole([*rows, signal("helpful", by="q", search="q", at=MOMENT)])["effectiveness"] >= before - 1e-12
    assert (
        whole([*rows, signal("unhelpful", by="q", search="q", at=MOMENT)])["effectiveness"] <= before + 1e-12
    )
    assert 0.0 <= before <= 1.0
