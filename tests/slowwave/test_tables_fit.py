"""Tables of a terminal break no word and no id, however narrow it is."""

from __future__ import annotations

import io
from unittest.mock import patch

import pytest
from rich.console import Console

from slowwave.views import tables
from slowwave.views.section import Column, Mark, Table
from slowwave.views.tables import rich_table

ID = "wvoiknfik3cfcknkzdn5w6bphy"
ROWS = [
    [ID, "vault/inbox/a quotation of the tide board.md", ["low_quality", "tool_output"], 0.25, "held"],
    ["4dlwla4iiodcopnlsevx4pex3q", "vault/decisions/deploy.md", ["no_statement"], 1.0, "resolved"],
]
COLUMNS = ["id", "note", "why", "quality", "status"]


def drawn(table: Table, width: int, *, boxed: bool) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    with patch.object(tables, "out", console):
        console.print(rich_table(table, boxed=boxed))
    return console.export_text()


def words(told: str) -> list[str]:
    return [word.strip("│┃") for word in told.split()]


@pytest.mark.parametrize("boxed", [True, False])
@pytest.mark.parametrize("width", [30, 44, 60, 80, 100, 200])
def test_no_word_is_broken_at_any_width(width, boxed):
    told = drawn(Table(COLUMNS, ROWS), width, boxed=boxed)
    assert max(map(len, told.splitlines())) <= width
    found = words(told)
    for whole in (ID, "low_quality,", "tool_output", "vault/inbox/a", "board.md", "resolved", "0.250"):
        if len(whole) + len("quality  ") <= width:
            assert whole in found, (whole, told)


def test_columns_that_have_no_room_become_a_card_for_each_row():
    told = drawn(Table(COLUMNS, ROWS, left_out=3, option="--limit"), 44, boxed=True)
    lines = [line.rstrip() for line in told.splitlines()]
    assert lines[0] == f"id       {ID}"
    assert "status   held" in lines
    assert "" in lines  # between two cards
    assert "┃" not in told
    assert "and 3 more (--limit)" in told


def test_lines_around_cells_are_left_out_before_the_table_is():
    wide = drawn(Table(COLUMNS, ROWS), 120, boxed=True)
    narrow = drawn(Table(COLUMNS, ROWS), 90, boxed=True)
    assert "┃" in wide
    assert "┃" not in narrow
    assert narrow.splitlines()[0].split() == COLUMNS


def test_a_column_that_may_be_cut_ends_in_an_ellipsis_and_leaves_the_id_whole():
    table = Table([Column("title", whole=True, cut=True, least=12), Column("id", "id")], [["word " * 20, ID]])
    told = drawn(table, 50, boxed=False)
    assert ID in words(told)
    assert "…" in told
    assert len(told.splitlines()) == 2


def test_a_row_may_end_early():
    for width in (10, 80):
        told = drawn(Table(["one", "two"], [["first", "second"], ["third"]]), width, boxed=False)
        assert words(told)[-1] == "third"


def test_marks_and_wide_letters_have_their_room():
    table = Table(["verdict", "text"], [[Mark("better", "better", "for sure"), "潮位計 [x]"]])
    told = drawn(table, 40, boxed=True)
    assert "better for sure" in told
    assert "潮位計 [x]" in told
