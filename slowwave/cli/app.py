"""The Typer app, shared options, and helpers that open a home or a namespace."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from slowwave.cli.panels import EPILOG, Panels
from slowwave.views.terminal import Output, reports_errors, say

if TYPE_CHECKING:
    from slowwave.home.id_resolution import Kind
    from slowwave.home.workspace import Workspace
    from slowwave.memory import Memory
    from slowwave.settings import Settings

app = typer.Typer(
    name="slowwave",
    help="A memory for AI assistants that learns from use, and measures whether it helps.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    cls=Panels,
    epilog=EPILOG,
)

_LINES = 20  # under a title (count)

Namespace = Annotated[
    str, typer.Option("--namespace", "-n", help="Namespace (tenant); default: the setting `namespace`.")
]
Limit = Annotated[int, typer.Option("--limit", "-k", min=1, help="Rows to show.")]
MemoryId = Annotated[str, typer.Argument(help="Id, from save or search.")]
Who = Annotated[str, typer.Option(help="User recorded with the event.")]
Why = Annotated[str, typer.Option(help="Reason; it is recorded.")]
Reason = Annotated[str, typer.Option(help="Only with this reason.")]


def _print_version(requested: bool) -> None:
    if requested:
        from slowwave import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
@reports_errors
def common(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(help="Home folder; default: see slowwave help homes."),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_print_version, help="Show the version and exit."),
    ] = False,
) -> None:
    """Set the home folder of the command. Files that it writes get that folder's permissions."""
    from slowwave.common.home_discovery import find_home
    from slowwave.common.permissions import private_files
    from slowwave.views.captured_console import is_asked

    if is_asked():
        return  # this server process has that home and its permissions already
    if home is not None:
        import os

        os.environ["SLOWWAVE_HOME"] = str(home.expanduser().resolve())
    context.with_resource(private_files(find_home()))


def home_settings() -> Settings:
    """Load the settings of the command's home and begin logging as they say.

    Commands that run in a server log as the server does, whatever its file says now.
    """
    from slowwave.settings import load
    from slowwave.views.captured_console import is_asked

    settings = load()
    if settings.telemetry.logs == "json" and not is_asked():
        from slowwave.telemetry.logs import begin_logs

        begin_logs("json")
    return settings


def required_settings() -> Settings:
    """Load the settings of a home that has to exist.

    Raises:
        SettingsError: there is no such home.
    """
    from slowwave.settings import require_home

    return require_home(home_settings())


def creatable_settings(settings: Settings | None = None) -> Settings:
    """Return the settings of a home that exists or that the user named. At a terminal, ask about another.

    Raises:
        SettingsError: there is no home, and none was named.
    """
    from slowwave.errors import SettingsError
    from slowwave.settings import require_named_home
    from slowwave.views.captured_console import is_asked
    from slowwave.views.terminal import is_data

    settings = settings or home_settings()
    try:
        return require_named_home(settings)
    except SettingsError:
        if is_asked() or is_data() or not _is_terminal():
            raise
        if not typer.confirm(f"There is no home yet. Create {settings.home}?", err=True):
            raise
        return settings


def _is_terminal() -> bool:
    return sys.stdin.isatty() and sys.stderr.isatty()


@contextmanager
def open_home() -> Iterator[Workspace]:
    """Open the home, which has to exist, for commands without a namespace."""
    from slowwave.common.slim_imports import load_tables
    from slowwave.home.workspace import Workspace

    settings = required_settings()
    load_tables()
    with closing(Workspace(settings)) as space:
        yield space


def open_namespace(namespace: str, *, create: bool = False, known: bool = False) -> Memory:
    """Open a namespace of the home.

    Args:
        namespace: empty is the setting `namespace`.
        create: create a missing home if the user named it; see `creatable_settings`.
        known: refuse a namespace without memories if other namespaces have some.
    """
    from slowwave.settings import require_home

    settings = creatable_settings() if create else require_home(home_settings())
    memory = opened(settings, namespace)
    if known:
        from slowwave.errors import SlowwaveError
        from slowwave.search.empty_results import require_known_filters

        try:
            require_known_filters(memory.home, memory.namespace)
        except SlowwaveError:
            memory.close()
            raise
    return memory


def opened(settings: Settings, namespace: str, principal: str = "command line") -> Memory:
    """Open a namespace for a command. In a server it uses the tables that the server has open."""
    from slowwave.common.slim_imports import load_tables

    load_tables()
    from slowwave.cli.shared_workspace import shared_memory

    return shared_memory(settings, namespace or settings.namespace, principal)


def has_packages(*names: str) -> bool:
    """Whether optional packages are installed."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in names)


def reference(memory: Memory, kind: Kind, text: str) -> str:
    """Resolve `last`, an id prefix or an id to a whole id; see :mod:`slowwave.home.id_resolution`."""
    from slowwave.home.id_resolution import resolve_id

    return resolve_id(memory.tenant, kind, text)


def settle(
    kind: Kind, names: Sequence[str], namespace: str, act: Callable[[Memory, list[str]], list[Any]],
    line: Callable[[Any], str], *, title: str = "", undo: str = "",
) -> Output:  # fmt: skip
    """Settle things that wait for a person, and print a line for each.

    Args:
        kind: of the things.
        names: ids, prefixes or `last`; an unknown one settles none.
        namespace: of the things.
        act: settles them by their whole ids.
        line: of a settled one.
        title: printed first, with their count; then only the first lines follow.
        undo: command that takes back what was done, without ids.
    """
    from slowwave.common.pluralize import counted

    with open_namespace(namespace) as memory:
        rows = act(memory, [reference(memory, kind, name) for name in names])

    def show() -> None:
        lines = [line(row) for row in rows]
        if title:
            say(f"{title}: {counted(len(rows), 'note')}")
        for text in lines[:_LINES] if title else lines:
            say(text)
        if title and len(rows) > _LINES:
            say(f"  and {len(rows) - _LINES:,} more", "dim")
        if undo:
            more = " …" if len(rows) > _LINES else ""
            say(f"Undo: {undo} {' '.join(row['memory_id'] for row in rows[:_LINES])}{more}", "dim")

    return Output(rows, show)
