"""The command line. Commands import their dependencies when they run, so that `--help` is fast."""

from __future__ import annotations

import gc
import os
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
    browse,  # after exchange: a command of its group
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
    quarantine,
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
from slowwave.cli.bootstrap import (
    alone,
    first_word,
    has,
    listed,
    quick_help,
    without_plugins_of_pydantic,
)
from slowwave.cli.evaluate import evaluation
from slowwave.views.terminal import exits_on_error

__all__ = ["app", "main"]

_GC_THRESHOLD = 500_000
"""Allocations (count) between garbage collections. Python's default of 700 costs a short command a tenth of
its CPU, because each collection walks everything that the command imported."""


def main() -> None:
    """Entry point of the `slowwave` command."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # for letters that a terminal cannot show
    os.environ.setdefault("OPENBLAS_THREAD_TIMEOUT", "4")  # else NumPy's threads wait busily for 0.05 s
    with exits_on_error(), _rare_garbage_collection():
        without_plugins_of_pydantic()
        _load_plugins()
        if "--help" in sys.argv or len(sys.argv) == 1:
            quick_help()
        shown = listed(app) if sys.argv[1:] in ([], ["--help"]) else alone(app, _requested_command())
        shown()


@contextmanager
def _rare_garbage_collection() -> Iterator[None]:
    before = gc.get_threshold()
    gc.set_threshold(_GC_THRESHOLD, *before[1:])
    try:
        yield
    finally:
        gc.freeze()  # else the next allocation, and the exit, collect all that the command imported
        gc.set_threshold(*before)


def _load_plugins() -> None:
    """Add commands that other packages register as entry points: `night`, and `eval.run` in a group.

    Finding them reads the metadata of every installed package. Only their own commands and lists of all
    commands need that.
    """
    command = _requested_command()
    if (has(app, command) and command != "help") or "--version" in sys.argv[1:2]:
        return
    from importlib.metadata import entry_points

    groups = {"eval": evaluation}
    for plugin in entry_points(group="slowwave.commands"):
        *group, name = plugin.name.split(".")
        if _is_wanted(group[0] if group else name):
            (groups[group[0]] if group else app).command(name)(plugin.load())


def _is_wanted(name: str) -> bool:
    """Whether a plugin is loaded: for its own command, for help and for lists of all commands."""
    return _requested_command() in ("", "help", name)


def _requested_command() -> str:
    """Return the first command word of the arguments, or "" without one."""
    return first_word(sys.argv[1:])
