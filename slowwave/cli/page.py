"""The memory's own page."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from slowwave.cli.app import Json, app, home_settings
from slowwave.errors import SlowwaveError
from slowwave.views.terminal import err, out, print_json, reports_errors

_NEEDED = ("jinja2", "starlette", "uvicorn")


@app.command()
@reports_errors
def page(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65_535, help="Port to listen on.")] = 8770,
    principal: Annotated[str, typer.Option(help="In whose name you act there.")] = "page",
    json: Json = False,
) -> None:
    """Serve the memory's own page: search, what was stored lately, what waits for you, and taking it back.

    It prints a link that lets you in once, within ten minutes. Others come in with a token
    (`slowwave mcp token --rights person`).
    """
    from slowwave.settings import require_home

    settings = require_home(home_settings())
    require_parts()
    logging.basicConfig(level="WARNING", format="%(asctime)s %(levelname)s %(name)s: %(message)s")
    from slowwave.web.serving import link, serve, server

    serving, memories, entrances = server(settings, host, port, principal)
    address = link(host, port, entrances.make())
    if json:
        print_json({"link": address})
    else:
        out.print(address, soft_wrap=True, markup=False, highlight=False)
        err.print("The link opens the page once, within ten minutes (stop with Ctrl-C).")
    serve(serving, memories, [settings.namespace, *(one.namespace for one in settings.mcp.tokens)])


def require_parts() -> None:
    """Say how to install what the page needs where it is not.

    Raises:
        SlowwaveError: something is not installed.
    """
    from importlib.util import find_spec

    if any(find_spec(name) is None for name in _NEEDED):
        raise SlowwaveError(
            "The page needs Starlette, Jinja2 and uvicorn: pip install '.[page]' in its folder"
        )
