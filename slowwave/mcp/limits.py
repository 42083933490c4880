"""What one client of the HTTP server may ask for at a time, and how long it waits after wrong tokens."""

from __future__ import annotations

from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import anyio
from starlette.responses import PlainTextResponse

from slowwave.mcp.callers import Caller
from slowwave.mcp.tokens import caller_of
from slowwave.settings import McpToken

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

FREE = 3  # wrong tokens of an address that are answered at once (count)
FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 2.0
FORGOTTEN_S = 60.0  # without a wrong token
ADDRESSES = 1_024  # that are remembered (count)
DELAYED = 16  # answers that are held back at a time (count)
RETRY_S = 2


@dataclass(slots=True)
class _Wrong:
    count: int
    last: float


class Delays:
    """How long answers to wrong tokens are held back, by the address that they come from.

    Attributes:
        held: answers that are held back now (count).
    """

    def __init__(self) -> None:
        self.held = 0
        self._wrong: OrderedDict[str, _Wrong] = OrderedDict()

    @property
    def full(self) -> bool:
        """Whether no more answers are held back: one more wrong token is told to come back."""
        return self.held >= DELAYED

    @contextmanager
    def holding(self) -> Iterator[None]:
        """While the block is in work, one more answer is held back."""
        self.held += 1
        try:
            yield
        finally:
            self.held -= 1

    def after(self, address: str) -> float:
        """Seconds that the answer to one more wrong token of an address is held back."""
        now = monotonic()
        known = self._wrong.pop(address, None)
        count = 1 if known is None or now - known.last > FORGOTTEN_S else known.count + 1
        self._wrong[address] = _Wrong(count, now)
        while len(self._wrong) > ADDRESSES:
            self._wrong.popitem(last=False)
        again = min(count - FREE - 1, 16)
        return 0.0 if again < 0 else min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0**again)


class Limits:
    """Middleware: at most so many requests of one token at a time, and slow answers to wrong tokens.

    Args:
        app: the application.
        tokens: that are known.
        requests: of one caller, in work or waiting; one more is told to come back (429).
        sleep: waits so many seconds; for tests.
    """

    def __init__(
        self,
        app: ASGIApp,
        tokens: Sequence[McpToken],
        requests: int,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._app, self._tokens, self._requests, self._sleep = app, tokens, requests, sleep
        self._working: Counter[Caller] = Counter()
        self._delays = Delays()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        token = _token(scope) if scope["type"] == "http" else None
        if token is None:
            await self._app(scope, receive, send)
        elif (caller := caller_of(token, self._tokens)) is None:
            await self._refuse_slowly(scope, receive, send)
        elif self._working[caller] >= self._requests:
            told = f"{self._requests} requests with this token are in work already. Come back later."
            await _busy(told)(scope, receive, send)
        else:
            self._working[caller] += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._working[caller] -= 1

    async def _refuse_slowly(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._delays.full:
            await _busy("Too many requests with wrong tokens. Come back later.")(scope, receive, send)
            return
        delay = self._delays.after(str((scope.get("client") or ("",))[0]))

        async def later(message: Message) -> None:
            if message["type"] == "http.response.start" and delay:
                await self._sleep(delay)
            await send(message)

        with self._delays.holding():
            await self._app(scope, receive, later)


def _token(scope: Scope) -> str | None:
    """The bearer token that a request brings, known or not."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            return value.decode("latin-1").partition(" ")[2].strip() or "-"
    return None


def _busy(told: str) -> PlainTextResponse:
    return PlainTextResponse(told, status_code=429, headers={"Retry-After": str(RETRY_S)})
