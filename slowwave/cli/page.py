"""The command `page`: open the web page of a home."""

from __future__ import annotations

from typing import Annotated

import typer

from slowwave.cli.app import app, has_packages, required_settings
from slowwave.errors import SlowwaveError
from slowwave.views.captured_console import NotHereError
from slowwave.views.terminal import Output, err, out, prints_output, tell

PORT = 8770
PRINCIPAL = "page"
NEEDED = ("jinja2", "starlette", "uvicorn")
_HOST = "127.0.0.1"


Port = Annotated[
    int | None,
    typer.Option(min=1, max=65_535, help=f"Port of the page; default: {PORT}, or a free one."),
]


@app.command()
@prints_output
def page(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = _HOST,
    port: Port = None,
    principal: Annotated[str, typer.Option(help="User recorded with what you do there.")] = PRINCIPAL,
    demo: Annotated[
        bool, typer.Option("--demo", help="Open the demo's home instead of yours; make it if it is missing.")
    ] = False,
) -> Output:
    """Open the web page: search, recent memories, decisions that wait for you, undo.

    It prints a link that signs you in once, within ten minutes. If `slowwave up` runs, the link opens its
    page. Other people sign in with a token (`slowwave mcp token --rights person`).
    """
    from slowwave.cli.shared_workspace import current_pool

    running = current_pool()
    if running is not None:
        if running.page_link is None or (host, port, principal, demo) != (_HOST, None, PRINCIPAL, False):
            raise NotHereError
        return _opens(running.page_link(), "The link opens the page once, within ten minutes.")

    if not has_packages(*NEEDED):
        raise SlowwaveError(f"The page needs Starlette, Jinja2 and uvicorn: {INSTALL}")
    if demo:
        import os

        from slowwave.cli.demo_home import demo_home

        os.environ["SLOWWAVE_HOME"] = str(demo_home())
    settings = required_settings()
    err.print(f"Starting the web page of {settings.home} ...", markup=False, soft_wrap=True)
    from slowwave.serving.server import listening
    from slowwave.telemetry.logs import begin_logs
    from slowwave.web.serving import serve, server

    begin_logs(settings.telemetry.logs)
    with listening(host, port or PORT, or_any=port is None) as end:
        serving, memories, link = server(settings, host, end.getsockname()[1], principal)
        tell(_opens(link(), "The link opens the page once, within ten minutes (stop with Ctrl-C)."))
        serve(
            serving, end, memories, [settings.namespace, *(token.namespace for token in settings.mcp.tokens)]
        )
    return Output()


INSTALL = "pip install '.[page]' in Slowwave's folder"


def _opens(link: str, hint: str) -> Output:
    def show() -> None:
        out.print(link, soft_wrap=True, markup=False, highlight=False)
        err.print(hint, markup=False)

    return Output({"link": link}, show)
