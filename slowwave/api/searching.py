"""Searching, and saying what it was worth."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from pydantic import BaseModel

from slowwave.api.auth import BoundaryRoute, Changes, Looks, Notes
from slowwave.api.problems import of_arguments
from slowwave.api.schemas import FeedbackBody, Me, ObserveBody, OutcomeBody, SearchBody, WakeupBody
from slowwave.serving.request import MemoryRequest
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
"""Bodies of tools whose arguments HTTP has its own words for; of others they are the tool's arguments."""


@router.get("/v1/me")
def me(asked: Looks) -> Me:
    """Who your token is: its one namespace, its principal and its rights."""
    return Me.model_validate(asked.caller._asdict())


@router.post("/v1/search")
def search(asked: Looks, body: SearchBody) -> Found:
    """The memories that answer a question, best first.

    Where nothing is near enough there are no results, and `next_step` says why. The search of a reader is not
    kept: nothing can be said of it later.
    """
    return _searched(asked, body, explain=False)


@router.post("/v1/explain")
def explain(asked: Looks, body: SearchBody) -> Found:
    """A search with an account of every score, and of what was found and is not shown."""
    return _searched(asked, body, explain=True)


def _searched(asked: MemoryRequest, body: SearchBody, *, explain: bool) -> Found:
    with of_arguments():
        return searched(asked, account=explain, **body.model_dump())


def _add(tool: Tool, route: Route) -> None:
    """Add the route of a tool: who may ask is as its effect says."""
    takes = BODIES.get(tool.name, tool.arguments)

    def answer(asked: MemoryRequest, body: BaseModel) -> BaseModel:
        arguments = {name: getattr(body, name) for name in takes.model_fields}
        data: BaseModel = tool.function(asked, **arguments).data
        return data

    who = Looks if tool.reads else Changes if tool.writes_tables else Notes
    answer.__annotations__ = {"asked": who, "body": takes, "return": tool.answer}
    answer.__name__ = route.path.rpartition("/")[2]
    router.add_api_route(route.path, answer, methods=["POST"], description=route.description)


for _tool in TOOLS.values():
    if _tool.route is not None:
        _add(_tool, _tool.route)
