"""What every command has: the app, and the home and the namespace that it is about."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from slowwave.cli.panels import EPILOG, Panels
from slowwave.views.terminal import reports_errors

if TYPE_CHECKING:
    from slowwave.home.id_resolution import Kind
    from slowwave.home.workspace import Workspace
    from slowwave.memory import Memory
    from slowwave.settings import Settings

app = typer.Typer(
    name="slowwave",
    help="A memory for AI assistants that gets better from being used, and can prove it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    cls=Panels,
    epilog=EPILOG,
)

Namespace = Annotated[
    str, typer.Option("--namespace", "-n", help="Namespace (tenant); default: the setting `namespace`.")
]
Limit = Annotated[int, typer.Option("--limit", "-k", min=1, help="Rows to show.")]
MemoryId = Annotated[str, typer.Argument(help="Id, from save or search.")]
Who = Annotated[str, typer.Option(help="Who says so.")]
Why = Annotated[str, typer.Option(help="In words; it is recorded.")]
Reason = Annotated[str, typer.Option(help="Only with this reason.")]


def _tell_version(asked: bool) -> None:
    if asked:
        from slowwave import __version__

        typer.echo(__version__)
        raise typer.Exit


@app.callback()
@reports_errors
def common(
    context: typer.Context,
    home: Annotated[
        Path | None,
        typer.Option(help="Home folder; default: SLOWWAVE_HOME, else the nearest .slowwave upwards."),
    ] = None,
    version: Annotated[
        bool,
        typer.Option("--version", is_eager=True, callback=_tell_version, help="Show the version and exit."),
    ] = False,
) -> None:
    """Set the home folder for the command; what it writes is as private as that folder."""
    from slowwave.common.permissions import private_files
    from slowwave.settings.home_discovery import find_home
    from slowwave.views.captured_console import is_asked

    if is_asked():
        return  # this process is of that home, and is as private
    if home is not None:
        import os

        os.environ["SLOWWAVE_HOME"] = str(home.expanduser().resolve())
    context.with_resource(private_files(find_home()))


def home_settings() -> Settings:
    """The settings of the home that the command is about; from here on it logs as they say.

    A running memory that was asked goes on as it began, whatever was written into the file since.
    """
    from slowwave.settings import load
    from slowwave.views.captured_console import is_asked

    settings = load()
    if settings.telemetry.logs == "json" and not is_asked():
        from slowwave.telemetry.logs import begin_logs

        begin_logs("json")
    return settings


def required_settings() -> Settings:
    """The same; there has to be such a home.

    Raises:
        SettingsError: there is none.
    """
    from slowwave.settings import require_home

    return require_home(home_settings())


@contextmanager
def open_home() -> Iterator[Workspace]:
    """That home, for commands that are about no namespace; there has to be one."""
    from slowwave.common.slim_imports import load_tables
    from slowwave.home.workspace import Workspace

    settings = required_settings()
    load_tables()
    with closing(Workspace(settings)) as space:
        yield space


def open_namespace(namespace: str, *, create: bool = False, known: bool = False) -> Memory:
    """A namespace of that home.

    Args:
        namespace: its name; empty: that of the settings.
        create: the home too, if there is none.
        known: refuse a namespace in which nothing was saved, where others are.
    """
    from slowwave.settings import require_home

    settings = home_settings()
    if not create:
        require_home(settings)
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
    """A namespace of a home, for a command; where a running memory does the command, on what it has open."""
    from slowwave.common.slim_imports import load_tables

    load_tables()
    from slowwave.cli.shared_workspace import shared_memory

    return shared_memory(settings, namespace or settings.namespace, principal)


def reference(memory: Memory, kind: Kind, text: str) -> str:
    """The whole id that was typed: `last`, a beginning, or an id; see :mod:`slowwave.home.id_resolution`."""
    from slowwave.home.id_resolution import resolve_id

    return resolve_id(memory.tenant, kind, text)
