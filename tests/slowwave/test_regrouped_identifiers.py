"""A long number is found in another grouping, and is not said to be missing (rule 3.11)."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.index.incremental_snapshot import leave_files
from slowwave.index.number_groups import common_rows
from slowwave.scoring.ranking.identifiers import identifiers
from slowwave.scoring.ranking.regrouping import BETWEEN, edges, regrouped
from slowwave.scoring.ranking.words import stem
from slowwave.search.searcher import searcher_in

NOTES = {
    "labelled": "The kettle went back to its maker.",
    "customer": "The harbour office is customer 4477 2210 of the utility.",
    "meter": "The meter of the crane has the number 44.889.913 and hangs outside.",
    "joined": "The policy 90127734 covers storms and floods.",
    "iban": "Rent goes to DE89 3704 0044 0532 0130 00 on the first.",
    "british": "The pilot is paid to GB29NWBK60161331926819 each month.",
    "phone": "Ishbel is at +49 171 7766 8811 after six.",
    "local": "The pier's door phone is 0171/2233445.",
    "card": "The fuel card 4111-1111-2222-3333 is in the drawer.",
    "toll": "The chart maker answers at 1-800-555-2671 in summer.",
    "order": "Ropes came with ORD-5512 9034 in May.",
    "mobile": "Lena is at +49 (0) 170 1234567 at noon.",
    "glued": "The garage answers at +49170/7654321.",
    "headphones": "She bought the WH-1000XM5 for flights.",
    "licence": "The editor has the licence AB-98-XY-76.",
    "mac": "The gauge has the MAC 00:1B:44:11:3A:B7.",
    "sample": "Sample S-0412b was contaminated.",
    "arabic": "رقم التذكرة ٤٧٣٢٩ عن المصعد",
    "book": "The tide tables are ISBN 978-3-16-148410-0.",
    "van": "The van has the plate B-MW 4711.",
    "serial": "The heater has SN: 4C2F-99AB on its back.",
    "parcel": "UPS has the sails as 1Z999AA10123456784.",
    "ropes": "A phrase leads to the note on old ropes.",
}
FOUND = [
    ("who is 44772210?", "customer"), ("who is customer 44772210?", "customer"), ("4477-2210", "customer"),
    ("44.772.210", "customer"), ("whose is 4488 9913?", "meter"), ("44889913", "meter"),
    ("what is 9012 7734?", "joined"), ("what is 90.127.734?", "joined"),
    ("whose account is DE89370400440532013000?", "iban"),
    ("whose account is de89 3704 0044 0532 0130 00?", "iban"),
    ("who is paid to GB29 NWBK 6016 1331 9268 19?", "british"),
    ("who called from 017177668811?", "phone"), ("who called from (0171) 7766-8811?", "phone"),
    ("who called from +4917177668811?", "phone"), ("what is at 01712233445?", "local"),
    ("what is at +49 171 2233445?", "local"), ("where is card 4111111122223333?", "card"),
    ("who answers at 18005552671?", "toll"), ("what came with ORD-55129034?", "order"),
    ("what is 77-22913?", "ropes"), ("whose is +491701234567?", "mobile"), ("0170 1234567", "mobile"),
    ("01701234567", "mobile"), ("who is +49 (0) 170 7654321?", "glued"), ("01707654321", "glued"),
    ("whose is WH1000XM5?", "headphones"), ("what is AB98XY76 for?", "licence"), ("ab98xy76", "licence"),
    ("what is 001b44113ab7?", "mac"), ("what was s0412b?", "sample"), ("ticket 47329", "arabic"),
    ("ISBN 9783161484100", "book"), ("who drives B-MW4711?", "van"), ("what has serial 4C2F99AB?", "serial"),
    ("where is 1Z 999 AA1 0123 4567 84?", "parcel"),
    ("what is QR55TZ19?", "labelled"), ("what is rma903127?", "labelled"),
]  # fmt: skip
MISSING = [
    "who is 44772211?", "4477-2211", "44.772.211", "whose account is DE89370400440532013001?",
    "whose is +491701234568?", "whose is WH1000XM4?", "what is AB98XY77?",
    "ISBN 9783161484101", "who drives B-MW4712?", "what has serial 4C2F99AC?",
    "where is 1Z 999 AA1 0123 4567 85?", "where is card 4111111122223334?",
    "who called from 017177668812?", "who is 447722101?",
]  # fmt: skip


@pytest.fixture(params=["snapshot", "table", "file"])
def memory(request, open_memory):
    memory = open_memory(store={"snapshot_mb": 0 if request.param == "table" else 64}, gate={"mode": "off"})
    phrases = {
        "ropes": {"trigger_phrases": ["RMA 77 2291 3"]},
        "labelled": {"tags": ["QR-55-TZ-19", "RMA-903-127"]},
    }
    memory.save_many([{"content": text, "key": key, **phrases.get(key, {})} for key, text in NOTES.items()])
    if request.param == "file":
        leave_files(memory.store, 2**26, fewest=1)
    return memory


def test_another_grouping_is_found_and_a_missing_number_is_said(memory):
    for query, key in FOUND:
        found = memory.search(query, limit=3)
        assert (query, found.unknown) == (query, ())
        if key != "ropes":
            assert key in [result.source for result in found], query
    for query in MISSING:
        assert len(memory.search(query, limit=3).unknown) == 1, query


def test_what_the_caller_may_not_see_is_missing_in_any_grouping(open_memory):
    memory = open_memory(gate={"mode": "off"})
    memory.save("The safe has the number 4477 2210.", sensitivity="secret", aliases=["5588-3321"])
    gone = memory.save("The old safe had the number 6699 4432.")
    memory.forget(gone.memory_id)
    open_memory("bob").save("Bob's safe has the number 7700 5543.")
    for number in ("44772210", "55883321", "66994432", "77005543"):
        assert memory.search(f"what is {number}?").unknown == (number,)
    assert memory.search("what is 44772210?", sensitivity="secret").unknown == ()


@given(st.from_regex(r"[1-9]\d{8,14}", fullmatch=True), st.data())
@settings(max_examples=60, deadline=None)
def test_any_groups_of_two_to_eight_are_one_number(digits, data):
    """The words of the first and the last group are among those that are looked up."""
    groups, rest = [], digits
    while rest:
        size = data.draw(st.integers(2, min(8, len(rest)))) if len(rest) > 3 else len(rest)
        size = len(rest) if len(rest) - size == 1 else size
        groups.append(rest[:size])
        rest = rest[size:]
    separator = data.draw(st.sampled_from([" ", "-", ".", "/"]))
    text = f"It is {separator.join(groups)} since May."
    asked = next(iter(identifiers(f"what is {digits}?")), None)
    if asked is None or not asked.joined or len(groups) < 2:  # 4477221000 is a round number
        return
    assert asked.is_regrouped_in(text)
    first, last = edges(asked.joined)
    if len(groups[0]) <= 8 and len(groups[-1]) <= 8:
        assert groups[0] in first
        assert groups[-1] in last
    assert not asked.is_regrouped_in(text.replace(groups[-1], groups[-1][:-1] + str(9 - int(groups[-1][-1]))))


@pytest.mark.parametrize(
    ("characters", "code", "joined"),
    [
        ("4477221", "", "4477221"), ("447722", "", ""), ("4477221", "ord", "ord4477221"), ("9f2c159", "", ""),
        ("GB29NWBK60161331926819", "", "gb29nwbk60161331926819"), ("1" * 41, "", ""),
    ],
)  # fmt: skip
def test_which_identifiers_may_be_grouped(characters, code, joined):
    assert regrouped(characters, code) == joined


def test_the_separators_and_the_rows_of_both_groups():
    assert BETWEEN.join("12") == "1[ ./:()_-]{0,2}2"
    rows = common_rows([np.array([1, 5]), np.array([7])], [np.array([5, 9]), np.array([1, 5])])
    assert rows.tolist() == [1, 5]
    assert common_rows([np.array([1])], []).tolist() == []


def test_words_with_digits_have_the_terms_of_the_index(memory):
    """Their terms are computed here; those of the table are the same."""
    channels, sample = searcher_in(memory._space)._channels("ada"), random.Random(7)
    if not hasattr(channels, "vocabulary"):
        return
    letters = "0123456789abcdefingsyed"
    words = ["".join(sample.choices(letters, k=sample.randint(2, 39))) for _ in range(500)]
    words = [word for word in words if any(map(str.isdigit, word))]
    assert channels.vocabulary._terms_of(words, channels.table) == [stem(word) for word in words]
