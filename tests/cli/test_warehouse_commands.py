"""`slowwave warehouse`: build, tables, query."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner
from warehouse_rows import fill_day, journal_day

from slowwave.cli.app import app
from slowwave.memory import Memory
from slowwave.warehouse import FILE
from slowwave.warehouse.marts import MARTS

pytest.importorskip("duckdb", reason="duckdb comes with slowwave[night]")
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "query-with-duckdb.md"


@pytest.fixture
def run(home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: Any) -> Any:
    """Runs a command on `home`; exit code, standard output and error."""
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))
    monkeypatch.setenv("SLOWWAVE_EMBEDDING__MODEL", "wordllama-256")
    monkeypatch.setenv("COLUMNS", "200")

    def run_(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(app, ["warehouse", *arguments], catch_exceptions=False)
        told = capfdbinary.readouterr()
        return done.exit_code, done.output + (told.out + told.err).decode()

    return run_


@pytest.fixture
def built(memory: Memory, run: Any) -> Any:
    """The same, on a home of two days whose warehouse is built."""
    for number in range(2):
        journal_day(memory.journal, number)
        fill_day(memory.store, number)
    code, told = run("build", "--json")
    assert code == 0, told
    assert json.loads(told)["rows"]["memories"] == 4
    return run


@pytest.mark.slow
def test_tables_and_columns_are_listed_with_what_they_say(built: Any) -> None:
    code, told = built("tables", "--json")
    assert code == 0
    assert {one["name"]: one["rows"] for one in json.loads(told)}["learning_funnel"] == 2
    code, told = built("tables", "quality_by_day", "--json")
    (only,) = json.loads(told)
    assert only["columns"][0] == {"name": "day", "type": "DATE", "about": "UTC day."}
    assert "Search quality of a day" in " ".join(built("tables")[1].split())
    assert "DATE" in built("tables", "quality_by_day")[1]


def test_a_query_gives_a_table_or_json(built: Any) -> None:
    code, told = built("query", "SELECT day, searches FROM searches_by_day", "--json")
    assert (code, json.loads(told)) == (
        0, [{"day": "2026-03-01", "searches": 3}, {"day": "2026-03-02", "searches": 3}],
    )  # fmt: skip
    code, told = built("query", "SELECT day, searches FROM searches_by_day", "--limit", "1")
    assert code == 0
    assert "2026-03-01" in told
    assert "2026-03-02" not in told
    assert "The first 1 rows" in told


def test_errors_say_what_to_do(memory: Memory, run: Any, home: Path) -> None:
    journal_day(memory.journal, 0)
    fill_day(memory.store, 0)
    code, told = run("query", "FROM memories")
    assert code == 1
    assert "slowwave warehouse build" in told
    run("build")
    for arguments in (("query", "DROP TABLE memories"), ("tables", "nothing"), ("query", "FROM nothing")):
        code, told = run(*arguments)
        assert code == 1
        assert "slowwave warehouse tables" in told
    assert (home / FILE).exists()


def examples() -> list[str]:
    return re.findall(r"```sql\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.slow
def test_every_query_of_the_docs_answers(built: Any) -> None:
    assert len(examples()) >= 5
    for sql in examples():
        code, told = built("query", sql, "--json")
        assert code == 0, told
        assert json.loads(told), sql


def test_the_docs_name_every_table() -> None:
    told = PAGE.read_text()
    assert [mart.name for mart in MARTS if f"`{mart.name}`" not in told] == []
