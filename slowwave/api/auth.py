"""Authentication and authorization of requests."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Coroutine
from dataclasses import dataclass, field
from typing import Annotated, Any, Final

import anyio.to_thread
from fastapi import Depends, Request, Response, Security
from fastapi.routing import APIRoute
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.responses import JSONResponse

from slowwave.api.schemas import REMARKS
from slowwave.common.error_translation import boundary
from slowwave.serving.access import Access
from slowwave.serving.caller import Caller
from slowwave.serving.fair_limiter import Turns
from slowwave.serving.memory_pool import MemoryPool
from slowwave.serving.request import MemoryRequest
from slowwave.serving.statuses import StatusError
from slowwave.views.calls import HTTP

_BEARER = HTTPBearer(
    auto_error=False, scheme_name="token", description="A token of `slowwave mcp token`, or of the provider."
)
_ASK: Final = {"WWW-Authenticate": 'Bearer realm="slowwave"'}


@dataclass(frozen=True, slots=True)
class ApiSite:
    """Access, open memories and limiter that all requests share."""

    access: Access
    memories: MemoryPool
    turns: Turns = field(default_factory=Turns)


class BoundaryRoute(APIRoute):
    """Route that translates library errors, and adds remarks about a body to the answer's warnings."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """Return the function that answers a request."""
        answers = super().get_route_handler()

        async def within(request: Request) -> Response:
            remarks: list[str] = []
            token = REMARKS.set(remarks)
            try:
                with boundary(own=True):
                    response = await answers(request)
            finally:
                REMARKS.reset(token)
            return _remarked(response, remarks)

        return within


def _remarked(response: Response, remarks: list[str]) -> Response:
    """Return an answer with remarks among its warnings."""
    data = json.loads(bytes(response.body)) if remarks else None
    if not isinstance(data, dict):
        return response
    data["warnings"] = [*data.get("warnings", ()), *remarks]
    headers = {name: value for name, value in response.headers.items() if name != "content-length"}
    return JSONResponse(data, response.status_code, headers, background=response.background)


def _open(*, changes: bool = False, writes: bool = False, person: bool = False) -> Any:  # noqa: ANN401
    """Return a dependency that checks rights and waits for a turn.

    Args:
        changes: whether tables are written, which have one writer at a time.
        writes: whether anything is written, which readers may not.
        person: whether it is only for persons.
    """

    async def opened(
        request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
    ) -> AsyncIterator[MemoryRequest]:
        site: ApiSite = request.app.state.site
        caller = await _caller(site.access, credentials)
        if person and caller.rights != "person":
            raise StatusError(403, "Only a person may do that. Use a token with the rights of a person.")
        if (changes or writes) and caller.reads_only:
            raise StatusError(403, "This token has read access only (rights: reader).")
        async with site.turns.of(caller, writes=changes):
            memory = await anyio.to_thread.run_sync(site.memories.of, caller)
            yield MemoryRequest(caller, memory, calls=HTTP)

    return Depends(opened)


async def _caller(access: Access, credentials: HTTPAuthorizationCredentials | None) -> Caller:
    if credentials is None:
        message = "Send a token with every request, as `Authorization: Bearer TOKEN`."
        raise StatusError(401, message, _ASK)
    answer = await access.answer(credentials.credentials)
    if answer.caller is None:
        challenge = f'Bearer realm="slowwave", error="{answer.error}"'
        raise StatusError(answer.status, answer.why, {"WWW-Authenticate": challenge})
    return answer.caller


Looks = Annotated[MemoryRequest, _open()]
Notes = Annotated[MemoryRequest, _open(writes=True)]
Changes = Annotated[MemoryRequest, _open(changes=True)]
PersonLooks = Annotated[MemoryRequest, _open(person=True)]
PersonChanges = Annotated[MemoryRequest, _open(person=True, changes=True)]
