"""The command line. Commands import what they need when they run, so that `--help` prints_output at once."""

from __future__ import annotations

import atexit
import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import TextIOWrapper

# `slowwave --help` lists the commands in this order.
from slowwave.cli import admin, memories  # noqa: F401 - their commands join the app

# isort: split
from slowwave.cli import (  # noqa: F401
    api,
    backup,
    connect,
    curation,
    erase,
    exchange,
    feedback,
    gate,
    health,
    imports,  # after exchange: they are commands of its group
    judge,
    learning,
    learning_lists,  # after it: they are commands of its group
    mcp,
    moving,
    page,
    rebuild,
    report,
    search,
    topics,
    tune,
    up,
    upgrading,
    warehouse,
)
from slowwave.cli.app import app
from slowwave.cli.bootstrap import alone, first_word, has, quick_help, without_plugins_of_pydantic
from slowwave.cli.evaluate import evaluation
from slowwave.views.terminal import telling

__all__ = ["app", "main"]

_SELDOM = 500_000
"""New objects (count) after which Python looks for those that nobody holds. With its own 700 it looks through
all that a command imports, again and again: a tenth of a short command's CPU."""


def main() -> None:
    """Entry point of the `slowwave` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal may lack a letter
    atexit.register(gc.freeze)  # or Python looks through all that is loaded before it lets go of it: .4 s
    with telling(), _seldom_collected():
        without_plugins_of_pydantic()
        _load_plugins()
        if "--help" in sys.argv or len(sys.argv) == 1:
            quick_help()
        alone(app, _asked())()


@contextmanager
def _seldom_collected() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(_SELDOM, *before[1:])
    try:
        yield
    finally:
        gc.set_threshold(*before)


def _load_plugins() -> None:
    """Add the commands of rooms above this one, which register themselves: `night`; `eval.run` in a group.

    To find them is to read what every installed package says of itself; a command that is here needs none,
    but for the one that tells of all.
    """
    asked = _asked()
    if (has(app, asked) and asked != "help") or "--version" in sys.argv[1:2]:
        return
    from importlib.metadata import entry_points

    groups = {"eval": evaluation}
    for plugin in entry_points(group="slowwave.commands"):
        *group, name = plugin.name.split(".")
        if _is_wanted(group[0] if group else name):
            (groups[group[0]] if group else app).command(name)(plugin.load())


def _is_wanted(name: str) -> bool:
    """A plugin is loaded for its own command, for a list of all commands and for help, not for another's."""
    return _asked() in ("", "help", name)


def _asked() -> str:
    """The command that is asked for; empty where there is none."""
    return first_word(sys.argv[1:])
