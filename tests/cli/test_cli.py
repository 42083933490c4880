from __future__ import annotations

import gc
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from command_runner import run_command

from slowwave import cli
from slowwave.cli.memories import QUARANTINED

DEPLOY = "The deploy day is Thursday since the second of March, decided by the whole team."
ROOT = Path(__file__).parents[2]


def environment(home: Path | None) -> dict[str, str]:
    """What the command is started with."""
    ours = {"COLUMNS": "200", "PYTHONPATH": str(ROOT), "NO_COLOR": "1"}
    return {**os.environ, **ours} | ({} if home is None else {"SLOWWAVE_HOME": str(home)})


def run(
    *words: str, home: Path | None = None, stdin: str = "", cwd: Path | None = None
) -> subprocess.CompletedProcess:
    """Run the command to its end, in this process."""
    return run_command(*words, environment=environment(home), stdin=stdin, cwd=cwd)


def process(*words: str, home: Path | None = None, stdin: str = "") -> subprocess.CompletedProcess:
    """Run it in a process of its own, as the installed script does: once for each group of commands."""
    command = [sys.executable, "-c", "from slowwave.cli import main; main()", *words]
    return subprocess.run(
        command, env=environment(home), input=stdin, capture_output=True, text=True, check=False, timeout=120
    )


