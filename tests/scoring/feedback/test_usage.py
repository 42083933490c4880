from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.feedback.keywords import keywords
from slowwave.scoring.feedback.usage import DEFAULT, UsagePolicy, cited_in, usage

TEN = "alpha1 alpha2 alpha3 alpha4 alpha5 alpha6 alpha7 alpha8 alpha9 alpha0"
NAN = float("nan")


def one(text, response, query="", **options):
    (found,) = usage([text], response, query, **options)
    return found


@pytest.mark.parametrize(
    ("said", "verdict"), [(0, "ignored"), (1, "ignored"), (3, "ignored"), (4, "used"), (10, "used")]
)
def test_more_than_three_tenths_of_the_keywords(said, verdict):
    found = one(TEN, " ".join(TEN.split()[:said]))
    assert (found.verdict, found.evidence, found.keywords) == (verdict, "words", 10)
    assert found.ratio == found.ratio_beyond_query == pytest.approx(said / 10)
    assert found.beyond_query == (verdict == "used")


def test_words_are_whole():
    """The seed looks for a word anywhere in the text: press in impressive."""
    assert one("press plate", "An impressive template.").ratio == 0
    assert one("Причал закрыт", "Причальный сбор закрыта").ratio == 0


@pytest.mark.parametrize("text", ["", "  ", "?!", "it is up to me", "4471", "猫"])
def test_without_keywords_nobody_can_tell(text):
    found = one(text, f"{text} and whatever else is said", similarity=lambda *_: 1.0)
    assert (found.verdict, found.evidence, found.keywords) == ("ignored", "none", 0)
    assert found.ratio is found.ratio_beyond_query is found.similarity is None
    assert not found.beyond_query


def test_words_of_the_query_are_no_evidence():
    """An answer that only repeats the question has every shown memory's words and uses none."""
    memory, query = "The harbour pump was serviced in March.", "When was the harbour pump serviced?"
    echo = one(memory, "I do not know when the harbour pump was serviced.", query)
    assert (echo.verdict, echo.ratio) == ("used", pytest.approx(2 / 3))
    assert (echo.ratio_beyond_query, echo.beyond_query) == (0.0, False)
    answer = one(memory, "The harbour pump was serviced in March.", query)
    assert (answer.ratio_beyond_query, answer.beyond_query) == (1.0, True)


def test_a_memory_that_says_no_more_than_the_query_proves_nothing():
    found = one("harbour pump", "the harbour pump", "harbour pump?")
    assert (found.verdict, found.ratio, found.ratio_beyond_query) == ("used", 1.0, None)
    assert not found.beyond_query


def test_beyond_the_query_is_never_more_than_used():
    """Where the answer leaves out the query's words, the rest alone does not make a memory used."""
    found = one("harbour serviced winter manual March", "In March.", "harbour serviced winter manual")
    assert (found.ratio, found.ratio_beyond_query) == (pytest.approx(0.2), 1.0)
    assert (found.verdict, found.beyond_query) == ("ignored", False)


def test_a_citation_is_use_whatever_was_said():
    for text in ("never mentioned anywhere", "no key", ""):
        found = one(text, "Nothing of it.", cited=[0], similarity=lambda *_: NAN)
        assert (found.verdict, found.evidence, found.beyond_query) == ("used", "citation", True)
    found = usage(["first memory", "second memory"], "silence", "", cited={1})
    assert [it.evidence for it in found] == ["words", "citation"]


@pytest.mark.parametrize("cited", [[1], [-1], [0, 7]])
def test_what_was_not_shown_cannot_be_cited(cited):
    with pytest.raises(ValueError, match=r"cited has -?[17], but the 1 memories"):
        one("memory", "answer", cited=cited)


@pytest.mark.parametrize(
    ("said", "near", "verdict", "evidence"),
    [
        (0, 1.0, "ignored", "words"),
        (1, 0.80, "used", "similarity"),  # both ends of the band, and the threshold, belong to it
        (1, 0.79, "ignored", "words"),
        (3, 0.90, "used", "similarity"),
        (4, 0.0, "used", "words"),  # above the band nobody asks
    ],
)
def test_a_similarity_decides_the_grey_band(said, near, verdict, evidence):
    found = one(TEN, " ".join(TEN.split()[:said]), similarity=lambda *_: near)
    assert (found.verdict, found.evidence) == (verdict, evidence)
    assert found.similarity == (near if said in (1, 3) else None)
    assert found.beyond_query == (verdict == "used")


