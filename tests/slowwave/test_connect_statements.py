"""What is kept of a session: which messages are a person's, and which of their sentences are worth it."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.connect.statements import statements
from slowwave.connect.transcript import messages

KEPT = {
    "We decided to use PostgreSQL 16 for the billing service.": "decision",
    "From now on, write commit messages in the imperative.": "decision",
    "We're switching to uv for every Python project.": "decision",
    "I prefer tabs over spaces in Go code.": "preference",
    "I don't like summaries at the end of an answer.": "preference",
    "I’d rather have one long function than five short ones.": "preference",
    "Never push to main without a review.": "constraint",
    "Please always run the linter before you commit.": "constraint",
    "We must not store customer addresses outside the EU.": "constraint",
    "Remember that the staging database is wiped every Sunday.": "fact",
    "We deploy on Thursdays, and Friday is for repairs only.": "fact",
    "Our CI runs on GitHub Actions.": "fact",
    "I'm a data engineer in Oslo.": "fact",
}
LEFT = [
    "Can you fix the login test?",
    "Fix the login test and run it again.",
    "Let's use that instead.",
    "I prefer the second option.",
    "I always use it for everything.",
    "We decided to keep this as it is.",
    "That is how we deploy, always on Fridays.",
    "My build is broken since the last merge.",
    "Our tests are failing with a timeout.",
    "I'm not sure whether we use Redis.",
    "For now we use the old endpoint.",
    "Our API password is hunter2.",
    "Remember that the token is ghp_abcdefghijklmnop1234.",
    "We use postgres://ada:pw@db/x for the reports.",
    "Do we always run the linter before a commit?",
    "I prefer tea.",
    "yes",
    "thanks, looks good",
    "",
]


@pytest.mark.parametrize(("text", "kind"), KEPT.items())
def test_a_sentence_that_says_what_it_is_is_kept(text, kind):
    assert [(one.text, one.kind) for one in statements(text)] == [(text, kind)]


@pytest.mark.parametrize("text", LEFT)
def test_requests_questions_moods_and_secrets_are_not(text):
    assert statements(text) == []


def test_of_a_message_only_the_persons_own_prose_counts():
    text = """Can you look at this? We decided to use PostgreSQL 16 for the billing service.
> I prefer what others wrote here
```python
# never push to main without a review
```
    I prefer indented things, which are code
- I prefer tabs over spaces in Go code.
2026-01-01 10:00:00 we decided to log this line
"""
    found = statements(text)
    assert [(one.number, one.text) for one in found] == [
        (1, "We decided to use PostgreSQL 16 for the billing service."),
        (2, "I prefer tabs over spaces in Go code."),
    ]


@given(st.text())
def test_any_text_gives_sentences_of_a_sound_length_that_stand_in_it(text):
    for number, one in enumerate(statements(text), start=1):
        assert one.number == number
        assert 20 <= len(one.text) <= 400
        assert one.text.split()[0] in text


def entry(content: object, **more: object) -> str:
    written = {"type": "user", "uuid": "u1", "message": {"role": "user", "content": content}}
    return json.dumps(written | more)


def test_what_a_person_wrote_is_read_with_its_moment():
    later = entry([{"type": "text", "text": "So."}], uuid="u2")
    lines = [entry("Hello there.", timestamp="2026-03-01T11:00:00.000+01:00"), later]
    first, second = messages(lines)
    assert (first.id, first.text, first.at) == ("u1", "Hello there.", datetime(2026, 3, 1, 10, tzinfo=UTC))
    assert (second.id, second.text, second.at) == ("u2", "So.", None)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "no json",
        "[]",
        "5",
        '{"type": "user"}',
        entry("I am the assistant.", type="assistant"),
        entry("A note of the program.", isMeta=True),
        entry("The prompt of a helper.", isSidechain=True),
        entry("The summary of what was before.", isCompactSummary=True),
        entry("What a tool answered.", toolUseResult={"stdout": "x"}),
        entry([{"type": "tool_result", "content": "What a tool answered."}]),
        entry([{"type": "text", "text": "Beside it."}, {"type": "tool_result", "content": "x"}]),
        entry("<command-name>/clear</command-name>"),
        entry("<local-command-stdout>We decided to print.</local-command-stdout>"),
        entry("<system-reminder>We decided to remind.</system-reminder>"),
        entry("[Request interrupted by user]"),
        entry("Caveat: The messages below were generated."),
        entry("pasted " * 1_000),
        entry(None),
        entry([1, 2]),
    ],
)
def test_what_no_person_wrote_is_passed_over(line):
    assert list(messages([line])) == []


def test_a_reminder_inside_a_message_is_cut_out():
    text = "I prefer tabs.\n<system-reminder>We decided otherwise.</system-reminder>"
    assert [one.text for one in messages([entry(text)])] == ["I prefer tabs."]


@pytest.mark.parametrize("moment", ["yesterday", "2026-03-01T11:00:00", 5, None])
def test_a_moment_that_cannot_be_read_is_none(moment):
    (one,) = messages([entry("Hello there.", timestamp=moment)])
    assert one.at is None
