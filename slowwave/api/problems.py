"""Errors as problem details (RFC 9457, ``application/problem+json``)."""

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
_MAX_ERRORS: Final = 10  # invalid values that are listed (count)
_KEPT: Final = ("retry-after", "www-authenticate", "allow")
_ERRORS: Final = 400  # lowest status of an error


class WrongValue(BaseModel):
    """Invalid value of a request."""

    where: str = Field(description="body, query, path or header, and the name.")
    value: str = Field(description="The value, shortened.")
    why: str


class Problem(BaseModel):
    """Problem details (RFC 9457)."""

    type: str = "about:blank"
    title: str = Field(description="The status in words.")
    status: int
    detail: str = Field(description="What was wrong, with which value, and what to do.")
    errors: list[WrongValue] = Field([], description="Invalid values.")


def problem(
    status: int, detail: str, *, headers: Mapping[str, str] | None = None, errors: Sequence[WrongValue] = ()
) -> JSONResponse:
    """Return an error response."""
    details = Problem(title=HTTPStatus(status).phrase, status=status, detail=detail, errors=list(errors))
    return JSONResponse(details.model_dump(), status, headers, MEDIA_TYPE)


@contextmanager
def of_arguments() -> Iterator[None]:
    """Treat an error without a specific kind as an invalid argument (422)."""
    try:
        yield
    except SlowwaveError as error:
        if type(error) is SlowwaveError:
            raise ArgumentError(str(error)) from error
        raise


async def foreseen(_: Request, error: Exception) -> JSONResponse:
    """Answer an expected error."""
    headers = error.headers if isinstance(error, StatusError) else None
    status = status_of(error) if isinstance(error, SlowwaveError) else 500
    return problem(status, str(error), headers=headers)


async def invalid(_: Request, error: Exception) -> JSONResponse:
    """Answer a request with invalid values; the response names them."""
    errors: Sequence[Mapping[str, Any]] = getattr(error, "errors", list)()
    wrong = [
        WrongValue(where=".".join(map(str, entry["loc"])), value=_given(entry), why=_why(entry))
        for entry in errors[:_MAX_ERRORS]
    ]
    summary = " ".join(
        f"{entry.where}{' = ' if entry.value else ''}{entry.value}: {entry.why.rstrip('.')}."
        for entry in wrong[:3]
    )
    return problem(422, f"{summary} Nothing was done.", errors=wrong)


def _given(error: Mapping[str, Any]) -> str:
    """Return the wrong value; empty if the error is that there is none, or no JSON."""
    return "" if error.get("type") in {"missing", "json_invalid"} else shown(error.get("input"))


def _why(error: Mapping[str, Any]) -> str:
    more = error.get("ctx", {}).get("error") if error.get("type") == "json_invalid" else None
    message = str(error["msg"]).removeprefix("Value error, ")
    return f"{message} ({more})" if more else message


async def unforeseen(request: Request, error: Exception) -> JSONResponse:
    """Answer an internal error; the log has the details."""
    LOG.error("%s %s failed", request.method, request.url.path, exc_info=error)
    return problem(500, "Internal error. See the server's log.")


class AsProblems:
    """Middleware that converts other error responses to problem details, except for health probes.

    Args:
        app: the application.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or pass it on."""
        if scope["type"] != "http" or scope["path"] in PATHS:  # every server answers probes in the same way
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
                converted = problem(start["status"], _words(body, start["status"]), headers=kept)
                await converted(scope, receive, send)

        await self._app(scope, receive, sending)


def _words(body: bytes, status: int) -> str:
    """Return the message of an error response of another form."""
    text = body.decode(errors="replace").strip()
    try:
        data = json.loads(text)
    except ValueError:
        return text or HTTPStatus(status).phrase
    candidates = (
        [data.get(name) for name in ("error_description", "detail")] if isinstance(data, dict) else []
    )
    return next(
        (candidate for candidate in candidates if isinstance(candidate, str)), HTTPStatus(status).phrase
    )
