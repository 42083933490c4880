from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.feedback.keywords import keywords


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The Gauge hangs: under PIER-4, since 2026!", {"gauge", "hangs", "under", "since"}),
        ("gauge gauge GAUGE", {"gauge"}),
        ("four five 1234 12345 a1b2c", {"12345", "a1b2c"}),  # more than four, digits count
        ("ab_cd ab_cde", {"ab_cde"}),  # an underscore is no letter
        ("don't it's", set()),
        ("", set()),
        ("?! 🌊 …", set()),
        ("Straße STRASSE, Fläche", {"strasse", "fläche"}),
        ("café cafés", {"cafés"}),
        ("cafe\u0301 cafe\u0301s", {"cafés"}),  # an accent is not a letter of its own
        ("Старый причал у моста", {"старый", "причал", "моста"}),
        ("Οδός ΛΙΜΑΝΙΟΎ", {"λιμανιού"}),
        ("المضخة في الميناء", {"المضخة", "الميناء"}),
        ("पत्तन में ज्वार", {"पत्तन", "ज्वार"}),  # vowel signs are part of a word
        ("ﬁnger ｐｕｍｐｓ", {"finger", "pumps"}),
    ],
)
def test_scripts_with_spaces_have_whole_words(text, expected):
    assert keywords(text) == expected


def test_a_korean_syllable_is_its_letters():
    """Counted by syllables, hardly a Korean word has more than four, and every memory would be ignored."""
    assert keywords("배포는 매주 목요일") == {"배포는", "목요일"}
    assert keywords(unicodedata.normalize("NFD", "배포는 매주 목요일")) == {"배포는", "목요일"}


def test_chinese_is_pairs_of_characters_that_follow_each_other():
    assert keywords("备用电池，潮位") == {"备用", "用电", "电池", "潮位"}
    assert keywords("池") == set()
    assert keywords("𠮷野家") == {"𠮷野", "野家"}


def test_japanese_grammar_is_left_out():
    """Endings such as した and ます are in every text: they would make everything used."""
    assert keywords("電池を交換します") == {"電池", "池を", "を交", "交換", "換し"}
    assert keywords("そうですね") == set()
    assert keywords("ﾎﾟﾝﾌﾟ") == {"ポン", "ンプ"}  # narrow forms are the same letters


def test_thai_and_its_like_are_five_characters_in_a_row():
    """Two in a row are shared by any two texts of an alphabet."""
    assert keywords("แมว") == set()
    assert keywords("ปฏิทิน") == {"ปฏิทิ", "ฏิทิน"}
    assert all(len(piece) == 5 for piece in keywords("ພາສາລາວ ភាសាខ្មែរ မြန်မာဘာသာ"))
    for text in ("ພາສາລາວ", "ភាសាខ្មែរ", "မြန်မာဘာသာ"):
        assert keywords(text)


def test_scripts_are_told_apart_within_a_run():
    assert keywords("LanceDBの索引") == {"lancedb", "の索", "索引"}
    assert keywords("LanceDB") <= keywords("これはLanceDBです")
    assert keywords("ระบบLanceDBใหม่") >= {"lancedb"}


LETTERS = st.text(alphabet="abcdeßäéñжшüσςοδ交電池はします배포목ก็ทิพร एकि_019 -.", max_size=60)


@given(LETTERS, st.sampled_from(["NFC", "NFD", "NFKC", "NFKD"]))
def test_case_and_form_do_not_matter(text, form):
    assert keywords(text) == keywords(text.upper()) == keywords(unicodedata.normalize(form, text))


@given(st.text(max_size=80), st.randoms(use_true_random=False))
def test_order_does_not_matter(text, random):
    parts = text.split()
    random.shuffle(parts)
    assert keywords(" ".join(parts)) == keywords(" ".join(text.split()))


@given(st.text(max_size=60), st.text(max_size=60))
def test_more_text_has_no_fewer_keywords(text, more):
    assert keywords(text) | keywords(more) == keywords(f"{text} {more}")
