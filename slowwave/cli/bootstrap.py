"""Start-up helpers of the CLI. A short command spends most of its time before it begins."""

from __future__ import annotations

import copy
import os
import sys
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from inspect import getdoc
from itertools import pairwise

import typer
from typer.models import CommandInfo, TyperInfo

_WITH_ALL_COMMANDS = frozenset({"help"})
"""Commands that list all others."""


def first_word(words: Sequence[str]) -> str:
    """Return the first word that is neither an option nor an option's home, or ""."""
    commands = (
        word for previous, word in pairwise(("", *words)) if previous != "--home" and not word.startswith("-")
    )
    return next(commands, "")


@cache
def alone(app: typer.Typer, name: str) -> typer.Typer:
    """Return the app with only the command or group of this name.

    Building all takes as long as a short command.

    Args:
        app: with all commands.
        name: any other word, or a command that lists the others, returns the whole app.
    """
    commands = [
        registered
        for registered in app.registered_commands
        if _name(registered.name, registered.callback) == name
    ]
    groups = [registered for registered in app.registered_groups if registered.name == name]
    if name in _WITH_ALL_COMMANDS or not (commands or groups):
        return app
    narrow = copy.copy(app)
    narrow.registered_commands, narrow.registered_groups = commands, groups
    return narrow


def listed(app: typer.Typer) -> typer.Typer:
    """Return the app for its list of commands: names, groups and first sentences, without any options.

    Building all options takes two thirds of the time of `slowwave --help`.
    """
    narrow = copy.copy(app)
    narrow.registered_commands = [_without_options(command) for command in app.registered_commands]
    narrow.registered_groups = [_without_commands(group) for group in app.registered_groups]
    return narrow


def _without_options(registered: CommandInfo) -> CommandInfo:
    bare = copy.copy(registered)
    bare.name = _name(registered.name, registered.callback)
    bare.help = registered.help or getdoc(registered.callback)
    bare.callback = lambda: None
    return bare


def _without_commands(registered: TyperInfo) -> TyperInfo:
    bare = copy.copy(registered)
    bare.typer_instance = copy.copy(registered.typer_instance)
    if bare.typer_instance is not None:
        bare.typer_instance.registered_commands, bare.typer_instance.registered_groups = [], []
    return bare


def has(app: typer.Typer, name: str) -> bool:
    """Whether an app has a command of this name; groups are none."""
    return any(_name(registered.name, registered.callback) == name for registered in app.registered_commands)


def _name(name: str | None, callback: object) -> str:
    return name or typer.main.get_command_name(getattr(callback, "__name__", ""))


def without_plugins_of_pydantic() -> None:
    """Disable Pydantic's plugin search, which reads every installed package. Slowwave uses no plugins."""
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")


def quick_help() -> None:
    """Let Typer draw help without importing Rich's Markdown and traceback modules."""
    from slowwave.common.slim_imports import classes_when_used

    if "typer.rich_utils" not in sys.modules and find_spec("rich") is not None:
        with classes_when_used("rich.markdown"), classes_when_used("rich.traceback"):
            import typer.rich_utils  # noqa: F401 - for Typer, which imports it when it draws
