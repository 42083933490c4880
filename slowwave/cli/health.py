"""The command `health`: ask a server whether it can answer, for probes."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.markup import escape

from slowwave.cli.app import app
from slowwave.errors import SlowwaveError
from slowwave.views.terminal import Output, out, prints_output

_LIVE, _READY = "/healthz", "/readyz"
_URL = "http://127.0.0.1:8760"


@app.command()
@prints_output
def health(
    url: Annotated[str, typer.Option(help="URL of the server, as http://HOST:PORT.")] = _URL,
    live: Annotated[bool, typer.Option("--live", help="Only check that the process answers.")] = False,
    timeout: Annotated[float, typer.Option(min=0.1, max=60, help="Seconds to wait.")] = 5.0,
) -> Output:
    """Check that a server is ready: exit code 0 if ready, 1 if not.

    It asks over HTTP and opens no home: a container's HEALTHCHECK can run it every few seconds.
    """
    report = _health_report(_address(url, _LIVE if live else _READY), timeout)

    def show() -> None:
        well = "Alive." if live else "Ready."
        out.print(well if report["ready"] else "[bold red]Not ready.[/]")
        for name, status in report["parts"].items():
            out.print(
                f"  [dim]{escape(f'{name:<9}')}[/]{escape(str(status))}", highlight=False, soft_wrap=True
            )

    return Output(report, show, code=0 if report["ready"] else 1)


def _address(url: str, path: str) -> str:
    """Return the URL to ask. Any path of the given URL is dropped.

    Raises:
        SlowwaveError: it is no HTTP URL.
    """
    from urllib.parse import urlsplit

    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise SlowwaveError(f"--url {url!r} is no server URL. Give http://HOST:PORT, such as {_URL}.")
    return f"{parts.scheme}://{parts.netloc}{path}"


def _health_report(address: str, timeout: float) -> dict[str, Any]:
    """Request the server's health report.

    Raises:
        SlowwaveError: it does not answer, or is no Slowwave server.
    """
    import json as data
    import urllib.error
    import urllib.request

    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))  # a probe asks the server itself
    try:
        with direct.open(address, timeout=timeout) as answer:
            body = answer.read(65_536)
    except urllib.error.HTTPError as error:
        body = error.read(65_536)
        if error.code != 503:
            raise SlowwaveError(f"{address} answers {error.code}: it is no Slowwave server.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise SlowwaveError(
            f"{address} does not answer: {why}. Start the server, or pass the URL that it prints as `health` "
            f"with --url."
        ) from None
    if body == b"ok\n":
        return {"ready": True, "parts": {"process": "ok"}}
    try:
        report = data.loads(body)
        return {"ready": report["ready"] is True, "parts": dict(report["parts"])}
    except (ValueError, KeyError, TypeError):
        raise SlowwaveError(f"{address} answers something else: it is no Slowwave server.") from None
