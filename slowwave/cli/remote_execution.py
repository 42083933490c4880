"""Doing a command for another process: the very same command, with its output kept for whoever asks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import typer
from typer.exceptions import TyperException

from slowwave.cli.app import app
from slowwave.cli.bootstrap import alone, first_word
from slowwave.cli.shared_workspace import WorkspacePool
from slowwave.common.version import VERSION
from slowwave.ipc.request import ASKED, own_variables
from slowwave.views.captured_console import CapturedConsole, NotHereError
from slowwave.views.terminal import telling


class Answering:
    """Answers the commands of one home.

    Args:
        warm: whose memory they use.
        home: which one it is (`slowwave.ipc.pidfile.home_identity`).
        environment: of this process; a command with other settings in its variables starts cold.
    """

    def __init__(self, warm: WorkspacePool, home: str, environment: Mapping[str, str] = os.environ) -> None:
        self._warm, self._home = warm, home
        self._variables = own_variables(environment)

    def __call__(self, request: dict[str, Any]) -> Callable[[], dict[str, Any] | None] | None:
        """What to do for a request; None where its command has to start cold."""
        try:
            words = [str(word) for word in request["words"]]
            mine = {"version": VERSION, "home": self._home, "variables": self._variables}
            if any(request[name] != value for name, value in mine.items()) or first_word(words) not in ASKED:
                return None
            screen = CapturedConsole(
                [bool(one) for one in request["terminals"]],
                columns=int(request["columns"]),
                lines=int(request["lines"]),
                looks={str(name): str(value) for name, value in request["looks"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        return lambda: self._run(words, screen)

    def _run(self, words: list[str], screen: CapturedConsole) -> dict[str, Any] | None:
        """Run it: what it said and its exit code; None where it did nothing and has to start cold."""
        with screen.bound(), self._warm.lending():
            try:
                with telling():
                    code = _command(first_word(words)).main(
                        words, prog_name="slowwave", standalone_mode=False
                    )
            except SystemExit as end:
                code = end.code
            except (TyperException, typer.Abort, NotHereError):
                return None  # wrongly asked, which is drawn by another library; or it has to read or to serve
        said = [(end, text.decode("latin-1")) for end, text in screen.said()]
        return {"said": said, "code": code if isinstance(code, int) else 0}


@cache
def _command(name: str) -> Any:  # noqa: ANN401 - of the library below Typer
    return typer.main.get_command(alone(app, name))
