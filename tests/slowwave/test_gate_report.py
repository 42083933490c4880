from __future__ import annotations

from datetime import UTC, datetime, timedelta

import polars as pl
import pytest
from typer.testing import CliRunner

from slowwave.cli import app
from slowwave.journal.entry_builders import entries_frame
from slowwave.lifecycle.gate_report import accepted_notes, gate_report
from slowwave.quality.gate import judge
from slowwave.store import staging

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
FACT = "The deploy day is Thursday since the second of March, decided by the whole team."


def night(memory, *acts) -> None:
    """What the first two assets of a night leave in the store."""
    staged = staging.stage(entries_frame(acts))
    space = memory._space
    verdicts = pl.concat(
        [
            staged.select("day", "namespace", "memory_id", "revision", "content_hash"),
            judge(staged, space.gate_policy).drop("memory_id"),
        ],
        how="horizontal",
    )
    named = verdicts.with_columns(verdict_id=pl.concat_str("day", pl.lit(":"), "memory_id"))
    space.store.upsert("staged_notes", staged)
    space.store.upsert("gate_verdicts", named)


def reasons(report) -> dict[str, tuple[int, int]]:
    return {row["reason"]: (row["notes"], row["refused"]) for row in report.reasons.to_dicts()}


def test_a_gate_that_warns_counts_what_it_would_refuse(open_memory, act):
    memory = open_memory(gate={"mode": "warn"})
    memory._space.activate_gate()
    night(memory, act("a", FACT, at=NOW), act("b", "short", at=NOW), act("c", "tiny", at=NOW))
    report = gate_report(memory._space, "ada", days=14, as_of=NOW)
    assert (report.mode, report.enforced, report.notes) == ("warn", False, 3)
    assert reasons(report)["no_statement"] == (2, 0)
    row = report.reasons.filter(reason="no_statement").row(0, named=True)
    assert row["share"] == pytest.approx(2 / 3)
    assert row["low"] < row["share"] < row["high"]
    assert row["example"] == "b"


@pytest.mark.slow
def test_a_gate_that_enforces_counts_what_it_refused(open_memory, act):
    memory = open_memory(gate={"mode": "enforce"})
    night(memory, act("a", FACT, at=NOW), act("b", "short", at=NOW))
    report = gate_report(memory._space, "ada", days=14, as_of=NOW)
    assert report.enforced
    assert report.enforces_from is None
    assert reasons(report) == {"no_statement": (1, 1)}


def test_only_the_days_and_the_namespace_asked_for_are_counted(open_memory, act):
    memory = open_memory()
    old = NOW - timedelta(days=14)
    night(memory, act("a", "short", at=NOW), act("b", "short", at=old), act("c", "x", at=NOW, namespace="bo"))
    assert gate_report(memory._space, "ada", days=14, as_of=NOW).notes == 1
    assert gate_report(memory._space, "ada", days=15, as_of=NOW).notes == 2


def test_duplicates_of_the_decision_log_are_counted(open_memory):
    memory = open_memory()
    memory.save(FACT, key="a")
    memory.save(FACT, key="b")
    report = gate_report(memory._space, "ada", days=1, as_of=datetime.now(UTC))
    assert reasons(report) == {"exact_duplicate": (1, 1)}


def test_a_report_does_not_begin_the_fortnight(open_memory):
    memory = open_memory(gate={"mode": "warn"})
    assert gate_report(memory._space, "ada", days=1, as_of=NOW).activated_at is None
    assert memory.store.list_meta("gate-") == {}


def test_accepted_notes_are_those_that_passed_with_their_score(open_memory, act):
    memory = open_memory()
    night(memory, act("a", FACT, at=NOW), act("b", "short", at=NOW))
    rows = accepted_notes(memory.store, ["2026-03-10"])
    assert rows["source"].to_list() == ["a"]
    assert rows["characters"].to_list() == [len(FACT)]
    assert 0 < rows["quality_score"][0] <= 1


def test_the_command_line_says_what_the_gate_does(open_memory, home, act, monkeypatch):
    memory = open_memory()
    night(memory, act("a", "short", at=datetime.now(UTC)))
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))
    monkeypatch.setenv("SLOWWAVE_EMBEDDING__MODEL", "wordllama-256")
    shown = CliRunner().invoke(app, ["gate", "report", "-n", "ada"])
    assert shown.exit_code == 0, shown.output
    assert "enforces" in shown.output
    assert "no_statement" in shown.output
    told = CliRunner().invoke(app, ["gate", "report", "-n", "ada", "--json"])
    assert '"no_statement"' in told.output
    missing = CliRunner().invoke(app, ["gate", "docs", str(home / "pages"), "--date", "2020-01-01"])
    assert missing.exit_code == 1


def test_two_threads_may_begin_the_fortnight_at_once(open_memory, monkeypatch):
    space = open_memory(gate={"mode": "warn"})._space
    put = space.store.put_meta

    def put_while_another_thread_does(*given, **options):
        put(*given, **options)
        space.__dict__.pop("gate_policy", None)

    monkeypatch.setattr(space.store, "put_meta", put_while_another_thread_does)
    space.activate_gate()
    assert space.gate_policy.activated_at is not None
