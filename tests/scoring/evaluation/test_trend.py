"""Weeks and their figures, by hand and whatever the rows are; what may be said of the whole."""

from __future__ import annotations

import math
from datetime import UTC, date, datetime, timedelta
from typing import Any

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from slowwave.scoring.days import MICROSECOND
from slowwave.scoring.evaluation.trend import COLUMNS, Course, course, short, signed, trend
from slowwave.scoring.evaluation.unused_baseline import ALL, BESIDE, RATED, UNRATED, compare_with_unused

MONDAY = date(2026, 3, 2)
LATER = datetime(2026, 6, 1, tzinfo=UTC)
EFFECT = {
    "namespace": pl.String, "kind": pl.String, "day": pl.String, "search_id": pl.String,
    "query_id": pl.String, "moved": pl.Boolean, "live": pl.Boolean, "mrr_5": pl.Float64,
    "mrr_5_learned": pl.Float64,
}  # fmt: skip
IN_TURN = {
    "namespace": pl.String, "kind": pl.String, "day": pl.String, "credit_a": pl.Int32, "credit_b": pl.Int32,
}  # fmt: skip
Judged = tuple[int, str, float, float]


def day(number: int) -> str:
    """The day so many days after a Monday."""
    return (MONDAY + timedelta(days=number)).isoformat()


def judged(rows: list[Judged], *, live: bool = True, **more: Any) -> pl.DataFrame:
    """Searches: day, question, reciprocal rank without what was learned and with it."""
    whole = [
        {
            "namespace": "ada", "kind": "words", "day": day(on), "search_id": f"s{at}", "query_id": question,
            "moved": before != after, "live": live and before != after, "mrr_5": before,
            "mrr_5_learned": after, **more,
        }
        for at, (on, question, before, after) in enumerate(rows)
    ]  # fmt: skip
    return pl.DataFrame(whole, schema=EFFECT)


def asked(*days: int, namespace: str = "ada") -> pl.DataFrame:
    """Searches, judged or not."""
    return pl.DataFrame({"namespace": [namespace] * len(days), "day": [day(one) for one in days]},
                        schema={"namespace": pl.String, "day": pl.String})  # fmt: skip


def in_turn(*shown: tuple[int, int, int]) -> pl.DataFrame:
    """Searches that showed both: day, used results of each."""
    rows = [("ada", "words", day(on), a, b) for on, a, b in shown]
    return pl.DataFrame(rows, schema=IN_TURN, orient="row")


def weeks(effect: pl.DataFrame, searches: pl.DataFrame | None = None, *shown: Any, **more: Any) -> Any:
    every = effect.select("namespace", "day") if searches is None else searches
    return trend(effect, every, in_turn(*shown), more.pop("as_of", LATER), **{"least": 1, **more})


# -- a week, by hand -------------------------------------------------------------------------------

HAND: list[Judged] = [
    (0, "a", 0.5, 1.0),  # asked twice: its mean is one value, .5 without and 1 with
    (6, "a", 0.5, 1.0),
    (1, "b", 1.0, 0.5),
    (2, "c", 0.0, 0.0),
    (3, "d", 0.25, 1.0),
]


def test_a_week_by_hand():
    (row,) = weeks(
        judged(HAND), asked(0, 0, 1, 2, 3, 4, 5, 6), (4, 1, 0), (4, 2, 2), (5, 0, 1), (6, 3, 1)
    ).rows(named=True)
    assert (row["namespace"], row["kind"], row["week"], row["over"]) == ("ada", "words", MONDAY, True)
    assert (row["searches"], row["measured"], row["questions"]) == (8, 5, 4)
    assert (row["applied"], row["changed"], row["would_change"]) == (4, 4, 0)
    assert (row["changed_of_measured"], row["changed_of_all"]) == (4 / 5, 4 / 8)
    assert row["mrr_5"] == pytest.approx((0.5 + 1 + 0 + 0.25) / 4)
    assert row["mrr_5_learned"] == pytest.approx((1 + 0.5 + 0 + 1) / 4)
    assert row["mrr_5_difference"] == pytest.approx((0.5 - 0.5 + 0 + 0.75) / 4)
    # The first result was right in none of the searches of a and d, in that of b; with it the other way.
    assert (row["hit_rate_1"], row["hit_rate_1_learned"]) == (1 / 4, 2 / 4)
    assert row["hit_rate_1_difference"] == pytest.approx(1 / 4)
    assert row["mrr_5_low"] < row["mrr_5_difference"] < row["mrr_5_high"]
    assert (row["wins"], row["ties"], row["losses"]) == (2, 1, 1)


