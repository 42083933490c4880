"""Identifiers in questions, and texts that mention them (rule 3.11)."""

from __future__ import annotations

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.identifiers import MAX_IDENTIFIERS, identifiers, sentence


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What caused INC-4821?", ["INC-4821"]),
        ("what caused inc-4821", ["inc-4821"]),
        ("Is INC 4821 closed?", ["INC 4821"]),
        ("Is INC4821 closed?", ["INC4821"]),
        ("Who closed #4821?", ["#4821"]),
        ("Is PR #42 merged?", ["PR #42"]),
        ("Was invoice 4471 paid?", ["invoice 4471"]),
        ("Was invoice no. 4471 paid?", ["invoice no. 4471"]),
        ("Ist Rechnung 4471 bezahlt?", ["Rechnung 4471"]),
        ("Which address has Kundennummer 88412?", ["Kundennummer 88412"]),
        ("What did we ship in v2.3.1?", ["v2.3.1"]),
        ("What did we ship in version 2.3?", ["version 2.3"]),
        ("What answers at 10.0.0.12?", ["10.0.0.12"]),
        ("What does commit 9f2c1ab change?", ["9f2c1ab"]),
        ("Where is order ORD10023?", ["ORD10023"]),
        ("Where does srv-db-07 stand?", ["srv-db-07"]),
        ("Is CVE-2024-1234 fixed?", ["CVE-2024-1234"]),
        ("Who booked with code QWXZRT?", ["QWXZRT"]),
        ("Whose account is 123e4567-e89b-12d3-a456-426614174000?", ["123e4567-e89b-12d3-a456-426614174000"]),
        ("Whose number is 555-0192?", ["555-0192"]),
        ("Who called from +49 170 1234567?", ["+49 170 1234567"]),
        ("What is in commit deadbeef?", ["deadbeef"]),
        ("Whose is 00:1a:2b:3c:4d:5e?", ["00:1a:2b:3c:4d:5e"]),
        ("Is ticket 48 open, and ticket: 4822?", ["ticket 48", "ticket: 4822"]),
        ("Compare INC-4821, INC-4822 and inc-4821", ["INC-4821", "INC-4822"]),
        ("Is INC\u20114821 closed?", ["INC-4821"]),
    ],
)
def test_an_identifier_is_told_by_its_shape(question, expected):
    assert [one.text for one in identifiers(question)] == expected


@pytest.mark.parametrize(
    "question",
    [
        "Who looks after the boat?",
        "What happened on 2026-03-01, 01.03.2026, 3/1/2026 and 20260301?",
        "Did it rain on March 3rd, 2026 at 10:30am or at 5pm?",
        "What did she do in 2019, in the 1990s, in 2010-2015 and in Q3-2024?",
        "Does it cost $5,000, 300 dollars or 12345 EUR?",
        "Is 100GB, 16 GB, 1080p, 500mg, 220 V or 99.5% enough?",
        "Is the 5-year-old in a 24-hour clinic 24/7?",
        "Did she walk 10000 steps or 12,500 steps?",
        "Is COVID-19 over, and is UTF-8 or MP3 the default?",
        "What is in room 12, on page 204, in chapter 3?",
        "Mail a4821@example.com or see https://example.com/INC-4821",
        "orders 2023 and order 2023",
        "ALL IN CAPITALS IS NO CODE QWXZRT",
        "用 Kubernetes 部署 3 次",
    ],
)
def test_dates_times_amounts_and_words_are_none(question):
    assert identifiers(question) == ()


