"""Terminal output of commands: text, JSON, progress bars and errors."""

from __future__ import annotations

import functools
import inspect
import os
import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, Final, Generic, NoReturn, ParamSpec, TypeVar

import typer
from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.segment import Segment
from rich.text import Text
from typer.exceptions import TyperException

from slowwave.common.arguments import bounded
from slowwave.common.error_translation import boundary
from slowwave.common.progress import listening
from slowwave.common.quoting import json_printable, printable
from slowwave.errors import SlowwaveError

if TYPE_CHECKING:
    from rich.progress import Progress

DEBUG = "SLOWWAVE_DEBUG"
UNEXPECTED = "Internal error of Slowwave"
_MAX_MESSAGE = 200  # characters of an unforeseen error


class Terminal(Console):
    """Console that prints any text without control sequences."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Yield segments; only the program's own control sequences pass."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text, keep="\n"), style, control)

    def print(self, *objects: Any, level: str = "info", **looks: Any) -> None:  # noqa: ANN401 - as rich has it
        """Print; on standard error texts are JSON lines of this level if logs are JSON."""
        if self.stderr and all(isinstance(item, str) for item in objects) and is_json():
            from slowwave.telemetry.logs import line

            marked = looks.get("markup") is not False
            message = " ".join(Text.from_markup(item).plain if marked else item for item in objects)
            self.file.write(line(level, printable(message.strip(), keep="\n")))
            self.file.flush()
        else:
            super().print(*objects, **looks)


def is_json() -> bool:
    """Whether standard error is JSON lines. Imports nothing to find out."""
    logs = sys.modules.get("slowwave.telemetry.logs")
    return logs is not None and logs.is_json()


out = Terminal()
err = Terminal(stderr=True)
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def print_plain(text: str) -> None:
    """Print a text unchanged, for a program or an assistant. The caller has quoted the notes."""
    typer.echo(text)


def say(text: str, style: str | None = None) -> None:
    """Print a text on standard output without markup, in one style."""
    out.print(text, style=style, markup=False, highlight=False)


def warn(text: str, what: str = "Warning:") -> None:
    """Print a warning on standard error, without wrapping."""
    message = f"[yellow]{what}[/] {escape(text)}"
    err.print(message, level="warning", highlight=False, soft_wrap=True)


def fail(message: str, *, code: int = 1) -> NoReturn:
    """Print an error and exit."""
    line = f"[bold red]Error:[/] {escape(_printable(message))}"
    err.print(line, level="error", highlight=False, soft_wrap=True)
    raise SystemExit(code)


def _printable(message: str) -> str:
    """Escape characters that control a terminal or cannot be written; line breaks stay."""
    safe = (
        character if character.isprintable() or character == "\n" else ascii(character)[1:-1]
        for character in message
    )
    return "".join(safe)


def reports_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Print errors of a command without a traceback, and exit with their code."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with exits_on_error():
            for name, value in kwargs.items():
                bounded(name, value)
            return command(*args, **kwargs)

    return wrapped


NOTHING: Final = object()
"""No data: ``--json`` prints nothing, not even ``null``."""
JSON = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
PLAIN = typer.Option("--plain", help="Print plain text for an assistant; notes are quoted.")
_DATA: ContextVar[bool] = ContextVar("slowwave_json", default=False)
_OPEN: ContextVar[ExitStack] = ContextVar("slowwave_open")


@dataclass(frozen=True, slots=True)
class Output:
    """Result of a command, as data and as text.

    Attributes:
        data: printed as one JSON document with ``--json``; or a function that returns it.
        shown: printed without --json: a line in Rich's markup, or a function that prints.
        code: exit code of the command.
    """

    data: Any = NOTHING
    shown: str | Callable[[], object] = ""
    code: int = 0


def tell(output: Output) -> None:
    """Print an output as JSON or text, as the command was called.

    Commands that continue afterwards, because they serve or ask, call this themselves.
    """
    if _DATA.get():
        if output.data is not NOTHING:
            _print_json(output.data() if callable(output.data) else output.data)
    elif callable(output.shown):
        output.shown()
    elif output.shown:
        out.print(output.shown)


def until_printed(resource: AbstractContextManager[T]) -> T:
    """Enter a context that is left once the command's output is printed."""
    return _OPEN.get().enter_context(resource)


def can_be_asked() -> bool:
    """Whether standard input is a terminal."""
    return sys.stdin.isatty()


def is_data() -> bool:
    """Whether the running command has ``--json``."""
    return _DATA.get()


class _Command(Generic[P]):
    """Command with ``--json`` after its own options; Typer reads the signature on demand."""

    def __init__(self, command: Callable[P, Output]) -> None:
        self._command = command
        functools.update_wrapper(self, command)

    @property
    def __signature__(self) -> inspect.Signature:
        """Signature of the function, evaluated, with the option."""
        own = inspect.signature(self._command, eval_str=True)
        json = inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JSON)
        return own.replace(parameters=[*own.parameters.values(), json])

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Run the command and print its output."""
        token = _DATA.set(bool(kwargs.pop("json", False)))
        try:
            with exits_on_error(), ExitStack() as parts:
                _OPEN.set(parts)
                output = reports_errors(self._command)(*args, **kwargs)
                tell(output)
        finally:
            _DATA.reset(token)
        if output.code:
            raise typer.Exit(output.code)


def prints_output(command: Callable[P, Output]) -> _Command[P]:
    """Make a command of a function that returns an `Output`; it gets ``--json``."""
    return _Command(command)


def _print_json(data: Any) -> None:  # noqa: ANN401 - any data
    """Print one JSON document on standard output."""
    from slowwave.views.data import to_json

    document = to_json(data, indent=True).decode()
    sys.stdout.buffer.write(json_printable(document).encode() + b"\n")
    sys.stdout.flush()


@contextmanager
def exits_on_error() -> Iterator[None]:
    """Exit with a one-line message on any error inside.

    Internal errors, too; with ``SLOWWAVE_DEBUG=1`` the traceback is shown.
    """
    try:
        with boundary():
            yield
    except SlowwaveError as error:
        fail(str(error), code=error.exit_code)
    except (typer.Exit, typer.Abort, TyperException, BrokenPipeError):
        raise
    except KeyboardInterrupt:  # before Typer, which prints no message
        fail("Stopped. Finished work is kept; run the same command again to continue.", code=130)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        message = " ".join(str(error).split())[:_MAX_MESSAGE]
        fail(
            f"{UNEXPECTED} ({type(error).__name__}: {message}). Finished work is kept. Run it with {DEBUG}=1 "
            f"to see the traceback, and please report it."
        )


class _Bars:
    """Progress bars of announced work."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def start(self, what: str, total: int | None) -> int:
        """Show a bar; work with a total of 0 gets none."""
        return int(self._progress.add_task(what, total=total, visible=total != 0))

    def advance(self, task: int, units: int) -> None:
        """Advance a bar."""
        self._progress.advance(task, units)  # type: ignore[arg-type]

    def end(self, task: int, *, done: bool) -> None:
        """Stop a bar's clock and leave it visible."""
        shown = self._progress.tasks[task]
        if shown.total is None and done:
            self._progress.update(task, total=1, completed=1)  # type: ignore[arg-type]
        self._progress.stop_task(task)  # type: ignore[arg-type]


@contextmanager
def bars(*, quiet: bool = False) -> Iterator[None]:
    """Show the progress of everything inside as bars on standard error.

    Nothing is shown if standard error is no terminal, or with --json.
    """
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with (
        Progress(*columns, console=err, disable=quiet or is_data() or not err.is_terminal) as progress,
        listening(_Bars(progress)),
    ):
        yield
