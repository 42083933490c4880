"""The command that moves a home: it shows what it removes, asks, and refuses where nobody can be asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_lines import DEPLOY

from slowwave.memory import Memory

pytestmark = pytest.mark.slow


@pytest.fixture
def moved(run, memory: Memory, home: Path, tmp_path: Path) -> Path:
    """Where the tables of the home were before."""
    memory.save(DEPLOY, key="deploy")
    done = run("move", "--to", str(tmp_path / "new"))
    assert done.exit_code == 0, done.output
    assert (home / "lance").is_dir()
    return home / "lance"


@pytest.mark.parametrize(("answer", "stays"), [("no\n", True), ("y\n", False)])
def test_a_person_sees_what_is_removed_and_is_asked(run, moved, monkeypatch, answer, stays):
    monkeypatch.setattr("slowwave.cli.moving.can_be_asked", lambda: True)
    asked = run("move", "--remove-source", input=answer)
    assert f"tables: {moved}" in asked.output.split("Remove?")[0]
    assert (asked.exit_code, moved.exists()) == (int(stays), stays)


def test_a_script_has_to_say_yes(run, moved, tmp_path):
    for words in (["--remove-source"], ["--remove-source", "--json"]):
        told = run("move", *words)
        assert told.exit_code == 1
        assert "Nothing was done: --remove-source needs a confirmation" in told.output
        assert "Pass --yes" in told.output
    assert json.loads(run("move", "--remove-source", "--dry-run", "--json").stdout) == {
        "would_remove": {"tables": str(moved)}
    }
    assert f"Would be removed: {moved}." in run("move", "--remove-source", "--dry-run").output
    assert moved.exists()
    done = run("move", "--remove-source", "--yes", "--json")
    assert json.loads(done.stdout) == {"removed": {"tables": str(moved)}}
    assert not moved.exists()


def test_it_refuses_before_it_moves(run, memory, home, tmp_path):
    memory.save(DEPLOY, key="deploy")
    told = run("move", "--to", str(tmp_path / "new"), "--remove-source")
    assert (told.exit_code, (tmp_path / "new").exists()) == (1, False)
    done = run("move", "--to", str(tmp_path / "new"), "--remove-source", "--yes")
    assert done.exit_code == 0, done.output
    assert not (home / "lance").exists()


def test_what_is_there_already_is_said(run, memory):
    memory.save(DEPLOY, key="deploy")
    there = run("move", "--to", "files")
    assert there.exit_code == 0, there.output
    assert "The home is at this place already." in there.output
