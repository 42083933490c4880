"""Check of the Host header against DNS rebinding: no web page reaches a server by a name of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers

from slowwave.serving.health import PATHS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from slowwave.settings import Settings

LOOPBACK: Final = ("127.0.0.1", "localhost", "[::1]")
READS: Final = ("GET", "HEAD")


class HostGuard:
    """Middleware that refuses requests to a host name that is not ours; probes may use any.

    Args:
        app: The application.
        settings: Of the home; `mcp.allowed_hosts` are known beside this machine's own names.
        refusal: Answers a request to an unknown name (421).
    """

    def __init__(self, app: ASGIApp, settings: Settings, refusal: ASGIApp) -> None:
        self._app, self._refusal = app, refusal
        self._names = frozenset(name.strip("[]").lower() for name in own_names(settings))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        known = scope["type"] != "http" or (scope["path"] in PATHS and scope["method"] in READS)
        known = known or host_name(Headers(scope=scope).get("host", "")).strip("[]") in self._names
        await (self._app if known else self._refusal)(scope, receive, send)


def own_names(settings: Settings) -> list[str]:
    """Return the names by which clients reach a server, without ports."""
    return [*LOOPBACK, *settings.mcp.allowed_hosts]


def host_name(host: str) -> str:
    """Return the name in a Host header, in small letters and without its port; empty where it is none."""
    match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^\[\]:@/]+)(:\d*)?", host.strip().lower())
    return match[1] if match else ""
