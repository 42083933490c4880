"""Fast forms of what every search does to its texts equal the plain forms."""

from __future__ import annotations

import re
from itertools import combinations

from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.divergence.lexicon_numbers import CARDINALS, WEEKDAY_KEYS
from slowwave.quality.outdated.statements import may_have_value
from slowwave.scoring.ranking.duplicates import duplicates
from slowwave.scoring.ranking.words import coverage, is_function_word, stem, stems, words

PLAIN_HINT = re.compile(
    r"\d|\w,? [A-ZÀ-ÞΑ-ΫА-Я][^\W\d_]|"
    + "|".join(rf"\b{word}\b" for word in (*WEEKDAY_KEYS, *CARDINALS) if word not in {"one", "hundred"})
)
ascii_text = st.text(st.characters(max_codepoint=127), max_size=60)
pieces = st.sampled_from(
    [
        "a",
        "B",
        "Ä",
        "ß",
        "x, ",
        ",",
        " ",
        "_",
        "7",
        " Bc",
        "two",
        "monday",
        "Monday",
        "-",
        "\n",
        "Α",
        "д",
        "Д ",
    ]
)
sentence = st.lists(pieces, max_size=12).map("".join) | st.text(max_size=20)


@given(sentence)
def test_a_sentence_that_may_have_a_value(text: str) -> None:
    assert may_have_value(text) == bool(PLAIN_HINT.search(text))


@given(ascii_text)
def test_words_of_an_ascii_text(text: str) -> None:
    assert words(text) == tuple(re.findall(r"\w+", text.lower()))


phrase = st.lists(
    st.sampled_from(["the", "boat", "boats", "Dying", "die", "not", "naïve", "船", "at", "9"]),
    max_size=8,
).map(" ".join)


@given(phrase, st.lists(phrase, max_size=4))
def test_share_of_the_query_in_texts(query: str, texts: list[str]) -> None:
    asked = stems(query)

    def plain(text: str) -> float:
        own = {stem(word) for word in words(text) if not is_function_word(word)}
        return len(asked & own) / len(asked) if asked else 0.0

    spaced = [text for text in texts if "船" not in text]
    assert coverage(asked, spaced) == [plain(text) for text in spaced]


said = st.lists(
    st.sampled_from(["boat", "Boat,", "boat.", "  ", "at the very long pier", "C++", "C", "-5"]), max_size=4
).map(lambda words: " ".join(["The boat lies at the pier,", *words]))
rows = st.lists(
    st.tuples(st.integers(0, 4), st.integers(0, 1), said, st.sampled_from(["", "A", "a"])), max_size=8
)


@given(rows)
def test_duplicates_of_every_pair(found: list[tuple[int, int, str, str]]) -> None:
    """Memories with one chunk each, whose first characters are the same."""
    names = [str(at) for at in range(len(found))]
    got = duplicates(names, [row[1] for row in found], [1] * len(found), [row[2] for row in found],
                     [row[3] for row in found])  # fmt: skip

    def form(text: str) -> tuple[str, ...]:
        return tuple(word.rstrip(".,;:!?") for word in text.casefold().split())

    same = {
        (a, b)
        for (a, first), (b, second) in combinations(zip(names, found, strict=True), 2)
        if (first[1], form(first[2]), form(first[3])) == (second[1], form(second[2]), form(second[3]))
    }
    assert got == {b: min(a for a, other in same if other == b) for _, b in sorted(same)}
