"""Searching, and saying what it was worth."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter

from slowwave.api.asked import Asked, Looks, Notes, Way
from slowwave.api.bodies import FeedbackBody, Me, ObserveBody, OutcomeBody, SearchBody, WakeupBody
from slowwave.api.problems import of_arguments
from slowwave.views import mcp_wording as wording
from slowwave.views.answers import Found, OutcomeNoted, RatingNoted, UseNoted, Woken, WokenSection
from slowwave.views.calls import HTTP

router = APIRouter(route_class=Way, tags=["search"])


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


def _searched(asked: Asked, body: SearchBody, *, explain: bool) -> Found:
    given: dict[str, Any] = body.model_dump()
    with of_arguments():
        response = asked.memory.search(**given, explain=explain, log=not asked.caller.reads_only)
    return Found.of(
        response,
        wording.next_step(response.search_id, response.nothing, reads=asked.caller.reads_only, calls=HTTP),
        account=explain,
    )


@router.post("/v1/wakeup")
def wakeup(asked: Looks, body: WakeupBody) -> Woken:
    """What to know when a session starts, within a budget; nothing that is secret."""
    packet = asked.memory.wakeup(budget=body.budget)
    return Woken(
        sections=[WokenSection.model_validate(one) for one in packet.sections if one.items],
        tokens=packet.tokens,
        next_step=wording.after_waking(packet, reads=asked.caller.reads_only, calls=HTTP),
    )


@router.post("/v1/observe")
def observe(asked: Notes, body: ObserveBody) -> UseNoted:
    """Which results an answer used: it is looked at, and not kept. An answer counts once."""
    return UseNoted.model_validate(
        asked.memory.observe(body.search_id, body.response, cited=body.cited, viewer=asked.viewer)
    )


@router.post("/v1/feedback")
def feedback(asked: Notes, body: FeedbackBody) -> RatingNoted:
    """What one result was worth: helpful, neutral or unhelpful. A rating counts once."""
    return RatingNoted.model_validate(
        asked.memory.feedback(body.search_id, body.result, body.rating, viewer=asked.viewer)
    )


@router.post("/v1/outcome")
def outcome(asked: Notes, body: OutcomeBody) -> OutcomeNoted:
    """How a project ended that searches were made for; credited to what they showed."""
    return OutcomeNoted.model_validate(asked.memory.outcome(body.project, body.outcome))
