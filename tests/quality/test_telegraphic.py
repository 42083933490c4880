"""Telegraphic facts pass the gate's density in every combination; junk passes in none."""

# ruff: noqa: E501, SIM905 - sentences and word lists

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from telegraphic import FACTS

from slowwave.quality._lexicons import FUNCTION_WORDS, LINKING_WORDS
from slowwave.quality.density import density_parts, signal_density
from slowwave.quality.density.telegraphic import linked_share
from slowwave.quality.gate import GatePolicy

MINIMUM = GatePolicy().min_quality
LOWEST = 0.9
"""Least score of a list of facts, far above the minimum of the gate."""
JOINTS = (" ", "\n", "\n\n", "\n- ", " / ")
TERSE = (
    "Prefers dark roast coffee.", "Dog sleeps upstairs.", "Drives electric car.", "Loves hiking.",
    "Enjoys crossword puzzles.", "Kitchen faucet leaks.", "Basement floods every spring.", "Hates cilantro.",
)  # fmt: skip
WORDS = (
    "gravel spoon cloud mustard ladder violet pebble tractor whistle button carpet feather lemon gutter hinge "
    "ivory jungle kernel lobster magnet napkin oxygen parcel quartz raisin saucer turnip urchin vessel walrus"
).split()
NOUNS = "Kiesel Löffel Wolke Senf Leiter Veilchen Traktor Pfeife Knopf Teppich Feder Zitrone Rinne Elfenbein".split()
MASHED = "asdf jkl sdfg hjkl qwer poiu asdfgh lkjh zxcv fdsa dfgh uiop".split()
MENU = (
    "Home",
    "About us",
    "Products",
    "News",
    "Contact",
    "Login",
    "Privacy policy",
    "Terms of use",
    "Search",
)


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(FACTS + TERSE), min_size=2, max_size=12, unique=True), st.sampled_from(JOINTS)
)
def test_facts_pass_and_one_more_does_not_lower_the_score(facts: list[str], joint: str) -> None:
    scores = [signal_density(joint.join(facts[:count])) for count in range(1, len(facts) + 1)]
    # Abbreviations beside another language make odd letter pairs: of 15,241 facts added to lists 2 lower a
    # score, to 0.95. Nothing else falls.
    assert all(after >= min(before, LOWEST) for before, after in pairwise(scores)), scores
    assert min(scores) >= LOWEST, density_parts(joint.join(facts))
    assert density_parts(joint.join(facts))["syntax"] == 1.0


@pytest.mark.parametrize("alphabets", [("Ключи у Марины на даче.", "Flight BA 2036 on 8 June, seat 14C."),
                                       ("Ραντεβού με την Ελένη στις 7.", "Tyres 205/55 R16, winter set in the shed."),
                                       ("회의는 다음 주 화요일 오후 세 시로 옮겼다.", "Budget 2,400 for the bathroom.")])  # fmt: skip
def test_facts_in_two_alphabets_are_spelled_well(alphabets: tuple[str, str]) -> None:
    assert density_parts("\n".join(alphabets))["spelling"] == 1.0


def salad(words: list[str], sizes: tuple[int, int]) -> st.SearchStrategy[str]:
    sentence = st.lists(st.sampled_from(words), min_size=sizes[0], max_size=sizes[1])
    return sentence.map(lambda some: " ".join(some).capitalize() + ".")


def with_capitals(words: list[str]) -> st.SearchStrategy[str]:
    """Return sentences of random words, some of them with a capital anywhere."""
    word = st.tuples(st.sampled_from(words), st.booleans()).map(
        lambda one: one[0].title() if one[1] else one[0]
    )
    return st.lists(word, min_size=4, max_size=12).map(lambda some: " ".join(some) + ".")


def german(some: list[str]) -> str:
    return " ".join(some) + "."


JUNK = st.one_of(
    salad(WORDS, (4, 12)),
    salad(WORDS, (4, 12)).map(str.title),
    with_capitals(WORDS),
    st.lists(st.sampled_from(NOUNS), min_size=4, max_size=12).map(german),
    salad(MASHED, (4, 12)),
    st.lists(st.sampled_from(WORDS), min_size=6, max_size=12).map(", ".join),
    st.lists(st.sampled_from(MENU), min_size=5, max_size=9, unique=True).map(" | ".join),
)


