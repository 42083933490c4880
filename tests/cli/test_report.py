"""`slowwave report feedback`, run as a user runs it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from typer.testing import CliRunner

from slowwave.cli import app
from slowwave.views.blocks import bar, spark, squeezed
from slowwave.views.terminal import out

QUESTION = "how long does the battery last?"
ANSWER = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."


@pytest.fixture
def memory(open_memory) -> Any:
    """The namespace that commands mean when none is given, with one memory."""
    opened = open_memory("default")
    opened.save(ANSWER, title="Battery [north]", key="battery")
    return opened


@pytest.fixture
def run(home: Path, memory: Any, fast_embedder: Any, monkeypatch) -> Callable[..., Result]:
    """Runs the report in this process, in a terminal of so many columns."""
    (home / "slowwave.toml").write_text(f'[embedding]\nmodel = "{fast_embedder.name}"\n')
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))
    monkeypatch.setattr("slowwave.embedding.load_embedder", lambda *_: fast_embedder)

    def run_(*words: str, width: int = 100) -> Result:
        monkeypatch.setattr(out, "_width", width)
        return CliRunner().invoke(app, ["report", "feedback", *words])

    return run_


@pytest.fixture
def used(memory: Any) -> Any:
    """A day of feedback that was folded, and one act since."""
    from slowwave.feedback import aggregation, apply_state
    from slowwave.feedback.stale_days import Seqs, begin, finish
    from slowwave.journal import projections

    found = memory.search(QUESTION)
    memory.feedback(found.search_id, 1, "helpful")
    memory.observe(found.search_id, ANSWER)
    space, today = memory._space, datetime.now(UTC).date().isoformat()
    store = space.store
    store.upsert("searches", projections.drain_searches(space.journal, [today]).rows)
    events = projections.drain_events(space.journal, [today]).rows
    store.upsert("events", events)
    begin(store, "run", {today: Seqs(0, int(events["seq"].max()))}, today)
    signals = aggregation.signals(store, events, space.feedback_policy, 0.3)
    store.upsert("usage_signals", signals)
    store.upsert("effectiveness", aggregation.effectiveness(store, signals, today, space.feedback_policy))
    store.upsert("strength", aggregation.strength(store, signals, today, space.feedback_policy))
    store.upsert("promotions", aggregation.promotions(store, signals, today, space.feedback_policy))
    apply_state.apply_state(store, [today], space.feedback_policy)
    finish(store, "run")
    memory.feedback(found.search_id, 1, "neutral")
    return memory


@pytest.mark.parametrize("width", [80, 100])
def test_the_terminal_shows_the_report_within_its_width(run, used, width):
    done = run(width=width)
    assert done.exit_code == 0, done.output
    for part in (
        "Feedback of namespace default", "1 search (0 without results); 2 feedback events on 1 search.",
        "Not counted yet: 1 event of 1 day", "Feedback events (2)", "helpful 1",
        "Returned memories in answers  1 verdict", "100.0 %", "Effectiveness (1 memory)", "Strength now",
        "Most used", "Battery [north]", "Most effective", "Fading", "Promotions  tier not promotable 1",
    ):  # fmt: skip
        assert part in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= width
    named = used.search(QUESTION)[0].memory_id in done.stdout
    assert named == (width == 100)


def test_programs_are_given_everything(run, used):
    told = json.loads(run("--json").stdout)
    assert told["namespace"] == "default"
    assert [row["acts"] for row in told["acts"]] == [1, 1]
    assert told["most_used"][0]["title"] == "Battery [north]"
    assert told["waiting"] == [{"day": datetime.now(UTC).date().isoformat(), "entries": 1}]


def test_a_namespace_without_feedback_is_told_what_to_do(run, used, open_memory):
    open_memory("other").save("The tide tables of the pilots are printed in the library every May.")
    shown = run("-n", "other")
    assert shown.exit_code == 0, shown.output
    assert "No feedback has been processed." in shown.stdout
    assert "Battery" not in shown.stdout
    assert json.loads(run("-n", "other", "--json").stdout)["acts"] == []


def test_a_past_day_ends_the_report(run, used):
    before = (datetime.now(UTC) - timedelta(days=1)).date().isoformat()
    told = json.loads(run("--as-of", before, "--days", "3", "--json").stdout)
    assert (told["last"], told["acts"], told["rated"]) == (before, [], 0)
    wrong = run("--as-of", "yesterday")
    assert wrong.exit_code == 1
    assert "give a day as YYYY-MM-DD" in wrong.stderr


@pytest.mark.slow
def test_a_page_is_written_beside_what_is_printed(run, used, tmp_path):
    page = tmp_path / "report.html"
    done = run("--html", str(page), "--days", "1")
    assert done.exit_code == 0, done.output
    assert "Feedback events (2)" in done.stdout
    assert str(page) in done.stderr.replace("\n", "")
    assert "Battery [north]" in page.read_text("utf-8")
    assert run("--html", str(tmp_path / "no" / "folder.html")).exit_code == 1


@pytest.mark.slow
def test_matplotlib_is_needed_for_a_page_alone(run, used, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert run().exit_code == 0
    done = run("--html", str(tmp_path / "report.html"))
    assert done.exit_code == 1
    assert "pip install '.[plots]' in its folder" in done.stderr


def test_bars_and_lines_of_blocks():
    assert [bar(share, 4) for share in (0, 0.001, 0.5, 0.53, 1, 7)] == ["", "▏", "██", "██▏", "████", "████"]
    assert spark([0, 1, 4, 8, None]) == " ▁▄█·"
    assert spark([0.5, 1], 1.0) == "▄█"
    assert spark([]) == ""
    assert spark([0, 0]) == "  "
    assert squeezed(list(range(5)), 2) == [[0, 1, 2], [3, 4]]
    assert squeezed([1, 2], 9) == [[1], [2]]
