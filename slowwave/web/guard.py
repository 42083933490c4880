"""What every request has to be, and what every answer carries, whatever the page is."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from slowwave.mcp.health import PATHS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

HEADERS: Final = {
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self' data:; "
    "script-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
    "Cache-Control": "no-store",
}
_READS: Final = ("GET", "HEAD")


class Guard:
    """Middleware: only by its own names, only from its own pages, and never without these headers.

    Args:
        app: the application.
        names: by which it may be reached, without ports.
        https: whether people reach it over TLS.
    """

    def __init__(self, app: ASGIApp, names: Collection[str], *, https: bool) -> None:
        self._app, self._https = app, https
        self._names = frozenset(one.lower() for one in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        headers = Headers(scope=scope)
        probed = scope["path"] in PATHS and scope["method"] in _READS  # by whatever address; nothing is told
        if not probed and name_of(headers.get("host", "")) not in self._names:
            told = "This page is not known by that name. mcp.allowed_hosts has the names that it is known by."
            await PlainTextResponse(told, 421)(scope, receive, with_headers)
        elif scope["method"] not in _READS and not own(headers, https=self._https):
            told = "Another page sent this, so nothing was done. Use the forms of this one."
            await PlainTextResponse(told, 403)(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)


def name_of(host: str) -> str:
    """The name in a Host header, in small letters and without its port."""
    host = host.strip().lower()
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[^\[\]:@/]+)(:\d*)?", host)
    return found[1] if found else ""


def own(headers: Headers, *, https: bool) -> bool:
    """Whether a request that changes something comes from a page of this server.

    Browsers say where a form was (Origin), newer ones also whether that is the same place (Sec-Fetch-Site).
    Who says neither is no browser of today; for it the key in the form has to do.

    Args:
        headers: of the request.
        https: whether people reach it over TLS.
    """
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    origin, host = headers.get("origin"), headers.get("host", "").lower()
    schemes = ("https",) if https else ("http", "https")
    return origin is None or origin.lower() in {f"{scheme}://{host}" for scheme in schemes}