def test_a_hit_is_a_right_answer_in_the_first_place_and_nothing_else():
    """A mean of ranks must not be taken for a hit: .5 twice is none, and 1 and 0 is a half."""
    (row,) = weeks(judged([(0, "a", 0.5, 1.0), (1, "a", 0.5, 0.0), (2, "b", 1 / 3, 1.0)])).rows(named=True)
    assert (row["hit_rate_1"], row["hit_rate_1_learned"]) == (0.0, 0.75)


def test_what_is_only_proposed_has_changed_nothing():
    (row,) = weeks(judged(HAND, live=False)).rows(named=True)
    assert (row["applied"], row["changed"], row["would_change"], row["changed_of_all"]) == (0, 0, 4, 0.0)


def test_a_difference_that_all_questions_share_has_an_interval_of_no_width():
    (row,) = weeks(judged([(0, f"q{at}", 0.5, 0.75) for at in range(9)])).rows(named=True)
    assert (row["mrr_5_low"], row["mrr_5_difference"], row["mrr_5_high"]) == pytest.approx((0.25,) * 3)


def test_one_question_that_is_asked_often_proves_no_more_than_once():
    """Drawn by search the interval of nine searches of one question would shrink to a third of this one."""
    few = [(0, "a", 0.0, 1.0), (0, "b", 0.5, 0.5), (0, "c", 1.0, 0.5)]
    once, often = (
        weeks(judged(rows)).select("questions", "^mrr.*$", "^hit.*$")
        for rows in (few, [one for one in few for _ in range(9)])
    )
    assert_frame_equal(once, often, check_exact=True)


@pytest.mark.parametrize(("questions", "told"), [(19, False), (20, True)])
def test_a_week_with_too_few_questions_has_counts_and_no_figure(questions, told):
    rows = [(at % 7, f"q{at % questions}", 0.5, 1.0) for at in range(60)]
    (row,) = weeks(judged(rows), least=20).rows(named=True)
    assert (row["measured"], row["questions"], row["changed_of_measured"]) == (60, questions, 1.0)
    figures = [row[name] for name in COLUMNS if name.startswith(("mrr", "hit"))]
    assert all((one is not None) == told for one in figures)


def test_weeks_are_from_monday_to_sunday_across_the_new_year():
    on = [(date(2025, 12, 28) - MONDAY).days + number for number in range(9)]
    found = weeks(judged([(number, "a", 0, 0) for number in on]))
    mondays = [date(2025, 12, 22), date(2025, 12, 29), date(2026, 1, 5)]
    assert found.select("week", "measured").rows() == list(zip(mondays, (1, 7, 1), strict=True))


@pytest.mark.parametrize(("as_of", "over"), [
    (datetime(2026, 3, 8, 23, 59, tzinfo=UTC), False),
    (datetime(2026, 3, 9, tzinfo=UTC) - MICROSECOND, True),  # how the end of the Sunday is named
    (datetime(2026, 3, 9, tzinfo=UTC), True),
])  # fmt: skip
def test_the_week_that_is_not_over_is_marked(as_of, over):
    assert weeks(judged(HAND), as_of=as_of)["over"].to_list() == [over]


def test_weeks_without_anything_are_not_invented_and_those_without_a_measure_are_named():
    found = weeks(judged([(0, "a", 0, 1)]), asked(0, 15, 15), (36, 1, 0))
    assert found.select("kind", "week", "searches", "measured", "wins").sort("week").rows() == [
        ("words", MONDAY, 1, 1, 0),
        ("", date(2026, 3, 16), 2, 0, 0),
        ("words", date(2026, 4, 6), 0, 0, 1),
    ]
    unmeasured = found.filter(kind="")
    assert unmeasured["changed_of_measured"].to_list() == [None]
    assert unmeasured["changed_of_all"].to_list() == [0.0]
    empty = trend(judged([]), asked(), in_turn(), LATER)
    assert empty.is_empty()
    assert empty.schema == pl.Schema(COLUMNS)


def test_namespaces_and_kinds_have_rows_of_their_own():
    rows = [judged(HAND, kind=kind, namespace=name) for kind, name in (("words", "bo"), ("keys", "ada"))]
    found = weeks(pl.concat([judged(HAND), *rows]), asked(0, 1))
    assert found.select("namespace", "kind", "measured", "searches").rows() == [
        ("ada", "keys", 5, 2), ("ada", "words", 5, 2), ("bo", "words", 5, 0),
    ]  # fmt: skip


# -- beside a memory that nobody used (rule 8.3), by hand ------------------------------------------


