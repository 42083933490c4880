"""What a command prints and reads, when the command is done by a process that does others beside it.

There the standard streams and the two consoles belong to whoever asks, in the context of the request alone.
What anything else prints (another request, a log of a server, a thread) goes where the process prints.
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
    """The process of whoever asks has to do a command, as one that reads what is typed; none catches it."""


class _Wire(io.RawIOBase):
    """Keeps what is written to one of two ends in the order of both."""

    def __init__(self, end: int, is_terminal: bool, said: list[tuple[int, bytes]]) -> None:
        self._end, self._is_terminal, self._said = end, is_terminal, said

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._is_terminal

    def write(self, part: Any) -> int:  # noqa: ANN401 - any buffer
        kept = bytes(part)
        if self._said and self._said[-1][0] == self._end:
            kept = self._said.pop()[1] + kept
        self._said.append((self._end, kept))
        return len(part)


class CapturedConsole:
    """The two standard outputs of one who asks, and the consoles on them.

    Args:
        terminals: whether its standard output is a terminal, and its standard error.
        columns: of the terminal (characters).
        lines: of the terminal.
        looks: its variables that decide how something looks; COLUMNS and LINES win over the terminal's.
    """

    def __init__(
        self, terminals: Sequence[bool], *, columns: int, lines: int, looks: Mapping[str, str]
    ) -> None:
        self._said: list[tuple[int, bytes]] = []
        self.stdout, self.stderr = (
            io.TextIOWrapper(
                io.BufferedWriter(_Wire(end, shown, self._said)),
                encoding="utf-8",
                errors="backslashreplace",
                line_buffering=shown or end == 2,
            )
            for end, shown in zip((1, 2), terminals, strict=True)
        )
        room = {"COLUMNS": columns, "LINES": lines}
        given = {name: str(size) for name, size in room.items() if not looks.get(name, "").isdigit()}
        with self.bound():  # for what they are is seen on the streams
            self.out = terminal.Terminal(_environ={**looks, **given})
            self.err = terminal.Terminal(stderr=True, _environ={**looks, **given})

    @contextmanager
    def bound(self) -> Iterator[None]:
        """What is printed inside is for this one; see :func:`share`."""
        token = _SCREEN.set(self)
        try:
            yield
        finally:
            _SCREEN.reset(token)

    def said(self) -> list[tuple[int, bytes]]:
        """All that was printed, by end (1 or 2), in its order."""
        self.stdout.flush()
        self.stderr.flush()
        return self._said


class _Stream:
    """A standard stream: that of who asks, else that of the process."""

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
    """A console that is that of who asks."""

    def __getattribute__(self, name: str) -> Any:  # noqa: ANN401 - of a console
        screen = _SCREEN.get()
        if screen is None or name == "__class__":
            return object.__getattribute__(self, name)
        which = screen.err if object.__getattribute__(self, "stderr") else screen.out
        return getattr(which, name)


class _Log(logging.StreamHandler[Any]):
    """Logs of the process with their time; those of a request as its command would print them."""

    def emit(self, record: logging.LogRecord) -> None:
        """Print a record; one as JSON was printed already where the process prints."""
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
    """In here the streams, the consoles and the log of this process are those of who asks."""
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
    """Whether what runs here was asked for by another process."""
    return _SCREEN.get() is not None
