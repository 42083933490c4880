"""The command that erases: it shows, asks, and refuses where nobody can be asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import slowwave
from slowwave.memory import Memory

TEXT = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."


@pytest.fixture
def saved(memory: Memory) -> str:
    return memory.save(TEXT, title="Battery life", key="gauges/battery").memory_id


def test_it_shows_what_goes_and_refuses_to_go_on_without_being_told(run, memory, saved):
    shown = run("erase", saved, "-n", "ada")
    assert shown.exit_code == 1
    for told in ("Battery life", "gauges/battery", "table chunks", "journal: save", "--yes"):
        assert told in shown.output, told
    planned = json.loads(run("erase", "--source", "gauges/", "-n", "ada", "--json").stdout)
    assert [one["memory_id"] for one in planned["memories"]] == [saved]
    assert "work" not in planned
    assert memory.get(saved).content == TEXT


@pytest.mark.slow
def test_with_yes_it_erases_and_keeps_a_record(run, memory, saved):
    done = run("erase", saved, "-n", "ada", "--yes", "--why", "asked for")
    assert done.exit_code == 0, done.output
    assert "Erased" in done.output
    (record,) = json.loads(run("erase", "--list", "--json").stdout)
    assert (record["memories"], record["why"], record["finished"]) == ([saved], "asked for", True)
    assert "asked for" in run("erase", "--list").output
    assert json.loads(run("erase", "--list", "-n", "bob", "--json").stdout) == []
    assert "Every erasure is finished" in run("erase", "--finish").output
    assert memory.count() == 0


@pytest.mark.parametrize(("answer", "left"), [("no\n", 1), ("y\n", 0)])
def test_a_person_is_asked(run, memory, saved, monkeypatch, answer, left):
    monkeypatch.setattr("slowwave.cli.erase.can_be_asked", lambda: True)
    assert run("erase", saved, "-n", "ada", input=answer).exit_code == left
    assert memory.count() == left


@pytest.mark.slow
def test_a_namespace_has_to_be_typed(run, memory, saved, monkeypatch):
    monkeypatch.setattr("slowwave.cli.erase.can_be_asked", lambda: True)
    assert run("erase", "--everything", "-n", "ada", input="y\n").exit_code == 1
    assert memory.count() == 1
    assert run("erase", "--everything", "-n", "ada", input="ada\n").exit_code == 0
    assert memory.count() == 0


def test_a_namespace_alone_is_no_order_to_erase_it(run, memory, saved):
    told = run("erase", "-n", "ada", "--yes")
    assert told.exit_code == 1
    assert "--everything" in told.output
    assert memory.count() == 1


def test_forget_says_what_the_difference_is(run):
    assert "slowwave erase" in " ".join(run("forget", "--help").output.split())


def test_no_assistant_can_erase():
    """The list of tools is tested where they are; nothing behind them knows of erasing either."""
    folder = Path(slowwave.__file__).parent / "mcp"
    assert not [path.name for path in folder.glob("*.py") if "eras" in path.read_text()]


def test_what_is_secret_and_what_it_follows_is_said_on_the_command_line(run, memory, saved):
    text = "Nobody but Ishbel knows where the spare key of the boathouse lies."
    labels = ("--key", "spare", "--sensitivity", "secret", "--follows", "gauges/battery")
    done = run("save", text, "-n", "ada", *labels, "--json")
    assert done.exit_code == 0, done.output
    kept = memory.get(json.loads(done.stdout)["memory_id"])
    assert (kept.sensitivity, kept.follows) == ("secret", saved)
    assert run("save", "The key is gone.", "-n", "ada", "--key", "spare").exit_code == 0
    assert memory.get(kept.memory_id).sensitivity == "secret"
