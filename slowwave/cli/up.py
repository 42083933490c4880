"""The command that keeps a memory running: for the command line, for assistants, with the night beside it."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.markup import escape

from slowwave.cli import api as http
from slowwave.cli.app import app, required_settings
from slowwave.cli.page import INSTALL, PORT, PRINCIPAL, Port, installed
from slowwave.common.addresses import host_and_port
from slowwave.views.terminal import Output, err, is_data, out, prints_output, tell, warn

if TYPE_CHECKING:
    from uvicorn import Server

    from slowwave.cli.shared_workspace import WorkspacePool
    from slowwave.cli.supervisor import SupervisedProcess
    from slowwave.ipc.pidfile import ServerInfo
    from slowwave.ipc.server import RequestListener
    from slowwave.settings import Settings

_LOOK_S = 2.0  # seconds between looks whether the home is still there
_DAGSTER_PORT = 3000
_ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")


class _Ports(NamedTuple):
    """Where the parts listen; none of page, HTTP API or Dagster: any. Without a night Dagster is not run."""

    mcp: int
    page: int | None
    api: int | None
    dagster: int | None
    dagster_host: str
    night: bool


class _Place(NamedTuple):
    """Where a part is, or why it is not there."""

    url: str
    why_not: str = ""


@app.command()
@prints_output
def up(
    host: Annotated[str, typer.Option(help="Address for assistants (MCP) and the page.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port for assistants (MCP).")] = 8760,
    page_port: Port = None,
    api_port: http.ApiPort = None,
    night: Annotated[
        bool, typer.Option("--night/--no-night", help="With Dagster: its page, schedules and sensors.")
    ] = True,
    ui_port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65_535,
            help=f"Port of Dagster's page; default: {_DAGSTER_PORT}, or another where that is taken.",
        ),
    ] = None,
    ui_host: Annotated[
        str, typer.Option(help="Address of Dagster's page; it asks nobody who they are.")
    ] = "127.0.0.1",
) -> Output:
    """Keep the memory running until Ctrl-C or TERM: commands ask it instead of starting by themselves.

    It serves the memory's own page, assistants over HTTP where there are tokens for them, and runs the night
    on its schedule.
    """
    from slowwave.errors import SlowwaveError
    from slowwave.home.embedding_model import refuse_half_restored
    from slowwave.ipc.pidfile import acquire

    settings = required_settings()
    if not hasattr(socket, "AF_UNIX") or find_spec("fcntl") is None:
        raise SlowwaveError("`slowwave up` needs sockets of Unix, which this system does not have.")
    refuse_half_restored(settings.home)
    os.environ["SLOWWAVE_HOME"] = str(settings.home)  # wherever it was found: it stays this one
    with acquire(settings.home), ExitStack() as parts:
        ports = _Ports(port, page_port, api_port, ui_port, ui_host, night)
        _run(settings, parts, host, ports)
    if not is_data():
        with suppress(OSError):  # the terminal is closed, or nobody reads it any more
            os.write(1, b"Stopped.\n")
    return Output()


def _run(settings: Settings, parts: ExitStack, host: str, ports: _Ports) -> None:
    """Start everything, tell where it is, and wait until it is to end; `parts` then ends it in turn."""
    from slowwave.cli.remote_execution import Answering
    from slowwave.cli.shared_workspace import WorkspacePool
    from slowwave.ipc import pidfile
    from slowwave.ipc.server import RequestListener
    from slowwave.views.captured_console import share

    stop, hurry = threading.Event(), threading.Event()
    parts.enter_context(_told_to_end(stop, hurry))
    parts.enter_context(share())
    dagster_port = _reserve_for_dagster(ports, parts)
    warm = WorkspacePool()
    parts.callback(warm.close)
    _make_ready(warm, settings)  # before others load the same beside it
    night = _Night()
    assistants = _serve_assistants(settings, warm, parts, host, ports.mcp, night)
    page = _serve_page(settings, warm, parts, host, ports.page, night)
    api = _serve_api(settings, warm, parts, host, ports.api, night)
    metrics = _serve_metrics(settings, warm, parts)
    listener = RequestListener(Answering(warm, pidfile.home_identity(settings.home)))
    parts.callback(listener.close)
    running = _announce(settings, listener, parts)
    listener.start()
    dagster = _run_night(ports, dagster_port, hurry, parts, night)
    health = _health(assistants, page)

    def show() -> None:
        _tell(settings.home, page, assistants, api, dagster, health)
        if metrics:
            _tell_row("metrics", metrics)

    urls = {"page": page.url or None, "mcp": assistants.url or None, "api": api.url or None}
    urls |= {"dagster": dagster.url or None, "health": health.url or None, "metrics": metrics or None}
    tell(Output({"home": str(settings.home), "pid": running.pid, "socket": running.socket, **urls}, show))
    while not stop.wait(_LOOK_S):
        if pidfile.read(settings.home) != running:
            err.print("The home is gone, or another memory runs there: this one ends.", highlight=False)
            raise typer.Exit(1)


@contextmanager
def _told_to_end(stop: threading.Event, hurry: threading.Event) -> Iterator[None]:
    """Ctrl-C, TERM and a closed terminal set `stop`, and the second of them `hurry`."""

    def note(*_: object) -> None:
        (hurry if stop.is_set() else stop).set()

    numbers = [getattr(signal, name) for name in _ENDINGS]
    before = {number: signal.signal(number, note) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _make_ready(warm: WorkspacePool, settings: Settings) -> None:
    """Open what the first command needs. Where that fails the command meets it, and tells why."""
    from slowwave.cli.app import opened
    from slowwave.search.run import make_ready

    with warm.lending():
        try:
            with opened(settings, "") as memory:
                memory.prepare()
                make_ready(memory.home, memory.namespace)
        except Exception as error:  # whatever it is
            warn(f"the memory is not ready: {error}")


def _announce(settings: Settings, listener: RequestListener, parts: ExitStack) -> ServerInfo:
    """Let commands find it, until it ends."""
    from datetime import UTC, datetime

    from slowwave.common.version import VERSION
    from slowwave.ipc import pidfile

    started = datetime.now(UTC).isoformat(timespec="seconds")
    running = pidfile.ServerInfo(os.getpid(), listener.path, VERSION, started)
    parts.callback(pidfile.remove, settings.home, running)
    pidfile.write(settings.home, running)
    return running


class _Night:
    """Whether Dagster's process lives, for who asks about health; it is started after the servers."""

    def __init__(self) -> None:
        self.child: SupervisedProcess | None = None

    def __call__(self) -> str:
        """In words."""
        if self.child is None:
            return "is not run here"
        return "runs" if self.child.lives else "has ended, and is started again"


