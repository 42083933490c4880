from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.quality.answer_usage import judge_usage
from slowwave.quality.denial import without_denied
from slowwave.quality.replies import read_reply
from slowwave.quality.short_answers import MAX_WORDS, read_short_answer
from slowwave.scoring.feedback.usage import usage

STANDUP = "The standup is on Tuesday and Thursday mornings."
RETRO = "The retro is on Tuesday and Thursday afternoons."
OWNER = "Anna owns the billing service."
PORT = "The billing service runs on port 8443."
SHOWN = [STANDUP, RETRO, OWNER, PORT]
WHEN, WHO = "When is the standup?", "Who owns billing?"


def verdicts(response, query, shown=SHOWN):
    return [(it.verdict, it.evidence) for it in judge_usage(shown, response, query)]


@pytest.mark.parametrize(
    ("query", "response", "used"),
    [
        (WHEN, "On Tuesday and Thursday mornings.", {0}),
        (WHEN, "Tuesday and Thursday.", {0}),
        ("When is the retro?", "Tuesday and Thursday afternoons.", {1}),
        (WHO, "Anna.", {2}),
        (WHO, "Anna owns it now.", {2}),
        ("Which port has the billing service?", "It is currently on port 8443.", {3}),
        ("Which port has the billing service?", "It is now on port 8444.", set()),
        ("Which port has the billing service?", "8443", {3}),
        ("Does Anna own the billing service?", "Yes.", {2}),
        ("Is the standup on Friday?", "No, on Tuesday and Thursday.", {0}),
        (WHEN, "On Monday.", set()),  # a day that no memory has
        (WHEN, "On Tuesday and Friday mornings.", set()),
        ("Which port has the billing service?", "8444", set()),
        (WHO, "Bob.", set()),
        (WHO, "I do not know who owns billing.", set()),
        (WHO, "Thanks!", set()),
        ("Does Bob own the billing service?", "Yes.", set()),
        ("Is the standup on Friday?", "No.", set()),
    ],
)
def test_an_answer_is_read_with_its_question(query, response, used):
    found = judge_usage(SHOWN, response, query)
    assert {at for at, it in enumerate(found) if it.beyond_query} == used


def test_the_answer_that_was_called_ignored():
    """Two of the three keywords are the question's or missing; the whole is the memory."""
    memory = "The standup of the platform team takes place on Tuesday and Thursday mornings in room Garnet."
    before = usage([memory], "On Tuesday.", WHEN)[0]
    after = judge_usage([memory], "On Tuesday.", WHEN)[0]
    assert (before.verdict, before.ratio) == ("ignored", pytest.approx(1 / 8))
    assert (after.verdict, after.evidence, after.ratio) == ("used", "short_answer", before.ratio)
    assert after.beyond_query


def test_words_that_several_memories_have_are_no_evidence_of_the_others():
    """Tuesday and Thursday are half of what the retro says, and the standup was asked for."""
    assert [it.verdict for it in usage(SHOWN, "Tuesday and Thursday.", WHEN)][1] == "used"
    assert verdicts("Tuesday and Thursday.", WHEN)[1] == ("ignored", "none")


def test_several_memories_with_the_answer_decide_nothing():
    twins = ["Anna leads sales.", "Anna leads support."]
    assert read_short_answer(twins, "Anna.", "Who leads here?").completed == frozenset()
    assert read_short_answer(twins, "Anna.", "Who leads support?").completed == {1}


def test_evidence_is_counted_in_parts():
    """Two words that one memory has are enough, one is not; a shared word is half a word."""
    assert read_short_answer(["Anna leads sales."], "Anna.", "Who leads?").completed == {0}
    assert read_short_answer(["Anna leads sales."], "Anna.", "Who is it?").completed == frozenset()
    shared = ["Anna leads sales.", "Bob leads support."]
    assert read_short_answer(shared, "Anna.", "Who leads?").completed == frozenset()  # 1 + 1/2
    assert read_short_answer(shared, "Anna.", "Who leads sales?").completed == {0}  # 1 + 1/2 + 1


def test_a_long_answer_is_left_to_the_words():
    words = " ".join(f"harbour{at}" for at in range(MAX_WORDS + 1))
    memory, query = f"Berths: {words}", "Which berths?"
    assert read_short_answer([memory], words, query) == read_short_answer([], "", "")
    assert read_short_answer([memory], words.rsplit(" ", 1)[0], query).completed == {0}


