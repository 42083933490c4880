"""The command `up`: the server, with web page, MCP, HTTP API and nightly jobs."""

from __future__ import annotations

import os
import signal
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.markup import escape

from slowwave.cli import api as http
from slowwave.cli.app import app, has_packages, required_settings
from slowwave.cli.page import INSTALL, NEEDED, PORT, PRINCIPAL, Port
from slowwave.common.addresses import host_and_port
from slowwave.views.terminal import Output, err, is_data, out, prints_output, tell, warn

if TYPE_CHECKING:
    from uvicorn import Server

    from slowwave.cli.shared_workspace import WorkspacePool
    from slowwave.cli.supervisor import SupervisedProcess
    from slowwave.ipc.pidfile import ServerInfo
    from slowwave.ipc.server import RequestListener
    from slowwave.settings import Settings

_CHECK_S = 2.0  # seconds between checks that the home still exists
_DAGSTER_PORT = 3000
_ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")


class _Ports(NamedTuple):
    """Ports of the servers; None for page, HTTP API or Dagster is any.

    Without `night` Dagster does not run.
    """

    mcp: int
    page: int | None
    api: int | None
    dagster: int | None
    dagster_host: str
    night: bool


class _Place(NamedTuple):
    """URL of a server, or the reason why it does not run."""

    url: str
    why_not: str = ""


@app.command()
@prints_output
def up(
    host: Annotated[str, typer.Option(help="Address of MCP, page and HTTP API.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port of MCP.")] = 8760,
    page_port: Port = None,
    api_port: http.ApiPort = None,
    night: Annotated[
        bool, typer.Option("--night/--no-night", help="Run Dagster: its page, schedules and sensors.")
    ] = True,
    ui_port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65_535,
            help=f"Port of Dagster's page; default: {_DAGSTER_PORT}, or a free one.",
        ),
    ] = None,
    ui_host: Annotated[
        str, typer.Option(help="Address of Dagster's page, which has no authentication.")
    ] = "127.0.0.1",
) -> Output:
    """Run the server: web page, MCP, HTTP API and nightly jobs, until Ctrl-C or TERM.

    Other commands connect to it and skip their start-up cost. MCP and the HTTP API need a token (`slowwave
    mcp token`).
    """
    from slowwave.errors import SlowwaveError
    from slowwave.home.embedding_model import refuse_half_restored
    from slowwave.ipc.pidfile import acquire

    settings = required_settings()
    if not hasattr(socket, "AF_UNIX") or not has_packages("fcntl"):
        raise SlowwaveError("`slowwave up` needs Unix sockets, which this system does not have.")
    refuse_half_restored(settings.home)
    os.environ["SLOWWAVE_HOME"] = str(settings.home)  # fix the home for this process and its children
    with acquire(settings.home), ExitStack() as parts:
        ports = _Ports(port, page_port, api_port, ui_port, ui_host, night)
        _run(settings, parts, host, ports)
    if not is_data():
        with suppress(OSError):  # the terminal is closed
            os.write(1, b"Stopped.\n")
    return Output()


def _run(settings: Settings, parts: ExitStack, host: str, ports: _Ports) -> None:
    """Start all servers, print their URLs and wait; `parts` then stops them in reverse order."""
    from slowwave.cli.remote_execution import Answering
    from slowwave.cli.shared_workspace import WorkspacePool
    from slowwave.ipc import pidfile
    from slowwave.ipc.server import RequestListener
    from slowwave.views.captured_console import share

    stop, hurry = threading.Event(), threading.Event()
    parts.enter_context(_end_signals(stop, hurry))
    parts.enter_context(share())
    dagster_port = _reserve_for_dagster(ports, parts)
    warm = WorkspacePool()
    parts.callback(warm.close)
    _make_ready(warm, settings)  # before other threads load the same
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
        _print_places(settings.home, page, assistants, api, dagster, health)
        if metrics:
            _print_row("metrics", metrics)

    urls = {"page": page.url or None, "mcp": assistants.url or None, "api": api.url or None}
    urls |= {"dagster": dagster.url or None, "health": health.url or None, "metrics": metrics or None}
    tell(Output({"home": str(settings.home), "pid": running.pid, "socket": running.socket, **urls}, show))
    while not stop.wait(_CHECK_S):
        if pidfile.read(settings.home) != running:
            err.print("The home is gone, or another server runs there. Stopping.", highlight=False)
            raise typer.Exit(1)


@contextmanager
def _end_signals(stop: threading.Event, hurry: threading.Event) -> Iterator[None]:
    """Set `stop` on the first end signal (Ctrl-C, TERM, closed terminal), `hurry` on the second."""

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
    """Load what the first command needs. A failure is only a warning: commands report it themselves."""
    from slowwave.cli.app import opened
    from slowwave.search.run import make_ready

    with warm.lending():
        try:
            with opened(settings, "") as memory:
                memory.prepare()
                make_ready(memory.home, memory.namespace)
        except Exception as error:  # commands report it
            warn(f"the memory is not ready: {error}")


def _announce(settings: Settings, listener: RequestListener, parts: ExitStack) -> ServerInfo:
    """Write the PID file, so that commands find the server; remove it at the end."""
    from datetime import UTC, datetime

    from slowwave.common.version import VERSION
    from slowwave.ipc import pidfile

    started = datetime.now(UTC).isoformat(timespec="seconds")
    running = pidfile.ServerInfo(os.getpid(), listener.path, VERSION, started)
    parts.callback(pidfile.remove, settings.home, running)
    pidfile.write(settings.home, running)
    return running


class _Night:
    """Health of Dagster's process, which starts after the servers."""

    def __init__(self) -> None:
        self.child: SupervisedProcess | None = None

    def __call__(self) -> str:
        """Return the state in words."""
        if self.child is None:
            return "not run here"
        return "runs" if self.child.lives else "ended; restarting"


