"""Serving the memory to assistants."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from json import dumps as to_json
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import Namespace, app, required_settings
from slowwave.common.addresses import host_and_port
from slowwave.errors import SettingsError, SlowwaveError
from slowwave.views.tables import print_table
from slowwave.views.terminal import Output, err, out, prints_output, reports_errors, warn

if TYPE_CHECKING:
    from slowwave.settings import Settings

_FROM_NOW = " A running server takes it at once."
_FIRST = (
    " Start the server again: one that was started without any token serves nothing to assistants until then."
)
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
            "Over HTTP a client's token decides its namespace and principal: leave out --namespace and "
            "--principal, and give them to `slowwave mcp token`."
        )
    _serve_http(settings, host, port)


def _serve_http(settings: Settings, host: str, port: int) -> None:
    """Serve over HTTP until the process is told to stop; where it is is said once that is true."""
    from slowwave.home.workspace import Workspace
    from slowwave.mcp.http import PATH, application
    from slowwave.serving.metrics import metrics_served
    from slowwave.serving.server import listening, run_until_told, server

    space = Workspace(settings)
    made = server(application(settings, host, space), settings, host, port)
    with listening(host, port) as end, metrics_served(space):
        err.print(
            f"Serving http://{host_and_port(host, port)}{PATH} (stop with Ctrl-C)",
            markup=False,
            highlight=False,
        )
        run_until_told(made, end)


@serving.command()
@prints_output
def token(
    namespace: Annotated[str, typer.Option("--namespace", "-n", help="The one namespace that it opens.")],
    principal: Annotated[str, typer.Option(help="Who acts with it, recorded with every act.")],
    rights: Annotated[
        str,
        typer.Option(help="reader (looks), assistant (what tools can do) or person (on the page all)."),
    ] = "assistant",
    name: Annotated[str, typer.Option(help="What it is called; default: the principal.")] = "",
    days: Annotated[int | None, typer.Option(min=1, max=36_500, help="Days until it expires.")] = None,
    expires: Annotated[
        str, typer.Option(help="Day (YYYY-MM-DD, UTC) from whose beginning it is refused.")
    ] = "",
) -> Output:
    """Make a bearer token for HTTP. It is shown once; the settings file keeps its hash."""
    from datetime import UTC, datetime, timedelta

    from slowwave.common.arguments import parsed_day
    from slowwave.serving.access import is_anybody
    from slowwave.serving.tokens import VARIABLE, add_token, digest, in_the_variable
    from slowwave.settings import CONFIG_FILE

    settings = required_settings()
    if days is not None and expires:
        raise SlowwaveError("--days and --expires say the same: give one of them.")
    now, until = datetime.now(UTC), None
    if days is not None:
        until = (now + timedelta(days=days)).replace(microsecond=0)
    elif expires:
        until = datetime.combine(parsed_day("--expires", expires), datetime.min.time(), UTC)
        if until <= now:
            raise SlowwaveError(f"--expires {expires}: that is past, so the token would open nothing.")
    with _named_as_options():
        made = add_token(settings, namespace, principal, rights=rights, name=name, expires=until)
    opens = {"namespace": namespace, "principal": principal, "rights": rights, "name": name or principal}

    def show() -> None:
        out.print(made, soft_wrap=True, markup=False, highlight=False)
        when = f" until {until:%Y-%m-%d %H:%M} UTC" if until else ""
        counts = "" if in_the_variable() else _FROM_NOW if is_anybody(settings) else _FIRST
        err.print(
            f"It opens namespace [bold]{escape(namespace)}[/] for [bold]{escape(principal)}[/]{when} and is "
            f"not shown again; its hash is in {escape(str(settings.home / CONFIG_FILE))}.{counts}",
            soft_wrap=True,
        )
        if in_the_variable():
            entry = {"token_sha256": digest(made), **opens}
            entry |= {"expires": until.isoformat()} if until else {}
            warn(
                f"{VARIABLE} is set: only the tokens that it names count, and not those of the settings "
                f"file. Add this to its list, and start what runs with it again: {to_json(entry)}"
            )

    return Output({"token": made, **opens, "expires": until}, show)


@contextmanager
def _named_as_options() -> Iterator[None]:
    """Within the block what is wrong with a new token is told by the names of the options that said it."""
    try:
        yield
    except SettingsError as error:
        raise SettingsError(str(error).replace("mcp.tokens.0.", "--")) from None


@serving.command("tokens")
@prints_output
def listed() -> Output:
    """List the bearer tokens: names, what they open, until when. The tokens themselves are kept nowhere."""
    from datetime import UTC, datetime

    from slowwave.serving.tokens import id_of

    now = datetime.now(UTC)
    rows = [
        {
            "name": one.label, "id": id_of(one), "namespace": one.namespace, "principal": one.principal,
            "rights": one.rights, "expires": one.expires, "expired": one.expired(now),
        }
        for one in required_settings().mcp.tokens
    ]  # fmt: skip

    def show() -> None:
        if not rows:
            out.print("There is no token. `slowwave mcp token -n NAMESPACE --principal NAME` makes one.")
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
    name: Annotated[str, typer.Argument(help="What the token is called, or its id.")],
) -> Output:
    """Take a bearer token out: it opens nothing any more, also where a server runs."""
    from slowwave.serving.tokens import id_of, revoke

    gone = revoke(required_settings(), name)
    told = f"Revoked: {gone.label} ({id_of(gone)}) of {gone.namespace} opens nothing."
    return Output(
        {
            "revoked": gone.label, "id": id_of(gone), "namespace": gone.namespace, "principal": gone.principal
        },
        lambda: out.print(told, markup=False),
    )  # fmt: skip


def require_sdk() -> None:
    """Say how to install the SDK where it is not.

    Raises:
        SlowwaveError: it is not installed.
    """
    from importlib.util import find_spec

    if find_spec("mcp") is None:
        raise SlowwaveError("The MCP server needs the SDK: pip install '.[mcp]' in its folder")
