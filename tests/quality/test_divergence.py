from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.quality.divergence import lexicon_small
from slowwave.quality.divergence.comparing import compare, divergence
from slowwave.quality.divergence.difference import Difference, contradicts, explain, says_more
from slowwave.quality.divergence.subject import Subject, same_subject
from slowwave.quality.divergence.tokens import traits

SAME = [
    # Typography, case, layout
    ("The  Door is\nOPEN.", "the door is open"),
    ("**The** `door` is _open_ — now!", "The door is open - now"),
    ("“It’s fine”, she said…", '"It\'s fine", she said...'),
    ("ｆｕｌｌ ｗｉｄｔｈ １２", "full width 12"),
    ("1. first point\n2. next point", "- first point\n- next point"),
    ("cafe\u0301", "café"),
    # Quantities
    ("It cost 1,000 dollars", "It cost $1000"),
    ("Two dogs", "2 dogs"),
    ("twenty-one men", "21 men"),
    ("a fee of $1.1 billion", "a fee of $1,100,000,000"),
    ("Budget: €2.5M", "Budget: 2,500,000 euros"),
    ("tea and coffee, milk or water", "coffee and tea, water or milk"),
    ("> quoted text", "* quoted text"),
    ("1 km away", "1000 m away"),
    ("It took 90 minutes", "It took 90 min"),
    ("the 3rd floor", "the third floor"),
    ("One man sleeps", "A man sleeps"),
    # Dates and times
    ("due 2 March 2026", "due 2026-03-02"),
    ("due March 2, 2026", "due 2nd of March, 2026"),
    ("due 31.12.2026", "due 12/31/2026"),
    ("at 3 pm", "at 15:00"),
    ("at 12:05 a.m.", "at 0:05"),
    ("on Tue", "on Tuesday"),
    # Words
    ("A man is playing a flute", "A flute is being played by a man"),
    ("The colours of the centre", "the colors of the center"),
    ("The children were eating", "A kid eats"),
    ("The U.S. Senate", "the US Senate"),
    ("the back pack", "the backpack"),
    ("He does not have a key", "He doesn't have a key"),
    ("see https://example.org/a/", "see http://www.example.org/a"),
]

