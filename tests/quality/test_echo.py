from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.echo import ECHO_SHARE, ECHO_WINDOW, ShingleIndex, find_echoes

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOUR = timedelta(hours=1)
TEXT = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
OTHER = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."
NOTE = {"namespace": pl.String, "memory_id": pl.String, "content": pl.String,
        "occurred_at": pl.Datetime("us", "UTC")}  # fmt: skip
SERVED = {"namespace": pl.String, "memory_id": pl.String, "text": pl.String, "search_id": pl.String,
          "shown_at": pl.Datetime("us", "UTC")}  # fmt: skip


def said(content: str = TEXT, memory_id: str = "new", namespace: str = "ada", at: datetime = NOON) -> tuple:
    return namespace, memory_id, content, at


def shown(
    text: str = TEXT, memory_id: str = "old", search_id: str = "s1", namespace: str = "ada",
    at: datetime = NOON - HOUR,
) -> tuple:  # fmt: skip
    return namespace, memory_id, text, search_id, at


def found(saved: list[tuple], served: list[tuple], **options: object) -> list[tuple]:
    frames = pl.DataFrame(saved, NOTE, orient="row"), pl.DataFrame(served, SERVED, orient="row")
    return find_echoes(*frames, **options).rows()


def test_what_was_served_and_comes_back_is_an_echo():
    assert found([said()], [shown()]) == [("new", "old", "s1")]


@pytest.mark.parametrize(
    "content",
    [TEXT.upper(), f"**{TEXT}**", TEXT.replace(" ", "\n> "), f"{TEXT} Noted.", TEXT.replace(",", " –")],
)
def test_case_marks_and_a_word_more_do_not_hide_an_echo(content):
    assert found([said(content)], [shown()]) == [("new", "old", "s1")]


@pytest.mark.parametrize(("content", "text"), [
    (OTHER, TEXT), (f"{TEXT} {OTHER}", TEXT), ("", TEXT), ("", ""), ("...", "..."), (TEXT, ""), (None, TEXT),
    (TEXT, None), (TEXT, " ".join(reversed(TEXT.split()))),
])  # fmt: skip
def test_what_says_more_or_something_else_is_none(content, text):
    assert found([said(content)], [shown(text)]) == []


def test_a_part_of_a_passage_is_an_echo_of_it():
    assert found([said(TEXT)], [shown(f"{OTHER} {TEXT} {OTHER}")]) == [("new", "old", "s1")]


def test_the_same_memory_saved_again_is_an_update():
    assert found([said(memory_id="old")], [shown()]) == []
    # Behind its own showing there may be one of another memory.
    both = [shown(), shown(memory_id="older", search_id="s0", at=NOON - 2 * HOUR)]
    assert found([said(memory_id="old")], both) == [("old", "older", "s0")]
    same_moment = [shown(), shown(memory_id="zz", search_id="s9"), shown(memory_id="aa", search_id="s8")]
    assert found([said(memory_id="old")], same_moment) == [("old", "zz", "s9")]


@pytest.mark.parametrize(
    ("ago", "echo"),
    [
        (timedelta(0), False),
        (timedelta(microseconds=1), True),
        (ECHO_WINDOW, True),
        (ECHO_WINDOW + timedelta(microseconds=1), False),
        (-HOUR, False),
    ],
)
def test_the_window_is_half_open(ago, echo):
    assert (found([said()], [shown(at=NOON - ago)]) != []) is echo
    assert (found([said()], [shown(at=NOON - ago), shown(OTHER)]) != []) is echo


def test_the_window_is_a_parameter():
    assert found([said()], [shown()], window=HOUR) != []
    assert found([said()], [shown()], window=HOUR - timedelta(microseconds=1)) == []


def test_namespaces_never_meet():
    assert found([said(namespace="bob")], [shown()]) == []
    saved = [said(memory_id="a"), said(memory_id="b", namespace="bob")]
    served = [shown(), shown(search_id="s2", memory_id="bobs", namespace="bob")]
    assert found(saved, served) == [("a", "old", "s1"), ("b", "bobs", "s2")]


def words(*numbers: int) -> str:
    return " ".join(f"w{number}" for number in numbers)


def test_the_share_is_of_distinct_shingles():
    # 14 words make 10 shingles; of the first 12 words there are 8.
    note, passage = words(*range(14)), words(*range(12))
    assert found([said(note)], [shown(passage)]) != []
    assert found([said(note)], [shown(words(*range(11)))]) == []
    assert found([said(note)], [shown(passage)], share=0.81) == []
    # Said twice counts once: 13 of 16 shingles, of which 8 distinct ones of 13 are served.
    assert found([said(f"{note} {note}")], [shown(passage)]) == []


def test_an_echo_may_be_pieced_together_from_passages():
    note = words(*range(24))
    served = [
        shown(words(*range(14)), "first", "s1", at=NOON - 3 * HOUR),
        shown(words(*range(10, 24)), "second", "s2"),
    ]
    assert found([said(note)], served) == [("new", "second", "s2")]
    assert found([said(note)], served[:1]) == []


