"""Size limit of requests: a body is read whole, within the limit, before anything looks at it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from slowwave.api.problems import problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimit:
    """Middleware that refuses a request with a larger body (413).

    Args:
        app: The application.
        max_bytes: Of a body.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app, self._max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await self._whole(Headers(scope=scope), receive)
        if body is None:
            told = f"A request may have {self._max_bytes:,} bytes (mcp.max_request_bytes). Nothing was done."
            await problem(413, told, headers={"Connection": "close"})(scope, receive, send)
            return
        given = [body]

        async def whole_first() -> Message:
            return {"type": "http.request", "body": given.pop()} if given else await receive()

        await self._app(scope, whole_first, send)

    async def _whole(self, headers: Headers, receive: Receive) -> bytes | None:
        """The body; None where it is too large."""
        said = headers.get("content-length", "0")
        if said.isdecimal() and int(said) > self._max_bytes:
            return None
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            body += message.get("body", b"")
            if len(body) > self._max_bytes:
                return None
            more = message.get("more_body", False)
        return bytes(body)