DIFFERENT = [
    ("number", "Lyness sensor zero 2.184 m", "Lyness sensor zero 2.148 m"),
    ("number", "the year 1999", "the year 2001"),
    ("number", "Three dogs", "Two dogs"),
    ("number", "the first door", "the second door"),
    ("number", "Python 3.1", "Python 3.10"),
    ("number", "prod uses 8080, dev uses 9090 here", "prod uses 8080, dev uses 8080"),
    ("number", "会议在2026年", "会议在2027年"),
    ("number", "at -5 degrees", "at 5 degrees"),
    ("unit", "a file of 5 GB", "a file of 5 MB"),
    ("unit", "5 km away", "5 m away"),
    ("date", "due 2026-03-02", "due 2026-03-03"),
    ("date", "due 2 March 2026", "due 2 April 2026"),
    ("date", "on Thursday", "on Friday"),
    ("date", "due 3/4/2026", "due 4/3/2026"),
    ("time", "at 3 pm", "at 3 am"),
    ("version", "needs 3.8.2", "needs 4.1.0"),
    ("version", "needs v2", "needs v3"),
    ("identifier", "set max_retries", "set max_tries"),
    ("identifier", "call getItem", "call getItems"),
    ("identifier", "pass --force now", "pass --forward now"),
    ("identifier", "commit 3f9c2ab81", "commit 3f9c2ab18"),
    ("identifier", "see ABC-123", "see ABC-124"),
    ("identifier", "mail ada@example.org", "mail bob@example.org"),
    ("url", "see https://example.org/a", "see https://example.org/b"),
    ("path", "edit /etc/app/a.conf", "edit /etc/app/b.conf"),
    ("negation", "The door is open", "The door is not open"),
    ("negation", "He drinks milk", "He never drinks milk"),
    ("negation", "They can swim", "They can't swim"),
    ("negation", "Somebody is here", "Nobody is here"),
    (
        "negation",
        "The tests are not slow and the build is broken",
        "The tests are slow and the build is not broken",
    ),
    ("negation", "Das ist gut", "Das ist nicht gut"),
    ("negation", "Это хорошо", "Это не хорошо"),
    ("entity", "We met in Berlin", "We met in Hamburg"),
    ("word", "a black dog", "a white dog"),
    ("word", "He plays the trumpet", "He plays the saxophone"),
    ("word", "The man sleeps", "The man dances"),
    ("word", "a locked door", "an unlocked door"),
    ("word", "The lamp is on", "The lamp is off"),
    ("word", "wait inside the inside door", "wait outside the inside door"),
    ("qualifier", "You must restart", "You may restart"),
    ("word", "She called", "He called"),
    ("word", "a white and a black dog", "a white and a white dog"),
    ("entity", "Look at sensor A again", "Look at sensor B again"),
    ("addition", "The meeting is in Berlin", "The meeting is in Berlin upstairs near reception"),
    ("order", "The dog chases the cat", "The cat chases the dog"),
    ("order", "Ada prefers tea over coffee", "Ada prefers coffee over tea"),
    ("order", "Moved from Tuesday to Thursday", "Moved from Thursday to Tuesday"),
    ("qualifier", "it holds that x = y", "it holds that x != y"),
    ("word", "Backup ✅", "Backup ❌"),
    ("identifier", "written in C++", "written in C#"),
    ("negation", "Le chat est noir", "Le chat n'est pas noir"),
    ("order", "The dog chases the cat", "The dog is chased by the cat"),
    ("order", "Sensor Q reads 5 and sensor R reads 7", "Sensor Q reads 7 and sensor R reads 5"),
    ("word", "我喜欢红色", "我喜欢绿色"),
    ("negation", "我喜欢红色", "我不喜欢红色"),
    ("word", "犬が好きです", "猫が好きです"),
    ("word", "ฉันชอบแมว", "ฉันชอบหมา"),
    ("word", "الكلب أسود", "الكلب أبيض"),
    ("word", "Ο σκύλος κοιμάται", "Ο γάτος κοιμάται"),
    ("word", "मुझे चाय पसंद है", "मुझे कॉफी पसंद है"),
]


@pytest.mark.parametrize(("left", "right"), SAME)
def test_what_says_the_same_has_no_difference(left: str, right: str) -> None:
    assert divergence(left, right) == ()


@pytest.mark.parametrize(("kind", "left", "right"), DIFFERENT)
def test_a_difference_that_matters_is_named(kind: str, left: str, right: str) -> None:
    assert kind in {one.kind for one in divergence(left, right)}


def test_spans_point_into_the_text_as_written() -> None:
    left, right = "Ｔｈｅ café\u200b costs ½ of 7 €", "The cafe\u0301 costs ½ of 8 €"
    (found,) = divergence(left, right)
    assert [left[start:end] for start, end in found.left_at] == list(found.left) == ["7 €"]
    assert [right[start:end] for start, end in found.right_at] == list(found.right) == ["8 €"]


def test_explain_is_one_line() -> None:
    found = divergence("The black rod is\n2.184 m long", "The white rod is\n2.148 m long")
    assert explain(found) == "number: 2.184 m / 2.148 m; word: black / white"
    assert explain(()) == ""