def _health(assistants: _Place, page: _Place) -> _Place:
    """Where probes ask: at one of the servers, each of which answers for the whole process."""
    from urllib.parse import urlsplit

    from slowwave.serving.health import READY

    for one in (assistants, page):
        if one.url:
            parts = urlsplit(one.url)
            return _Place(f"{parts.scheme}://{parts.netloc}{READY}")
    return _Place("", "not served: neither the page nor assistants are")


def _serve_assistants(
    settings: Settings, warm: WorkspacePool, parts: ExitStack, host: str, port: int, night: _Night
) -> _Place:
    """Serve MCP over HTTP in a thread, where it is installed and anybody has a token."""
    if find_spec("mcp") is None:
        return _Place("", "not served: pip install '.[mcp]' in Slowwave's folder")
    from slowwave.serving.access import is_anybody

    if not is_anybody(settings):
        return _no_token()
    from slowwave.mcp.http import PATH, application
    from slowwave.serving.server import listening, server

    end = parts.enter_context(listening(host, port, "--port"))
    space = parts.enter_context(warm.parts(settings))
    made = application(settings, host, space, {"night": night})
    _serve(server(made, settings, host, port), end, parts)
    return _Place(f"http://{host_and_port(host, port)}{PATH}")


def _serve_api(
    settings: Settings, warm: WorkspacePool, parts: ExitStack, host: str, wanted: int | None, night: _Night
) -> _Place:
    """Serve the memory over HTTP with JSON in a thread, where it is installed and anybody has a token."""
    if not http.installed():
        return _Place("", f"not served: {http.INSTALL}")
    from slowwave.serving.access import is_anybody

    if not is_anybody(settings):
        return _no_token()
    from slowwave.api.app import application
    from slowwave.serving.server import listening, server

    end = parts.enter_context(listening(host, wanted or http.PORT, "--api-port", or_any=wanted is None))
    port = end.getsockname()[1]
    space = parts.enter_context(warm.parts(settings))
    made = application(settings, host, space, {"night": night})
    _serve(server(made, settings, host, port), end, parts)
    return _Place(http.address(host, port))


