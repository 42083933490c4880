"""Middleware that reads the bodies of MCP over HTTP leniently, and answers batches."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from mcp.server.transport_security import RequestBodyLimitMiddleware
from starlette.responses import JSONResponse

from slowwave.mcp.messages import Message, read_messages

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send
    from starlette.types import Message as Event

_ONE_FOR_ALL = (401, 403, 413, 421, 429, 503)
"""Statuses that concern the client and not one message: they answer a whole batch."""


class LenientBody:
    """Middleware that passes each message of a body on as a request of its own.

    Only an authenticated client's body is read.

    Args:
        app: the application behind authentication.
        path: of the MCP server.
        max_bytes: of a body; a larger one is refused (413).
    """

    def __init__(self, app: ASGIApp, path: str, max_bytes: int) -> None:
        self._app, self._path = app, path
        self._whole = RequestBodyLimitMiddleware(self._answer, max_bytes)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        http = scope["type"] == "http" and scope["method"] == "POST" and scope["path"] == self._path
        known = http and getattr(scope.get("user"), "is_authenticated", False)
        await (self._whole if known else self._app)(scope, receive, send)

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request whose body is here."""
        event = await receive()
        if event["type"] != "http.request" or event.get("more_body"):  # the client has gone
            return
        read = read_messages(event["body"])
        if read.batch or len(read.messages) + len(read.errors) > 1:
            await self._batch(scope, read.messages, list(read.errors), receive, send)
        elif read.errors:
            await JSONResponse(read.errors[0], 400)(scope, receive, send)
        else:
            await self._one(scope, read.messages[0], receive, send)

    async def _one(self, scope: Scope, message: Message, receive: Receive, send: Send) -> None:
        data = json.dumps(message, ensure_ascii=False, separators=(",", ":")).encode()
        headers = [header for header in scope["headers"] if header[0] != b"content-length"]
        headers.append((b"content-length", str(len(data)).encode()))
        event = {"type": "http.request", "body": data, "more_body": False}
        await self._app({**scope, "headers": headers}, _replayed(event, receive), send)

    async def _batch(
        self,
        scope: Scope,
        messages: tuple[Message, ...],
        answers: list[Message],
        receive: Receive,
        send: Send,
    ) -> None:
        """Answer the messages one after the other, all in one array."""
        first: list[Event] = []
        for message in messages:
            caught: list[Event] = []

            async def catch(event: Event, caught: list[Event] = caught) -> None:
                caught.append(event)

            await self._one(scope, message, receive, catch)
            if caught[0]["status"] in _ONE_FOR_ALL:
                for event in caught:
                    await send(event)
                return
            first = first or caught
            body = b"".join(event.get("body", b"") for event in caught)
            if "id" in message and body:
                answers.append(json.loads(body))
        if answers:
            await JSONResponse(answers)(scope, receive, send)
        for event in () if answers else first:  # without requests, that of the first message (202)
            await send(event)


def _replayed(event: Event, receive: Receive) -> Receive:
    """Return a receiver of an event, and then of the others."""
    waiting = [event]

    async def replay() -> Event:
        return waiting.pop() if waiting else await receive()

    return replay
