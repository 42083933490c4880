"""Identifiers in questions, and texts that mention them (rule 3.11)."""

from __future__ import annotations

import string
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.identifiers import (
    MAX_IDENTIFIERS,
    identifiers,
    possible_identifiers,
    sentence,
)


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
        ("Python 3.11?", ["Python 3.11"]),
        ("Is python 3.11 a requirement?", ["python 3.11"]),
        ("¿Usamos Postgres 16.2?", ["Postgres 16.2"]),
        ("Does anybody run Frobnicator 4.2 here?", ["Frobnicator 4.2"]),
        ("Where is seat 14C?", ["seat 14C"]),
        ("Wer hat Sitzplatz 14c?", ["Sitzplatz 14c"]),
        ("Is it gate B42?", ["gate B42"]),
        ("¿Es la puerta B42?", ["puerta B42"]),
        ("Who meets in room 3.07?", ["room 3.07"]),
        ("Where are the keys of flat 23?", ["flat 23"]),
        ("Wer sitzt in Zimmer 12?", ["Zimmer 12"]),
        ("Wer ist in Raum B-105?", ["Raum B-105"]),
        ("Is locker 214 mine?", ["locker 214"]),
        ("What is № 4822?", ["#4822"]),
        ("Wann kam die Rechnung F-2026/091?", ["F-2026/091"]),
        ("Is F2026/0091 paid?", ["F2026/0091"]),
        ("What was the budget of FY2025/26, and in 2026/110?", []),
        ("What is doi 10.1038/s41586-020-2649-2 about?", ["10.1038/s41586-020-2649-2"]),
        ("Where did I cite arXiv:2103.00020v2?", ["2103.00020v2"]),
        ("Which host is 2001:db8::8a2e:370:7334?", ["2001:db8::8a2e:370:7334"]),
        ("What came of case 1:21-cv-04567?", ["1:21-cv-04567"]),
        ("Wer vertritt uns in 5 O 123/22?", ["5 O 123/22"]),
        ("Was sagt VIII ZR 15/20 dazu?", ["VIII ZR 15/20"]),
        ("Whose car is AB12 CDE?", ["AB12 CDE"]),
        ("What does error E-25 mean?", ["E-25"]),
        ("Is mum on flight LH 1984?", ["LH 1984"]),
        ("Where is the car with plate GF 318 ZK?", ["GF 318 ZK"]),
        ("¿De quién es la matrícula 4182 LBM?", ["4182 LBM"]),
        ("What is n° 4822?", ["#4822"]),
        ("Is No. 4822 paid, or Nr. 4823?", ["No. 4822", "Nr. 4823"]),
        ("what caused inc 4822", ["inc 4822"]),
        ("工单4822的原因是什么?", ["工单4822"]),
        ("チケット4822は?", ["チケット4822"]),
        ("क्या चालान 4822 का भुगतान हुआ?", ["चालान 4822"]),
        ("هل تم دفع فاتورة 4822؟", ["فاتورة 4822"]),
        ("Compare INC-4821/4822", ["INC-4821", "INC-4822"]),
        ("Compare INC-48211, 48212", ["INC-48211", "INC-48212"]),
        ("¿INC 4821 y 4822?", ["INC 4821", "INC 4822"]),
        ("Are invoices 4471 and 4472 paid?", ["invoices 4471", "invoices 4472"]),
        ("Is ticket 4821 a duplicate?", ["ticket 4821"]),
        ("Ist Rechnung 4471 am Montag bezahlt?", ["Rechnung 4471"]),
        ("Who is +49 (0) 170 1234567?", ["+49 (0) 170 1234567"]),
        ("Who is +491701234567?", ["+491701234567"]),
        ("Whose is 06 12 34 56 99?", ["06 12 34 56 99"]),
        ("Where is the WH 1000XM5?", ["WH 1000XM5"]),
        ("Who has the plate B-MW 4712?", ["B-MW 4712"]),
        ("Wer löste das INC-4811-Problem?", ["INC-4811"]),
        ("Is the OPS-118-related outage over?", ["OPS-118"]),
        ("Do we run v2.4.1-rc4?", ["v2.4.1-rc4"]),
        ("Who has seat 5D?", ["seat 5D"]),
        ("Which bearing is 6205-2RS?", ["6205-2RS"]),
        ("Where is 1Z 999 AA1 0123 4567 85?", ["1Z 999 AA1 0123 4567 85"]),
        ("When does LH 2044 leave?", ["LH 2044"]),
        ("Which machine is serial no. 7020 3318 46?", ["7020 3318 46"]),
        ("Was war mit Rechnung 2026/0418?", ["2026/0418"]),
        ("What did we book with QXT7RL?", ["QXT7RL"]),
        ("Which hotel is booking code QXRTTL?", ["QXRTTL"]),
        ("Welche Firmware war 1.0.83?", ["1.0.83"]),
        ("Was ist die CVE-2024-31497-Lücke?", ["CVE-2024-31497"]),
        ("status of https://jira.example/browse/BILL-2219 please", ["BILL-2219"]),
        ("what does https://example.com/tide/issues/1178 say?", ["1178"]),
        ("ما هي التذكرة ٤٧٣٢٨؟", ["٤٧٣٢٨"]),
        ("whose is 001b.4411.3ab8?", ["001b.4411.3ab8"]),
        ("who is customer 104.882.17?", ["104.882.17"]),
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
        "What is on page 204, in chapter 3, in room 3?",
        "Mail a4821@example.com or see https://example.com/INC-4821",
        "orders 2023 and order 2023",
        "ALL IN CAPITALS IS NO CODE QWXZRT",
        "用 Kubernetes 部署 3 次",
        "Is it GPT-4, iPhone 15, MP3, B2B, 4K, H2O, A4 paper, 5G or Windows 11?",
        "Was it 3.11 euros, on 3.11 or 3.11 %?",
        "Am Montag 3.11. oder im Mai 3.12?",
        "Is Claude 3.5 better than GPT 4.1 or Llama 3.1?",
        "Was steht in Kapitel 2.3, und war die Note 1.7?",
        "Does the hall seat 350, or did we order 300 chairs?",
        "Is my level B2, and is my grade in John 3.16?",
        "订单 300 个, チケット300枚",
        "Did it answer HTTP 404 on an F-150?",
        "we paid 300 there and walked 412",
        "Kostet das Menü 12.50, oder die Pizza 9.50?",
        "Is the desk 1.20 wide, and was the room 89.50 a night?",
        "Was it USD100, a 100Mbps line, #FF8800, AES-256, 10:00 GMT-5 or an M8x40 screw?",
        "Is it in 75011 Paris or under zip code 10115?",
        "Is it a 2024-Q3 plan, a COVID-19-related delay or a desk 4k screen?",
        "Did the pump run at 12:34:56?",
        "Which flight did we take in 2019?",
        "Did the car of MIT 1987 win?",
        "Is the ratio 3:2:1?",
        "Where do I use std::vector?",
        "Are there 3 Bilder from 10/24?",
        "Is vitamin E 400 in it?",
        "Did it cost $48210?",
        "Is the screen 1920x1080?",
        "Are there 1,234,567 rows?",
        "Is it at 10:30?",
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
        ("ticket 4821", "INC-4821 is closed.", True),
        ("flat 23", "The keys of Wohnung 23 hang in the hall.", True),
        ("flat 23", "The keys of flat 12 hang in the hall.", False),
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
        ("ticket 4821", "OPS-4821 is closed.", True),
        ("ticket 4821", "ORD-4821 is sent.", False),
        ("customer 20017", "Der Kunde K-20017 zieht um.", True),
        ("customer 20017", "ORD-20017 is late.", False),
        ("order 4711", "SO-4711 is late.", True),
        ("order 4711", "INC-4711 is closed.", False),
        ("K-20017", "customer 20017", True),
        ("K-20017", "order 20017", False),
        ("flight 441", "LH441 leaves at noon.", True),
        ("inc 4822", "INC-4822", True),
        ("inc 4822", "OPS-4822", False),
        ("№ 4822", "Form no. 4822", True),
        ("INC-4821", "Fixed with ticket no. 4821.", True),
        ("INC-4821", "Sent with order no. 4821.", False),
        ("INC-4822", "INC-4821/4822", True),
        ("INC-4822", "INC-4820, 4821, 4822 and 4823", True),
        ("INC-4822", "INC-4821,4822,4823", True),
        ("INC-4821", "INC-4821,4822,4823", True),
        ("INC-4822", "INC-4821 und 4822", True),
        ("INC-4822", "INC-4821、4822", True),
        ("INC-4822", "tickets 4821 and 4822", True),
        ("INC-4822", "ORD-4821/4822", False),
        ("INC-4822", "invoices 4821 and 4822", False),
        ("INC-4822", "INC-4821 took 4822 minutes", False),
        ("WH1000XM5", "WH-1000XM5", True),
        ("WH1000XM5", "WH-1000XM4", False),
        ("AB12CD34", "AB-12-CD-34", True),
        ("AB-12-CD-34", "ab12cd34", True),
        ("AB12CD34", "AB-12-CD-34-5", False),
        ("K7QX22MN", "K7QX-22MN", True),
        ("RMA772291", "RMA-77-2291", True),
        ("INV-2024-0042", "INV20240042", True),
        ("+491701234567", "+49 (0) 170 1234567", True),
        ("+491701234567", "0170 1234567", True),
        ("0170 1234567", "+49 (0)170 1234567", True),
        ("+49 (0) 170 1234567", "01701234567", True),
        ("+33612345699", "06 12 34 56 99", True),
        ("+491701234567", "0170 1234568", False),
        ("Python 3.11", "Tested with Python 3.10, 3.11 and 3.12.", True),
        ("Python 3.11", "python3.11", True),
        ("Python 3.11", "Django 3.11", False),
        ("Python 3.11", "Python 3.10 and Django 3.11", False),
        ("Python 3.11", "We moved Python on Ubuntu to 3.11.", True),
        ("Python 3.11", "Python cost 3.11 euros.", False),
        ("Python 3.11", "Python 3.1 and 3.110", False),
        ("Kubernetes 1.29", "k8s 1.29.3", True),
        ("seat 14C", "Sitz 14-C", True),
        ("seat 14C", "seat 14D", False),
        ("seat 7A", "Sitz 07A", True),
        ("gate A09", "Gate A9", True),
        ("seat 7A", "seat 17A", False),
        ("gate B42", "gate 42", False),
        ("INV 2024 0042", "INV20240042", True),
        ("HG7K-29LM", "HG7K29LM", True),
        ("room 3.07", "Raum 3.07", True),
        ("room 3.07", "3.07 euros", False),
        ("B-MW4711", "The van has the plate B-MW 4711.", True),
        ("B-MW 4711", "plate b mw 4711", True),
        ("B-MW 4711", "plate B-MW 47112", False),
        ("INC-4810-Problem", "Ticket 4810 was closed.", True),
        ("4C2F99AB", "SN: 4C2F-99AB", True),
        ("1Z 999 AA1 0123 4567 84", "with 1Z999AA10123456784", True),
        ("v2.4.1-rc3", "staging has 2.4.1rc3", True),
        ("v2.4.1-rc3", "staging has 2.4.1-rc4", False),
        ("v2.4.1-rc3", "staging has 2.4.1", False),
        ("6205-2RS", "the bearing 6205 2RS", True),
        ("62052RS", "the bearing 6205-2RS", True),
        ("V00983312", "the contract V0098-3312", True),
        ("s0412b", "Sample S-0412b was contaminated.", True),
        ("0306406152", "ISBN 0-306-40615-2", True),
        ("001b44113ab7", "MAC 00:1B:44:11:3A:B7", True),
        ("3f2b8c1e77aa4d109b6e51c0de9a4417", "3f2b8c1e-77aa-4d10-9b6e-51c0de9a4417", True),
        ("104.882.17", "customer 104-882-17", True),
        ("policy 4410982", "policy HR-77/4410982", True),
        ("ticket 47329", "رقم التذكرة ٤٧٣٢٩", True),
        ("ticket ४७३२९", "ticket 47329", True),
        ("invoice 4471", "The plumber is at +49 171 4471 802.", False),
        ("invoice 4471", "Paid to DE89 3704 4471 0532 0130 00.", False),
        ("invoice 4471", "Invoice 4471 (2026-03-01) was paid.", True),
        ("invoice 4471", "04.03.2026 4471 paid", True),
        ("invoice 4471", "2026-03-04 4471 paid", True),
        ("invoice 4471", "Open invoices: 4469 4470 4471 4472", True),
        ("12AB12", "12-AB-12", True),
        ("10.1038/s41586-020-2649-2", "See https://doi.org/10.1038/S41586-020-2649-2.", True),
        ("10.1038/s41586-020-2649-2", "See 10.1038/s41586-020-2649-3", False),
        ("2001:db8::8a2e:370:7334", "printer: 2001:DB8::8A2E:370:7334", True),
        ("2001:db8::8a2e:370:7334", "printer: 2001:db8::8a2e:370:7335", False),
        ("Aktenzeichen 5 O 123/22", "Az. 5O 123/22, LG Köln", True),
        ("Aktenzeichen 5 O 123/22", "Az. 5 O 124/22, LG Köln", False),
        ("Whose car is AB12 CDE?", "Ours is AB12CDE", True),
        ("error E25", "E-25: no flow", True),
    ],
)
def test_a_text_mentions_it_in_any_usual_spelling(asked, text, mentioned):
    (identifier,) = identifiers(f"what is {asked} about")
    assert identifier.is_in_any_grouping(text) == mentioned


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


