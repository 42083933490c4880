"""What every request has to be before it is looked at: to a known name, and whole within the limit."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.datastructures import Headers

from slowwave.api.problems import problem
from slowwave.mcp.health import PATHS

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class Guard:
    """Middleware: a request names a host that is known, and brings no more than so much.

    Args:
        app: the application.
        names: by which it may be reached, without ports.
        most: size of a body (bytes).
    """

    def __init__(self, app: ASGIApp, names: Collection[str], most: int) -> None:
        self._app, self._most = app, most
        self._names = frozenset(name.strip("[]").lower() for name in names)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        probed = scope["path"] in PATHS  # by whatever address: nothing is told there
        if not probed and _name(headers.get("host", "")) not in self._names:
            told = "This server is not known by that name: mcp.allowed_hosts has those that it is known by."
            await problem(421, told)(scope, receive, send)
            return
        body = await self._whole(headers, receive)
        if body is None:
            told = f"A request may have {self._most:,} bytes (mcp.max_request_bytes). Nothing was done."
            await problem(413, told, headers={"Connection": "close"})(scope, receive, send)
            return
        await self._app(scope, _Given(body, receive), send)

    async def _whole(self, headers: Headers, receive: Receive) -> bytes | None:
        """The body; None where it is too large."""
        said = headers.get("content-length", "0")
        if said.isdecimal() and int(said) > self._most:
            return None
        body, more = bytearray(), True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                break
            body += message.get("body", b"")
            if len(body) > self._most:
                return None
            more = message.get("more_body", False)
        return bytes(body)


class _Given:
    """Gives a body that was read already, and then what comes after it."""

    def __init__(self, body: bytes, receive: Receive) -> None:
        self._body: bytes | None = body
        self._receive = receive

    async def __call__(self) -> Message:
        """The next message."""
        if self._body is None:
            return await self._receive()
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}


def _name(host: str) -> str:
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