@pytest.mark.parametrize(
    ("left", "right", "exchanged", "more"),
    [
        ("We deploy on Tuesday", "We deploy on Friday", True, None),
        ("We deploy", "We do not deploy", True, None),
        ("We deploy on Tuesday at 15:00", "We deploy on Tuesday", False, None),
        ("We deploy apples", "We deploy apples to Berlin", False, None),
        ("We deploy apples", "We deploy apples. They are from Berlin.", False, "right"),
        ("In winter the road is closed", "The road is closed", False, None),
        ("The road is closed", "The road is closed at night", False, None),
        ("The son of the mayor was arrested", "The mayor was arrested", False, None),
        ("due March 2", "due 2 March 2026", False, "right"),
        ("We deploy", "we deploy", False, None),
    ],
)
def test_an_exchange_is_told_from_saying_more(
    left: str, right: str, exchanged: bool, more: str | None
) -> None:
    found = divergence(left, right)
    assert contradicts(found) is exchanged
    assert says_more(found) == more


def _about(text: str, title: str = "", source: str = "") -> Subject:
    return Subject(title, source, traits(text))


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (_about("We deploy on Tuesday"), _about("We deploy on Thursday since March"), True),
        (_about("Project Heron uses port 8080"), _about("Project Heron uses port 9090"), True),
        (_about("The key hangs left", "Cellar key"), _about("The key hangs right", "Cellar key"), True),
        (_about("Deploys run on Tuesday", "a", "x.md"), _about("Deploys run on Friday", "a", "x.md"), True),
        (_about("Lyness A sensor zero 2.184 m"), _about("Lyness B sensor zero 2.148 m"), False),
        (_about("Sensor zero 2.184 m now", "Lyness A"), _about("Sensor zero 2.148 m now", "Lyness B"), False),
        (
            _about("Gets the item at 5.1", "Get-Item", "5.1/Get-Item.md"),
            _about("Gets the item at 7.5", "Get-Item", "7.5/Get-Item.md"),
            False,
        ),
        (_about("Three men play", "Notes"), _about("Two men play", "Notes"), False),
        (_about("Three men play"), _about("Two men play"), False),
        (_about("Call Ada at 5 now"), _about("Paint the shed at 6 now"), False),
        (_about(""), _about(""), False),
    ],
)  # fmt: skip
def test_same_subject_needs_good_reasons(left: Subject, right: Subject, expected: bool) -> None:
    assert same_subject(left, right) is expected
    assert same_subject(right, left) is expected


ALPHABETS = st.one_of(
    st.text(),
    st.text("ab A1.,:-/\\_'\"`*#\n 9mnisk€$%°µμİıßſ٣Ａ不\u0301\u200b"),
    st.lists(
        st.sampled_from(
            [
                "no",
                "not",
                "A",
                "a",
                "one",
                "Two",
                "3",
                "pm",
                "3.10",
                "12:30",
                "May",
                "2026",
                "2026-03-02",
                "v1.2",
                "-5",
                "km",
                "$",
                "5",
                "GB",
                "getItem",
                "max_x",
                "/a/b.c",
                "the",
                "dog",
                "cat",
                "chases",
                "by",
                "is",
                "US",
                "us",
                "我",
                "不",
                "ません",
                "не",
                "é",
                "½",
                "٣",
                "®",
                "\u200b",
            ]
        )
    ).map(" ".join),
)


def _swapped(found: Sequence[Difference]) -> list[Difference]:
    return [Difference(one.kind, one.right, one.left, one.right_at, one.left_at) for one in found]


@pytest.mark.slow
@settings(max_examples=80, deadline=None)
@given(ALPHABETS, ALPHABETS)
def test_symmetric_and_never_raises(left: str, right: str) -> None:
    found = divergence(left, right)
    assert list(divergence(right, left)) == _swapped(found)
    for one in found:
        assert [left[start:end] for start, end in one.left_at] == list(one.left)
        assert explain([one])


@settings(max_examples=80, deadline=None)
@given(ALPHABETS)
def test_reflexive(text: str) -> None:
    assert compare(traits(text), traits(text + "")) == ()
    assert compare(traits(text + " "), traits(text)) == ()


