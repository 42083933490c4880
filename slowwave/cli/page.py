"""The memory's own page."""

from __future__ import annotations

from typing import Annotated

import typer

from slowwave.cli.app import Json, app, home_settings
from slowwave.errors import SlowwaveError
from slowwave.views.screens import NotHereError
from slowwave.views.terminal import err, out, print_json, reports_errors

PORT = 8770
PRINCIPAL = "page"
_NEEDED = ("jinja2", "starlette", "uvicorn")
_HOST = "127.0.0.1"


Port = Annotated[
    int | None,
    typer.Option(
        min=1, max=65_535, help=f"Port of the page; default: {PORT}, or another where that is taken."
    ),
]


@app.command()
@reports_errors
def page(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = _HOST,
    port: Port = None,
    principal: Annotated[str, typer.Option(help="In whose name you act there.")] = PRINCIPAL,
    json: Json = False,
) -> None:
    """Open the memory's own page: search, what was stored lately, what waits for you, and taking it back.

    It prints a link that lets you in once, within ten minutes; where `slowwave up` runs, to the page that it
    serves. Others come in with a token (`slowwave mcp token --rights person`).
    """
    from slowwave.cli.warm import lender

    running = lender()
    if running is not None:
        if running.page_link is None or (host, port, principal) != (_HOST, None, PRINCIPAL):
            raise NotHereError
        _tell(running.page_link(), json, "The link opens the page once, within ten minutes.")
        return
    from slowwave.settings import require_home

    settings = require_home(home_settings())
    if not installed():
        raise SlowwaveError(f"The page needs Starlette, Jinja2 and uvicorn: {INSTALL}")
    from slowwave.serving.server import listening
    from slowwave.telemetry.logs import begin_logs
    from slowwave.web.serving import serve, server

    begin_logs(settings.telemetry.logs)
    with listening(host, port or PORT, or_any=port is None) as end:
        serving, memories, link = server(settings, host, end.getsockname()[1], principal)
        _tell(link(), json, "The link opens the page once, within ten minutes (stop with Ctrl-C).")
        serve(serving, end, memories, [settings.namespace, *(one.namespace for one in settings.mcp.tokens)])


INSTALL = "pip install '.[page]' in Slowwave's folder"


def installed() -> bool:
    """Whether everything is there that the page needs."""
    from importlib.util import find_spec

    return all(find_spec(name) is not None for name in _NEEDED)


def _tell(link: str, json: bool, about: str) -> None:
    if json:
        print_json({"link": link})
        return
    out.print(link, soft_wrap=True, markup=False, highlight=False)
    err.print(about, markup=False)
