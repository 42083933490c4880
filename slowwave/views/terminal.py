"""Where the command line prints: on a screen, JSON for programs, errors that say what to do."""

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
UNEXPECTED = "This is a fault of Slowwave, not of yours"
_MOST_WORDS = 200  # characters of an unforeseen error


class Terminal(Console):
    """Shows every text, whatever it came from, without what a terminal would obey."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Segments of anything that is printed; those that move the cursor are this program's own."""
        for text, style, control in super().render(renderable, options):
            yield Segment(text if control else printable(text, keep="\n"), style, control)

    def print(self, *objects: Any, level: str = "info", **looks: Any) -> None:  # noqa: ANN401 - as rich has it
        """Print; on standard error words are a line of JSON, of this level, where its lines are."""
        if self.stderr and all(isinstance(one, str) for one in objects) and is_json():
            from slowwave.telemetry.logs import line

            marked = looks.get("markup") is not False
            told = " ".join(Text.from_markup(one).plain if marked else one for one in objects)
            self.file.write(line(level, printable(told.strip(), keep="\n")))
            self.file.flush()
        else:
            super().print(*objects, **looks)


def is_json() -> bool:
    """Whether lines of standard error are JSON; where nobody chose so, nothing is loaded to see it."""
    logs = sys.modules.get("slowwave.telemetry.logs")
    return logs is not None and logs.is_json()


out = Terminal()
err = Terminal(stderr=True)
P = ParamSpec("P")
R = TypeVar("R")
T = TypeVar("T")


def print_plain(text: str) -> None:
    """A text for a program or an assistant, as it is: whoever made it has quoted what notes say."""
    typer.echo(text)


def say(text: str, style: str | None = None) -> None:
    """A text on standard output as it is: no markup, and no colours but its style."""
    out.print(text, style=style, markup=False, highlight=False)


def warn(text: str, what: str = "Warning:") -> None:
    """Say on standard error what a person should know; it is not broken into lines."""
    told = f"[yellow]{what}[/] {escape(text)}"
    err.print(told, level="warning", highlight=False, soft_wrap=True)


def fail(message: str, *, code: int = 1) -> NoReturn:
    """Say what was wrong and end."""
    told = f"[bold red]Error:[/] {escape(_printable(message))}"
    err.print(told, level="error", highlight=False, soft_wrap=True)
    raise SystemExit(code)


def _printable(message: str) -> str:
    """A message without what would steer a terminal or cannot be written; its line breaks stay."""
    safe = (one if one.isprintable() or one == "\n" else ascii(one)[1:-1] for one in message)
    return "".join(safe)


def reports_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Errors are printed in one line without a traceback, and the command ends with the error's exit code."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        with telling():
            for name, value in kwargs.items():
                bounded(name, value)
            return command(*args, **kwargs)

    return wrapped


NOTHING: Final = object()
"""No data: with ``--json`` nothing is printed, not even ``null``."""
JSON = Annotated[bool, typer.Option("--json", help="Print JSON instead of tables.")]
PLAIN = typer.Option("--plain", help="Only text, for an assistant: what notes say is quoted.")
_DATA: ContextVar[bool] = ContextVar("slowwave_json", default=False)
_OPEN: ContextVar[ExitStack] = ContextVar("slowwave_open")


@dataclass(frozen=True, slots=True)
class Output:
    """A command's result, for programs and for people.

    Attributes:
        data: printed as one JSON document with ``--json``; or a function that makes it.
        shown: printed without it: a line in Rich's markup, or a function that prints.
        code: exit code of the command.
    """

    data: Any = NOTHING
    shown: str | Callable[[], object] = ""
    code: int = 0


def tell(output: Output) -> None:
    """Print an output as this run of the command was asked for it: as JSON, or for people.

    A command that goes on afterwards, because it serves or asks a person, calls this itself.
    """
    if _DATA.get():
        if output.data is not NOTHING:
            _print_json(output.data() if callable(output.data) else output.data)
    elif callable(output.shown):
        output.shown()
    elif output.shown:
        out.print(output.shown)


def until_printed(resource: AbstractContextManager[T]) -> T:
    """Enter a context that the running command leaves once its output is printed."""
    return _OPEN.get().enter_context(resource)


def can_be_asked() -> bool:
    """Whether somebody may type an answer."""
    return sys.stdin.isatty()


def is_data() -> bool:
    """Whether the running command was asked for JSON."""
    return _DATA.get()


class _Command(Generic[P]):
    """A command with ``--json`` behind its own options; Typer reads its signature when it is asked for."""

    def __init__(self, command: Callable[P, Output]) -> None:
        self._command = command
        functools.update_wrapper(self, command)

    @property
    def __signature__(self) -> inspect.Signature:
        """That of the function, evaluated, and the option."""
        own = inspect.signature(self._command, eval_str=True)
        json = inspect.Parameter("json", inspect.Parameter.KEYWORD_ONLY, default=False, annotation=JSON)
        return own.replace(parameters=[*own.parameters.values(), json])

    def __call__(self, *args: P.args, **kwargs: P.kwargs) -> None:
        """Run it and print its output."""
        token = _DATA.set(bool(kwargs.pop("json", False)))
        try:
            with telling(), ExitStack() as parts:
                _OPEN.set(parts)
                output = reports_errors(self._command)(*args, **kwargs)
                tell(output)
        finally:
            _DATA.reset(token)
        if output.code:
            raise typer.Exit(output.code)


def prints_output(command: Callable[P, Output]) -> _Command[P]:
    """A command that returns an `Output`: it takes ``--json``, and is printed in one place."""
    return _Command(command)


def _print_json(data: Any) -> None:  # noqa: ANN401 - any data
    """One JSON document on standard output."""
    from slowwave.views.data import to_json

    document = to_json(data, indent=True).decode()
    sys.stdout.buffer.write(json_printable(document).encode() + b"\n")
    sys.stdout.flush()


@contextmanager
def telling() -> Iterator[None]:
    """Whatever goes wrong inside ends the program with a line for a person.

    A fault of the program itself does, too; with ``SLOWWAVE_DEBUG=1`` its traceback is shown.
    """
    try:
        with boundary():
            yield
    except SlowwaveError as error:
        fail(str(error), code=error.exit_code)
    except (typer.Exit, typer.Abort, TyperException, BrokenPipeError):
        raise
    except KeyboardInterrupt:  # before Typer sees it, which ends without a word
        fail("Stopped. What was finished is kept; run the same command again to go on.", code=130)
    except Exception as error:
        if os.environ.get(DEBUG):
            raise
        told = " ".join(str(error).split())[:_MOST_WORDS]
        fail(
            f"{UNEXPECTED} ({type(error).__name__}: {told}). What was finished is kept. {DEBUG}=1 before the "
            f"command shows where it was; please report that."
        )


class _Bars:
    """Shows announced work as progress bars."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress

    def start(self, what: str, total: int | None) -> int:
        """Show a bar; work of nothing gets none."""
        return int(self._progress.add_task(what, total=total, visible=total != 0))

    def advance(self, task: int, units: int) -> None:
        """Move a bar."""
        self._progress.advance(task, units)  # type: ignore[arg-type]

    def end(self, task: int, *, done: bool) -> None:
        """Stop a bar's clock and let it stand."""
        shown = self._progress.tasks[task]
        if shown.total is None and done:
            self._progress.update(task, total=1, completed=1)  # type: ignore[arg-type]
        self._progress.stop_task(task)  # type: ignore[arg-type]


@contextmanager
def bars(*, quiet: bool = False) -> Iterator[None]:
    """Show the progress of everything inside on standard error, where somebody looks and wants no JSON."""
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
