"""Routes to search, and to report feedback."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel

from slowwave.api.auth import BoundaryRoute, Changes, Looks, Notes
from slowwave.api.problems import of_arguments
from slowwave.api.schemas import FeedbackBody, Me, ObserveBody, OutcomeBody, SearchBody, WakeupBody
from slowwave.serving.request import MemoryRequest
from slowwave.serving.statuses import StatusError
from slowwave.serving.tool import Route, Tool
from slowwave.serving.tools import TOOLS, searched
from slowwave.views.answers import Found

router = APIRouter(route_class=BoundaryRoute, tags=["search"])
BODIES: Final[dict[str, type[BaseModel]]] = {
    "memory_wakeup": WakeupBody,
    "memory_observe": ObserveBody,
    "knowledge_feedback": FeedbackBody,
    "memory_outcome": OutcomeBody,
}
"""Request bodies of tools with other descriptions than over MCP; others use the tool's arguments."""


@router.get("/v1/me")
def me(request: Looks) -> Me:
    """Return the token's namespace, principal and rights."""
    return Me.model_validate(request.caller._asdict())


@router.post("/v1/search")
def search(request: Looks, body: SearchBody) -> Found:
    """Search the memory, best results first.

    If nothing is near enough, there are no results, and `next_step` says why. A reader's search is not
    recorded, so it gets no feedback.
    """
    return _searched(request, body, explain=False)


@router.post("/v1/explain")
def explain(request: Looks, body: SearchBody) -> Found:
    """Search with an explanation of every score and of the candidates not returned."""
    return _searched(request, body, explain=True)


def _searched(request: MemoryRequest, body: SearchBody, *, explain: bool) -> Found:
    arguments = body.model_dump()
    if arguments["as_of"] is not None and not request.person:
        # That day's labels decide what a past search returns, and a memory may have been closed since.
        raise StatusError(403, "Only a person may search a past day (as_of).")
    with of_arguments():
        return searched(request, account=explain, **arguments)


def _add(tool: Tool, route: Route) -> None:
    """Add the route of a tool, with the access that its effect needs."""
    takes = BODIES.get(tool.name, tool.arguments)

    def answer(request: MemoryRequest, body: BaseModel) -> BaseModel:
        arguments = {name: getattr(body, name) for name in takes.model_fields}
        data: BaseModel = tool.function(request, **arguments).data
        return data

    who = Looks if tool.reads else Changes if tool.writes_tables else Notes
    answer.__annotations__ = {"request": who, "body": takes, "return": tool.answer}
    answer.__name__ = route.path.rpartition("/")[2]
    router.add_api_route(route.path, answer, methods=["POST"], description=route.description)


for _tool in TOOLS.values():
    if _tool.route is not None:
        _add(_tool, _tool.route)