NO_CODES = frozenset(
    [
        "AND",
        "AT",
        "BY",
        "CHF",
        "CO",
        "COST",
        "EUR",
        "EURO",
        "FOR",
        "FY",
        "GBP",
        "IN",
        "OF",
        "OR",
        "PAID",
        "PAY",
        "PAYS",
        "PLZ",
        "POST",
        "RENT",
        "THE",
        "TO",
        "USD",
    ]
)
"""Words and currencies that make no code of a number behind them."""
CODE = st.builds(
    lambda letters, digits: (letters, digits),
    st.text(string.ascii_uppercase, min_size=2, max_size=4).filter(lambda text: text not in NO_CODES),
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


SERIAL = st.lists(st.sampled_from(["AB", "XK", "QRT", "12", "907", "4411"]), min_size=3, max_size=5).filter(
    lambda parts: (
        all(a.isdigit() != b.isdigit() for a, b in pairwise(parts))
        and sum(map(str.isdigit, "".join(parts))) >= 3
    )
)


@given(SERIAL, st.sampled_from(["-", "_", ".", "/", " ", ""]), st.sampled_from(["-", ""]))
def test_the_dashes_of_a_serial_number_do_not_matter(parts, written, asked):
    (identifier,) = identifiers(f"where is {asked.join(parts)} kept")
    text = written.join(parts)
    assert identifier.is_in_any_grouping(f"It has {text} on its back.")
    assert not identifier.is_in_any_grouping(f"It has {text}Z9 on its back.")


@pytest.mark.parametrize(("question", "code"), [("zap 771?", "zap"), ("is zed 48 17 or zed 481 done", "zed")])
def test_a_code_in_small_letters_depends_on_others_with_it(question, code):
    assert identifiers(question) == ()
    (possible,) = possible_identifiers(question)
    assert (possible.code, possible.has_alike(f"See {code.upper()}-12.")) == (code, True)
    assert not possible.has_alike(f"See {code}-12 and {code.upper()}.")


@given(st.text(max_size=200))
def test_any_text_has_an_answer_and_what_is_found_is_printable(question):
    for identifier in identifiers(question):
        assert identifier.text.isprintable()
        assert identifier.is_in(f"It says {identifier.text} here.")


def test_the_sentence_names_all():
    assert sentence(()) == ""
    assert sentence(("INC-4821",)) == "Nothing here mentions INC-4821."
    assert sentence(("a1", "b2", "c3")) == "Nothing here mentions a1, b2 or c3."