def test_the_echo_is_of_the_memory_that_says_most_of_it_at_its_last_showing():
    served = [
        shown(TEXT, "whole", "s1", at=NOON - 5 * HOUR),
        shown(TEXT, "whole", "s2", at=NOON - 3 * HOUR),
        shown(TEXT[:50], "part", "s3", at=NOON - HOUR),
        shown(TEXT, "whole", "s4", at=NOON + HOUR),
    ]
    assert found([said()], served) == [("new", "whole", "s2")]


@pytest.mark.parametrize("text", [
    "北の観測所の電池は冬に十一週間もつ。夏は十九週間。",
    "แบตเตอรี่ของสถานีเหนือใช้ได้สิบเอ็ดสัปดาห์",
    "북쪽 관측소의 배터리는 겨울에 십일 주 동안 지속된다",
    "بطارية المقياس الشمالي تدوم أحد عشر أسبوعًا في الشتاء",
])  # fmt: skip
def test_any_script_can_echo(text):
    assert found([said(text)], [shown(f"{text} {OTHER}")]) == [("new", "old", "s1")]
    assert found([said(text)], [shown(OTHER)]) == []


def test_a_short_text_is_compared_whole():
    assert found([said("Noted, thank you")], [shown("noted thank you!")]) != []
    assert found([said("Noted, thank you")], [shown("noted thank you all of you")]) == []
    assert found([said("thank you thank you")], [shown("thank you")]) == []


def test_nothing_said_or_served_gives_nothing():
    assert found([], []) == found([said()], []) == found([], [shown()]) == []
    assert find_echoes(pl.DataFrame(schema=NOTE), pl.DataFrame(schema=SERVED)).columns == [
        "memory_id", "echo_of", "search_id",
    ]  # fmt: skip


VOCABULARY = st.lists(st.integers(0, 3), max_size=9).map(lambda numbers: words(*numbers))
MOMENTS = st.integers(-30, 2).map(lambda hours: NOON + hours * HOUR)
SPACES = st.sampled_from(["ada", "bob"])
SAID = st.lists(st.tuples(SPACES, VOCABULARY, MOMENTS), max_size=5)
SHOWN = st.lists(
    st.tuples(SPACES, st.sampled_from(["m0", "m1", "x"]), VOCABULARY, st.sampled_from("st"), MOMENTS),
    max_size=8,
)


@pytest.mark.slow
@given(SAID, SHOWN, st.sampled_from([0.3, 0.5, 0.8, 1.0]), st.randoms(use_true_random=False))
def test_echoes_are_what_the_definition_says_in_any_order(saved, served, share, mixer):
    saved = [(space, f"m{number}", text, at) for number, (space, text, at) in enumerate(saved)]

    def shingles(text: str) -> set[tuple[str, ...]]:
        parts = text.split()
        if len(parts) < 5:
            return {tuple(parts)} if parts else set()
        return {tuple(parts[start : start + 5]) for start in range(len(parts) - 4)}

    expected = set()
    for space, memory_id, text, at in saved:
        heard: set[tuple[str, ...]] = set()
        for other, source, passage, _, moment in served:
            if other == space and source != memory_id and at - ECHO_WINDOW <= moment < at:
                heard |= shingles(passage)
        own = shingles(text)
        if own and len(own & heard) >= share * len(own) - 1e-9:
            expected.add(memory_id)
    result = found(saved, served, share=share)
    assert {row[0] for row in result} == expected
    for memory_id, echo_of, search_id in result:
        assert memory_id != echo_of
        assert any(row[1] == echo_of and row[3] == search_id for row in served)
    mixer.shuffle(saved)
    mixer.shuffle(served)
    assert found(saved, served, share=share) == result


# -- what may be an echo --------------------------------------------------------------------------

FEW = st.lists(st.sampled_from("boat pier tide gauge 東 京".split()), max_size=9).map(" ".join)  # noqa: SIM905


@given(st.lists(FEW, max_size=6), FEW, st.integers(0, 5))
def test_what_is_an_echo_may_be_one(texts, content, cut):
    passages = [shown(text, f"m{number}", "s1") for number, text in enumerate(texts)]
    heard = ShingleIndex()
    for part in (texts[:cut], texts[cut:]):
        heard.add(part)
    if found([said(content)], passages):
        assert heard.may_hold(["nothing of it", content], ECHO_SHARE)


def test_what_shares_too_little_is_told_at_once():
    heard = ShingleIndex()
    assert not heard.may_hold([TEXT], ECHO_SHARE)
    heard.add([TEXT])
    assert heard.may_hold([TEXT], ECHO_SHARE)
    assert heard.may_hold([OTHER, TEXT], ECHO_SHARE)
    assert not heard.may_hold([OTHER], ECHO_SHARE)
    assert not heard.may_hold(["", "..."], ECHO_SHARE)
    assert not heard.may_hold([f"{TEXT} {OTHER}"], ECHO_SHARE)
    heard.add([OTHER])
    assert heard.may_hold([f"{TEXT} {OTHER}"], ECHO_SHARE)
