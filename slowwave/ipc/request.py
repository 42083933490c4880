"""What a command says of itself when it asks: its words, its variables, and what it prints on."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from slowwave.common.home_discovery import ENV_PREFIX, find_home
from slowwave.common.version import VERSION

ASK: Final = f"{ENV_PREFIX}ASK"
"""The variable that forbids to ask, when it is 0."""
READING: Final = frozenset(
    {"search", "explain", "wakeup", "recall", "show", "get", "stats", "history", "page"}
)
"""Commands that may be run again. A search is logged twice then, and was made twice; a page has two links."""
WRITING: Final = frozenset({"save", "feedback", "observe", "outcome", "forget", "remember", "undo"})
SETTLING: Final = frozenset({"accept", "decline"})  # words of `decisions` that write
ASKED: Final = READING | WRITING | {"decisions"}
"""Commands that a running memory answers: short ones, about one namespace, that show no progress."""
LOOKS: Final = (
    "COLUMNS", "LINES", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE",
)  # fmt: skip
"""Variables that decide how something looks."""
_NOT_COMPARED: Final = frozenset({f"{ENV_PREFIX}HOME", ASK})
_DUMB: Final = ("dumb", "unknown")  # terminals with a size of their own


class Command(NamedTuple):
    """A command that may be asked.

    Attributes:
        home: that it is about.
        name: its first word.
        writes: whether it must not be run twice.
    """

    home: Path
    name: str
    writes: bool


def command_of(words: Sequence[str]) -> Command | None:
    """The command of a command line; None for one that has to start cold.

    Args:
        words: what was typed after the program's name.
    """
    home, name, rest = _split(words)
    if name not in ASKED or os.environ.get(ASK) == "0":
        return None
    if "--help" in rest or "-" in rest:  # it is drawn by another library; or it reads what is typed
        return None
    named = Path(home).expanduser().resolve() if home is not None else find_home()
    return Command(named, name, name in WRITING or (name == "decisions" and not SETTLING.isdisjoint(rest)))


def _split(words: Sequence[str]) -> tuple[str | None, str, list[str]]:
    """The home that is named, the command, and what is after it; no command where anything else is first."""
    home, at = None, 0
    while at < len(words):
        word = words[at]
        if word.startswith("--home="):
            home, at = word.partition("=")[2], at + 1
        elif word == "--home" and at + 1 < len(words):
            home, at = words[at + 1], at + 2
        else:
            return home, word, list(words[at + 1 :])
    return home, "", []


def own_variables(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that are settings, whatever home they are for."""
    return {
        name: value
        for name, value in environment.items()
        if name.upper().startswith(ENV_PREFIX) and name.upper() not in _NOT_COMPARED
    }


def request_of(words: Sequence[str]) -> dict[str, Any] | None:
    """What is asked; None where an answer could not look as it would.

    Args:
        words: what was typed after the program's name.
    """
    if os.environ.get("TERM", "").lower() in _DUMB or sys.stdin is None:
        return None
    ends = (sys.stdout, sys.stderr)
    if any(end is None or (end.encoding or "").lower() not in ("utf-8", "utf8") for end in ends):
        return None
    columns, lines = _room()
    return {
        "version": VERSION,
        "words": list(words),
        "variables": own_variables(os.environ),
        "looks": {name: os.environ[name] for name in LOOKS if name in os.environ},
        "columns": columns,
        "lines": lines,
        "terminals": [end.isatty() for end in ends],
    }


def _room() -> tuple[int, int]:
    """Columns and lines of the terminal that one of the three streams is."""
    for end in (0, 1, 2):
        with suppress(OSError, ValueError):
            columns, lines = os.get_terminal_size(end)
            return columns or 80, lines or 25
    return 80, 25
