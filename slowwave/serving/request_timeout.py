"""HTTP connections with a time-out for incomplete requests, and a limit of their number."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_TURN = count()  # event loop clocks are too coarse for an order


class RequestTimeoutProtocol(H11Protocol):
    """Connection that is closed if a request takes too long to arrive.

    uvicorn has no such limit: it waits for the rest of a request forever.

    Attributes:
        seconds: time-out of a request, headers and body.
        most: connections that may wait for (the rest of) a request (count); beyond it the oldest is closed.
    """

    seconds: ClassVar[float]
    most: ClassVar[int]
    _limit: asyncio.TimerHandle | None = None
    _since = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Handle a new connection."""
        super().connection_made(transport)
        self._look()
        waiting = [
            connection
            for connection in self.connections
            if isinstance(connection, RequestTimeoutProtocol) and connection._limit is not None
        ]
        if len(waiting) > self.most:
            min(waiting, key=RequestTimeoutProtocol._place)._give_up()

    def data_received(self, data: bytes) -> None:
        """Handle a part of a request."""
        super().data_received(data)
        self._look()

    def send_400_response(self, msg: str) -> None:
        """Refuse malformed requests with problem details (RFC 9457)."""
        body = {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": msg, "errors": []}
        headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close")]
        answer = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for part in (answer, h11.Data(data=json.dumps(body).encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(part) or b"")
        self.transport.close()

    def on_response_complete(self) -> None:
        """Handle the end of a response."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """Handle the end of a connection."""
        self._forget()
        super().connection_lost(exc)

    def _look(self) -> None:
        """Run the timer while a request is awaited or incomplete."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY) or self.transport.is_closing():
            self._forget()
        elif self._limit is None:
            self._since = next(_TURN)
            self._limit = self.loop.call_later(self.seconds, self._give_up)

    def _place(self) -> int:
        return self._since

    def _forget(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._limit = None

    def _give_up(self) -> None:
        self._forget()
        self.transport.abort()


def request_timeout(seconds: float, most: int) -> type[RequestTimeoutProtocol]:
    """Return the protocol class with these limits; see :class:`RequestTimeoutProtocol`."""
    return type("LimitedProtocol", (RequestTimeoutProtocol,), {"seconds": seconds, "most": most})
