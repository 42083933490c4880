"""The commands that bring history in and take it out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

from slowwave.common import ids
from slowwave.memory import Memory

QUERY = {
    "query_id": "q1",
    "client_id": "ann",
    "user_query": "gauge",
    "timestamp": "2026-03-01T12:00:00Z",
    "query_response_hit_ids": ["gauge", "ferry"],
}
CLICK = {
    "action_name": "open",
    "query_id": "q1",
    "client_id": "ann",
    "timestamp": "2026-03-01T12:00:05Z",
    "event_attributes": {"object": {"object_id": "gauge"}},
}


@pytest.fixture
def memory(open_memory: Callable[..., Memory]) -> Memory:
    """The namespace that commands mean when none is given, with one of the two results as a memory."""
    opened = open_memory("default")
    opened.save("The northern gauge lost its battery in the storm of January.", key="shop/gauge")
    return opened


@pytest.fixture
def log(tmp_path: Path) -> str:
    path = tmp_path / "log.ndjson"
    path.write_text("\n".join([json.dumps(QUERY), json.dumps(CLICK), "[bold]no json[/]", json.dumps(CLICK)]))
    return str(path)


def test_a_log_is_imported_and_told(run: Callable[..., Result], memory: Memory, log: str) -> None:
    words = ("import", "ubi", log, "--source-prefix", "shop/", "--action", "open=used")
    trial = run(*words, "--dry-run")
    assert trial.exit_code == 0, trial.output
    assert "to be written" in trial.stdout
    assert "Nothing was written." in trial.stdout
    assert memory.journal.days(["search"]).is_empty()
    done = run(*words)
    assert done.exit_code == 0, done.output
    assert "History of 2026-03-01" in done.stdout
    assert "2 different" in done.stdout
    assert [line.split("│")[1].strip() for line in done.stdout.splitlines() if line.startswith("│")] == [
        "searches", "returned results", "feedback: used", "repeated events", "unknown results", "written",
    ]  # fmt: skip
    assert "Next: slowwave night" in done.stdout
    assert f"Rejected: {log}, line 3: not JSON" in done.stderr
    [result] = memory.journal.read(kinds=["observation"])["payload"].to_list()
    gauge = ids.memory_id("default", "shop/gauge")
    assert json.loads(result)["verdicts"][0]["memory_id"] == gauge
    again = run(*words)
    assert "Nothing new: the journal already has everything." in again.stdout


def test_a_report_for_programs(run: Callable[..., Result], log: str) -> None:
    done = run("import", "ubi", log, "--source-prefix", "shop/", "--action", "open=unhelpful", "--json")
    report = json.loads(done.stdout)
    assert report["verdicts"] == {"unhelpful": 1}
    assert report["problems"][0]["line"] == 3
    assert (report["objects"], report["unknown"], report["new"], report["repeated"]) == (2, 1, 2, 1)


def test_what_is_skipped_is_told_by_name(run: Callable[..., Result], log: str) -> None:
    done = run("import", "ubi", log)
    assert "no feedback: open" in done.stdout


def test_an_export_goes_through_a_pipe_into_another_namespace_and_home(
    run: Callable[..., Result], memory: Memory, open_memory: Callable[..., Memory], log: str, tmp_path: Path
) -> None:
    run("import", "ubi", log, "--action", "open=used")
    done = run("export")
    assert done.exit_code == 0, done.output
    assert [json.loads(line)["type"] for line in done.stdout.splitlines()] == ["search", "observation"]
    assert "1 search and 1 feedback event, 2 lines." in done.stderr
    other = open_memory("default", path=tmp_path / "other")
    words = ("--home", str(tmp_path / "other"), "import", "jsonl", "-", "--json")
    taken = run(*words, input=done.stdout_bytes)
    assert json.loads(taken.stdout)["new"] == 2
    assert other.journal.days(["observation"])["entries"].to_list() == [1]


def test_an_export_to_a_file_is_whole_or_not_there(
    run: Callable[..., Result], log: str, tmp_path: Path
) -> None:
    run("import", "ubi", log, "--action", "open=used")
    path = tmp_path / "history.ndjson"
    done = run("export", str(path), "--format", "ubi", "--from", "2026-03-01", "--to", "2026-03-01")
    assert done.exit_code == 0, done.output
    assert [json.loads(line).get("action_name") for line in path.read_text().splitlines()] == [
        None, "impression", "impression", "open",
    ]  # fmt: skip
    path.write_text("before")
    for words in (["--format", "csv"], ["--from", "march"]):
        refused = run("export", str(path), *words)
        assert refused.exit_code == 1
        assert refused.stderr.strip().startswith("Error: ")
        assert path.read_text() == "before"
    assert {one.name for one in tmp_path.iterdir()} == {"home", "history.ndjson", "log.ndjson"}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["import", "ubi", "{log}", "--action", "open"], "--action open: write NAME=VERDICT"),
        (["import", "ubi", "{log}", "--from", "march"], "'march' is not a day. Write it as YYYY-MM-DD."),
        (["import", "ubi", "missing"], "No such file or directory: 'missing'"),
        (["import", "jsonl", "{log}"], "log.ndjson is no JSONL log; nothing was written."),
    ],
)
def test_what_cannot_be_imported_is_one_line(
    run: Callable[..., Result], log: str, words: list[str], message: str
) -> None:
    done = run(*(word.format(log=log) for word in words))
    assert (done.exit_code, done.stdout) == (1, "")
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_days_before_the_first_partition(run: Callable[..., Result], log: str, home: Path) -> None:
    with (home / "slowwave.toml").open("a") as settings:
        settings.write('[night]\nfirst_day = "2026-03-02"\n')
    refused = run("import", "ubi", log)
    assert refused.exit_code == 1
    assert 'Set night.first_day = "2026-03-01" in slowwave.toml' in refused.stderr
    done = run("import", "ubi", log, "--from", "2026-03-02")
    assert done.exit_code == 0
    assert "No history" in done.stdout
