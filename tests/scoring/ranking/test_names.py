"""Proper names in a question, and results without them."""

from __future__ import annotations

import pytest

from slowwave.scoring.ranking.names import lacks_a_name, proper_names


@pytest.mark.parametrize(
    ("question", "names"),
    [
        ("When is Lena's birthday?", {"lena"}),
        ("Who is Omar Haddad?", {"omar", "haddad"}),
        ("which car does Ravi drive, and Anna-Lena?", {"ravi", "anna", "lena"}),
        ("what's O'Brien's number?", {"o'brien"}),
        ("It rained. Where does Ravi live?", {"ravi"}),
        ("Oban trains", set()),
        ("did we meet in March, on Friday?", set()),
        ("the VPN of the AGM; I think I'm fine", set()),
        ("What Is The Password of Lena", set()),
        ("Wann hat Lena Geburtstag und wo ist die Rechnung?", set()),
        ("Wie ist die Nummer von Frau Schachtschneider?", {"schachtschneider"}),
        ("Wann hat Dr. Sauer im März Sprechstunde?", {"sauer"}),
        ("¿Cuándo es el cumpleaños de Lucía en Sevilla?", {"lucía", "sevilla"}),
        ("Quelle est la porte de la rue Voltaire en Mai ?", {"voltaire"}),
        ("", set()),
    ],
)  # fmt: skip
def test_a_name_is_a_word_with_a_capital_within_a_sentence(question: str, names: set[str]) -> None:
    assert proper_names(question) == names


@pytest.mark.parametrize(
    ("texts", "lacks"),
    [
        (["Omar's birthday is on 3 March."], True),
        (["Lenas birthday is on 3 March."], False),
        (["Birthdays", "LENA: 3 March"], False),
        ([], True),
    ],
)
def test_a_text_has_a_name_in_any_case_and_ending(texts: list[str], lacks: bool) -> None:
    assert lacks_a_name({"lena"}, texts) == lacks
    assert not lacks_a_name((), texts)
