"""No home by accident: commands that write, the default home, and `slowwave where`."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest
from typer.main import get_command
from typer.testing import CliRunner

import slowwave
from slowwave.cli import app
from slowwave.common.home_discovery import default_home, locate_home, remember_default
from slowwave.errors import SettingsError

NOTE = "The ice cellar below the mill is locked with the brass key since May."


@pytest.fixture(autouse=True)
def _apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fast_embedder: object) -> None:
    monkeypatch.delenv("SLOWWAVE_HOME", raising=False)
    monkeypatch.setattr("slowwave.embedding.load_embedder", lambda *_: fast_embedder)
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")


def run(*words: str, **options: object) -> object:
    return CliRunner().invoke(app, list(words), **options)


def test_commands_that_write_make_no_home_where_nobody_named_one(tmp_path):
    (tmp_path / "notes").mkdir()
    (tmp_path / "log.jsonl").write_text(json.dumps({"text": NOTE}) + "\n")
    for words in (
        ["save", NOTE], ["ingest", str(tmp_path / "notes")], ["import", "bulk", str(tmp_path / "log.jsonl")],
        ["forget", "x"], ["feedback", "last", "1", "helpful"],
    ):  # fmt: skip
        done = run(*words)
        assert (done.exit_code, "slowwave init" in done.output) == (1, True), words
    with pytest.raises(SettingsError, match="slowwave init"):
        slowwave.open(namespace="ada")
    assert list((tmp_path / "work").iterdir()) == []


def commands(group: object, words: tuple[str, ...] = ()) -> list[list[str]]:
    """Every command, with a word for each argument and option that it needs."""
    found = []
    for name, command in group.commands.items():
        if getattr(command, "commands", None):
            found += commands(command, (*words, name))
            if not command.invoke_without_command:
                continue
        needed = [part for part in command.params if part.required]
        options = [
            text for part in needed if part.param_type_name == "option" for text in (part.opts[0], "1")
        ]
        arguments = ["1" for part in needed if part.param_type_name == "argument"]
        found.append([*words, name, *options, *arguments])
    return found


def test_no_command_but_init_makes_a_stray_home(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    every = [words for words in commands(get_command(app)) if words[0] not in ("init", "connect")]
    assert len(every) > 80
    for words in every:
        done = run(*words, input="")
        assert not (tmp_path / "work" / ".slowwave").exists(), (words, done.output)
        assert not isinstance(done.exception, AssertionError), words
        assert done.exception is None or isinstance(done.exception, SystemExit), (words, done.exception)
    for client in ("claude-code", "codex"):
        assert run("connect", client, "--hooks").exit_code != 0
    assert list((tmp_path / "work").iterdir()) == []


def test_a_named_home_is_made_by_a_save(tmp_path, monkeypatch):
    assert run("--home", str(tmp_path / "named"), "save", NOTE).exit_code == 0
    monkeypatch.delenv("SLOWWAVE_HOME")  # --home sets it for the process
    with pytest.raises(SettingsError):
        slowwave.open(tmp_path / "other", namespace="ada", create=False)
    with slowwave.open(namespace="ada", create=True) as memory:
        memory.save(NOTE)
    assert (tmp_path / "work" / ".slowwave").is_dir()


def test_the_first_home_is_the_default_and_a_near_or_named_one_wins(tmp_path, monkeypatch):
    home = tmp_path / "first"
    assert json.loads(run("init", str(home), "--json").stdout)["default"]
    assert not json.loads(run("init", str(tmp_path / "second"), "--json").stdout)["default"]
    assert run("save", NOTE).exit_code == 0
    place = json.loads(run("where", "--json").stdout)
    assert (place["home"], place["origin"], place["counts"]) == (str(home), "default", {"live": 1})
    assert place["bytes"] > 0
    assert "1 live" in run("where").stdout
    assert json.loads(run("settings", "--json").stdout)["home"]["origin"] == "default home"
    assert run("init").exit_code == 0  # a home of this folder, and not the default one again
    assert locate_home() == (tmp_path / "work" / ".slowwave", "folder")
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "second"))
    assert locate_home() == (tmp_path / "second", "variable")
    run("init", str(tmp_path / "second"), "--default")
    assert default_home() == tmp_path / "second"


def test_a_default_home_that_is_gone_or_a_broken_file_is_none(tmp_path, monkeypatch):
    assert remember_default(tmp_path / "never made")
    assert default_home() is None
    monkeypatch.setenv("SLOWWAVE_CONFIG_DIR", str(tmp_path / "configuration"))
    (tmp_path / "configuration").mkdir()
    (tmp_path / "configuration" / "default-home").write_bytes(b"\xff\xfe")
    assert default_home() is None
    assert json.loads(run("where", "--json").stdout)["exists"] is False
    assert not (tmp_path / "work" / ".slowwave").exists()


def test_a_home_named_by_the_variable_is_not_remembered(tmp_path, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_HOME", str(tmp_path / "tried"))
    assert run("init").exit_code == 0
    assert default_home() is None


@pytest.mark.parametrize(("answer", "code"), [("y\n", 0), ("n\n", 1)])
def test_at_a_terminal_the_command_asks(answer, code, tmp_path, monkeypatch):
    asked = []
    monkeypatch.setattr(sys.modules["slowwave.cli.app"], "_is_terminal", lambda: True)
    monkeypatch.setattr("typer.confirm", lambda text, **_: asked.append(text) or answer == "y\n")
    assert run("save", NOTE).exit_code == code
    assert str(tmp_path / "work" / ".slowwave") in asked[0]
    assert (tmp_path / "work" / ".slowwave").exists() == (code == 0)
