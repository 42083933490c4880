"""The command `api`: serve the HTTP API."""

from __future__ import annotations

from contextlib import closing
from typing import Annotated

import typer

from slowwave.cli.app import app, has_packages, required_settings
from slowwave.common.addresses import host_and_port
from slowwave.errors import SlowwaveError
from slowwave.views.terminal import Output, err, prints_output, tell

PORT = 8780
INSTALL = "pip install '.[api,mcp]' in Slowwave's folder"
NEEDED = ("fastapi", "uvicorn", "mcp")

ApiPort = Annotated[
    int | None,
    typer.Option(min=1, max=65_535, help=f"Port of the HTTP API; default: {PORT}, or a free one."),
]


@app.command()
@prints_output
def api(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on.")] = PORT,
) -> Output:
    """Serve the HTTP API (JSON). Its reference is at /docs.

    Tokens (`slowwave mcp token`) grant access, each to one namespace.
    """
    settings = required_settings()
    if not has_packages(*NEEDED):
        raise SlowwaveError(f"The HTTP API needs FastAPI, uvicorn and the MCP SDK: {INSTALL}")
    from slowwave.api.app import application
    from slowwave.home.workspace import Workspace
    from slowwave.serving.metrics import metrics_served
    from slowwave.serving.server import listening, run_until_stopped, server
    from slowwave.telemetry.logs import begin_logs

    begin_logs(settings.telemetry.logs)
    space = Workspace(settings)
    http_server = server(application(settings, host, space), settings, host, port)
    with closing(space), listening(host, port) as end, metrics_served(settings, space):
        tell(Output({"url": address(host, port)}))
        message = f"Serving {address(host, port)} (described at /docs; stop with Ctrl-C)"
        err.print(message, markup=False, highlight=False)
        run_until_stopped(http_server, end)
    return Output()


def address(host: str, port: int) -> str:
    """Return the URL of the API."""
    return f"http://{host_and_port(host, port)}"
