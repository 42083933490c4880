"""What a command begins with: itself alone, and what registers itself only where it is asked for."""

from __future__ import annotations

import importlib.metadata
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer

import slowwave
from slowwave import cli
from slowwave.cli import app
from slowwave.cli.bootstrap import alone, first_word, has, listed

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]


def names(of: typer.Typer) -> list[str]:
    return sorted(typer.main.get_command(of).commands)


def shape(command: Any) -> Any:
    """What a command is, with those below it."""
    options = [(type(one).__name__, one.name, one.opts, one.default, one.required) for one in command.params]
    below = {name: shape(one) for name, one in getattr(command, "commands", {}).items()}
    return command.name, command.help, options, below


@pytest.mark.parametrize(
    ("words", "word"),
    [
        ([], ""), (["--help"], ""), (["--version"], ""), (["search", "deploy"], "search"),
        (["--home", "save", "search", "deploy"], "search"), (["--home=x", "mcp", "token"], "mcp"),
    ],
)  # fmt: skip
def test_the_command_is_the_first_word_that_is_no_option(words, word):
    assert first_word(words) == word


@pytest.mark.parametrize("name", [name for name in names(app) if name != "help"])  # it looks at all
def test_a_command_alone_is_as_it_is_among_the_others(name):
    whole, narrow = typer.main.get_command(app), typer.main.get_command(alone(app, name))
    assert list(narrow.commands) == [name]
    assert shape(narrow.commands[name]) == shape(whole.commands[name])
    assert [one.name for one in narrow.params] == [one.name for one in whole.params]
    assert alone(app, name) is alone(app, name)


def test_the_list_of_commands_shows_all_and_builds_no_options():
    whole, bare = typer.main.get_command(app), typer.main.get_command(listed(app))

    def shown(command: Any) -> Any:  # its panel is set by name when the list is drawn
        return command.help, command.get_short_help_str(), command.hidden

    assert list(bare.commands) == list(whole.commands)
    for name, command in bare.commands.items():
        assert shown(command) == shown(whole.commands[name])
        assert getattr(command, "commands", {}) == {}
        if not hasattr(command, "commands"):
            assert [option.name for option in command.params] in ([], ["help"])
    assert [option.name for option in bare.params] == [option.name for option in whole.params]


def test_another_word_leaves_all_commands():
    assert alone(app, "") is alone(app, "serch") is alone(app, "help") is app
    assert len(names(app)) > 25


@pytest.mark.parametrize(
    ("words", "asks"),
    [
        (["search", "x"], False), (["--version"], False), (["save", "--help"], False), (["--help"], True),
        ([], True), (["night"], True), (["eval", "run"], True), (["nigth"], True),
    ],
)  # fmt: skip
def test_installed_packages_are_asked_only_for_what_is_not_here(words, asks, monkeypatch):
    asked = []
    monkeypatch.setattr(importlib.metadata, "entry_points", lambda **group: asked.append(group) or ())
    monkeypatch.setattr("sys.argv", ["slowwave", *words])
    cli._load_plugins()
    assert asked == ([{"group": "slowwave.commands"}] if asks else [])


def test_no_command_that_registers_itself_has_the_name_of_one_that_is_here():
    for name in PROJECT["entry-points"]["slowwave.commands"]:
        assert not has(app, name.split(".")[0])


def test_the_package_and_the_project_have_one_version():
    assert slowwave.__version__ == PROJECT["version"]
