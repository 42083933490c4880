"""What one client of the HTTP server may ask for at a time, and how long it waits after wrong tokens."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from time import monotonic
from typing import TYPE_CHECKING

import anyio
from starlette.datastructures import MutableHeaders
from starlette.responses import JSONResponse, PlainTextResponse

from slowwave.serving.caller import Authentication, Caller

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from slowwave.serving.access import Access

FREE = 3  # wrong tokens of an address that are answered at once (count)
FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 2.0
FORGOTTEN_S = 60.0  # without a wrong token
ADDRESSES = 1_024  # that are remembered (count)
DELAYED = 16  # answers that are held back at a time (count)
RETRY_S = 2
_TOLD = re.compile(r'error="[^"]*", *error_description="[^"]*"')
_NOT_SAID = re.compile(r"[^ !#-\[\]-~]")  # in an error_description (RFC 6750)
_REFUSED = (401, 403)


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
    """Middleware: at most so many requests of one caller at a time, and slow answers to wrong tokens.

    A request whose token opens nothing goes on to the application, which refuses it; its client is told why.

    Args:
        app: the application.
        access: knows who calls.
        requests: of one caller, in work or waiting; one more is told to come back (429).
        sleep: waits so many seconds; for tests.
    """

    def __init__(
        self,
        app: ASGIApp,
        access: Access,
        requests: int,
        sleep: Callable[[float], Awaitable[None]] = anyio.sleep,
    ) -> None:
        self._app, self._access, self._requests, self._sleep = app, access, requests, sleep
        self._working: Counter[Caller] = Counter()
        self._delays = Delays()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        token = _token(scope) if scope["type"] == "http" else None
        if token is None:
            await self._app(scope, receive, send)
            return
        answer = await self._access.answer(token)
        caller = answer.caller
        if caller is None:
            await self._refuse(answer, scope, receive, send)
        elif self._working[caller] >= self._requests:
            told = f"{self._requests} requests with this token are in work already. Come back later."
            await _busy(told)(scope, receive, send)
        else:
            self._working[caller] += 1
            try:
                await self._app(scope, receive, send)
            finally:
                self._working[caller] -= 1
                if not self._working[caller]:
                    del self._working[caller]

    async def _refuse(self, answer: Authentication, scope: Scope, receive: Receive, send: Send) -> None:
        if not answer.guessed:
            await self._app(scope, receive, _Telling(answer, scope, receive, send))
            return
        if self._delays.full:
            await _busy("Too many requests with wrong tokens. Come back later.")(scope, receive, send)
            return
        delay = self._delays.after(str((scope.get("client") or ("",))[0]))

        async def later(message: Message) -> None:
            if message["type"] == "http.response.start" and delay:
                await self._sleep(delay)
            await send(message)

        with self._delays.holding():
            await self._app(scope, receive, _Telling(answer, scope, receive, later))


class _Telling:
    """Puts the reason into the answer of an application that refuses a request for its token."""

    def __init__(self, answer: Authentication, scope: Scope, receive: Receive, send: Send) -> None:
        self._answer, self._scope, self._receive, self._send = answer, scope, receive, send
        self._told = False

    async def __call__(self, message: Message) -> None:
        """Send a part of the application's answer, or ours in its place."""
        if message["type"] == "http.response.start" and message["status"] in _REFUSED:
            self._told = True
            await self._ours(MutableHeaders(raw=list(message["headers"])))
        elif not self._told:
            await self._send(message)

    async def _ours(self, theirs: MutableHeaders) -> None:
        why = _NOT_SAID.sub("?", self._answer.why)
        said = f'error="{self._answer.error}", error_description="{why}"'
        said += f', scope="{self._answer.scope}"' if self._answer.scope else ""
        asked = theirs.get("www-authenticate") or f"Bearer {said}"
        body = {"error": self._answer.error, "error_description": why}
        headers = {"WWW-Authenticate": _TOLD.sub(lambda _: said, asked)}
        await JSONResponse(body, self._answer.status, headers)(self._scope, self._receive, self._send)


def _token(scope: Scope) -> str | None:
    """The bearer token that a request brings, known or not."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            return value.decode("latin-1").partition(" ")[2].strip() or "-"
    return None


def _busy(told: str) -> PlainTextResponse:
    return PlainTextResponse(told, status_code=429, headers={"Retry-After": str(RETRY_S)})
