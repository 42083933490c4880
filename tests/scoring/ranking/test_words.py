"""Words of queries, titles and texts by their stems."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.words import (
    as_asked,
    as_indexed,
    asked_words,
    content_words,
    coverage,
    stem,
    stems,
    text_stems,
    title_share,
    title_stems,
    word_share,
    words,
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Deploys, deployed; DEPLOYING!", {"deploy"}),
        ("The deploy day is Thursday", {"deploy", "day", "thursday"}),
        ("Straße STRASSE ﬁnes", {"strass", "fine"}),
        ("don't", {"don", "t"}),
        ("gauge_7 is 12 %", {"gauge_7", "12"}),
        ("what is it that you would have?", set()),
        ("", set()),
        ("?! …", set()),
        ("デプロイの日", {"デプ", "プロ", "ロイ", "イの", "の日"}),
        ("用Kubernetes部署", {"用", "kubernet", "部署"}),
        ("ﾊﾟﾝ", {"パン"}),
        ("हिन्दी में", {"हिन्दी", "में"}),
        ("Причал 7", {"причал", "7"}),
        ("🌊 tide", {"tide"}),
    ],
)
def test_stems(text, expected):
    assert stems(text) == expected
    assert title_stems(text) == expected


def test_a_stem_is_that_of_the_language_of_the_notes():
    assert (stem("gauges"), stem("batteries"), stem("причалы")) == ("gaug", "batteri", "причалы")


def test_plain_and_other_texts_are_cut_alike():
    """A text that is all ASCII takes a shorter way; one more character must not change its words."""
    text = "The Gauge_7 hangs: under pier-4, since 2026-03-01T12:00!"
    assert words(text) == words(f"{text} é")[:-1]


@given(st.text(max_size=60))
def test_words_are_without_case_and_order_is_kept(text):
    found = words(text)
    assert words(" ".join(found)) == found
    assert all(word and not any(one.isspace() for one in word) for word in found)


@pytest.mark.parametrize(
    ("query", "text", "expected"),
    [
        ("deploy day", "We deployed on Thursday, the best of days.", 1.0),
        ("deploy day", "Deployments are on Thursday.", 0.5),
        ("what is the deploy day of the ferry?", "The ferry leaves at seven.", 1 / 3),
        ("deploy deploy deploy day", "One deploy.", 0.5),  # a word counts once
        ("deploy", "", 0.0),
        ("what is it?", "What is it?", 0.0),  # nothing is asked but function words
        ("", "deploy", 0.0),
        ("причал", "Старый причал", 1.0),
    ],
)
def test_coverage(query, text, expected):
    assert coverage(stems(query), [text]) == [pytest.approx(expected)]


def test_coverage_of_nothing_and_of_several():
    assert coverage(stems("deploy"), []) == []
    assert coverage(frozenset(), ["deploy", "day"]) == [0.0, 0.0]
    assert coverage(stems("deploy day"), ["deploy", "x", "day deploy"]) == [0.5, 0.0, 1.0]


@pytest.mark.parametrize(
    ("query", "title", "expected"),
    [
        ("when is the deploy day?", "Deploy day", 1.0),
        ("deploying the ferry", "Deploy day", 0.5),
        ("deploy", "The deploy day of the team", 1 / 3),
        ("what is it?", "What it is", 0.0),
        ("deploy", "", 0.0),
        ("deploy", "!?", 0.0),
        ("", "Deploy", 0.0),
        ("battery", "Deploy day", 0.0),
        ("Caroline went where?", "Caroline", 1.0),
        ("デプロイの日 はいつ", "デプロイの日", 1.0),
    ],
)
def test_title_share(query, title, expected):
    shares = title_share(stems(query), [title])
    assert shares.tolist() == [pytest.approx(expected)]


def test_title_shares_stand_in_the_order_of_the_titles():
    shares = title_share(stems("deploy day"), ["x", "Deploy day", "", "Deploy week"])
    assert shares.tolist() == [0.0, 1.0, 0.0, 0.5]
    assert shares.dtype == np.float64
    assert title_share(stems("deploy"), []).shape == (0,)


@given(st.text(max_size=40), st.lists(st.text(max_size=40), max_size=5))
def test_both_are_shares(query, texts):
    asked = stems(query)
    shares = title_share(asked, texts)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert all(0 <= one <= 1 for one in coverage(asked, texts))
    itself = 1.0 if asked else 0.0
    assert title_share(asked, [query]).tolist() == coverage(asked, [query]) == [itself]


@pytest.mark.parametrize(
    ("text", "asked", "indexed"),
    [
        ("plain words, naïve ones", None, None),
        ("Обычные слова", None, None),
        ("북쪽 검조기", None, None),  # Korean has spaces
        ("部署日", ["部署", "署日"], ["部署", "署日", "部", "署", "日"]),
        ("部署", ["部署"], ["部署", "部", "署"]),
        ("猫", ["猫"], ["猫"]),
        ("用k8s部署。", ["用", "k8s", "部署", "。"], ["用", "k8s", "部署", "部", "署", "。"]),
        ("ﾊﾟﾝ", ["パン"], ["パン", "パ", "ン"]),
        ("วันนี้", ["วัน", "ันน", "นนี"], ["วัน", "ันน", "นนี", "วั", "ัน", "นน", "นี"]),  # without the tone mark
        ("ยา", ["ยา"], ["ยา"]),
        ("ខ្មែរ", ["ខមែ", "មែរ"], ["ខមែ", "មែរ", "ខម", "មែ", "ែរ"]),
        ("\u0e48", ["\u0e48"], ["\u0e48"]),  # a tone mark alone
    ],
)
def test_what_is_written_without_spaces_is_taken_to_pieces(text, asked, indexed):
    if asked is None:
        assert as_asked(text) == as_indexed(text) == text
    else:
        assert as_asked(text).split() == asked
        assert as_indexed(text).split() == indexed


@given(st.text("部署日ตัวอย่าง a,\n", max_size=20), st.text("部署日ตัวอย่าง a,\n", max_size=20))
def test_what_a_text_says_is_covered_by_it_and_lines_stay_apart(text, other):
    whole = f"{other} {text}\n{other}"
    assert coverage(stems(text), [whole])[0] in (0.0, 1.0)
    assert as_indexed(whole).split("\n") == [as_indexed(line) for line in whole.split("\n")]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("When do we Deploy?", ["When", "do", "we", "Deploy"]),
        ("naïve gauge_7", ["naïve", "gauge_7"]),
        ("हिन्दी में?", ["हिन्दी", "में"]),
        ("何时部署 K8s?", ["何时", "时部", "部署", "K8s"]),
    ],
)
def test_words_of_a_query_as_they_are_written(query, expected):
    assert asked_words(query) == expected


EXCEPTIONS = (
    "dying lying tying skis skies sky idly gently ugly early only singly news howe atlas cosmos bias andes"
)
SAID = st.lists(
    st.text("adegilnstuyé'", min_size=1, max_size=8)
    | st.sampled_from([*EXCEPTIONS.split(), "yes", "the", "デプロイ"]),
    max_size=12,
).map(" ".join)


@given(SAID, SAID)
def test_the_share_of_a_query_that_a_text_has_is_of_all_its_stems(asked: str, said: str):
    query = stems(asked)
    share = len(query & text_stems(said)) / len(query) if query else 0
    assert coverage(query, [said]) == [share]


@pytest.mark.parametrize(
    ("query", "texts", "share"),
    [
        ("When is Lena's birthday?", ["Omar's birthday is on 3 March."], 1 / 2),
        ("When is Lena's birthday?", ["Birthdays", "Lena: 3 March"], 1.0),
        ("Wie dauert Lieferung?", ["Lieferungen dauern drei Tage."], 1.0),
        ("Wie lange dauert die Lieferung?", ["Rechnungen kommen spät."], 0.0),
        ("what is it?", ["anything"], 1.0),  # no content word
        ("会议室的密码是什么?", ["unrelated"], 1.0),  # bigrams overlap
        ("budget of Kestrel", [], 0.0),
    ],
)
def test_share_of_the_words_of_a_query_in_any_form(query: str, texts: list[str], share: float) -> None:
    assert word_share(query, texts) == pytest.approx(share)


@pytest.mark.parametrize(
    ("query", "count"),
    [
        ("Vue component architecture", 3),
        ("where do the copies of our documents go overnight?", 4),
        ("Lena's bike", 2),
        ("what is it?", 0),
        ("", 0),
        ("部署是在星期四", 0),  # bigrams overlap
    ],
)
def test_content_words_of_a_query_are_counted(query, count):
    assert len(content_words(query)) == count
