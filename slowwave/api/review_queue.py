"""Routes of items that wait for a person, and undo."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Response

from slowwave.api.auth import BoundaryRoute, Changes, PersonChanges, PersonLooks
from slowwave.api.schemas import Decision, Decisions, Held
from slowwave.lifecycle.quarantine import listed as held
from slowwave.serving.tools import memory_undo
from slowwave.views.answers import Stored, Undone
from slowwave.views.data import plain

router = APIRouter(route_class=BoundaryRoute, tags=["people"])
DecisionId = Annotated[str, Path(max_length=200, description="decision_id from a save or a list.")]
Outcome = Literal["", "changed", "any", "duplicate", "merge", "supersede", "related", "complement"]


@router.get("/v1/decisions")
def decisions(
    request: PersonLooks,
    memory_id: Annotated[str, Query(max_length=200, description="Only about this memory.")] = "",
    outcome: Annotated[Outcome, Query(description="changed: merged, superseded or refused.")] = "changed",
    waiting: Annotated[bool, Query(description="Only decisions that wait for a person.")] = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Decisions:
    """List reconsolidation decisions, newest first."""
    rows = request.memory.decisions(
        memory_id=memory_id,
        outcome="" if waiting else outcome,
        waiting=waiting,
        limit=limit,
    )
    return Decisions(decisions=[plain(row) for row in rows])


@router.post("/v1/decisions/{decision_id}/undo", tags=["memories"])
def undo(request: Changes, decision_id: DecisionId) -> Undone:
    """Undo a merge, a superseding or the refusal of a duplicate: both memories get their previous state."""
    return memory_undo(request, decision_id).data


@router.post("/v1/decisions/{decision_id}/accept")
def accept(request: PersonChanges, decision_id: DecisionId) -> Decision:
    """Carry out a waiting merge or superseding."""
    return Decision(decision=plain(request.memory.accept(decision_id)))


@router.post("/v1/decisions/{decision_id}/decline")
def decline(request: PersonChanges, decision_id: DecisionId) -> Decision:
    """Decline a waiting decision: both memories stay unchanged, and it is not proposed again."""
    return Decision(decision=plain(request.memory.decline(decision_id)))


@router.get("/v1/quarantine")
def quarantine(
    request: PersonLooks,
    skip: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Held:
    """List notes that the save gate refused, newest first, with reasons."""
    memory = request.memory
    rows = held(memory.home, memory.namespace, skip=skip, limit=limit + 1)
    more = f"/v1/quarantine?skip={skip + limit}&limit={limit}" if len(rows) > limit else None
    return Held(quarantine=[plain(row) for row in rows[:limit]], next=more)


@router.post("/v1/quarantine/{quarantine_id}/release")
def release(
    request: PersonChanges,
    quarantine_id: Annotated[
        str, Path(max_length=300, description="Id of the refused note or of its memory.")
    ],
    response: Response,
) -> Stored:
    """Release a refused note unchanged."""
    saved = request.memory.release(quarantine_id)
    response.headers["Location"] = f"/v1/memories/{saved.memory_id}"
    return Stored.model_validate(saved)
