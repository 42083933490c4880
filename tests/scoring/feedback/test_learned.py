"""What selections teach: every safeguard at its edge, by hand, and what holds of any selections."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from slowwave.scoring.feedback.learned import (
    APPLIED,
    FEATURE_DISABLED,
    GATE_CLOSED,
    LESSON,
    NO_PROVENANCE,
    NO_TERMS,
    NOT_FOUND,
    PROPOSAL,
    PROPOSED,
    RATE_LIMITED,
    REASONS,
    SCOPES,
    SHADOW,
    TOO_NEW,
    TOP_3,
    Rollback,
    decide,
    live,
    propose,
    standing,
)
from slowwave.scoring.feedback.policy import SEEDS, LearningPolicy
from slowwave.scoring.ranking.learned import DENYLIST, LearnedTerms, learnable

START = datetime(2026, 3, 1, tzinfo=UTC)
HOUR, DAY, TICK = timedelta(hours=1), timedelta(days=1), timedelta(microseconds=1)
NOW = START + 10 * DAY
POLICY = LearningPolicy()

SELECTION = {
    "proposal_id": pl.String, "namespace": pl.String, "memory_id": pl.String, "search_id": pl.String,
    "principal": pl.String, "selected_at": pl.Datetime("us", "UTC"), "rank": pl.Int64,
    "born_at": pl.Datetime("us", "UTC"), "gone_at": pl.Datetime("us", "UTC"),
    "asked": pl.List(pl.String), "triggers": pl.List(pl.String), "text": pl.String,
}  # fmt: skip
FREQUENT = {"namespace": pl.String, "term": pl.String, "memories": pl.Int64, "share": pl.Float64}


# -- a selection by itself -------------------------------------------------------------------------


def selection(**given):
    """A selection that teaches; what is given is otherwise."""
    row = {
        "proposal_id": "p", "namespace": "ada", "memory_id": "m", "search_id": "s", "principal": "ann",
        "selected_at": NOW, "rank": 4, "born_at": START, "gone_at": None, "asked": ["glacier", "pump"],
        "triggers": [], "text": "",
    }  # fmt: skip
    return row | given


def proposed(*rows, frequent=(), policy=POLICY, enabled=True):
    frame = pl.DataFrame(list(rows), schema=SELECTION)
    words = pl.DataFrame(list(frequent), schema=FREQUENT, orient="row")
    return propose(frame, words, policy, enabled=enabled)


def refusal(*, enabled=True, **given):
    return proposed(selection(**given), enabled=enabled)["refusal"].item()


def terms(policy=POLICY, frequent=(), **given):
    return proposed(selection(**given), frequent=frequent, policy=policy)["terms"].item().to_list()


@pytest.mark.parametrize(
    ("rank", "expected"), [(1, TOP_3), (3, TOP_3), (4, None), (400, None), (None, NO_PROVENANCE)]
)
def test_the_first_three_ranks_teach_nothing_and_an_unknown_one_neither(rank, expected):
    assert refusal(rank=rank) == expected


@pytest.mark.parametrize(
    ("age", "expected"),
    [(72 * HOUR - TICK, TOO_NEW), (72 * HOUR, None), (timedelta(), TOO_NEW), (-HOUR, TOO_NEW)],
)
def test_a_memory_learns_from_72_hours_on(age, expected):
    assert refusal(born_at=NOW - age) == expected


@pytest.mark.parametrize(
    ("gone", "expected"), [(NOW - TICK, NOT_FOUND), (NOW, NOT_FOUND), (NOW + TICK, None), (None, None)]
)
def test_a_memory_that_was_gone_learns_nothing(gone, expected):
    assert refusal(gone_at=gone) == expected
    assert refusal(gone_at=gone, born_at=None) == NOT_FOUND


def test_reasons_come_in_the_order_of_the_rule():
    faults = [
        (FEATURE_DISABLED, {"enabled": False}),
        (NO_PROVENANCE, {"rank": None}),
        (TOP_3, {"rank": 1}),
        (NOT_FOUND, {"gone_at": NOW - 9 * DAY}),
        (TOO_NEW, {"born_at": NOW - HOUR}),
    ]
    assert [name for name, _ in faults] == list(REASONS[:5])
    assert REASONS[5:] == (RATE_LIMITED, NO_TERMS, SHADOW, GATE_CLOSED, APPLIED)
    for at, (name, _) in enumerate(faults):
        later = dict(pair for _, fault in reversed(faults[at:]) for pair in fault.items())
        assert refusal(asked=[], **later) == name


def test_words_that_too_many_memories_have_are_no_terms():
    frequent = [
        ("ada", "glacier", 5, 0.11), ("ada", "pump", 5, 0.1), ("ada", "valve", 4, 0.9),
        ("bob", "rotor", 50, 0.9),
    ]  # fmt: skip
    asked = ["glacier", "pump", "valve", "rotor"]
    assert sorted(terms(frequent=frequent, asked=asked)) == ["pump", "rotor", "valve"]
    assert terms(frequent=frequent, asked=["glacier"]) == []


def test_words_of_its_own_triggers_teach_a_memory_nothing():
    assert terms(triggers=["pump", "valve"]) == ["glacier"]
    assert terms(triggers=["glacier", "pump"]) == []
    assert terms(triggers=None) == ["glacier", "pump"]


def test_rare_words_are_taught_first_and_the_seed_takes_them_as_they_were_asked():
    frequent = [("ada", "pump", 4, 0.04), ("ada", "valve", 2, 0.02), ("ada", "rotor", 2, 0.02)]
    asked = ["pump", "valve", "rotor", "glacier"]
    assert terms(frequent=frequent, asked=asked) == ["glacier", "valve", "rotor", "pump"]
    assert terms(SEEDS, frequent, asked=asked) == asked


def test_a_question_is_its_words_whatever_their_order():
    rows = proposed(
        selection(proposal_id="a", asked=["pump", "glacier"]),
        selection(proposal_id="b", asked=["glacier", "pump"]),
        selection(proposal_id="c", asked=["glacier"], triggers=["glacier"]),
        selection(proposal_id="d", asked=[]),
    )
    assert rows["question"].to_list() == ["glacier pump", "glacier pump", "glacier", ""]
    assert rows["terms"].to_list()[2:] == [[], []]


def test_a_row_a_selection_in_their_order_with_the_columns_of_a_proposal():
    rows = proposed(*(selection(proposal_id=name, rank=None) for name in "cab"))
    assert rows["proposal_id"].to_list() == list("cab")
    assert dict(rows.schema) == PROPOSAL
    none = proposed()
    assert (none.height, dict(none.schema)) == (0, PROPOSAL)
    assert decide(none, [], POLICY).lessons.schema == LESSON


@pytest.mark.parametrize(
    "text", ["", "why?", "the function in the database", "io 42 c3 !", "deploys the tests"]
)
def test_common_words_code_and_words_of_two_letters_teach_nothing(text):
    assert learnable(text) == ()


def test_the_denylist_is_long_and_of_whole_words():
    assert len(DENYLIST) >= 200
    assert not any(learnable(word) for word in DENYLIST)
    assert learnable("Glaciers, GLACIER! a pump") == ("glacier", "pump")
    assert learnable("database databased") == ()  # one is on the list, the other has its stem
    assert learnable("datable setback") == ("databl", "setback")  # "data" and "set" are only within them


# -- all selections in their order -----------------------------------------------------------------


def proposal(at, terms="glacier pump", *, name="", memory="m", question="", **given):
    """A proposal that nothing refused, `at` hours after the start."""
    words = terms.split()
    row = {
        "proposal_id": name or f"{at:08.3f}", "namespace": "ada", "memory_id": memory,
        "search_id": f"s{at:g}", "question": question or " ".join(sorted(words)), "principal": "ann",
        "selected_at": START + at * HOUR, "rank": 4, "terms": words, "refusal": None,
    }  # fmt: skip
    return row | given


def frame(rows):
    return pl.DataFrame(rows, schema=PROPOSAL)


def decided(*rows, rollbacks=(), policy=POLICY):
    return decide(frame(rows), rollbacks, policy)


def reasons(*rows, **given):
    return decided(*rows, **given).reasons["reason"].to_list()


def taught(*rows, **given):
    """The terms that each proposal teaches, in order."""
    lessons = decided(*rows, **given).lessons
    return [lessons.filter(proposal_id=row["proposal_id"])["term"].to_list() for row in rows]


def undo(at, scope="everything", value="", namespace="ada"):
    return Rollback(namespace, START + at * HOUR, scope, value)


def test_three_events_in_any_eight_hours():
    rows = [proposal(at) for at in (0, 1, 2, 3, 8 - 0.001, 8, 8.5, 9)]
    assert reasons(*rows) == [PROPOSED] * 3 + [RATE_LIMITED] * 2 + [PROPOSED, RATE_LIMITED, PROPOSED]
    assert reasons(*rows[:4], proposal(3, name="x", memory="other"))[3:] == [RATE_LIMITED, PROPOSED]
    assert reasons(*rows[:4], proposal(3, name="x", namespace="bob"))[3:] == [RATE_LIMITED, PROPOSED]


def test_what_was_refused_is_no_event():
    refused = [proposal(at / 10, refusal=TOP_3) for at in range(5)]
    empty = [proposal(1 + at / 10, "") for at in range(5)]
    rows = [*refused, *empty, proposal(2), proposal(2.5), proposal(2.6), proposal(2.7)]
    assert reasons(*rows) == [TOP_3] * 5 + [NO_TERMS] * 5 + [PROPOSED] * 3 + [RATE_LIMITED]


def test_the_rate_is_looked_at_before_the_terms():
    assert reasons(proposal(0), proposal(1), proposal(2), proposal(3, ""))[-1] == RATE_LIMITED


def test_three_terms_a_selection():
    assert taught(proposal(0, "aaa bbb ccc ddd eee")) == [["aaa", "bbb", "ccc"]]


def test_terms_that_are_being_learned_come_first_and_the_seed_takes_the_first():
    rows = [proposal(0, "ccc ddd"), proposal(1, "aaa bbb ccc ddd")]
    assert taught(*rows)[1] == ["ccc", "ddd", "aaa"]
    assert taught(*rows, policy=SEEDS)[1] == ["aaa", "bbb", "ccc"]


FULL = [proposal(0, "aaa bbb ccc"), proposal(1, "ddd eee fff"), proposal(2, "ggg hhh iii")]


def test_eight_terms_a_memory_and_those_it_has_can_be_taught_again():
    rows = [*FULL, proposal(20, "jjj"), proposal(21, "kkk aaa"), proposal(22, "jjj", memory="other")]
    assert taught(*rows)[2:] == [["ggg", "hhh"], [], ["aaa"], ["jjj"]]
    assert reasons(*rows)[3:5] == [NO_TERMS, PROPOSED]
    nearly = [*FULL[:2], proposal(20, "ggg"), proposal(21, "aaa bbb hhh")]
    assert taught(*nearly)[3] == ["aaa", "bbb", "hhh"]  # only the last one needs the room


def test_expired_terms_make_room_at_the_moment_they_expire():
    month = 30 * 24
    assert taught(*FULL, proposal(month - 0.001, "jjj"))[3] == []
    assert taught(*FULL, proposal(month, "jjj kkk lll mmm"))[3] == ["jjj", "kkk", "lll"]
    again = proposal(5 * 24, "aaa bbb")  # taught again: their 30 days begin anew, only ccc goes
    assert taught(*FULL, again, proposal(month, "jjj kkk"))[4] == ["jjj"]


@pytest.mark.parametrize(
    ("act", "room"),
    [
        (undo(10), True),
        (undo(10, "memory", "m"), True),
        (undo(10, "memory", "other"), False),
        (undo(10, "search", "s1"), True),
        (undo(10, "search", "s9"), False),
        (undo(10, "principal", "ann"), True),
        (undo(10, "principal", "bob"), False),
        (undo(10, "since", (START + 2 * HOUR).isoformat()), True),
        (undo(10, "since", (START + 2.5 * HOUR).isoformat()), False),
        (undo(10, namespace="bob"), False),
    ],
)
def test_what_is_taken_back_makes_room_from_that_moment_on(act, room):
    rows = [*FULL, proposal(9, "jjj"), proposal(10, "kkk"), proposal(11, "lll")]
    assert taught(*rows, rollbacks=[act])[3:] == [[], [], ["lll"] if room else []]


def test_a_rollback_does_not_let_a_memory_learn_more_often():
    rows = [proposal(at) for at in (0, 1, 2, 4, 8)]
    assert reasons(*rows, rollbacks=[undo(3)])[3:] == [RATE_LIMITED, PROPOSED]


# -- what stands, and what is live -----------------------------------------------------------------

TWICE = [
    proposal(0, "aaa bbb"), proposal(1, "aaa ccc", principal="bob"), proposal(2, "aaa ddd", memory="other"),
    proposal(3, "aaa eee", memory="other", search_id="s1"),
]  # fmt: skip


def alive(*rows, at, rollbacks=(), policy=POLICY):
    """Live terms by memory, `at` hours after the start."""
    moment = START + at * HOUR
    lessons = decided(*rows, rollbacks=rollbacks, policy=policy).lessons
    found = live(standing(lessons, rollbacks, moment), moment, policy)
    return {(row["memory_id"], row["term"]): row for row in found.iter_rows(named=True)}


def test_a_term_is_live_when_two_questions_taught_it():
    assert alive(*TWICE, at=1) == {}  # what is taught at a moment counts after it
    assert set(alive(*TWICE, at=1.1)) == {("m", "aaa")}
    assert set(alive(*TWICE, at=4)) == {("m", "aaa"), ("other", "aaa")}
    row = alive(*TWICE, at=4)["m", "aaa"]
    assert (row["questions"], row["principals"], row["searches"]) == (2, 2, ["s0", "s1"])
    assert (row["added_at"], row["expires_at"]) == (START, START + HOUR + 30 * DAY)


def test_the_same_words_in_another_order_are_no_second_question():
    rows = proposed(
        selection(proposal_id="a", asked=["pump", "glacier"]),
        selection(proposal_id="b", asked=["glacier", "pump"], selected_at=NOW + HOUR),
    )
    lessons = decide(rows, [], POLICY).lessons
    assert lessons.height == 4
    assert live(lessons, NOW + DAY, POLICY).is_empty()


def test_as_many_people_as_are_asked_for():
    strict = replace(POLICY, min_users=2)
    assert set(alive(*TWICE, at=4, policy=strict)) == {("m", "aaa")}


def test_a_term_dies_when_the_last_but_one_question_is_thirty_days_old():
    month = 30 * 24
    assert ("m", "aaa") in alive(*TWICE, at=month - 0.001)
    assert ("m", "aaa") not in alive(*TWICE, at=month)
    again = proposal(240, "aaa fff")
    assert alive(*TWICE, again, at=month)["m", "aaa"]["expires_at"] == START + 40 * DAY


def test_the_weight_of_a_term_falls_in_a_line_to_nothing():
    terms = LearnedTerms(live(decided(*TWICE).lessons, START + 4 * HOUR, POLICY))
    taught_at = START + HOUR
    for days, weight in ((0, 1.0), (7.5, 0.75), (15, 0.5), (29, 1 / 30)):
        found = terms.match("aaa", taught_at + days * DAY)["m"]
        assert found.terms["aaa"] == pytest.approx(weight)
        assert found.boost() == pytest.approx(0.7 * weight * 0.15)
    assert "m" not in terms.match("aaa", taught_at + 30 * DAY)
    assert "m" not in terms.match("aaab xaaa", taught_at)  # whole words only
    half = terms.match("what is aaa of the pump?", taught_at)["m"]
    assert half.share == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("scope", "value", "left"),
    [
        ("everything", "", set()),
        ("memory", "m", {"other"}),
        ("search", "s1", set()),
        ("search", "s0", {"other"}),
        ("principal", "bob", {"other"}),
        ("principal", "ann", set()),
        ("principal", "eve", {"m", "other"}),
        ("since", (START + HOUR).isoformat(), set()),
        ("since", (START + 3 * HOUR).isoformat(), {"m"}),
        ("since", (START + 3 * HOUR + TICK).isoformat(), {"m", "other"}),
    ],
)
def test_rollback_by_every_scope(scope, value, left):
    assert {memory for memory, _ in alive(*TWICE, at=5, rollbacks=[undo(5, scope, value)])} == left
    assert {memory for memory, _ in alive(*TWICE, at=4, rollbacks=[undo(5, scope, value)])} == {"m", "other"}
    elsewhere = undo(5, scope, value, namespace="bob")
    assert {memory for memory, _ in alive(*TWICE, at=5, rollbacks=[elsewhere])} == {"m", "other"}


def test_what_is_taught_after_a_rollback_stands():
    rows = [*TWICE, proposal(20, "aaa fff"), proposal(21, "aaa ggg")]
    act = undo(20)  # what was taught at the very moment is taken back
    assert alive(*rows, at=30, rollbacks=[act]) == {}
    assert set(alive(*rows, proposal(29, "aaa hhh"), at=30, rollbacks=[act])) == {("m", "aaa")}


# -- what holds of any selections ------------------------------------------------------------------

WORDS = [f"{letter}{letter}{letter}" for letter in "abcdefghijkl"]
HOURS = st.integers(0, 45 * 24).flatmap(lambda far: st.sampled_from([far, far % 12, far % 100]))


@st.composite
def proposals(draw):
    rows = []
    for number in range(draw(st.integers(0, 40))):
        words = draw(st.lists(st.sampled_from(WORDS), max_size=5, unique=True))
        rows.append(
            proposal(
                draw(HOURS), " ".join(words), name=f"p{number}", memory=draw(st.sampled_from("mn")),
                namespace=draw(st.sampled_from(["ada", "ada", "bob"])),
                search_id=f"s{draw(st.integers(0, 5))}", principal=draw(st.sampled_from(["ann", "bob"])),
                question=draw(st.sampled_from(["x", "y", "z"])),
                refusal=draw(st.sampled_from([None, None, None, TOP_3])),
            )
        )  # fmt: skip
    return rows


@st.composite
def rollback_acts(draw):
    scope = draw(st.sampled_from(SCOPES))
    value = {
        "everything": st.just(""),
        "memory": st.sampled_from("mn"),
        "search": st.integers(0, 5).map(lambda number: f"s{number}"),
        "principal": st.sampled_from(["ann", "bob"]),
        "since": HOURS.map(lambda hours: (START + hours * HOUR).isoformat()),
    }[scope]
    return undo(draw(HOURS), scope, draw(value), draw(st.sampled_from(["ada", "bob"])))


UNDONE = st.lists(rollback_acts(), max_size=4)
POLICIES = st.sampled_from([POLICY, SEEDS, replace(POLICY, terms_per_memory=4, ttl_days=3)])
MOMENTS = HOURS.map(lambda hours: START + hours * HOUR)


def hit(act, row):
    """The rule of a rollback, once more in plain words."""
    return (
        row["namespace"] == act.namespace
        and row["taught_at"] <= act.at
        and {
            "everything": True,
            "memory": row["memory_id"] == act.value,
            "search": row["search_id"] == act.value,
            "principal": row["principal"] == act.value,
            "since": act.scope == "since" and row["taught_at"] >= datetime.fromisoformat(act.value),
        }[act.scope]
    )


def same(left, right, key):
    assert_frame_equal(left.sort(key), right.sort(key))


@settings(max_examples=30)
@given(proposals(), UNDONE, POLICIES, st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(rows, acts, policy, random):
    there = decide(frame(rows), acts, policy)
    random.shuffle(rows)
    random.shuffle(acts)
    back = decide(frame(rows), acts, policy)
    same(there.reasons, back.reasons, "proposal_id")
    same(there.lessons, back.lessons, ["proposal_id", "term"])


@settings(max_examples=30)
@given(proposals(), UNDONE, POLICIES, MOMENTS)
def test_what_comes_later_changes_nothing_of_before(rows, acts, policy, moment):
    whole = decide(frame(rows), acts, policy)
    early = [row for row in rows if row["selected_at"] < moment]
    then = decide(frame(early), [act for act in acts if act.at < moment], policy)
    names = [row["proposal_id"] for row in early]
    same(then.reasons, whole.reasons.filter(pl.col("proposal_id").is_in(names)), "proposal_id")
    same(then.lessons, whole.lessons.filter(pl.col("taught_at") < moment), ["proposal_id", "term"])


@settings(max_examples=30)
@given(proposals(), UNDONE, POLICIES)
def test_the_caps_hold_at_every_moment(rows, acts, policy):
    lessons = decide(frame(rows), acts, policy).lessons
    most = lessons.group_by("proposal_id").len()["len"].max() or 0
    assert most <= policy.terms_per_selection
    keys = ["namespace", "memory_id"]
    for _, mine in lessons.group_by(keys):
        events = sorted(mine.unique("proposal_id")["taught_at"])
        for first, fourth in zip(events, events[policy.max_events_per_window :], strict=False):
            assert fourth - first >= timedelta(hours=policy.window_hours)
    for moment in lessons["taught_at"].unique().to_list():
        at = moment + TICK
        held = standing(lessons, acts, at).filter(pl.col("expires_at") > at)
        counts = held.group_by(keys).agg(pl.col("term").n_unique())["term"]
        assert (counts.max() or 0) <= policy.terms_per_memory


@settings(max_examples=30)
@given(proposals(), UNDONE, POLICIES, MOMENTS)
def test_live_is_what_two_questions_taught_and_nobody_took_back(rows, acts, policy, moment):
    lessons = decide(frame(rows), acts, policy).lessons
    found = live(standing(lessons, acts, moment), moment, policy)
    expected = {}
    for row in lessons.iter_rows(named=True):
        gone = any(act.at <= moment and hit(act, row) for act in acts)
        if not gone and row["taught_at"] < moment < row["expires_at"]:
            key = (row["namespace"], row["memory_id"], row["term"])
            expected.setdefault(key, set()).add(row["question"])
    assert {
        (row["namespace"], row["memory_id"], row["term"]): row["questions"]
        for row in found.iter_rows(named=True)
    } == {key: len(questions) for key, questions in expected.items() if len(questions) >= 2}


LOOSE = LearningPolicy(
    max_events_per_window=1_000, terms_per_memory=1_000, known_first=False
)  # what one selection teaches depends on no other


@pytest.mark.slow
@settings(max_examples=30)
@given(proposals(), rollback_acts(), MOMENTS)
def test_what_was_taken_back_is_as_if_it_had_never_been_taught(rows, act, moment):
    at = max(moment, act.at)
    lessons = decide(frame(rows), [act], LOOSE).lessons
    never = [row for row in rows if not hit(act, row | {"taught_at": row["selected_at"]})]
    other = decide(frame(never), [], LOOSE).lessons
    same(standing(lessons, [act], at), standing(other, [], at), ["proposal_id", "term"])
    same(
        live(standing(lessons, [act], at), at, LOOSE),
        live(standing(other, [], at), at, LOOSE),
        ["namespace", "memory_id", "term"],
    )


@pytest.mark.slow
@settings(max_examples=30)
@given(proposals(), proposals(), POLICIES)
def test_after_a_rollback_of_everything_a_memory_learns_like_a_new_one(before, after, policy):
    """Once the hours are over in which it may not learn more often."""
    last = max((row["selected_at"] for row in before), default=START)
    acts = [Rollback(space, last, "everything") for space in ("ada", "bob")]
    wait = last - START + timedelta(hours=policy.window_hours)
    later = [
        row | {"proposal_id": f"q{number}", "selected_at": row["selected_at"] + wait}
        for number, row in enumerate(after)
    ]
    names = [row["proposal_id"] for row in later]
    mixed = decide(frame([*before, *later]), acts, policy)
    alone = decide(frame(later), [], policy)
    same(mixed.reasons.filter(pl.col("proposal_id").is_in(names)), alone.reasons, "proposal_id")
    mine = mixed.lessons.filter(pl.col("proposal_id").is_in(names))
    same(mine, alone.lessons, ["proposal_id", "term"])
