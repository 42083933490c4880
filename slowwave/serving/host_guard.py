"""Check of the Host header, against DNS rebinding."""

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
    """Middleware that refuses requests with an unknown host name; probes may use any.

    Args:
        app: the application.
        settings: of the home; `mcp.allowed_hosts` are accepted besides this machine's own names.
        refusal: answers a request with an unknown name (421).
    """

    def __init__(self, app: ASGIApp, settings: Settings, refusal: ASGIApp) -> None:
        self._app, self._refusal = app, refusal
        self._names = frozenset(name.strip("[]").lower() for name in own_names(settings))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        accepted = scope["type"] != "http" or (scope["path"] in PATHS and scope["method"] in READS)
        accepted = accepted or host_name(Headers(scope=scope).get("host", "")).strip("[]") in self._names
        await (self._app if accepted else self._refusal)(scope, receive, send)


def own_names(settings: Settings) -> list[str]:
    """Return the names by which clients reach a server, without ports."""
    return [*LOOPBACK, *settings.mcp.allowed_hosts]


def host_name(host: str) -> str:
    """Return the name in a Host header, lower-case and without port; "" for none."""
    match = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^\[\]:@/]+)(:\d*)?", host.strip().lower())
    return match[1] if match else ""