@settings(max_examples=80, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "The",
                "dog",
                "In",
                "Berlin",
                "may",
                "US",
                "Anna",
                "3",
                "PM",
                "5",
                "km",
                "not",
                "it",
                "Sun",
                "a",
                "éclair",
                "Straße",
                "кот",
            ]
        )
    )
)
def test_case_and_white_space_do_not_matter(words: list[str]) -> None:
    text = " ".join(words)
    assert divergence(text, text.upper()) == ()
    assert divergence(text, text.lower()) == ()
    assert divergence(text, "\n  ".join(words)) == ()


@pytest.mark.parametrize(
    "text", ["5 µs", "5 μm", "5 ΜS", "3 aprİl", "mılyon 3 mİllİon", "5 mİn", "fİve ſeconds", "5 K"]
)
def test_letters_with_odd_capitals_are_read(text: str) -> None:
    assert divergence(text, text + " ") == ()


def test_lone_surrogates_and_controls_are_harmless() -> None:
    assert divergence("\ud800 a\x00b", "\ud800 a\x00b \udfff") == ()


def test_every_character_is_looked_at_a_bounded_number_of_times() -> None:
    short, long = (
        "".join(f"The pump A{at} failed on 2026-03-02 at 15:00. " for at in range(n)) for n in (12, 1_200)
    )
    assert len(traits(long).tokens) == 100 * len(traits(short).tokens)
    changed = long.replace("15:00", "15:01", 1)
    assert len(long) > 50_000
    # One place of many: as often as before less one, hence a difference only where both sides count.
    assert [one.kind for one in divergence(long, changed)] == ["time"]


@pytest.mark.timeout(10)
@pytest.mark.parametrize("piece", ["a", "a.", "a-", "/", "1,", "1.", "-", "a@", "a/", "'a", "_", "no ", "é"])
def test_no_text_makes_the_scan_quadratic(piece: str) -> None:
    traits(piece * 20_000)


FACT = "Ishbel answers the night phone in odd weeks and Ruaridh takes it in even weeks."


@pytest.mark.parametrize(
    ("merged", "other"), [(f"{FACT}\n{FACT} Yes.", f"{FACT} So."), (f"{FACT}\n{FACT} So.", FACT)]
)
def test_a_sentence_that_a_merge_repeats_is_said_once(merged: str, other: str) -> None:
    assert {one.kind for one in divergence(merged, other)} <= {"addition"}
    assert divergence(merged, merged.replace("odd", "even")) != ()


def test_steps_that_are_repeated_count() -> None:
    assert divergence("Press A. Press B. Press A.", "Press A. Press B.") != ()


WINDOW = "The window is closed at night by whoever leaves last."
OPEN = WINDOW.replace("closed", "open")
CACHE = "The cache is cleared every day at noon."


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (f"Kitchen:\n{WINDOW}\nAttic:\n{WINDOW}", f"Kitchen:\n{WINDOW}\nAttic:"),
        (f"Kitchen:\n{WINDOW}\nCellar:\n{WINDOW}", f"Kitchen:\n{WINDOW}\nCellar:\n{OPEN}"),
        (f"{WINDOW}\nThen wait.\n{WINDOW}", f"{WINDOW}\nThen wait."),
        (f"{WINDOW}\n{WINDOW}", WINDOW),
        (f"Prod:\n{CACHE}\nTest:\n{WINDOW}", f"Prod:\n{WINDOW}\nTest:\n{CACHE}"),
        (f"## Prod\n{CACHE}\n## Test\n{WINDOW}", f"## Prod\n{WINDOW}\n## Test\n{CACHE}"),
    ],
)  # fmt: skip
def test_what_stands_under_a_heading_belongs_to_it(one: str, other: str) -> None:
    assert divergence(one, other) != ()
    assert divergence(other, one) != ()


def test_phrases_are_read_whole() -> None:
    assert {"each other", "one another", "along with"} <= {
        " ".join(text.split()) for text in lexicon_small._PHRASES[""].split(";")
    }