def used(rows: list[tuple[str, float, float, bool, bool | None]], **more: Any) -> pl.DataFrame:
    """Searches: question, without feedback, with it, whether that was live, whether an answer was rated."""
    whole = [
        {"namespace": "ada", "kind": "use", "day": day(0), "search_id": f"s{at}", "query_id": question,
         "moved": before != after, "live": live, "mrr_5": before, "mrr_5_learned": after, "rated": rated,
         **more}
        for at, (question, before, after, live, rated) in enumerate(rows)
    ]  # fmt: skip
    return pl.DataFrame(whole, schema=EFFECT | {"rated": pl.Boolean})


def by_answers(found: pl.DataFrame) -> dict[str, dict[str, Any]]:
    return {row["answers"]: row for row in found.rows(named=True)}


def figures(row: dict[str, Any]) -> tuple[Any, ...]:
    return tuple(row[name] for name in ("questions", "changed", "without", "with", "difference"))


def test_searches_beside_those_of_a_memory_nobody_used_by_hand():
    rows = [
        ("a", 0.5, 1.0, True, True),  # asked twice: .5 and .75 without, 1 with
        ("a", 1.0, 1.0, True, True),
        ("b", 1.0, 0.5, True, False),
        ("c", 0.25, 1.0, False, False),  # only measured: what was served is what is without it
        ("d", 0.0, 0.2, True, None),  # nobody noted whether: not rated
    ]  # fmt: skip
    found = compare_with_unused(used(rows), margin=0.01)
    assert found.schema == pl.Schema(BESIDE)
    told = by_answers(found)
    assert list(told) == [ALL, RATED, UNRATED]
    assert figures(told[ALL]) == pytest.approx((4, 3, 2.0 / 4, (1 + 0.5 + 0.25 + 0.2) / 4, -0.05 / 4))
    assert figures(told[RATED]) == pytest.approx((1, 1, 0.75, 1.0, 0.25))
    assert figures(told[UNRATED]) == pytest.approx((3, 2, 1.25 / 3, 0.95 / 3, -0.1))
    assert [told[name]["improved"] for name in (ALL, RATED, UNRATED)] == [2, 1, 1]
    assert {row["verdict"] for row in told.values()} == {"insufficient evidence"}
    assert {(row["namespace"], row["kind"]) for row in told.values()} == {("ada", "use")}


def test_a_question_counts_once_and_in_both_groups_with_its_own_searches():
    """Asked before its answer was rated and after: what it was worth then is not what it is worth now."""
    rows = [("a", 0.5, 0.5, True, False)] * 9 + [("a", 0.5, 1.0, True, True), ("b", 0.5, 0.5, True, False)]
    told = by_answers(compare_with_unused(used(rows), margin=0.01))
    assert figures(told[RATED]) == pytest.approx((1, 1, 0.5, 1.0, 0.5))
    assert figures(told[UNRATED]) == pytest.approx((2, 0, 0.5, 0.5, 0.0))
    assert figures(told[ALL]) == pytest.approx((2, 1, 0.5, (0.55 + 0.5) / 2, 0.025))


def test_the_groups_have_verdicts_of_their_own():
    """Better where a right answer was rated, worse where none was: the whole hides both."""
    rated = [(f"r{at}", 0.5, 1.0, True, True) for at in range(30)]
    harmed = [(f"u{at}", 1.0, 0.5, True, False) for at in range(30)]
    told = by_answers(compare_with_unused(used(rated + harmed), margin=0.01))
    assert {answers: row["verdict"] for answers, row in told.items()} == {
        ALL: "insufficient evidence", RATED: "better", UNRATED: "worse",
    }  # fmt: skip
    assert (told[RATED]["low"], told[RATED]["high"]) == pytest.approx((0.5, 0.5))
    assert (told[UNRATED]["low"], told[UNRATED]["high"]) == pytest.approx((-0.5, -0.5))
    assert told[ALL]["low"] < 0 < told[ALL]["high"]


@pytest.mark.parametrize(
    ("questions", "by", "margin", "verdict"),
    [
        (19, 0.5, 0.01, "insufficient evidence"),
        (20, 0.5, 0.01, "better"),
        (20, -0.5, 0.01, "worse"),
        (20, 0.0, 0.01, "equivalent"),
        (20, -0.005, 0.01, "equivalent"),
        (20, -0.005, 0.001, "worse"),
    ],
)
def test_the_margin_and_the_number_of_questions_decide_the_verdict(questions, by, margin, verdict):
    rows = [(f"q{at % questions}", 0.5, 0.5 + by, True, True) for at in range(5 * questions)]
    told = by_answers(compare_with_unused(used(rows), margin=margin))
    assert (told[ALL]["verdict"], told[ALL]["questions"]) == (verdict, questions)
    assert told[ALL]["changed"] == (questions if by else 0)


