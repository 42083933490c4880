from __future__ import annotations

import pytest

from tools.reference.markdown import paragraphs, prose, table


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("one\n   line", "one line"),
        ("[bold]loud[/bold] and [dim]low[/]", "loud and low"),
        ("a <b> & c", "a &lt;b> &amp; c"),
        ("`a <b> *c*` and *d*", "`a <b> *c*` and \\*d\\*"),
        ("see :meth:`remember` and ``x = 1``", "see `remember` and `x = 1`"),
        ("_private and a_name", "\\_private and a_name"),
        ("[0, 1] stays", "[0, 1] stays"),
    ],
)
def test_help_and_docstrings_become_markdown(text, said):
    assert prose(text) == said


def test_paragraphs_stay_apart():
    assert paragraphs("One.\n\n    Two\n    lines.\n") == "One.\n\nTwo lines."
    assert paragraphs(None) == ""


def test_a_bar_in_a_cell_is_no_border():
    assert table(["a", "b"], [("x|y", "two\nlines")]) == "| a | b |\n|---|---|\n| x\\|y | two lines |"