def _no_token() -> _Place:
    """Where nobody could come in, and what to do about it."""
    from slowwave.serving.access import how_to_let_in

    return _Place("", f"not served: there is no token. {how_to_let_in()} Then start this again.")


def _serve_page(
    settings: Settings, warm: WorkspacePool, parts: ExitStack, host: str, wanted: int | None, night: _Night
) -> _Place:
    """Serve the memory's own page in a thread, where what it needs is installed."""
    if not installed():
        return _Place("", f"not served: {INSTALL}")
    from slowwave.serving.server import listening
    from slowwave.web.serving import address, server

    end = parts.enter_context(listening(host, wanted or PORT, "--page-port", or_any=wanted is None))
    port = end.getsockname()[1]
    space = parts.enter_context(warm.parts(settings))
    serving, _, warm.page_link = server(settings, host, port, PRINCIPAL, space, {"night": night})
    _serve(serving, end, parts)
    return _Place(address(settings, host, port))


def _serve_metrics(settings: Settings, warm: WorkspacePool, parts: ExitStack) -> str:
    """Serve metrics for Prometheus, where a port is set for them; empty where none is."""
    if not settings.telemetry.metrics_port:
        return ""
    from slowwave.serving.metrics import metrics_served

    return parts.enter_context(metrics_served(parts.enter_context(warm.parts(settings))))


def _serve(serving: Server, end: socket.socket, parts: ExitStack) -> None:
    """Run a server in a thread, until the end."""
    thread = threading.Thread(target=serving.run, args=([end],), daemon=True)
    thread.start()

    def stop() -> None:
        serving.should_exit = True
        thread.join()

    parts.callback(stop)


def _reserve_for_dagster(ports: _Ports, parts: ExitStack) -> int | None:
    """The port of Dagster's page, which its process opens later; None where no night is run.

    Raises:
        SlowwaveError: the port that was asked for is taken.
    """
    if not ports.night or find_spec("dagster") is None:
        return None
    from slowwave.serving.server import reserved

    wanted, free = ports.dagster or _DAGSTER_PORT, ports.dagster is None
    return parts.enter_context(reserved(ports.dagster_host, wanted, "--ui-port", or_any=free))


def _run_night(
    ports: _Ports, port: int | None, hurry: threading.Event, parts: ExitStack, night: _Night
) -> _Place:
    """Keep `slowwave ui` running as a process of its own, where Dagster is installed."""
    from slowwave.cli.supervisor import SupervisedProcess

    if port is None:
        why = "pip install '.[night]' in Slowwave's folder" if ports.night else "--no-night"
        return _Place("", f"not run: {why}")
    host = ports.dagster_host

    def tell(code: int, pause: float) -> None:
        err.print(f"Dagster ended (exit code {code}); it starts again in {pause:.0f} s.", highlight=False)

    command = [sys.executable, "-m", "slowwave", "ui", "--host", host, "--port", str(port), "--with-input"]
    child = SupervisedProcess(command, os.environ, tell)
    child.start()
    night.child = child
    parts.callback(child.stop, hurry)
    return _Place(f"http://{host_and_port(host, port)}")


def _tell(home: Path, page: _Place, assistants: _Place, api: _Place, dagster: _Place, health: _Place) -> None:
    """Where everything is."""
    rows = (
        ("home", str(home)),
        ("commands", "they ask this process; SLOWWAVE_ASK=0 before one forbids it"),
        ("page", f"{page.url} (a link that lets you in: slowwave page)" if page.url else page.why_not),
        ("assistants", assistants.url or assistants.why_not),
        ("HTTP API", f"{api.url} (described at {api.url}/docs)" if api.url else api.why_not),
        ("Dagster", dagster.url or dagster.why_not),
        ("health", health.url or health.why_not),
    )
    out.print("[bold]Running[/]; stop with Ctrl-C.")
    for name, told in rows:
        _tell_row(name, told)


def _tell_row(name: str, told: str) -> None:
    out.print(f"  [dim]{name:<11}[/]{escape(told)}", highlight=False, soft_wrap=True)
