"""Errors as RFC 9457 has them (``application/problem+json``), in the words that people get."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from pydantic import BaseModel, Field
from starlette.datastructures import Headers
from starlette.responses import JSONResponse

from slowwave.common.arguments import shown
from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.serving.health import PATHS
from slowwave.serving.statuses import StatusError, status_of

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("slowwave.api")
MEDIA_TYPE: Final = "application/problem+json"
_MOST: Final = 10  # values that are named as wrong (count)
_KEPT: Final = ("retry-after", "www-authenticate", "allow")
_ERRORS: Final = 400  # statuses from here on


class WrongValue(BaseModel):
    """One value of a request that is not allowed."""

    where: str = Field(description="body, query, path or header, and the name.")
    value: str = Field(description="As it was given, shortened.")
    why: str


class Problem(BaseModel):
    """What went wrong (RFC 9457)."""

    type: str = "about:blank"
    title: str = Field(description="The status in words.")
    status: int
    detail: str = Field(description="What was wrong, with which value, and what to do.")
    errors: list[WrongValue] = Field([], description="Values that are not allowed.")


def problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, errors: Sequence[WrongValue] = ()
) -> JSONResponse:
    """An answer that says what went wrong."""
    told = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, errors=list(errors))
    return JSONResponse(told.model_dump(), status, headers, MEDIA_TYPE)


@contextmanager
def of_arguments() -> Iterator[None]:
    """Within the block an error that is of no narrower kind is one of the arguments (422)."""
    try:
        yield
    except SlowwaveError as error:
        if type(error) is SlowwaveError:
            raise ArgumentError(str(error)) from error
        raise


async def foreseen(_: Request, error: Exception) -> JSONResponse:
    """The answer where something was refused on purpose."""
    headers = error.headers if isinstance(error, StatusError) else None
    status = status_of(error) if isinstance(error, SlowwaveError) else 500
    return problem(status, str(error), headers=headers)


async def invalid(_: Request, error: Exception) -> JSONResponse:
    """The answer where values of a request are not allowed: it names them."""
    found: Sequence[Mapping[str, Any]] = getattr(error, "errors", list)()
    wrong = [
        WrongValue(where=".".join(map(str, one["loc"])), value=shown(one.get("input")), why=_why(one))
        for one in found[:_MOST]
    ]
    told = " ".join(f"{one.where} = {one.value}: {one.why}." for one in wrong[:3])
    return problem(422, f"{told} Nothing was done.", errors=wrong)


def _why(error: Mapping[str, Any]) -> str:
    more = error.get("ctx", {}).get("error") if error.get("type") == "json_invalid" else None
    return f"{error['msg']} ({more})" if more else str(error["msg"])


async def unforeseen(request: Request, error: Exception) -> JSONResponse:
    """The answer where the program is at fault: its log says more."""
    LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(500, "Something went wrong that should not have. The log of this server says what.")


class AsProblems:
    """Middleware: errors of parts that give them another form get this one, but what probes are told.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or have it answered."""
        if scope["type"] != "http" or scope["path"] in PATHS:  # probes are answered alike by every server
            await self._app(scope, receive, send)
            return
        start: Message | None = None
        body = b""

        async def sending(message: Message) -> None:
            nonlocal start, body
            if message["type"] == "http.response.start":
                kind = Headers(raw=message["headers"]).get("content-type", "")
                if message["status"] >= _ERRORS and not kind.startswith(MEDIA_TYPE):
                    start = message
                    return
            if start is None:
                await send(message)
                return
            body += message.get("body", b"")
            if not message.get("more_body"):
                headers = Headers(raw=start["headers"])
                kept = {name: headers[name] for name in _KEPT if name in headers}
                told = problem(start["status"], _words(body, start["status"]), headers=kept)
                await told(scope, receive, send)

        await self._app(scope, receive, sending)


def _words(body: bytes, status: int) -> str:
    """What an answer of another form says."""
    text = body.decode(errors="replace").strip()
    try:
        data = json.loads(text)
    except ValueError:
        return text or HTTPStatus(status).phrase
    told = [data.get(name) for name in ("error_description", "detail")] if isinstance(data, dict) else []
    return next((one for one in told if isinstance(one, str)), HTTPStatus(status).phrase)
