"""Connections of the HTTP server: a request has to arrive whole and in time, and few may be half-sent."""

from __future__ import annotations

import asyncio
import json
from itertools import count
from typing import ClassVar

import h11
from uvicorn.protocols.http.h11_impl import H11Protocol

_TURN = count()  # clocks of loops are too coarse to tell who came first


class RequestTimeoutProtocol(H11Protocol):
    """A connection that is closed when a request takes too long to arrive.

    uvicorn has no such limit of its own: it waits for the rest of a request for ever.

    Attributes:
        seconds: that a request may take to arrive, headers and body.
        most: connections that may wait for (the rest of) a request at a time; from there on the one that has
            waited longest makes room (count).
    """

    seconds: ClassVar[float]
    most: ClassVar[int]
    _limit: asyncio.TimerHandle | None = None
    _since = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """A client has come."""
        super().connection_made(transport)
        self._look()
        waiting = [
            one
            for one in self.connections
            if isinstance(one, RequestTimeoutProtocol) and one._limit is not None
        ]
        if len(waiting) > self.most:
            min(waiting, key=RequestTimeoutProtocol._place)._give_up()

    def data_received(self, data: bytes) -> None:
        """Some of a request has come."""
        super().data_received(data)
        self._look()

    def send_400_response(self, msg: str) -> None:
        """What came is no request, and is refused as others are (RFC 9457)."""
        told = {"type": "about:blank", "title": "Bad Request", "status": 400, "detail": msg, "errors": []}
        headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close")]
        answer = h11.Response(status_code=400, headers=headers, reason=b"Bad Request")
        for part in (answer, h11.Data(data=json.dumps(told).encode()), h11.EndOfMessage()):
            self.transport.write(self.conn.send(part) or b"")
        self.transport.close()

    def on_response_complete(self) -> None:
        """A request is answered."""
        super().on_response_complete()
        self._look()

    def connection_lost(self, exc: Exception | None) -> None:
        """The client is gone."""
        self._forget()
        super().connection_lost(exc)

    def _look(self) -> None:
        """The clock runs while a request is waited for or half there."""
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
    """The protocol with these limits; see :class:`RequestTimeoutProtocol`."""
    return type("LimitedProtocol", (RequestTimeoutProtocol,), {"seconds": seconds, "most": most})
