"""Security headers of every answer, and refusal of forms that another page sent (CSRF)."""

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
    """Middleware that adds security headers to every answer and refuses forms of other pages.

    Args:
        app: The application.
        https: Whether people reach it over TLS.
    """

    def __init__(self, app: ASGIApp, *, https: bool) -> None:
        self._app, self._https = app, https

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

        if scope["method"] not in READS and not own(Headers(scope=scope), https=self._https):
            told = "Another page sent this, so nothing was done. Use the forms of this one."
            await PlainTextResponse(told, 403)(scope, receive, with_headers)
        else:
            await self._app(scope, receive, with_headers)


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