def test_the_band_is_of_the_words_beyond_the_query():
    """An echo of the question looks like every memory on its subject; the similarity must not be asked."""
    memory = "harbour pump serviced March bearing replaced grease"
    asked = []
    echo = one(memory, "harbour pump serviced", "harbour pump serviced",
               similarity=lambda *pair: asked.append(pair) or 1.0)  # fmt: skip
    assert (asked, echo.similarity, echo.beyond_query) == ([], None, False)
    more = one(memory, "harbour pump serviced March", "harbour pump serviced", similarity=lambda *_: 0.9)
    assert (more.evidence, more.beyond_query) == ("similarity", True)
    less = one(memory, "harbour pump serviced March", "harbour pump serviced", similarity=lambda *_: 0.2)
    assert (less.verdict, less.evidence, less.beyond_query) == ("used", "words", False)


def test_it_is_given_the_memory_and_the_answer():
    asked = []
    usage([TEN, "nothing alike"], "alpha1, then", "", similarity=lambda *pair: asked.append(pair) or 0.0)
    assert asked == [(TEN, "alpha1, then")]


@pytest.mark.parametrize("value", [NAN, float("inf"), 1.2, -0.1])
def test_a_similarity_out_of_range_is_told(value):
    with pytest.raises(ValueError, match=rf"similarity gave {value} for memory 1 "):
        usage(["other words", TEN], "alpha1 alpha2", "", similarity=lambda *_: value)


def test_a_similarity_that_fails_is_told():
    def broken(text, response):
        raise TimeoutError("no model")

    with pytest.raises(ValueError, match=r"similarity failed for memory 0 .*no model") as caught:
        one(TEN, "alpha1 alpha2", similarity=broken)
    assert isinstance(caught.value.__cause__, TimeoutError)
    with pytest.raises(ValueError, match="similarity failed"):
        one(TEN, "alpha1 alpha2", similarity=lambda *_: "near")


def test_rounding_of_a_cosine_is_forgiven():
    assert one(TEN, "alpha1", similarity=lambda *_: 1.0000002).similarity == 1.0
    assert one(TEN, "alpha1", similarity=lambda *_: -1e-9).similarity == 0.0


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"used_ratio": 1.1}, "used_ratio = 1.1 is not in"),
        ({"similarity": NAN}, "similarity = nan is not in"),
        ({"grey_ratio": -0.1}, "grey_ratio = -0.1 is not in"),
        ({"used_ratio": True}, "used_ratio = True is not in"),
        ({"used_ratio": "0.3"}, "used_ratio = 0.3 is not in"),
        ({"grey_ratio": 0.4}, "grey_ratio = 0.4 is above used_ratio = 0.3"),
    ],
)
def test_a_policy_that_cannot_be(options, message):
    with pytest.raises(ValueError, match=message):
        UsagePolicy(**options)


def test_the_policy_is_followed():
    strict = UsagePolicy(used_ratio=0.5, grey_ratio=0.5, similarity=1.0)
    half = " ".join(TEN.split()[:5])
    assert one(TEN, half, policy=strict).verdict == "ignored"
    assert one(TEN, half, policy=strict, similarity=lambda *_: 1.0).evidence == "similarity"
    assert one(TEN, half, policy=replace(strict, used_ratio=0.49, grey_ratio=0.1)).verdict == "used"


