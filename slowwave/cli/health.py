"""Asking a server whether it can answer, for probes that run a command."""

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
    url: Annotated[str, typer.Option(help="Server, as http://HOST:PORT.")] = _URL,
    live: Annotated[bool, typer.Option("--live", help="Only whether its process answers.")] = False,
    timeout: Annotated[float, typer.Option(min=0.1, max=60, help="Seconds to wait.")] = 5.0,
) -> Output:
    """Ask a running server whether it can answer: exit code 0 where it can, 1 where it cannot.

    It asks over HTTP and opens no home: a container's HEALTHCHECK may run it every few seconds.
    """
    told = _asked(_address(url, _LIVE if live else _READY), timeout)

    def show() -> None:
        well = "Alive." if live else "Ready."
        out.print(well if told["ready"] else "[bold red]Not ready.[/]")
        for name, said in told["parts"].items():
            out.print(f"  [dim]{escape(f'{name:<9}')}[/]{escape(str(said))}", highlight=False, soft_wrap=True)

    return Output(told, show, code=0 if told["ready"] else 1)


def _address(url: str, path: str) -> str:
    """Where to ask; a URL of a server may end with the path of something else that it serves.

    Raises:
        SlowwaveError: it is no URL of HTTP.
    """
    from urllib.parse import urlsplit

    given = urlsplit(url)
    if given.scheme not in ("http", "https") or not given.hostname or given.username is not None:
        raise SlowwaveError(f"--url {url!r} is no address of a server. Give http://HOST:PORT, as {_URL}.")
    return f"{given.scheme}://{given.netloc}{path}"


def _asked(address: str, timeout: float) -> dict[str, Any]:
    """What the server says of itself.

    Raises:
        SlowwaveError: it does not answer, or with something else.
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
            raise SlowwaveError(f"{address} answers {error.code}: no server of Slowwave is there.") from None
    except (OSError, ValueError) as error:
        why = getattr(error, "reason", None) or error
        raise SlowwaveError(
            f"{address} does not answer: {why}. Is the server running? Its line `health` says where it "
            f"answers: --url names that."
        ) from None
    if body == b"ok\n":
        return {"ready": True, "parts": {"process": "ok"}}
    try:
        told = data.loads(body)
        return {"ready": told["ready"] is True, "parts": dict(told["parts"])}
    except (ValueError, KeyError, TypeError):
        raise SlowwaveError(f"{address} answers something else: no server of Slowwave is there.") from None
