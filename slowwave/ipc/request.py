"""Request of a command to the server: words, variables and terminal."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from slowwave.common.home_discovery import CONFIG_DIR, ENV_PREFIX, find_home
from slowwave.common.version import VERSION

ASK: Final = f"{ENV_PREFIX}ASK"
"""Variable that disables the server for a command, if it is 0."""
READING: Final = frozenset(
    {"search", "explain", "wakeup", "recall", "show", "get", "stats", "history", "page"}
)
"""Commands that may run twice. A repeated search is logged twice."""
WRITING: Final = frozenset(
    {"save", "feedback", "observe", "outcome", "forget", "unforget", "remember", "undo"}
)
SETTLING: Final = frozenset({"accept", "decline"})  # words of `decisions` that write
ASKED: Final = READING | WRITING | {"decisions"}
"""Commands that a server runs: short ones, about one namespace, without progress bars."""
LOOKS: Final = (
    "COLUMNS", "LINES", "TERM", "COLORTERM", "NO_COLOR", "FORCE_COLOR", "TTY_COMPATIBLE", "TTY_INTERACTIVE",
)  # fmt: skip
"""Variables that control the appearance of output."""
_NOT_COMPARED: Final = frozenset({f"{ENV_PREFIX}HOME", ASK, CONFIG_DIR})
_DUMB: Final = ("dumb", "unknown")  # terminals with a fixed size


class Command(NamedTuple):
    """Command that a server can run.

    Attributes:
        home: of the command.
        name: its first word.
        writes: whether it must not run twice.
    """

    home: Path
    name: str
    writes: bool


def command_of(words: Sequence[str]) -> Command | None:
    """Return the command of a command line; None if it has to run standalone.

    Args:
        words: arguments of the program.
    """
    home, name, rest = split_words(words)
    if name not in ASKED or os.environ.get(ASK) == "0":
        return None
    if "--help" in rest or "-" in rest:  # Typer draws help; "-" reads standard input
        return None
    named = Path(home).expanduser().resolve() if home is not None else find_home()
    return Command(named, name, name in WRITING or (name == "decisions" and not SETTLING.isdisjoint(rest)))


def split_words(words: Sequence[str]) -> tuple[str | None, str, list[str]]:
    """Return home, command and the words after it; "" if another word is first."""
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
    """Return the variables that are settings, for any home."""
    return {
        name: value
        for name, value in environment.items()
        if name.upper().startswith(ENV_PREFIX) and name.upper() not in _NOT_COMPARED
    }


def request_of(words: Sequence[str]) -> dict[str, Any] | None:
    """Return the request of a command; None if its output would differ from a standalone run.

    Args:
        words: arguments of the program.
    """
    if os.environ.get("TERM", "").lower() in _DUMB or sys.stdin is None:
        return None
    ends = (sys.stdout, sys.stderr)
    if any(end is None or (end.encoding or "").lower() not in ("utf-8", "utf8") for end in ends):
        return None
    columns, lines = _terminal_size()
    return {
        "version": VERSION,
        "words": list(words),
        "variables": own_variables(os.environ),
        "looks": {name: os.environ[name] for name in LOOKS if name in os.environ},
        "columns": columns,
        "lines": lines,
        "terminals": [end.isatty() for end in ends],
    }


def _terminal_size() -> tuple[int, int]:
    """Return columns and lines of the terminal of a standard stream."""
    for end in (0, 1, 2):
        with suppress(OSError, ValueError):
            columns, lines = os.get_terminal_size(end)
            return columns or 80, lines or 25
    return 80, 25