LANGUAGES = {
    "German": (
        "Die Pumpe im Hafen wurde im März gewartet, das Lager ist neu.",
        "Wann wurde die Pumpe gewartet?",
        "Im März; dabei kam auch ein neues Lager in den Hafen.",
    ),
    "Russian": (
        "Насос у причала проверяет Ольга каждую вторую пятницу месяца.",
        "Кто проверяет насос?",
        "Ольга, каждую вторую пятницу месяца, прямо у причала.",
    ),
    "Greek": (
        "Η αντλία του λιμανιού συντηρείται κάθε Μάρτιο από τον Γιώργο.",
        "Πότε συντηρείται η αντλία;",
        "Κάθε ΜΆΡΤΙΟ, από τον Γιώργο.",
    ),
    "Arabic": (
        "تتم صيانة المضخة في الميناء كل خميس بواسطة المهندس كريم السعيد.",
        "متى تتم صيانة المضخة؟",
        "كل خميس، يقوم بها المهندس كريم السعيد.",
    ),
    "Hindi": (
        "बंदरगाह का पंप हर गुरुवार को इंजीनियर सुनीता जाँचती हैं।",
        "पंप कौन जाँचता है?",
        "इंजीनियर सुनीता, हर गुरुवार को।",
    ),
    "Korean": (
        "배포는 매주 목요일 오후에 하며 담당자는 김민수 씨다.",
        "배포 담당자는 누구야?",
        "담당자는 김민수 씨이고, 목요일 오후에 합니다.",
    ),
    "Chinese": (
        "潮位计的电池每半年更换一次，备用电池放在仓库第二层架子上。",
        "备用电池在哪里？",
        "放在仓库第二层架子上，每半年更换一次。",
    ),
    "Japanese": (
        "潮位計の電池は半年ごとに交換する。予備の電池は倉庫の棚の二段目にある。",
        "予備の電池はどこですか",
        "予備は倉庫の棚の二段目にあります。",
    ),
    "Thai": (
        "การจองห้องประชุมทำผ่านปฏิทิน ยกเลิกได้ก่อนหนึ่งชั่วโมง",
        "ยกเลิกห้องประชุมได้ไหม",
        "ได้ ยกเลิกผ่านปฏิทินได้จนถึงหนึ่งชั่วโมงก่อนเวลา",
    ),
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages(language):
    """Use is told from a repeated question and from an answer in another language."""
    memory, query, answer = LANGUAGES[language]
    assert one(memory, answer, query).beyond_query
    assert not one(memory, query, query).beyond_query
    for other in LANGUAGES:
        if other != language:
            assert one(memory, LANGUAGES[other][2], query).ratio < 0.1


@pytest.mark.parametrize(
    ("memory", "other"),
    [
        ("今日は会議室の予約を確認します。", "猫はソファーの上で静かに眠っています。"),
        ("服务器备份每晚两点开始，日志保存三十天。", "今天下午的天气很好，我们去公园散步吧。"),
        ("การสำรองข้อมูลเซิร์ฟเวอร์เริ่มตอนตีสองทุกคืน", "แมวสีขาวนอนหลับอยู่บนโซฟาในห้องนั่งเล่น"),
        ("서버 백업은 매일 새벽 두 시에 시작한다.", "고양이가 소파 위에서 조용히 자고 있습니다."),
    ],
)
def test_another_subject_in_the_same_language_is_ignored(memory, other):
    assert one(memory, other).verdict == "ignored"
    assert one(memory, f"{other} {memory}").verdict == "used"


TEXTS = st.text(alphabet="abcdefg press交電池はします배포목กทิพรेक0123 .", max_size=60)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_more_words_in_the_answer_never_take_a_use_away(memory, response, query, more):
    before, after = one(memory, response, query), one(memory, f"{response} {more}", query)
    assert (before.verdict, after.verdict) != ("used", "ignored")
    assert before.beyond_query <= after.beyond_query


@given(st.lists(TEXTS, max_size=5), TEXTS, TEXTS)
def test_ratios_are_shares_of_the_keywords_and_each_memory_is_judged_alone(memories, response, query):
    found = usage(memories, response, query)
    assert found == tuple(one(memory, response, query) for memory in memories)
    said, asked = keywords(response), keywords(query)
    for memory, it in zip(memories, found, strict=True):
        own = keywords(memory)
        beyond = own - asked
        assert it.keywords == len(own)
        assert it.ratio == (len(own & said) / len(own) if own else None)
        assert it.ratio_beyond_query == (len(beyond & said) / len(beyond) if beyond else None)
        assert (it.verdict == "used") == (it.ratio is not None and it.ratio > DEFAULT.used_ratio)


@given(TEXTS, TEXTS, TEXTS, TEXTS)
def test_a_longer_query_never_adds_evidence(memory, response, query, more):
    """What is found beyond the query can only become less (count, not ratio)."""
    less, longer = one(memory, response, query), one(memory, response, f"{query} {more}")
    assert longer.verdict == less.verdict
    assert longer.beyond_query <= (longer.verdict == "used")
    own = keywords(memory) & keywords(response)
    assert own - keywords(f"{query} {more}") <= own - keywords(query) <= own


M, N = "abcdefghijklmnopqrstuvwx27", "zzzzzzzzzzzzzzzzzzzzzzzzz3"


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ("", set()),
        (f"As {M} says.", {M}),
        (f"[{M}], **{N}**", {M, N}),
        (f"_{M}_ and https://memory.example/{N}?x=1", {M, N}),
        (f"see ({M}:00002)", {M, f"{M}:00002"}),  # a chunk names its memory
        (f"see {M}:00003", {M}),
        (f"see {M}:000021", {M}),
        (f"see {M}: 00002", {M}),
        (f"x{M} {M}y {M[:-1]} {M.upper()} é{M}", set()),  # whole, letter by letter
    ],
)
def test_cited_in(response, expected):
    assert cited_in(response, [M, N, f"{M}:00002"]) == expected
