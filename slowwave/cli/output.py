"""What the command line prints: tables for people, JSON for programs, errors that say what to do."""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, ParamSpec, TypeVar

import typer
from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from slowwave.errors import SlowwaveError
from slowwave.progress import listening

out = Console()
err = Console(stderr=True)
P = ParamSpec("P")
R = TypeVar("R")


def print_json(data: Any) -> None:  # noqa: ANN401 - plain data
    """One JSON document on standard output."""
    import orjson

    options = orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS | orjson.OPT_SERIALIZE_NUMPY
    sys.stdout.buffer.write(orjson.dumps(data, option=options, default=str) + b"\n")
    sys.stdout.flush()


def print_table(
    title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]], *, caption: str = ""
) -> None:
    """A table for people; numbers are set to the right."""
    table = Table(title=title, title_justify="left", caption=caption or None, caption_justify="left")
    for number, name in enumerate(columns):
        numeric = bool(rows) and all(isinstance(row[number], int | float) for row in rows)
        table.add_column(name, justify="right" if numeric else "left", overflow="fold")
    for row in rows:
        table.add_row(*(_cell(value) for value in row))
    out.print(table)


def _cell(value: object) -> str:
    from rich.markup import escape

    if isinstance(value, float):
        return f"{value:.3f}"
    if isinstance(value, int) and not isinstance(value, bool):
        return f"{value:,}"
    return escape("" if value is None else str(value))


def fail(message: str, *, code: int = 1) -> NoReturn:
    """Say what was wrong and end."""
    from rich.markup import escape

    err.print(f"[bold red]Error:[/] {escape(message)}", highlight=False, soft_wrap=True)
    raise SystemExit(code)


def reports_errors(command: Callable[P, R]) -> Callable[P, R]:
    """Errors made for people are printed without a traceback, and the command ends with 1."""

    @functools.wraps(command)
    def wrapped(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (SlowwaveError, OSError) as error:
            fail(str(error))

    return wrapped


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

    def end(self, task: int) -> None:
        """Stop a bar's clock and let it stand."""
        shown = self._progress.tasks[task]
        if shown.total is None:
            self._progress.update(task, total=1, completed=1)  # type: ignore[arg-type]
        self._progress.stop_task(task)  # type: ignore[arg-type]


@contextmanager
def bars(*, quiet: bool = False) -> Iterator[None]:
    """Show the progress of everything inside on standard error."""
    columns = (
        TextColumn("{task.description:<20}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=err, disable=quiet) as progress, listening(_Bars(progress)):
        yield


JSON = typer.Option("--json", help="Print JSON instead of tables.")