@settings(max_examples=150, deadline=None)
@given(st.lists(JUNK, min_size=5, max_size=12), st.sampled_from(("\n", "\n\n", " ")))
def test_junk_added_to_junk_does_not_pass(pieces: list[str], joint: str) -> None:
    text = joint.join(pieces)
    assert signal_density(text) < MINIMUM, (text, density_parts(text))


@pytest.mark.parametrize(
    ("sentence", "is_linked"),
    [
        ("Retention 7 days.", True), ("Invoices to Northwind monthly.", True), ("Login through Okta.", True),
        ("Bridge code: heron.", True), ("Plays cello.", True), ("VPN drops hourly.", True),
        ("Gravel spoon cloud mustard.", False), ("Gravel Spoon Cloud Mustard.", False),
        ("gravel, spoon, cloud", False), ("GRAVEL SPOON CLOUD", False),
    ],
)  # fmt: skip
def test_a_number_a_name_a_label_or_a_verb_links_a_sentence(sentence: str, is_linked: bool) -> None:
    assert linked_share(sentence) == float(is_linked)


def test_names_link_sentences_only_beside_other_links() -> None:
    named = "The cello was lent to Ottilie by the school.\nViolin lesson Carla."
    assert linked_share(named) == 1.0
    assert linked_share("\n".join(["gravel Spoon cloud mustard", "ladder violet Pebble"] * 4)) == 0.0
    assert linked_share("\n".join(["retention 7 days", *["gravel Spoon cloud"] * 9])) < 0.2


PIECES = re.compile(r"(?<=[.!?;\u061f\u0964])\s+|\s*\n\s*")
TOKEN = re.compile(r"\w+(?:[.'\u2019:/-]\w+)*")
LINKS = FUNCTION_WORDS | LINKING_WORDS


def read_slowly(text: str) -> float:
    """Return the linked share, piece by piece and token by token, without anything remembered."""
    total = linked = named = 0
    for piece in PIECES.split(text):
        tokens = TOKEN.findall(piece)
        links = names = runs = 0
        in_name = True
        for place, token in enumerate(tokens):
            is_link = token.casefold() in LINKS or any(map(str.isdecimal, token))
            begins = re.search(r"[A-Z]{2}|[a-z][A-Z]", token) is not None
            is_name = not is_link and (token[0].isupper() if place else begins)
            links += is_link
            names += is_name
            runs += is_name and (not in_name or place == 0)
            in_name = is_name or place == 0
        links += re.search(r"\w ?: +\S", piece) is not None
        total += len(tokens)
        if links * 8 >= max(len(tokens), 2):
            linked += len(tokens)
        elif (links + (names <= 0.4 * len(tokens) and runs == 1)) * 8 >= max(len(tokens), 2):
            named += len(tokens)
    return (linked + min(named, linked * 0.5)) / total if total else 0.0


PARTS = st.sampled_from(
    [*TERSE, *WORDS[:9], "the", "7", "AB", "iOS", "Ada", "Ottilie", "x.y", "don't", "a:", ":", "key : value", "?",
     "(a)", "b,c", "d|e", "“f”", "g@h", "i–j", "k#1", ".", ";", "؟", "।", "!?", "…", "_", "²", "٣", "é\u0301", "漢字", "\u2028", "\x85", "\x1c", "İı", "ß"]
)  # fmt: skip
SPACES = st.sampled_from(
    ["", " ", "  ", "\n", " \n ", "\r\n", "\t", "\u3000", "\xa0", ". ", "; ", ": ", ".\n\n"]
)


@settings(max_examples=200, deadline=None)
@given(st.lists(st.tuples(PARTS, SPACES), max_size=30))
def test_the_fast_reading_finds_what_the_slow_one_finds(parts: list[tuple[str, str]]) -> None:
    text = "".join(part + space for part, space in parts)
    assert linked_share(text) == read_slowly(text)


def test_a_text_without_words_has_no_links() -> None:
    assert linked_share("") == linked_share("…\n\n—") == 0.0
