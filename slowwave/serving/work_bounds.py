"""Deadline of requests: work ends at the time-out or when the client disconnects."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING

import anyio

from slowwave.common.deadline import Deadline, within

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send


class WorkBounds:
    """Middleware that gives every request a deadline (`slowwave.common.deadline`).

    Args:
        app: the application.
        seconds: time-out of a request.
    """

    def __init__(self, app: ASGIApp, seconds: float) -> None:
        self._app, self._seconds = app, seconds
        self._open: set[Deadline] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        with within(self._seconds) as deadline, self._known(deadline):
            listening = _Listening(receive, deadline)
            async with anyio.create_task_group() as tasks:
                tasks.start_soon(listening.until_left)
                try:
                    await self._app(scope, listening, send)
                finally:
                    tasks.cancel_scope.cancel()

    @contextmanager
    def _known(self, deadline: Deadline) -> Iterator[None]:
        self._open.add(deadline)
        try:
            yield
        finally:
            self._open.discard(deadline)

    def end(self, seconds: float) -> None:
        """Shorten the deadline of running requests: the server is stopping."""
        for deadline in self._open:
            deadline.is_ending, deadline.until = True, min(deadline.until, monotonic() + seconds)


class _Listening:
    """Receive channel that notices when the client disconnects."""

    def __init__(self, receive: Receive, deadline: Deadline) -> None:
        self._receive, self._deadline = receive, deadline
        self._whole, self._left = anyio.Event(), anyio.Event()

    async def __call__(self) -> Message:
        """Return the next message for the application."""
        if self._whole.is_set():
            await self._left.wait()
            return {"type": "http.disconnect"}
        return self._noted(await self._receive())

    async def until_left(self) -> None:
        """Wait for the client to disconnect, once its request is complete."""
        await self._whole.wait()
        while not self._left.is_set():
            self._noted(await self._receive())

    def _noted(self, message: Message) -> Message:
        if message["type"] == "http.disconnect":
            self._deadline.is_left = True
            self._left.set()
        if message["type"] == "http.disconnect" or not message.get("more_body"):
            self._whole.set()
        return message
