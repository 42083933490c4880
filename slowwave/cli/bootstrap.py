"""What a command needs to begin, and no more: a short command spends most of its time before it begins."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise

import typer

_WHOLE = frozenset({"help"})
"""Commands that look at all the others."""


def first_word(words: Sequence[str]) -> str:
    """The first word that is neither an option nor the home that one names; empty where there is none."""
    commands = (
        word for before, word in pairwise(("", *words)) if before != "--home" and not word.startswith("-")
    )
    return next(commands, "")


@cache
def alone(app: typer.Typer, name: str) -> typer.Typer:
    """The app with the one command or group of this name: to make all of them takes as long as a small one.

    Args:
        app: with all commands.
        name: of one of them. For any other word, and for a command that looks at the others, it is the app.
    """
    commands = [one for one in app.registered_commands if _name(one.name, one.callback) == name]
    groups = [one for one in app.registered_groups if one.name == name]
    if name in _WHOLE or not (commands or groups):
        return app
    narrow = copy.copy(app)
    narrow.registered_commands, narrow.registered_groups = commands, groups
    return narrow


def has(app: typer.Typer, name: str) -> bool:
    """Whether an app has a command of this name; groups are none."""
    return any(_name(one.name, one.callback) == name for one in app.registered_commands)


def _name(given: str | None, callback: object) -> str:
    return given or typer.main.get_command_name(getattr(callback, "__name__", ""))


def without_plugins_of_pydantic() -> None:
    """Let Pydantic not look through every installed package for plugins; nobody has one for this program."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def quick_help() -> None:
    """Let Typer draw its help without Rich's Markdown and tracebacks, which it loads and does not need."""
    from slowwave.common.slim_imports import classes_when_used

    if "typer.rich_utils" not in sys.modules and find_spec("rich") is not None:
        with classes_when_used("rich.markdown"), classes_when_used("rich.traceback"):
            import typer.rich_utils  # noqa: F401 - for Typer, which imports it when it draws
