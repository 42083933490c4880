"""Questions without the words that only ask."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.scoring.ranking.asking import without_asking


@pytest.mark.parametrize(
    ("question", "rest"),
    [
        ("What do we know about Anna?", "Anna?"),
        ("tell me everything you know about the importer", "the importer"),
        ("Can you tell me where Anna works?", "where Anna works?"),
        ("Do you remember my dog's name?", "my dog's name?"),
        ("is there anything on the Q3 audit?", "the Q3 audit?"),
        ("What have we got on Kestrel?", "Kestrel?"),
        ("what's known about db-3?", "db-3?"),
        ("notes on Postgres", "Postgres"),
        ("I want to know about the trip", "the trip"),
        ("Was wissen wir über den Dachausbau?", "den Dachausbau?"),
        ("Weißt du noch, wo der Schlüssel ist?", "wo der Schlüssel ist?"),
        ("Qu'est-ce qu'on sait sur le projet Atlas ?", "le projet Atlas ?"),
        ("Que sais-tu d'Anna ?", "Anna ?"),
        ("¿Qué sabes de Marta?", "Marta?"),
        ("¿Te acuerdas de mi médico?", "mi médico?"),
        ("O que sabemos do projeto?", "projeto?"),
    ],
)
def test_the_beginning_that_only_asks_is_left_out(question: str, rest: str) -> None:
    assert without_asking(question) == rest


@pytest.mark.parametrize(
    "question",
    [
        "What does Anna know about Rust?",  # somebody else knows
        "Tell Anna about the party",
        "who knows about the incident?",
        "Know-how transfer plan",
        "what did we decide about the roof?",
        "list servers with Postgres",
        "what do I have tomorrow?",
        "what do you know?",  # nothing would be left
        "What do you know about me?",
        "",
    ],
)
def test_other_questions_stay_as_they_are(question: str) -> None:
    assert without_asking(question) == question


@given(st.text(max_size=60))
def test_the_rest_is_an_end_of_the_question(text: str) -> None:
    for question in (text, f"what do you know about {text}"):
        rest = without_asking(question)
        assert question.endswith(rest)
        assert bool(rest) == bool(question)
