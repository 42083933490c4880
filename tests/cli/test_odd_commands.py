"""Every command with odd words: it works, or it ends with 1 to 3 and says why, never with a traceback.

The commands and their options are found by looking at the app, so a new one is tried, too.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest
from command_lines import DEPLOY, OWN, PLUGINS, fault, sentences, whole
from typer.testing import CliRunner

from slowwave.cli import app

pytestmark = pytest.mark.slow


@pytest.fixture(autouse=True)
def _nowhere(nothing_is_served, monkeypatch, tmp_path):
    """A fault of the program is shown, and no command waits for somebody to end it."""
    monkeypatch.setenv("SLOWWAVE_DEBUG", "1")
    monkeypatch.chdir(tmp_path)
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):  # what is read where no folder is given
        monkeypatch.setenv(name, str(tmp_path / "nothing"))


@pytest.mark.parametrize("first", sorted({path[0] for path in OWN}))
def test_the_commands_that_begin_with(run, known, first):
    faults = [
        found
        for path in sorted(path for path in OWN if path[0] == first)
        for words in sentences(path, OWN[path], known)
        if (found := fault(app, words))
    ]
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:3])


def test_the_commands_that_join_the_app(run, known, monkeypatch):
    monkeypatch.setattr("slowwave.orchestration.run_nightly.run_night", lambda *_, **__: REPORT)
    application = whole()
    faults = [
        found
        for path, command in PLUGINS.items()
        for words in sentences(path, command, known)
        if (found := fault(application, words))
    ]
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:3])


REPORT = {"job": "night", "from": "2026-01-01", "to": "2026-01-01", "steps": [], "success": True, "live": 0,
          "gate": "", "warnings": [], "errors": []}  # fmt: skip


@pytest.mark.parametrize("folder", ["", "caf\udce9", "/dev/null", "/dev/null/x", "x" * 5_000, "\x1b[2J"])
def test_an_odd_home(run, folder):
    lines = [["settings"], ["doctor"], ["save", DEPLOY], ["init"], ["init", folder], ["ingest", folder]]
    faults = [found for words in lines if (found := fault(app, ["--home", folder, *words]))]
    assert not faults, "\n".join(faults)


def test_a_fault_of_the_program_is_one_line(run, monkeypatch):
    monkeypatch.delenv("SLOWWAVE_DEBUG")
    monkeypatch.setattr("slowwave.settings.in_force", lambda _: 1 / 0)
    done = run("settings")
    assert (done.exit_code, done.stderr.count("\n")) == (1, 1)
    assert "ZeroDivisionError" in done.stderr
    assert "SLOWWAVE_DEBUG=1" in done.stderr
    assert sys.exc_info() == (None, None, None)


def test_standard_input_that_is_no_text(run):
    done = CliRunner().invoke(app, ["save", "-"], input=b"caf\xe9 " * 30)
    assert (done.exit_code, "not UTF-8" in done.stderr) == (1, True)
    assert not Path("caf").exists()


@pytest.mark.parametrize("words", [["list"], ["search", "boat"], ["save", DEPLOY], ["doctor"]])
def test_a_folder_of_other_files_gets_no_home(run, tmp_path, words):
    notes = tmp_path / "notes"
    notes.mkdir()
    (notes / "boat.md").write_text("The boat is at the pier.")
    done = CliRunner().invoke(app, ["--home", str(notes), *words])
    assert (done.exit_code, "no home" in done.stderr + done.stdout) == (1, True)
    assert [path.name for path in notes.iterdir()] == ["boat.md"]


@pytest.mark.parametrize("folder", ["", " ", "home", "home/inner"])
def test_no_vault_is_an_empty_path_or_the_home(run, tmp_path, folder):
    run("save", DEPLOY)
    home = Path(os.environ["SLOWWAVE_HOME"])
    (home / "inner").mkdir()
    done = run("ingest", str(home / folder.removeprefix("home").strip("/")) if "home" in folder else folder)
    assert done.exit_code in {1, 2}
    assert "folder of" in " ".join(done.stderr.split())


def test_names_that_are_not_utf8_are_in_the_json_of_a_scan(run, tmp_path):
    (tmp_path / "vault").mkdir()
    for name in (b"caf\xe0.md", b"caf\xe8.md"):
        file = tmp_path / "vault" / os.fsdecode(name)
        file.write_text("The pier is closed on Mondays in winter.")
    done = run("ingest", str(tmp_path / "vault"), "--json")
    assert (done.exit_code, json.loads(done.stdout)["new"]) == (0, 1)