@pytest.mark.parametrize(
    ("asked", "text", "mentioned"),
    [
        ("INC-4821", "The outage INC-4821 took an hour.", True),
        ("INC-4821", "See inc 4821.", True),
        ("INC-4821", "See INC4821, please", True),
        ("INC-4821", "Fixed with #4821.", True),
        ("INC-4821", "Fixed with ticket 4821.", True),
        ("INC-4821", "INC0004821 is closed", True),
        ("INC-4821", "ORD-4821 is another matter.", False),
        ("INC-4821", "order 4821 is another matter.", False),
        ("INC-4821", "It had 4821 visitors.", False),
        ("INC-4821", "INC-48211 and INC-482", False),
        ("#4821", "The outage INC-4821.", True),
        ("#4821", "The outage INC4821.", True),
        ("#4821", "The outage INC48211, 14821 and 4821.50.", False),
        ("invoice 4471", "INV-4471 was paid.", True),
        ("invoice 4471", "Bill no. 4471 was paid.", True),
        ("invoice 4471", "The order 4471 was sent.", False),
        ("invoice 4471", "ORD-4471 was sent.", False),
        ("ticket 4821", "INC-4821 is closed.", False),
        ("v2.3.1", "Release 2.3.1 is out.", True),
        ("version 2.3", "Release 2.3.1 is out.", True),
        ("v2.3.1", "Release 2.3.10 is out, as 12.3.1 was.", False),
        ("v2.3.1", "Release 2.3 is out.", False),
        ("9f2c1ab", "Commit 9F2C1AB is it.", True),
        ("9f2c1", "Commit 9f2c1ab is it.", False),
        ("RMA-77-2291", "RMA 77/2291 came back.", True),
        ("555-0192", "Call 5550192.", True),
        ("ticket-4821", "See ticket #4821.", True),
        ("+49 170 1234567", "Call 0170 1234567 or 0171 7654321.", True),
        ("3704 0044 0532 0130 00", "It is DE89370400440532013000.", True),
        ("commit abcdef1", "It came with abcdef1.", True),
        ("00:1a:2b:3c:4d:5e", "The port 00-1A-2B-3C-4D-5E is free.", True),
        ("№4821", "ticket 4821", True),
    ],
)
def test_a_text_mentions_it_in_any_usual_spelling(asked, text, mentioned):
    (identifier,) = identifiers(f"what is {asked} about")
    assert identifier.is_in(text) == mentioned


@pytest.mark.parametrize(
    ("asked", "text", "begins"),
    [
        ("9f2c1", "Commit 9f2c1ab is it.", True),
        ("9f2c1", "Commit a9f2c1ab is it.", False),
        ("INC-482", "The outage INC-4821.", True),
        ("INC-482", "The outage INC-482.", False),
    ],
)
def test_a_longer_identifier_begins_with_it(asked, text, begins):
    (identifier,) = identifiers(f"what is {asked} about")
    assert identifier.begins_in(text) == begins


def test_only_a_hash_may_be_shortened():
    (short,), (number,) = identifiers("what is 9f2c1"), identifiers("what is INC-482")
    assert (short.may_be_short, number.may_be_short) == (True, False)


def test_a_question_has_a_bounded_number_of_them():
    asked = " ".join(f"INC-{number}" for number in range(1000, 1050))
    assert len(identifiers(asked)) == MAX_IDENTIFIERS


CODE = st.builds(
    lambda letters, digits: (letters, digits),
    st.text(string.ascii_uppercase, min_size=2, max_size=4).filter(
        lambda text: text not in ("THE", "FY", "CO")
    ),
    st.integers(3_000, 99_998).filter(lambda number: number % 1_000).map(str),
)


@given(CODE, st.sampled_from(["-", " ", "", "_", " #"]), st.sampled_from(["-", " ", "", "_", "."]))
def test_every_spelling_of_a_code_mentions_every_other(code, asked, written):
    letters, digits = code
    (identifier,) = identifiers(f"what is known of {letters}{asked}{digits}")
    assert identifier.is_in(f"We closed {letters.lower()}{written}{digits} on Friday.")
    assert not identifier.is_in(f"We closed {letters}{written}{digits}1 on Friday.")
    words = set(
        f"{letters}{written}{digits}".lower().replace("-", " ").replace("_", " ").replace(".", " ").split()
    )
    assert all(words & some for some in identifier.words)


@given(st.text(max_size=200))
def test_any_text_has_an_answer_and_what_is_found_is_printable(question):
    for identifier in identifiers(question):
        assert identifier.text.isprintable()
        assert identifier.is_in(f"It says {identifier.text} here.")


def test_the_sentence_names_all():
    assert sentence(()) == ""
    assert sentence(("INC-4821",)) == "Nothing here mentions INC-4821."
    assert sentence(("a1", "b2", "c3")) == "Nothing here mentions a1, b2 or c3."