def data(*words: str, home: Path, **options) -> dict:
    done = run(*words, "--json", home=home, **options)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def refused(*words: str, home: Path | None = None, start: Callable[..., Any] = run, **options) -> str:
    """The one line that a command says when it cannot do what was asked."""
    done = start(*words, home=home, **options)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("Error: ")
    return line.removeprefix("Error: ")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home that no test changes."""
    folder = tmp_path_factory.mktemp("made") / "home"
    done = run("init", str(folder), "--model", "wordllama-256")
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def ready(home: Path, made: Path) -> Path:
    """A new home."""
    shutil.copytree(made, home)
    return home


def test_help_lists_every_command():
    done = process("--help")
    assert done.returncode == 0
    commands = (
        "init",
        "ingest",
        "save",
        "search",
        "get",
        "forget",
        "settings",
        "doctor",
        "reembed",
        "checkpoint",
    )
    for name in commands:
        assert f" {name} " in done.stdout
    assert "--title" in run("save", "--help").stdout


def test_a_home_is_made_with_its_settings_file(home):
    report = json.loads(run("init", str(home), "--model", "wordllama-256", "--json").stdout)
    assert report == {"home": str(home.resolve()), "tables": 33, "model": "wordllama-256", "default": True}
    assert 'model = "wordllama-256"' in (home / "slowwave.toml").read_text()
    assert (home / "journal.db").is_file()
    assert (home / "lance").is_dir()
    text = (home / "slowwave.toml").read_text()
    again = run("init", str(home))
    assert again.returncode == 0
    assert (home / "slowwave.toml").read_text() == text


def test_an_older_note_is_saved_with_its_day_and_shown_with_its_labels(ready):
    saved = data("save", "The gauge was replaced.", "--date", "2025-03-02", "--tag", "pier", home=ready)
    shown = run("get", saved["memory_id"], home=ready).stdout
    assert "current · note · 2025-03-02 · pier" in shown
    assert "--date soon: give a day" in refused("save", "The gauge is new.", "--date", "soon", home=ready)


@pytest.mark.slow
def test_a_note_is_saved_found_shown_and_forgotten(ready):
    saved = data("save", DEPLOY, "--title", "Deploy [day]", "--type", "decision", "--tag", "ops", home=ready)
    assert (saved["status"], saved["reasons"]) == ("live", [])
    found = data("search", "when do we deploy?", home=ready)
    assert [result["memory_id"] for result in found["results"]] == [saved["memory_id"]]
    best = found["results"][0]
    assert (best["title"], best["text"], best["memory_type"], best["tags"]) == (
        "Deploy [day]",
        DEPLOY,
        "decision",
        ["ops"],
    )
    assert (found["namespace"], found["warnings"]) == ("default", [])
    shown = run("search", "when do we deploy?", home=ready)
    assert shown.returncode == 0
    assert "1. Deploy [day]" in shown.stdout
    assert DEPLOY in shown.stdout
    record = data("get", saved["memory_id"], home=ready)
    assert (record["content"], record["status"]) == (DEPLOY, "live")
    assert "'other' is unknown" in refused("search", "deploy", "-n", "other", home=ready)
    assert "no memory" in refused("get", saved["memory_id"], "-n", "other", home=ready)
    assert run("forget", saved["memory_id"], home=ready).returncode == 0
    assert data("search", "when do we deploy?", home=ready)["results"] == []


@pytest.mark.slow
def test_a_title_with_marks_is_shown_as_it_is(ready):
    saved = data("save", DEPLOY, "--title", "[/] [bold]x", home=ready)
    assert "[/] [bold]x" in run("search", "deploy", home=ready).stdout
    done = run("get", saved["memory_id"], home=ready)
    assert done.returncode == 0, done.stderr
    assert "[/] [bold]x" in done.stdout


@pytest.mark.slow
def test_a_note_may_come_from_standard_input(ready):
    done = process("save", "-", "--json", home=ready, stdin=f"# Deploy day\n\n{DEPLOY} 🌊\n")
    assert done.returncode == 0, done.stderr
    saved = json.loads(done.stdout)
    assert data("get", saved["memory_id"], home=ready)["content"] == f"# Deploy day\n\n{DEPLOY} 🌊\n"


@pytest.mark.slow
def test_a_quarantined_note_is_said_with_its_reasons(ready):
    for words in (("save", "ok"), ("save", "ok", "--json")):
        done = run(*words, home=ready)
        assert done.returncode == QUARANTINED == 3
    saved = json.loads(done.stdout)
    assert saved["status"] == "quarantined"
    done = run("save", "ok", home=ready)
    assert "Quarantined" in done.stdout
    assert saved["reasons"]
    for reason in saved["reasons"]:
        assert f"{reason}: " in done.stdout
    assert "quarantine release" in done.stdout
    assert "Exit code 0: saved. 3: quarantined" in " ".join(run("save", "--help").stdout.split())


@pytest.mark.slow
def test_an_empty_note_is_refused_and_nothing_is_written(ready):
    for content in ("", " \n "):
        assert "no text in it, so nothing was saved" in refused("save", content, home=ready)
    done = run("save", "-", home=ready, stdin="")
    assert done.returncode == 1
    assert data("quarantine", "list", home=ready) == []


def test_settings_say_where_each_value_comes_from(made):
    found = data("settings", home=made)
    assert found["embedding.model"] == {"value": "wordllama-256", "origin": "slowwave.toml"}
    assert found["ranking.candidates"] == {"value": 100, "origin": "default"}
    assert found["home"]["origin"] == "SLOWWAVE_HOME"
    table = run("settings", home=made)
    assert table.returncode == 0
    assert "embedding.model" in table.stdout


@pytest.mark.slow
def test_the_doctor_ends_with_1_when_something_is_wrong(ready, tmp_path):
    healthy = run("doctor", "--json", home=ready)
    assert healthy.returncode == 0, healthy.stdout
    report = json.loads(healthy.stdout)
    assert report["healthy"]
    assert all(finding["ok"] for finding in report["findings"])
    (ready / "slowwave.toml").write_text('[embedding]\nmodel = "bge-small-en-v1.5"\n')
    sick = run("doctor", "--json", home=ready)
    assert sick.returncode == 1
    assert not json.loads(sick.stdout)["healthy"]
    nowhere = process("doctor", home=tmp_path / "nowhere")
    assert nowhere.returncode == 1
    assert "PROBLEM" in nowhere.stdout


def test_a_home_may_be_given_as_an_option(ready, tmp_path):
    done = run("--home", str(ready), "settings", "--json", home=tmp_path / "another")
    assert json.loads(done.stdout)["home"]["value"] == str(ready.resolve())


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("get", "nothing"), "has no memory 'nothing'"),
        (("forget", "nothing"), "has no memory 'nothing'"),
        (("search", " "), "The query is empty"),
        (("search", "x", "-n", "a b"), "Namespace 'a b'"),
        (("ingest", "does/not/exist"), "does not exist"),
        (("export", "/proc/x.jsonl"), "/proc/x.jsonl cannot be written"),
        (("export", "memories", "/proc/x"), "/proc/x cannot be written"),
        (("checkpoint", "restore", "nothing"), "No checkpoint 'nothing'"),
        (("checkpoint", "create", "a b"), "Checkpoint name 'a b'"),
        (("reembed", "--model", "nothing"), "'nothing' is unknown"),
        (("night", "--date", "soon"), "'soon' is not a day. Write it as YYYY-MM-DD."),
        (("night", "--date", "2026-02-30"), "is not a day"),
        (("night", "--date", "2023-12-31"), "before the first partition, 2024-01-01"),
        (("night", "--from", "2026-03-02", "--to", "2026-03-01"), "is after --to"),
        (("night", "--date", "2026-03-02", "--to", "2026-03-01"), "not both"),
    ],
)
def test_an_error_is_one_line_and_ends_with_1(made, words, message):
    assert message in refused(*words, home=made)


def test_a_night_of_tomorrow_is_refused(made):
    tomorrow = (datetime.now(UTC).date() + timedelta(days=1)).isoformat()
    assert f"{tomorrow} is in the future" in refused("night", "--date", tomorrow, home=made)


def test_a_night_without_a_home_is_refused_and_makes_none(tmp_path):
    for start in (process, run):
        assert "There is no home" in refused("night", home=tmp_path / "nowhere", start=start)
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.slow
def test_a_bad_settings_file_is_one_error_of_every_command(ready):
    (ready / "slowwave.toml").write_text("[ranking]\ncandidates = 0\n")
    for words in (("search", "x"), ("settings",), ("doctor",), ("save", DEPLOY), ("night",)):
        assert "ranking.candidates = 0" in refused(*words, home=ready)


@pytest.mark.slow
def test_a_vault_is_taken_in_by_the_night(ready, tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "deploy.md").write_text(f"# Deploy day\n\n{DEPLOY}")
    past = datetime.now(UTC).timestamp() - 60
    os.utime(folder / "deploy.md", (past, past))
    scan = data("ingest", str(folder), home=ready)
    assert (scan["vault"], scan["new"]) == ("notes", 1)
    report = data("night", home=ready)
    assert (report["success"], report["live"], report["errors"]) == (True, 1, [])
    (result,) = data("search", "deploy day", home=ready)["results"]
    assert result["source"] == "notes/deploy.md"


@pytest.mark.slow
def test_checkpoints_from_the_command_line(ready):
    first = data("save", DEPLOY, home=ready)
    assert process("checkpoint", "create", "before", home=ready).returncode == 0
    data("save", f"{DEPLOY} Or not.", home=ready)
    assert [one["name"] for one in data("checkpoint", "list", home=ready)] == ["before"]
    assert data("checkpoint", "restore", "before", home=ready)["name"] == "before"
    found = data("search", "deploy", home=ready)["results"]
    assert [result["memory_id"] for result in found] == [first["memory_id"]]
    assert run("checkpoint", "delete", "before", home=ready).returncode == 0
    assert data("checkpoint", "list", home=ready) == []


def test_the_version_is_told_without_a_home(tmp_path):
    assert run("--version", home=tmp_path / "none").stdout.strip() == version("slowwave")
    assert not (tmp_path / "none").exists()


def test_a_command_is_seldom_searched_for_what_nobody_holds(monkeypatch, tmp_path):
    before, inside = gc.get_threshold(), []
    monkeypatch.setattr(cli, "_load_plugins", lambda: inside.append(gc.get_threshold()))
    assert run("--version", home=tmp_path).returncode == 0
    assert inside == [(500_000, *before[1:])]
    assert gc.get_threshold() == before