def _health(assistants: _Place, page: _Place) -> _Place:
    """Return the URL for health probes: any server answers for the whole process."""
    from urllib.parse import urlsplit

    from slowwave.serving.health import READY

    for place in (assistants, page):
        if place.url:
            parts = urlsplit(place.url)
            return _Place(f"{parts.scheme}://{parts.netloc}{READY}")
    return _Place("", "not served: neither the page nor MCP is served")


def _serve_assistants(
    settings: Settings, warm: WorkspacePool, parts: ExitStack, host: str, port: int, night: _Night
) -> _Place:
    """Serve MCP over HTTP in a thread, if installed and a token exists."""
    if not has_packages("mcp"):
        return _Place("", "not served: pip install '.[mcp]' in Slowwave's folder")
    from slowwave.serving.access import is_anybody

    if not is_anybody(settings):
        return _no_token()
    from slowwave.mcp.http import PATH, application
    from slowwave.serving.server import listening, server

    end = parts.enter_context(listening(host, port, "--port"))
    space = parts.enter_context(warm.parts(settings))
    asgi_app = application(settings, host, space, {"night": night})
    _serve(server(asgi_app, settings, host, port), end, parts)
    return _Place(f"http://{host_and_port(host, port)}{PATH}")


def _serve_api(
    settings: Settings, warm: WorkspacePool, parts: ExitStack, host: str, wanted: int | None, night: _Night
) -> _Place:
    """Serve the HTTP API in a thread, if installed and a token exists."""
    if not has_packages(*http.NEEDED):
        return _Place("", f"not served: {http.INSTALL}")
    from slowwave.serving.access import is_anybody

    if not is_anybody(settings):
        return _no_token()
    from slowwave.api.app import application
    from slowwave.serving.server import listening, server

    end = parts.enter_context(listening(host, wanted or http.PORT, "--api-port", or_any=wanted is None))
    port = end.getsockname()[1]
    space = parts.enter_context(warm.parts(settings))
    asgi_app = application(settings, host, space, {"night": night})
    _serve(server(asgi_app, settings, host, port), end, parts)
    return _Place(http.address(host, port))


def _no_token() -> _Place:
    """Return the reason and the fix for a server without tokens."""
    from slowwave.serving.access import how_to_let_in

    return _Place("", f"not served: there is no token. {how_to_let_in()} Then restart.")


def _serve_page(
    settings: Settings, warm: WorkspacePool, parts: ExitStack, host: str, wanted: int | None, night: _Night
) -> _Place:
    """Serve the web page in a thread, if its dependencies are installed."""
    if not has_packages(*NEEDED):
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
    """Serve Prometheus metrics, if a port is set; return the URL or ""."""
    if not settings.telemetry.metrics_port:
        return ""
    from slowwave.serving.metrics import metrics_served

    return parts.enter_context(metrics_served(settings, parts.enter_context(warm.parts(settings))))


def _serve(serving: Server, end: socket.socket, parts: ExitStack) -> None:
    """Run a server in a thread until `parts` closes."""
    thread = threading.Thread(target=serving.run, args=([end],), daemon=True)
    thread.start()

    def stop() -> None:
        serving.should_exit = True
        thread.join()

    parts.callback(stop)


def _reserve_for_dagster(ports: _Ports, parts: ExitStack) -> int | None:
    """Reserve the port of Dagster's page, which its process opens later; None without Dagster.

    Raises:
        SlowwaveError: the requested port is in use.
    """
    if not ports.night or not has_packages("dagster"):
        return None
    from slowwave.serving.server import reserved

    wanted, free = ports.dagster or _DAGSTER_PORT, ports.dagster is None
    return parts.enter_context(reserved(ports.dagster_host, wanted, "--ui-port", or_any=free))


def _run_night(
    ports: _Ports, port: int | None, hurry: threading.Event, parts: ExitStack, night: _Night
) -> _Place:
    """Run `slowwave ui` as a supervised process, if Dagster is installed."""
    from slowwave.cli.supervisor import SupervisedProcess

    if port is None:
        why = "pip install '.[night]' in Slowwave's folder" if ports.night else "--no-night"
        return _Place("", f"not run: {why}")
    host = ports.dagster_host

    def tell(code: int, pause: float) -> None:
        err.print(f"Dagster ended with exit code {code}; restarting in {pause:.0f} s.", highlight=False)

    command = [sys.executable, "-m", "slowwave", "ui", "--host", host, "--port", str(port), "--with-input"]
    child = SupervisedProcess(command, os.environ, tell)
    child.start()
    night.child = child
    parts.callback(child.stop, hurry)
    return _Place(f"http://{host_and_port(host, port)}")


def _print_places(
    home: Path, page: _Place, assistants: _Place, api: _Place, dagster: _Place, health: _Place
) -> None:
    """Print the URL of each server, or why it does not run."""
    rows = (
        ("home", str(home)),
        ("commands", "they connect to this server; SLOWWAVE_ASK=0 runs one standalone"),
        ("page", f"{page.url} (sign-in link: slowwave page)" if page.url else page.why_not),
        ("assistants", assistants.url or assistants.why_not),
        ("HTTP API", f"{api.url} (reference: {api.url}/docs)" if api.url else api.why_not),
        ("Dagster", dagster.url or dagster.why_not),
        ("health", health.url or health.why_not),
    )
    out.print("[bold]Running[/]; stop with Ctrl-C.")
    for name, text in rows:
        _print_row(name, text)


def _print_row(name: str, text: str) -> None:
    out.print(f"  [dim]{name:<11}[/]{escape(text)}", highlight=False, soft_wrap=True)
