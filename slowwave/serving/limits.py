"""Limits of HTTP clients: concurrent requests, and delays after wrong tokens."""

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

FREE = 3  # wrong tokens of an address without delay (count)
FIRST_DELAY_S, LONGEST_DELAY_S = 0.1, 2.0
FORGOTTEN_S = 60.0  # seconds without a wrong token
ADDRESSES = 1_024  # tracked (count)
DELAYED = 16  # concurrently delayed answers (count)
RETRY_S = 2
_CHALLENGE = re.compile(r'error="[^"]*", *error_description="[^"]*"')
_NOT_SAID = re.compile(r"[^ !#-\[\]-~]")  # in an error_description (RFC 6750)
_REFUSED = (401, 403)


@dataclass(slots=True)
class _Wrong:
    count: int
    last: float


class Delays:
    """Delays of answers to wrong tokens, by client address.

    Attributes:
        held: answers delayed now (count).
    """

    def __init__(self) -> None:
        self.held = 0
        self._wrong: OrderedDict[str, _Wrong] = OrderedDict()

    @property
    def full(self) -> bool:
        """Whether the limit of delayed answers is reached."""
        return self.held >= DELAYED

    @contextmanager
    def holding(self) -> Iterator[None]:
        """Count one more delayed answer during the block."""
        self.held += 1
        try:
            yield
        finally:
            self.held -= 1

    def after(self, address: str) -> float:
        """Return the delay (seconds) of the next wrong token of an address."""
        now = monotonic()
        previous = self._wrong.pop(address, None)
        count = 1 if previous is None or now - previous.last > FORGOTTEN_S else previous.count + 1
        self._wrong[address] = _Wrong(count, now)
        while len(self._wrong) > ADDRESSES:
            self._wrong.popitem(last=False)
        again = min(count - FREE - 1, 16)
        return 0.0 if again < 0 else min(LONGEST_DELAY_S, FIRST_DELAY_S * 2.0**again)


class Limits:
    """Middleware that limits concurrent requests per caller and delays answers to wrong tokens.

    A request with an invalid token goes to the application, which refuses it; the client gets the reason.

    Args:
        app: the application.
        access: authenticates callers.
        requests: concurrent requests per caller; one more gets 429.
        sleep: waits; for tests.
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
        """Answer a request, or pass it on."""
        token = _token(scope) if scope["type"] == "http" else None
        if token is None:
            await self._app(scope, receive, send)
            return
        answer = await self._access.answer(token)
        caller = answer.caller
        if caller is None:
            await self._refuse(answer, scope, receive, send)
        elif self._working[caller] >= self._requests:
            message = f"{self._requests} requests with this token are running already. Retry later."
            await _busy(message)(scope, receive, send)
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
            await self._app(scope, receive, _RefusalReason(answer, scope, receive, send))
            return
        if self._delays.full:
            await _busy("Too many requests with wrong tokens. Retry later.")(scope, receive, send)
            return
        delay = self._delays.after(str((scope.get("client") or ("",))[0]))

        async def later(message: Message) -> None:
            if message["type"] == "http.response.start" and delay:
                await self._sleep(delay)
            await send(message)

        with self._delays.holding():
            await self._app(scope, receive, _RefusalReason(answer, scope, receive, later))


class _RefusalReason:
    """Replacement of the application's refusal by one with the reason."""

    def __init__(self, answer: Authentication, scope: Scope, receive: Receive, send: Send) -> None:
        self._answer, self._scope, self._receive, self._send = answer, scope, receive, send
        self._replaced = False

    async def __call__(self, message: Message) -> None:
        """Send a part of the application's answer, or ours instead."""
        if message["type"] == "http.response.start" and message["status"] in _REFUSED:
            self._replaced = True
            await self._ours(MutableHeaders(raw=list(message["headers"])))
        elif not self._replaced:
            await self._send(message)

    async def _ours(self, app_headers: MutableHeaders) -> None:
        why = _NOT_SAID.sub("?", self._answer.why)
        reason = f'error="{self._answer.error}", error_description="{why}"'
        reason += f', scope="{self._answer.scope}"' if self._answer.scope else ""
        challenge = app_headers.get("www-authenticate") or f"Bearer {reason}"
        body = {"error": self._answer.error, "error_description": why}
        headers = {"WWW-Authenticate": _CHALLENGE.sub(lambda _: reason, challenge)}
        await JSONResponse(body, self._answer.status, headers)(self._scope, self._receive, self._send)


def _token(scope: Scope) -> str | None:
    """Return the bearer token of a request."""
    for name, value in scope["headers"]:
        if name == b"authorization":
            return value.decode("latin-1").partition(" ")[2].strip() or "-"
    return None


def _busy(message: str) -> PlainTextResponse:
    return PlainTextResponse(message, status_code=429, headers={"Retry-After": str(RETRY_S)})
