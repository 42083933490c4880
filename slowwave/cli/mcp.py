"""Serving the memory to assistants."""

from __future__ import annotations

from typing import Annotated

import typer

from slowwave.cli.app import Json, Namespace, app, home_settings
from slowwave.errors import SlowwaveError
from slowwave.views.terminal import err, out, print_json, reports_errors

serving = typer.Typer()
app.add_typer(serving, name="mcp")


@serving.callback(invoke_without_command=True)
@reports_errors
def mcp(
    context: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Over HTTP, with bearer tokens.")] = False,
    host: Annotated[str, typer.Option(help="Address to listen on (HTTP).")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on (HTTP).")] = 8765,
    namespace: Namespace = "",
    principal: Annotated[str, typer.Option(help="Who acts; default: assistant.")] = "",
) -> None:
    """Serve the memory to assistants over the Model Context Protocol, on standard input and output or HTTP.

    On standard input and output the namespace is fixed at the start; over HTTP each token has its own.
    """
    if context.invoked_subcommand is not None:
        return
    from slowwave.settings import require_home
    from slowwave.telemetry.logs import begin_logs

    settings = require_home(home_settings())
    require_sdk()
    begin_logs(settings.telemetry.logs)
    if not http:
        from slowwave.mcp.callers import Caller
        from slowwave.mcp.stdio import serve as serve_stdio

        serve_stdio(settings, Caller(namespace or settings.namespace, principal or "assistant"))
        return
    if namespace or principal:
        raise SlowwaveError(
            "Over HTTP a client's token decides its namespace and principal: leave out --namespace and "
            "--principal, and give them to `slowwave mcp token`."
        )
    from slowwave.mcp.http import PATH, serve

    where = f"[{host}]" if ":" in host else host
    err.print(f"Serving http://{where}:{port}{PATH} (stop with Ctrl-C)", markup=False, highlight=False)
    serve(settings, host, port)


@serving.command()
@reports_errors
def token(
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="The one namespace that it opens.")],
    principal: Annotated[str, typer.Option(help="Who acts with it, recorded with every act.")],
    rights: Annotated[
        str, typer.Option(help="On the memory's page: assistant (what tools can do) or person (all).")
    ] = "assistant",
    json: Json = False,
) -> None:
    """Make a bearer token for HTTP. It is shown once; the settings file keeps its hash."""
    from slowwave.mcp.tokens import add_token
    from slowwave.settings import CONFIG_FILE, require_home

    settings = require_home(home_settings())
    made = add_token(settings, namespace, principal, rights=rights)
    if json:
        print_json({"token": made, "namespace": namespace, "principal": principal, "rights": rights})
        return
    out.print(made, soft_wrap=True, markup=False, highlight=False)
    err.print(
        f"It opens namespace [bold]{namespace}[/] for [bold]{principal}[/] and is not shown again; "
        f"its hash is in {settings.home / CONFIG_FILE}. A running server takes it after a restart."
    )


def require_sdk() -> None:
    """Say how to install the SDK where it is not.

    Raises:
        SlowwaveError: it is not installed.
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise SlowwaveError("The MCP server needs the SDK: pip install '.[mcp]' in its folder")
