"""Who is heard, and which grade counts at the end of a day."""

from __future__ import annotations

import polars as pl
import pytest
from evaluation_days import frame, judge, said
from feedback_days import name
from polars.testing import assert_frame_equal

from slowwave.common import ids
from slowwave.evaluation.judging.agreement import agreements
from slowwave.evaluation.judgments import daily_grades, judgment_list, judgments_until
from slowwave.scoring.evaluation.judgments import version

BAR = 0.8


def labels(grades: str, *, who: str = "ann", day: int = 1, source: str = "manual", namespace: str = "ada"):
    """A label a character of the first queries: a grade, or a dash for none."""
    return [
        said(name(day), f"q{at}", "m", float(grade), source=source, who=who, namespace=namespace)
        for at, grade in enumerate(grades)
        if grade != "-"
    ]


def machine(grades: str, *, who: str = "judge", day: int = 1, namespace: str = "ada"):
    return labels(grades, who=who, day=day, source="judge", namespace=namespace)


def grades(store, rows, *, bar: float = BAR) -> dict[tuple[str, str], tuple[float, str]]:
    """Grade and source of each pair by namespace and query."""
    found = judgment_list(frame(store, rows), bar).grades
    asked = {ids.query_id(space, f"q{at}"): f"q{at}" for at in range(30) for space in ("ada", "bob")}
    return {
        (row["namespace"], asked[row["query_id"]]): (row["grade"], row["source"])
        for row in found.iter_rows(named=True)
    }


@pytest.mark.parametrize(
    ("by_hand", "by_judge", "heard"),
    [
        ("01230", "01231-", True),
        ("01230", "01201", False),
        ("01230", "-----1", False),
        ("----", "0123", False),
    ],
    ids=["4 of 5", "3 of 5", "no overlap", "no labels"],
)
def test_a_judge_is_heard_from_four_of_five(store, by_hand, by_judge, heard):
    rows = labels(by_hand) + machine(by_judge + "3".rjust(9 - len(by_judge), "-"))
    found = grades(store, rows)
    assert (("ada", "q8") in found) == heard
    (one,) = agreements(judgments_until(store, name(9))).values()
    assert one.meets(BAR) == heard


def test_a_judge_is_heard_only_where_it_has_proven_itself(store):
    rows = labels("01230") + machine("01230---3") + labels("01230", namespace="bob")
    found = grades(store, rows + machine("33333---3", namespace="bob"))
    assert found["ada", "q8"] == (3.0, "judge")
    assert ("bob", "q8") not in found
    assert set(agreements(judgments_until(store, name(1)))) == {("ada", "judge"), ("bob", "judge")}


def test_one_judge_does_not_speak_for_another(store):
    rows = labels("01230") + machine("01230---3", who="good") + machine("11111---1-2", who="bad")
    found = grades(store, rows)
    assert found["ada", "q8"] == (3.0, "judge")
    assert ("ada", "q10") not in found


def test_people_before_judges_before_use_before_trigger_phrases(store):
    rows = labels("01230") + machine("11230333")
    rows += labels("33333222", source="selections", who="") + labels("333333333", source="triggers", who="")
    rows.append(said(name(2), "q7", "m", None, source="judge", who="judge"))  # it has no opinion any more
    found = grades(store, rows)
    assert [found["ada", f"q{at}"] for at in (0, 5, 7, 8)] == [
        (0.0, "manual"), (3.0, "judge"), (2.0, "selections"), (3.0, "triggers"),
    ]  # fmt: skip


def test_a_higher_bar_silences_a_judge(store):
    rows = labels("01230") + machine("01231---3")
    assert ("ada", "q8") in grades(store, rows)
    assert ("ada", "q8") not in grades(store, rows, bar=0.81)


def test_the_mean_of_several_people_is_rounded_half_up(store):
    """2 and 3 are 3, and 0 and 1 are 1, as wherever agreement is measured."""
    rows = labels("20", who="ann") + labels("31", who="bob") + machine("31")
    frame(store, rows)
    (found,) = agreements(judgments_until(store, name(1))).values()
    assert (found.n, found.agreed) == (2, 2)


def test_the_end_of_each_day_knows_what_was_said_by_then(store):
    rows = labels("01230") + machine("0122---3", day=2) + machine("----0", day=3)  # heard from the third day
    rows += labels("3", day=4) + labels("3333", day=2, source="triggers", who="", namespace="bob")
    frame(store, rows)
    days = [name(day) for day in range(1, 6)]
    everything = judgments_until(store, days[-1])
    queries = everything.select("namespace", "query_id").unique()
    together = daily_grades(everything, queries.join(pl.DataFrame({"day": days}), how="cross"), BAR)
    for day in days:
        alone = judgment_list(judgments_until(store, day), BAR)
        assert_frame_equal(together.filter(day=day).drop("day"), alone.grades)
    last = ids.query_id("ada", "q7")
    heard = together.filter(query_id=last)["day"].to_list()
    assert heard == days[2:3]  # then a person corrects a label, and the judge agrees on 3 of 5
    assert len({version(together.filter(day=day)) for day in days}) == 4


def test_what_is_said_in_a_namespace_is_read_alone(store):
    judge(store, labels("01") + labels("2", namespace="bob"))
    assert judgments_until(store, name(1), namespace="bob")["namespace"].to_list() == ["bob"]
    assert judgments_until(store, name(1)).height == 3
    nothing = judgment_list(judgments_until(store, "2020-01-01"), BAR)
    assert nothing.grades.is_empty()
    assert nothing.version == judgment_list(judgments_until(store, "2020-01-02"), BAR).version
