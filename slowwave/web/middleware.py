"""Middleware of the web page: security headers and CSRF protection."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse

from slowwave.serving.host_guard import READS

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


class PageGuard:
    """Middleware that adds security headers and refuses forms of other sites.

    Args:
        app: the application.
        https: whether browsers reach it over TLS.
    """

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self._app, self._https = app, https

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["method"] not in READS and not own(Headers(scope=scope), https=self._https):
            message_ = "The request came from another site. Nothing was done. Use the forms of this page."
            await PlainTextResponse(message_, 403)(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)


def own(headers: Headers, *, https: bool) -> bool:
    """Whether a request that changes something comes from a page of this server.

    Browsers send the origin of a form (Origin), newer ones also whether it is the same site (Sec-Fetch-Site).
    If a client sends neither, only the form's token protects.

    Args:
        headers: of the request.
        https: whether browsers reach it over TLS.
    """
    if headers.get("sec-fetch-site", "same-origin") != "same-origin":
        return False
    origin, host = headers.get("origin"), headers.get("host", "").lower()
    schemes = ("https",) if https else ("http", "https")
    return origin is None or origin.lower() in {f"{scheme}://{host}" for scheme in schemes}
