"""MCP commands: serve assistants; create, list and revoke bearer tokens."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps as to_json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, has_packages, required_settings
from slowwave.common.addresses import host_and_port
from slowwave.errors import SettingsError, SlowwaveError
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, err, out, prints_output, reports_errors, warn

if TYPE_CHECKING:
    from slowwave.settings import Settings

_FROM_NOW = " Running servers accept it at once."
_FIRST = " Restart the server: one that started without any token does not serve assistants."
serving = typer.Typer()
app.add_typer(serving, name="mcp")


@serving.callback(invoke_without_command=True)
@reports_errors
def mcp(
    context: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP, with bearer tokens.")] = False,
    host: Annotated[str, typer.Option(help="Address to listen on (HTTP).")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on (HTTP).")] = 8765,
    namespace: Namespace = "",
    principal: Annotated[str, typer.Option(help="User recorded with events; default: assistant.")] = "",
) -> None:
    """Serve the Model Context Protocol (MCP) on standard input and output, or over HTTP.

    On standard input and output --namespace sets the namespace. Over HTTP each token has its own.
    """
    if context.invoked_subcommand is not None:
        return
    from slowwave.telemetry.logs import begin_logs

    settings = required_settings()
    require_sdk()
    begin_logs(settings.telemetry.logs)
    if not http:
        from slowwave.mcp.stdio import serve as serve_stdio
        from slowwave.serving.caller import Caller

        serve_stdio(settings, Caller(namespace or settings.namespace, principal or "assistant"))
        return
    if namespace or principal:
        raise SlowwaveError(
            "Over HTTP a client's token sets its namespace and principal. Leave out --namespace and "
            "--principal; pass them to `slowwave mcp token`."
        )
    _serve_http(settings, host, port)


def _serve_http(settings: Settings, host: str, port: int) -> None:
    """Serve over HTTP until the process is stopped. The URL is printed once the server listens."""
    from slowwave.home.workspace import Workspace
    from slowwave.mcp.http import PATH, application
    from slowwave.serving.metrics import metrics_served
    from slowwave.serving.server import listening, run_until_stopped, server

    space = Workspace(settings)
    http_server = server(application(settings, host, space), settings, host, port)
    with listening(host, port) as end, metrics_served(settings, space):
        err.print(
            f"Serving http://{host_and_port(host, port)}{PATH} (stop with Ctrl-C)",
            markup=False,
            highlight=False,
        )
        run_until_stopped(http_server, end)


@serving.command()
@prints_output
def token(
    namespace: Annotated[
        str, typer.Option("--namespace", "-n", help="The namespace that the token gives access to.")
    ],
    principal: Annotated[str, typer.Option(help="User recorded with every event.")],
    rights: Annotated[
        str,
        typer.Option(help="reader (read only), assistant (the tools) or person (everything on the page)."),
    ] = "assistant",
    name: Annotated[str, typer.Option(help="Name of the token; default: the principal.")] = "",
    days: Annotated[int | None, typer.Option(min=1, max=36_500, help="Days until it expires.")] = None,
    expires: Annotated[str, typer.Option(help="Day (YYYY-MM-DD, UTC) from whose start it is refused.")] = "",
) -> Output:
    """Create a bearer token for HTTP. It is shown once; the settings file stores its hash."""
    from datetime import UTC, datetime, timedelta

    from slowwave.common.arguments import parsed_day
    from slowwave.serving.access import is_anybody
    from slowwave.serving.tokens import VARIABLE, add_token, digest, in_the_variable
    from slowwave.settings import CONFIG_FILE

    settings = required_settings()
    if days is not None and expires:
        raise SlowwaveError("Give either --days or --expires, not both.")
    now, until = datetime.now(UTC), None
    if days is not None:
        until = (now + timedelta(days=days)).replace(microsecond=0)
    elif expires:
        until = datetime.combine(parsed_day("--expires", expires), datetime.min.time(), UTC)
        if until <= now:
            raise SlowwaveError(f"--expires {expires} is in the past. Give a later day.")
    with _named_as_options():
        token_text = add_token(settings, namespace, principal, rights=rights, name=name, expires=until)
    grant = {"namespace": namespace, "principal": principal, "rights": rights, "name": name or principal}

    def show() -> None:
        out.print(token_text, soft_wrap=True, markup=False, highlight=False)
        when = f" until {until:%Y-%m-%d %H:%M} UTC" if until else ""
        counts = "" if in_the_variable() else _FROM_NOW if is_anybody(settings) else _FIRST
        err.print(
            f"Access to namespace [bold]{escape(namespace)}[/] as [bold]{escape(principal)}[/]{when}. It is "
            f"not shown again. Its hash is in {escape(str(settings.home / CONFIG_FILE))}.{counts}",
            soft_wrap=True,
        )
        if in_the_variable():
            entry = {"token_sha256": digest(token_text), **grant}
            entry |= {"expires": until.isoformat()} if until else {}
            warn(
                f"{VARIABLE} is set, so tokens of the settings file are ignored. "
                f"Add this to its list, and restart the servers that use it: {to_json(entry)}"
            )

    return Output({"token": token_text, **grant, "expires": until}, show)


@contextmanager
def _named_as_options() -> Iterator[None]:
    """Rename settings to option names in errors about a new token."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(str(error).replace("mcp.tokens.0.", "--")) from None


@serving.command("tokens")
@prints_output
def listed() -> Output:
    """List the bearer tokens: name, access, expiry. Tokens themselves are not stored."""
    from datetime import UTC, datetime

    from slowwave.serving.tokens import id_of

    now = datetime.now(UTC)
    rows = [
        {
            "name": entry.label, "id": id_of(entry),
                "namespace": entry.namespace, "principal": entry.principal,
            "rights": entry.rights, "expires": entry.expires, "expired": entry.expired(now),
        }
        for entry in required_settings().mcp.tokens
    ]  # fmt: skip

    def show() -> None:
        if not rows:
            out.print("No tokens. `slowwave mcp token -n NAMESPACE --principal NAME` creates one.")
            return
        cells = [
            [row["name"], row["id"], row["namespace"], row["principal"], row["rights"], _until(row)]
            for row in rows
        ]
        print_table("Tokens", ["name", "id", "namespace", "principal", "rights", "expires"], cells)

    return Output({"tokens": rows}, show)


def _until(row: dict[str, Any]) -> str:
    if row["expires"] is None:
        return "never"
    return f"{row['expires']:%Y-%m-%d}{' (expired)' if row['expired'] else ''}"


@serving.command("revoke")
@prints_output
def revoked(
    name: Annotated[str, typer.Argument(help="Name or id of the token.")],
) -> Output:
    """Revoke a bearer token, at once also in running servers."""
    from slowwave.serving.tokens import id_of, revoke

    removed = revoke(required_settings(), name)
    message = f"Revoked: {removed.label} ({id_of(removed)}) of {removed.namespace}."
    return Output(
        {
            "revoked": removed.label, "id": id_of(removed),
                "namespace": removed.namespace, "principal": removed.principal
        },
        lambda: out.print(message, markup=False),
    )  # fmt: skip


def require_sdk() -> None:
    """Require the MCP SDK.

    Raises:
        SlowwaveError: it is not installed.
    """
    if not has_packages("mcp"):
        raise SlowwaveError("The MCP server needs the SDK: pip install '.[mcp]' in its folder")
