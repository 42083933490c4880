from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.evaluation import resolve

START = datetime(2026, 3, 1, tzinfo=UTC)
SCHEMA = {
    "judgment_id": pl.String, "day": pl.String, "namespace": pl.String, "query_id": pl.String,
    "memory_id": pl.String, "source": pl.String, "grade": pl.Float64, "state": pl.String,
    "judge": pl.String, "principal": pl.String, "made_at": pl.Datetime("us", "UTC"),
}  # fmt: skip


def said(source, grade, by="ann", *, hour=0, memory="m", query="q", space="a", state="graded", judge=None):
    at = START + timedelta(hours=hour)
    name = f"{source}:{by}:{hour}:{memory}:{query}:{space}:{grade}"
    return (name, at.date().isoformat(), space, query, memory, source, grade, state, judge, by, at)


def frame(*rows):
    return pl.DataFrame(list(rows), schema=SCHEMA, orient="row")


def grades(*rows, **options):
    return resolve(frame(*rows), **options).grades.select("memory_id", "grade", "source").rows()


def test_people_over_judges_over_use_over_triggers():
    manual, judge = said("manual", 0.0), said("judge", 3.0, "j", judge="j 1")
    use, trigger = said("selections", 2.0, "slowwave"), said("triggers", 3.0, "slowwave")
    assert grades(trigger, use, judge, manual, admitted={"j 1"}) == [("m", 0.0, "manual")]
    assert grades(trigger, use, judge, admitted={"j 1"}) == [("m", 3.0, "judge")]
    assert grades(trigger, use, judge) == [("m", 2.0, "selections")]
    assert grades(trigger, judge, admitted={"j 2"}) == [("m", 3.0, "triggers")]


def test_the_newest_word_of_each_person_counts_and_people_are_averaged():
    rows = [said("manual", 3.0), said("manual", 1.0, hour=2), said("manual", 2.0, "bob", hour=1)]
    assert grades(*rows) == [("m", 1.5, "manual")]
    assert resolve(frame(*rows)).grades["judgments"].to_list() == [2]
    assert grades(*rows, said("manual", 0.0, hour=30), said("manual", 3.0, hour=25)) == [("m", 1.0, "manual")]


@pytest.mark.parametrize("state", ["unrateable", "later"])
def test_who_takes_a_grade_back_has_none(state):
    back = said("manual", None, hour=1, state=state)
    assert grades(said("manual", 3.0), back) == []
    assert grades(said("manual", 3.0), back, said("manual", 1.0, "bob")) == [("m", 1.0, "manual")]
    assert grades(said("manual", 3.0), back, said("selections", 2.0)) == [("m", 2.0, "selections")]
    assert grades(back, said("manual", 3.0, hour=2)) == [("m", 3.0, "manual")]


def test_use_without_an_opinion_any_more_has_no_grade():
    assert grades(said("selections", 2.0), said("selections", None, hour=24)) == []


def test_a_judge_that_is_not_admitted_does_not_hide_one_that_is():
    rows = [said("judge", 2.0, "j", judge="j 1"), said("judge", 0.0, "j", hour=1, judge="j 2")]
    assert grades(*rows, admitted={"j 1"}) == [("m", 2.0, "judge")]
    assert grades(*rows, admitted={"j 1", "j 2"}) == [("m", 0.0, "judge")]
    assert grades(said("judge", 2.0, "j"), admitted={"j 1"}) == []


def test_conflicts_have_both_sides():
    found = resolve(
        frame(
            said("manual", 1.0), said("manual", 0.5, "bob"), said("selections", 2.0), said("triggers", 3.0),
            said("manual", 2.0, memory="n"), said("selections", 2.5, memory="n"),
        )
    )  # fmt: skip
    assert found.conflicts.drop("namespace", "query_id").rows() == [
        ("m", "manual", 0.75, "selections", 2.0),
        ("m", "manual", 0.75, "triggers", 3.0),
        ("m", "selections", 2.0, "triggers", 3.0),
    ]
    assert resolve(frame()).conflicts.schema == found.conflicts.schema


def test_the_version_is_that_of_the_grades():
    one, two = said("manual", 3.0), said("selections", 2.0, memory="n")
    version = resolve(frame(one, two)).version
    assert len(version) == 32
    assert resolve(frame(two, one, said("triggers", 3.0))).version == version
    assert resolve(frame(said("manual", 0.0, hour=-9), one, two)).version == version
    for other in (
        [one],
        [one, said("selections", 1.0, memory="n")],
        [one, said("triggers", 2.0, memory="n")],
    ):
        assert resolve(frame(*other)).version != version
    assert resolve(frame(said("manual", 3.0, query="qm", memory=""))).version != resolve(
        frame(said("manual", 3.0, query="q", memory="m"))
    ).version  # fmt: skip


words = st.builds(
    said, st.sampled_from(["manual", "judge", "selections", "triggers"]),
    st.sampled_from([None, 0.0, 1.0, 1.1, 2.3, 3.0]), st.sampled_from(["ann", "bob", "eve"]),
    hour=st.integers(0, 40), memory=st.sampled_from("mn"), space=st.sampled_from("ab"),
    state=st.sampled_from(["graded", "graded", "later"]), judge=st.sampled_from(["j 1", "j 2", None]),
)  # fmt: skip


@pytest.mark.slow
@given(st.lists(words, max_size=20, unique_by=lambda row: row[0]), st.randoms())
def test_order_and_other_namespaces_change_nothing(rows, random):
    found = resolve(frame(*rows), admitted={"j 1"})
    alone = resolve(frame(*[row for row in rows if row[2] == "a"]), admitted={"j 1"})
    assert found.grades.filter(namespace="a").equals(alone.grades)
    assert found.grades.select("namespace", "query_id", "memory_id").is_unique().all()
    assert found.grades["grade"].is_between(0, 3).all()
    random.shuffle(rows)
    again = resolve(frame(*rows), admitted={"j 1"})
    assert again.grades.equals(found.grades)
    assert again.conflicts.equals(found.conflicts)
    assert again.version == found.version


def test_what_cannot_be_resolved_is_named():
    with pytest.raises(ValueError, match="source = 'hearsay'"):
        resolve(frame(said("hearsay", 1.0)))
    for wrong in (4.0, -1.0, float("nan")):
        with pytest.raises(ValueError, match="grade = "):
            resolve(frame(said("manual", wrong)))