def test_kinds_of_which_nobody_noted_the_ratings_have_one_row():
    rows = [("a", 0.5, 1.0, True, None), ("b", 0.5, 0.5, True, None)]
    frames = [used(rows, kind=kind, namespace=name) for kind, name in (("words", "bo"), ("keys", "ada"))]
    found = compare_with_unused(pl.concat([*frames, used([("a", 0.5, 1.0, True, True)])]), margin=0.01)
    assert found.select("namespace", "kind", "answers", "questions").rows() == [
        ("ada", "keys", ALL, 2),
        ("ada", "use", ALL, 1), ("ada", "use", RATED, 1), ("ada", "use", UNRATED, 0),
        ("bo", "words", ALL, 2),
    ]  # fmt: skip
    nobody = found.filter(answers=UNRATED).row(0, named=True)
    assert nobody["verdict"] == "insufficient evidence"
    assert nobody["changed"] == 0
    assert math.isnan(nobody["difference"])


def test_beside_nothing_there_is_nothing():
    found = compare_with_unused(used([]), margin=0.01)
    assert (found.height, found.schema) == (0, pl.Schema(BESIDE))


@given(
    st.lists(
        st.tuples(
            st.sampled_from("abcd"), st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.0, 0.5, 1.0]),
            st.booleans(), st.none() | st.booleans(),
        ),
        min_size=1, max_size=20,
    ),
    st.randoms(),
)  # fmt: skip
def test_the_order_of_rows_says_nothing_and_every_search_is_in_one_group(rows, random):
    effect = used(rows)
    mixed = effect.sample(fraction=1.0, shuffle=True, seed=random.randrange(1 << 30))
    assert_frame_equal(compare_with_unused(mixed, margin=0.01), compare_with_unused(effect, margin=0.01))
    told = by_answers(compare_with_unused(effect, margin=0.01))
    split = any(rated is not None for *_, rated in rows)
    assert set(told) == ({ALL, RATED, UNRATED} if split else {ALL})
    if split:
        noted = {question for question, *_, rated in rows if rated}
        assert told[RATED]["questions"] == len(noted)
        assert told[UNRATED]["questions"] == len({question for question, *_, rated in rows if not rated})
    if not any(live for *_, live, _ in rows):
        assert {row["changed"] for row in told.values()} == {0}


# -- whatever the rows are -------------------------------------------------------------------------

ranks = st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0])
searched = st.lists(
    st.tuples(st.integers(0, 40), st.sampled_from("abcdef"), ranks, ranks), min_size=1, max_size=40
)


@given(searched, st.randoms())
def test_the_order_of_rows_says_nothing(rows, random):
    effect = judged(rows)
    shuffled = effect.sample(fraction=1.0, shuffle=True, seed=random.randrange(1 << 30))
    assert_frame_equal(weeks(effect), weeks(shuffled), check_exact=True)
    assert course(effect, LATER, least=1).__repr__() == course(shuffled, LATER, least=1).__repr__()


@given(searched)
def test_a_row_depends_on_its_week_alone(rows):
    effect = judged(rows)
    whole = weeks(effect)
    for week in whole["week"]:
        on = pl.col("day").is_between(pl.lit(f"{week}"), pl.lit(f"{week + timedelta(days=6)}"))
        assert_frame_equal(weeks(effect.filter(on)), whole.filter(week=week), check_exact=True)
    assert int(whole["measured"].sum()) == len(rows)


@given(searched)
def test_without_and_with_exchanged_the_difference_is_the_other_way_round(rows):
    there, back = weeks(judged(rows)), weeks(judged([(on, name, b, a) for on, name, a, b in rows]))
    for name in ("mrr_5", "hit_rate_1"):
        assert there[f"{name}_difference"].to_list() == pytest.approx((-back[f"{name}_difference"]).to_list())
        assert (there[f"{name}_low"] <= there[f"{name}_difference"] + 1e-9).all()
        assert (there[f"{name}_high"] >= there[f"{name}_difference"] - 1e-9).all()


# -- the last weeks beside the first ---------------------------------------------------------------


def course_of(rows: list[Judged], *, least: int = 2, as_of: datetime = LATER, **more: Any) -> Course:
    (found,) = course(judged(rows, **more), as_of, least=least)
    return found


