"""Size limit of request bodies, which are read completely before they are parsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.datastructures import Headers

from slowwave.api.problems import problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class BodyLimit:
    """Middleware that refuses larger bodies (413).

    Args:
        app: the application.
        max_bytes: of a body.
    """

    def __init__(self, app: ASGIApp, max_bytes: int) -> None:
        self._app, self._max_bytes = app, max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        body = await self._whole(Headers(scope=scope), receive)
        if body is None:
            message = (
                f"The request has more than {self._max_bytes:,} bytes (mcp.max_request_bytes). Nothing "
                f"was done."
            )
            await problem(413, message, headers={"Connection": "close"})(scope, receive, send)
            return
        pending = [body]

        async def whole_first() -> Message:
            return {"type": "http.request", "body": pending.pop()} if pending else await receive()

        await self._app(scope, whole_first, send)

    async def _whole(self, headers: Headers, receive: Receive) -> bytes | None:
        """Read the body; None if it is too large."""
        declared = headers.get("content-length", "0")
        if declared.isdecimal() and int(declared) > self._max_bytes:
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