@pytest.mark.parametrize(
    ("memory", "query", "response", "denied"),
    [
        (STANDUP, WHEN, "No, it is not Tuesday but Friday.", True),
        (STANDUP, WHEN, "The standup moved to Friday mornings.", True),
        (STANDUP, WHEN, "The standup was moved from Tuesday and Thursday mornings to Friday.", True),
        ("The standup moved from Tuesday to Friday.", WHEN, "The standup moved to Friday.", False),
        ("The standup moved from Tuesday to Friday.", WHEN, "It moved from Tuesday to Friday.", False),
        (STANDUP, WHEN, "On Tuesday and Thursday mornings.", False),
        (OWNER, WHO, "Anna does not own the billing service.", True),
        (OWNER, WHO, "Anna owns the billing service.", False),
        (OWNER, "Does Bob own billing?", "No, Anna owns the billing service.", False),
        ("We never deploy on Friday.", "Do we deploy on Friday?", "No, we never deploy on Friday.", False),
        ("Rent is 650 euros.", "How much is the rent?", "Rent is 750 euros.", True),
        ("Rent is 650 euros.", "How much is the rent?", "Rent is 650.", False),
        ("Priya dropped the app because nobody used it.", "Who dropped the app?", "Priya.", False),
        ("Das Büro bleibt am Freitag geschlossen.", "Ist das Büro am Freitag geschlossen?",
         "Das Büro bleibt am Freitag nicht geschlossen.", True),
    ],
)  # fmt: skip
def test_denied_statements_are_dropped(memory, query, response, denied):
    assert (without_denied(response, query)(memory) != memory) == denied


def test_only_the_denied_statement_is_dropped():
    memory = f"{STANDUP} {PORT}"
    assert without_denied("The standup moved to Friday mornings.", WHEN)(memory) == PORT


def test_a_denied_memory_is_not_used():
    response = "The standup was moved from Tuesday and Thursday mornings to Friday."
    assert usage([STANDUP], response, WHEN)[0].beyond_query
    assert verdicts(response, WHEN, [STANDUP]) == [("ignored", "denial")]
    alike = judge_usage([STANDUP], "No, not on Tuesday, on Friday.", WHEN, similarity=lambda *_: 0.95)
    assert not alike[0].beyond_query
    cited = judge_usage([STANDUP], response, WHEN, cited=[0])
    assert (cited[0].verdict, cited[0].evidence) == ("used", "citation")


@pytest.mark.parametrize(
    ("response", "sign", "rest"),
    [
        ("Yes, on Friday.", 1, "on Friday."),
        ("Nein.", -1, ""),
        ("はい、火曜日です。", 1, "火曜日です。"),
        ("Nobody is there.", 0, "Nobody is there."),
        ("It is not Tuesday but Friday.", 0, "It is   Friday."),
    ],
)
def test_a_reply_is_split(response, sign, rest):
    found = read_reply(response)
    assert (found.sign, found.rest) == (sign, rest)


TEXTS = st.text(alphabet="abcdefg Tuesday Friday not yes no 交電池はคุณ포목 0123 .,", max_size=60)


@given(st.lists(TEXTS, max_size=4), TEXTS, TEXTS)
def test_at_most_one_memory_is_completed_and_order_does_not_matter(shown, response, query):
    found = read_short_answer(shown, response, query)
    assert len(found.completed) <= 1
    assert not found.completed & found.indistinct
    turned = read_short_answer(shown[::-1], response, query)
    assert {len(shown) - 1 - at for at in turned.completed} == found.completed
    assert {len(shown) - 1 - at for at in turned.indistinct} == found.indistinct


@given(TEXTS, TEXTS, TEXTS)
def test_what_remains_is_part_of_the_memory(memory, response, query):
    remaining = without_denied(response, query)(memory)
    assert remaining == memory or all(part in memory for part in remaining.split("\n"))


def test_labelled_short_answers_of_the_benchmark():
    """The set that the rule was not corrected on: every use, and one false use of 327."""
    file = Path(__file__).parents[2] / "bench" / "short_answers.jsonl"
    rows = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]
    right = false = of_used = 0
    for row in rows:
        if row["part"] == "unseen":
            for at, it in enumerate(judge_usage(row["shown"], row["answer"], row["question"])):
                right += it.beyond_query and at in row["used"]
                false += it.beyond_query and at not in row["used"]
            of_used += len(row["used"])
    assert len(rows) >= 100
    assert (right, of_used) == (30, 30)
    assert false <= 1
