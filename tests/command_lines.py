"""Every command of the app, found by looking at it, and command lines to try it with."""

from __future__ import annotations

import traceback
from collections.abc import Iterator, Mapping
from importlib.metadata import entry_points
from typing import Any

import typer
from odd_values import odd_words
from typer.testing import CliRunner

from slowwave.cli import app

TOLD = {0, 1, 2, 3, 4}  # done, refused, wrongly asked, quarantined, journalled but not in the tables
WORST = 1  # of the worst words that each parameter is given (count)
DEPLOY = "We deploy on Thursday since the second of March, and Friday is for repairs only."


def whole() -> typer.Typer:
    """The app with the commands that join it when they are run."""
    every = typer.Typer()
    for plugin in entry_points(group="slowwave.commands"):
        every.command(plugin.name)(plugin.load())
    return every


def commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command with the words that lead to it."""
    for name, command in group.commands.items():
        if hasattr(command, "commands"):
            yield from commands(command, (*path, name))
            if not command.no_args_is_help:
                yield (*path, name), command
        else:
            yield (*path, name), command


OWN = dict(commands(typer.main.get_command(app)))
PLUGINS = dict(commands(typer.main.get_command(whole())))


def sentences(path: tuple[str, ...], command: Any, known: Mapping[str, str]) -> Iterator[list[str]]:
    """Command lines of a command: sensible ones but for one odd word."""
    for odd in command.params:
        if getattr(odd, "is_flag", False) or odd.name in ("help", "install_completion", "show_completion"):
            continue
        for word in odd_words(f"{'.'.join(path)}.{odd.name}", WORST):
            yield sensible(path, command, known, without=odd) + _given(odd, word)


def sensible(path: tuple[str, ...], command: Any, known: Mapping[str, str], without: Any = None) -> list[str]:
    """The shortest command line that a command takes, without one of its parameters."""
    words = [*path]
    for one in command.params:
        if one.required and one is not without:
            words += _given(one, known.get(one.name, "x"))
    return words


def _given(parameter: Any, word: str) -> list[str]:
    if parameter.param_type_name == "argument":
        return [word] if word.startswith("-") is False else ["--", word]
    return [f"{parameter.opts[0]}={word}"]


def fault(application: Any, words: list[str]) -> str:
    """What went wrong that should not, or nothing."""
    done = CliRunner().invoke(application, words, input=DEPLOY)
    said = done.stderr.strip()
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        told = traceback.format_exception(done.exception, limit=-6)
        return f"{words!r}"[:300] + "\n" + "".join(told)
    if done.exit_code not in TOLD:
        return f"{words!r}: ends with {done.exit_code}"
    if done.exit_code and not (said or done.stdout.strip()):
        return f"{words!r}: says nothing"
    if "Traceback" in said or (done.exit_code and any(not one.isprintable() and one != "\n" for one in said)):
        return f"{words!r}: {said!r}"
    return ""