def steady(first: int, last: int, before: float, after: float, questions: int = 3) -> list[Judged]:
    """Some weeks, each with the same figures of questions of its own."""
    return [
        (7 * week + at, f"{week}-{at}", before, after)
        for week in range(first, last)
        for at in range(questions)
    ]


def test_four_weeks_beside_four_and_what_learning_makes_of_it():
    found = course_of([*steady(0, 5, 0.5, 0.5), *steady(5, 9, 0.5, 1.0)])
    assert (found.weeks, found.span, found.since, found.questions) == (9, 4, MONDAY, 27)
    assert (found.first, found.last, found.difference, found.low, found.high) == (0.5, 1.0, 0.5, 0.5, 0.5)
    assert (found.applied, found.learned, found.learned_low) == (12, 0.5, 0.5)
    assert found.direction == "better"
    assert found.describe() == (
        "better by .500 (.500 to .500) since 2 March 2026: MRR@5 .500 in the first 4 weeks, 1.000 in the "
        "last 4 weeks; what was learned makes +.500 (+.500 to +.500) of the last"
    )


def test_what_would_have_been_is_not_what_was_served():
    found = course_of([*steady(0, 2, 0.5, 0.5), *steady(2, 4, 0.5, 1.0)], live=False)
    assert (found.first, found.last, found.applied, found.learned) == (0.5, 0.5, 0, 0.0)
    assert found.direction == "no sure change"
    assert found.describe().endswith(
        "in the last 2 weeks, .000 (.000 to .000); nothing that was learned was applied in the last 2 weeks"
    )


def test_worse_is_said_as_plainly():
    found = course_of([*steady(0, 1, 1.0, 1.0), *steady(1, 2, 0.5, 0.5)])
    assert found.direction == "worse"
    assert found.describe().startswith(
        "worse by .500 (.500 to .500) since 2 March 2026: MRR@5 1.000 in the first week, .500 in the last"
    )


def test_the_week_that_is_not_over_and_those_without_a_measure_are_not_compared():
    rows = [*steady(0, 2, 0.5, 0.5), *steady(5, 7, 1.0, 1.0)]
    now = datetime(2026, 4, 18, tzinfo=UTC)  # the Saturday of the seventh week
    found = course_of(rows, as_of=now)
    assert (found.weeks, found.span, found.first, found.last) == (4, 1, 0.5, 1.0)
    assert found.last_questions == 3


def test_a_question_of_both_ends_is_drawn_for_both():
    """Where all questions are those of before, and each is as much better, nothing is left to chance."""
    names = [(f"q{at}", at / 10) for at in range(9)]
    rows = [
        (7 * week, name, value + 0.1 * week, value + 0.1 * week) for week in (0, 1) for name, value in names
    ]
    found = course_of(rows)
    assert (found.low, found.high) == pytest.approx((0.1, 0.1))
    apart = course_of([(on, f"{on}{name}", a, b) for on, name, a, b in rows])
    assert apart.high - apart.low > 0.2


TOO_LITTLE = {
    "too little evidence: 1 question in 1 week; it takes two weeks that are over, each with 20 questions": [
        (0, "a", 0.0, 0.0)
    ],
    "too little evidence: 12 questions in 3 weeks, 4 in the first week and 4 in the last week; it takes 20 "
    "in each": [(7 * (at % 3), f"q{at}", 0.0, 1.0) for at in range(12)],
}


@pytest.mark.parametrize("says", TOO_LITTLE)
def test_too_little_evidence_is_said_with_what_is_lacking(says):
    assert course_of(TOO_LITTLE[says], least=20).describe() == says


def test_of_nothing_there_is_nothing_to_say_and_of_one_week_no_number():
    assert course(judged([]), LATER) == []
    alone = course_of([(0, "a", 1, 1)])
    assert all(math.isnan(one) for one in (alone.first, alone.last, alone.low, alone.learned))


def test_no_change_between_weeks_of_equal_worth_is_not_made_one():
    """Two draws of the same questions' worth: the sentence may not find a direction in chance."""
    rows = [(7 * week, f"{week}-{at}", value, value) for week in range(8) for at, value in
            enumerate([0.0, 0.2, 0.25, 1 / 3, 0.5, 1.0, 1.0])]  # fmt: skip
    assert course_of(rows, least=20).direction == "no sure change"


def test_figures_as_people_read_them():
    assert [short(one) for one in (0, 0.036, 0.5, 1)] == [".000", ".036", ".500", "1.000"]
    assert [signed(one) for one in (0.036, -0.036, 0, -0.0001, 1)] == [
        "+.036",
        "−.036",
        ".000",
        ".000",
        "+1.000",
    ]
