"""Execution of commands for other processes: the same command, with captured output."""

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
from slowwave.views.terminal import exits_on_error


class Answering:
    """Executor of commands sent to the server of one home.

    Args:
        warm: pool of open workspaces.
        home: id of the home (`slowwave.ipc.pidfile.home_identity`).
        environment: of this process. A command whose SLOWWAVE variables differ runs standalone.
    """

    def __init__(self, warm: WorkspacePool, home: str, environment: Mapping[str, str] = os.environ) -> None:
        self._warm, self._home = warm, home
        self._variables = own_variables(environment)

    def __call__(self, request: dict[str, Any]) -> Callable[[], dict[str, Any] | None] | None:
        """Return a function that runs a request; None if it has to run standalone."""
        try:
            words = [str(word) for word in request["words"]]
            expected = {"version": VERSION, "home": self._home, "variables": self._variables}
            if (
                any(request[name] != value for name, value in expected.items())
                or first_word(words) not in ASKED
            ):
                return None
            screen = CapturedConsole(
                [bool(flag) for flag in request["terminals"]],
                columns=int(request["columns"]),
                lines=int(request["lines"]),
                looks={str(name): str(value) for name, value in request["looks"].items()},
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            return None
        return lambda: self._run(words, screen)

    def _run(self, words: list[str], screen: CapturedConsole) -> dict[str, Any] | None:
        """Run a command; return its output and exit code, or None to run it standalone."""
        with screen.bound(), self._warm.lending():
            try:
                with exits_on_error():
                    code = _command(first_word(words)).main(
                        words, prog_name="slowwave", standalone_mode=False
                    )
            except SystemExit as end:
                code = end.code
            except (TyperException, typer.Abort, NotHereError):
                return None  # usage errors are drawn by Typer; others need a terminal or have to serve
        output = [(end, text.decode("latin-1")) for end, text in screen.said()]
        return {"said": output, "code": code if isinstance(code, int) else 0}


@cache
def _command(name: str) -> Any:  # noqa: ANN401 - of the library below Typer
    return typer.main.get_command(alone(app, name))
