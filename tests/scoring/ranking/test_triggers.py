from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.triggers import TriggerIndex
from slowwave.scoring.ranking.words import as_asked, as_indexed, words


def strength(phrase: str, query: str) -> float:
    """How strongly the query triggers the phrase; 0 not at all."""
    return TriggerIndex({"m": [phrase]}).match(query).get("m", ("", 0.0))[1]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("night shift", 1), ("who has the night shift?", 1), ("The NIGHT-SHIFT!", 1), ("night, shift", 1),
        ("night  \n shift", 1), ("shift it one night", 0.5), ("night of the shift", 0.5), ("night", 0),
        ("shift", 0), ("nightshift", 0), ("nights shift", 0), ("overnight shift", 0), ("night shifts", 0),
        ("", 0), ("?!", 0), ("shift night shift", 1),
    ],
)  # fmt: skip
def test_whole_words_in_order_and_together(query, expected):
    assert strength("Night shift", query) == expected


@pytest.mark.parametrize(
    ("phrase", "query", "expected"),
    [
        ("夜班", "今晚谁上夜班？", 1), ("夜班", "班夜", 0), ("夜班 名单", "名单里谁上夜班", 0.5),
        ("猫", "我的猫在哪", 1), ("夜勤", "今日の夜勤は誰", 1),
        ("กะกลางคืน", "ใครทำกะกลางคืนวันนี้", 1), ("กะกลางคืน", "กลางวัน", 0), ("ยา", "กินยาเมื่อไหร่", 1),
        ("kubernetes", "用Kubernetes部署", 1), ("netes", "用Kubernetes部署", 0),
        ("用 Kubernetes", "用Kubernetes部署", 1),
        ("部署 kubernetes", "用Kubernetes部署", 0.5),
    ],
)  # fmt: skip
def test_what_is_written_without_spaces_is_found_inside(phrase, query, expected):
    assert strength(phrase, query) == expected


def test_words_are_without_case_and_compatibility_forms():
    assert words("ﬁne Straße ＡＢＣ Ⅷ") == ("fine", "strasse", "abc", "viii")
    assert strength("STRASSE", "die Straße") == 1
    assert strength("office", "the oﬃce hours") == 1
    assert strength("ｄｅｐｌｏｙ", "deploy") == 1
    assert strength("café", "cafe\u0301") == 1  # one character, or two
    assert strength("cafe", "café") == 0  # another letter is another word
    assert strength("ΟΔΟΣ", "οδος") == 1
    assert strength("дежурство", "ночное ДЕЖУРСТВО") == 1


def test_a_word_that_occurs_twice_in_a_phrase_is_asked_for_twice_only_in_order():
    assert strength("day by day", "day by day") == 1
    assert strength("day by day", "by day") == 0.5


def test_a_phrase_without_a_word_triggers_nothing():
    index = TriggerIndex({"m": ["", "  ", "?!", "🌊"]})
    assert len(index) == 0
    assert index.match("🌊 ?!") == {}


def test_of_several_phrases_the_strongest_counts_then_the_longest():
    index = TriggerIndex({"m": ["shift night plan", "night shift", "shift"], "n": ["rota"]})
    assert len(index) == 4
    assert index.match("the night shift plan") == {"m": ("night shift", 1.0)}
    assert index.match("plan of shift at night") == {"m": ("shift", 1.0)}
    assert index.match("night of the rota") == {"n": ("rota", 1.0)}


def test_a_phrase_of_several_memories_triggers_all_of_them():
    index = TriggerIndex({"a": ["deploy"], "b": ["Deploy"], "c": ["deploy day"]})
    assert index.match("deploy day") == {
        "a": ("deploy", 1.0), "b": ("Deploy", 1.0), "c": ("deploy day", 1.0),
    }  # fmt: skip


def test_of_two_spellings_of_a_phrase_the_same_one_counts_always():
    for phrases in (["deploy", "DEPLOY"], ["DEPLOY", "deploy"]):
        assert TriggerIndex({"m": phrases}).match("deploy") == {"m": ("deploy", 1.0)}


@given(st.lists(st.text(max_size=12), max_size=5), st.text(max_size=30))
def test_a_match_is_what_the_rule_says(phrases, query):
    asked = words(as_indexed(query))
    expected = 0.0
    for phrase in phrases:
        parts = words(as_asked(phrase))
        if parts and set(parts) <= set(asked):
            runs = [asked[at : at + len(parts)] for at in range(len(asked))]
            expected = max(expected, 1.0 if parts in runs else 0.5)
    assert TriggerIndex({"m": phrases}).match(query).get("m", ("", 0.0))[1] == expected


@given(st.text(max_size=20), st.text(max_size=10), st.text(max_size=10))
def test_a_query_that_says_a_phrase_between_other_words_triggers_it(phrase, before, after):
    if words(phrase):
        assert strength(phrase, f"{before} {phrase} {after}") == 1


@pytest.mark.parametrize(("phrase", "query"), [("दिन", "दान"), ("ที่", "ทุ"), ("கடை", "கடி")])
def test_marks_are_part_of_a_word(phrase, query):
    assert strength(phrase, query) == 0
