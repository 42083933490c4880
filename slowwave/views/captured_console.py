"""Captured console of a command that a server runs for another process.

The standard streams and both consoles are those of the request, in its context only. Output of other
requests, server logs and threads goes to the server's own streams.
"""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, cast

from slowwave.views import terminal

_SCREEN: ContextVar[CapturedConsole | None] = ContextVar("slowwave_screen", default=None)


class NotHereError(BaseException):
    """Signal that the client has to run the command itself.

    An example is a command that reads input. Nothing catches it.
    """


class _Wire(io.RawIOBase):
    """Raw stream that records writes to one of two outputs, in the order of both."""

    def __init__(self, end: int, is_terminal: bool, output: list[tuple[int, bytes]]) -> None:
        self._end, self._is_terminal, self._output = end, is_terminal, output

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, part: Any) -> int:  # noqa: ANN401 - any buffer
        kept = bytes(part)
        if self._output and self._output[-1][0] == self._end:
            kept = self._output.pop()[1] + kept
        self._output.append((self._end, kept))
        return len(part)


class CapturedConsole:
    """Standard output and error of a client, and the consoles on them.

    Args:
        terminals: whether its standard output and its standard error are terminals.
        columns: width of the terminal (characters).
        lines: height of the terminal.
        looks: its variables that control appearance; COLUMNS and LINES override the terminal's.
    """

    def __init__(
        self, terminals: Sequence[bool], *, columns: int, lines: int, looks: Mapping[str, str]
    ) -> None:
        self._output: list[tuple[int, bytes]] = []
        self.stdout, self.stderr = (
            io.TextIOWrapper(
                io.BufferedWriter(_Wire(end, shown, self._output)),
                encoding="utf-8",
                errors="backslashreplace",
                line_buffering=shown or end == 2,
            )
            for end, shown in zip((1, 2), terminals, strict=True)
        )
        room = {"COLUMNS": columns, "LINES": lines}
        given = {name: str(size) for name, size in room.items() if not looks.get(name, "").isdigit()}
        with self.bound():  # the consoles inspect the streams
            self.out = terminal.Terminal(_environ={**looks, **given})
            self.err = terminal.Terminal(stderr=True, _environ={**looks, **given})

    @contextmanager
    def bound(self) -> Iterator[None]:
        """Send what is printed inside to this client; see :func:`share`."""
        token = _SCREEN.set(self)
        try:
            yield
        finally:
            _SCREEN.reset(token)

    def said(self) -> list[tuple[int, bytes]]:
        """Return all output in order, with its stream (1 or 2)."""
        self.stdout.flush()
        self.stderr.flush()
        return self._output


class _Stream:
    """Standard stream of the current client, else of the process."""

    def __init__(self, name: str, own: Any) -> None:  # noqa: ANN401 - whatever the process has
        self._name, self._own = name, own

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - of a stream
        screen = _SCREEN.get()
        if screen is None:
            return getattr(self._own, name)
        if self._name == "stdin":
            raise NotHereError
        return getattr(getattr(screen, self._name), name)


class _Shared(terminal.Terminal):
    """Console of the current client, else of the process."""

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - of a console
        screen = _SCREEN.get()
        if screen is None or name == "__class__":
            return object.__getattribute__(self, name)
        which = screen.err if object.__getattribute__(self, "stderr") else screen.out
        return getattr(which, name)


class _Log(logging.StreamHandler[Any]):
    """Log handler: times for the process's records, plain output for those of a request."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record. The process's JSON records were printed before."""
        if _SCREEN.get() is None:
            if not terminal.is_json():
                super().emit(record)
        elif terminal.is_json():
            from slowwave.telemetry.logs import JsonLines

            sys.stderr.write(f"{JsonLines().format(record)}\n")
        elif logging.lastResort is not None:
            logging.lastResort.handle(record)


@contextmanager
def share() -> Iterator[None]:
    """Redirect streams, consoles and log of the process to the current client."""
    before = sys.stdin, sys.stdout, sys.stderr
    log = _Log(sys.stderr)
    log.setLevel("WARNING")
    log.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    names = ("stdin", "stdout", "stderr")
    sys.stdin, sys.stdout, sys.stderr = (
        cast("io.TextIOWrapper", _Stream(name, own)) for name, own in zip(names, before, strict=True)
    )
    kinds = type(terminal.out), type(terminal.err)
    terminal.out.__class__ = terminal.err.__class__ = _Shared
    logging.getLogger().addHandler(log)
    try:
        yield
    finally:
        logging.getLogger().removeHandler(log)
        terminal.out.__class__, terminal.err.__class__ = kinds
        sys.stdin, sys.stdout, sys.stderr = before


def is_asked() -> bool:
    """Whether this code runs for another process."""
    return _SCREEN.get() is not None
