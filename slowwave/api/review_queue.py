"""What waits for a person's word, and taking decisions back."""

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
DecisionId = Annotated[str, Path(max_length=200, description="decision_id of a save, or of a list.")]
Outcome = Literal["", "changed", "any", "duplicate", "merge", "supersede", "related", "complement"]


@router.get("/v1/decisions")
def decisions(
    asked: PersonLooks,
    memory_id: Annotated[str, Query(max_length=200, description="Only about this memory.")] = "",
    outcome: Annotated[Outcome, Query(description="changed: merged, superseded or refused.")] = "changed",
    waiting: Annotated[bool, Query(description="Only those that wait for a person's word.")] = False,
    limit: Annotated[int, Query(ge=1, le=500)] = 50,
) -> Decisions:
    """What became of notes beside what was known, the newest first."""
    rows = asked.memory.decisions(
        memory_id=memory_id,
        outcome="" if waiting else outcome,
        waiting=waiting,
        limit=limit,
    )
    return Decisions(decisions=[plain(row) for row in rows])


@router.post("/v1/decisions/{decision_id}/undo", tags=["memories"])
def undo(asked: Changes, decision_id: DecisionId) -> Undone:
    """Take a merge, a superseding or the refusal of a duplicate back: both memories are as before."""
    return memory_undo(asked, decision_id).data


@router.post("/v1/decisions/{decision_id}/accept")
def accept(asked: PersonChanges, decision_id: DecisionId) -> Decision:
    """Let the merge or superseding happen that waits for a person's word."""
    return Decision(decision=plain(asked.memory.accept(decision_id)))


@router.post("/v1/decisions/{decision_id}/decline")
def decline(asked: PersonChanges, decision_id: DecisionId) -> Decision:
    """Leave the two memories of a decision as they are, and never ask about them again."""
    return Decision(decision=plain(asked.memory.decline(decision_id)))


@router.get("/v1/quarantine")
def quarantine(
    asked: PersonLooks,
    skip: Annotated[int, Query(ge=0, le=1_000_000)] = 0,
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Held:
    """What the gate refused and holds, the newest first, with its reasons."""
    memory = asked.memory
    rows = held(memory.home, memory.namespace, skip=skip, limit=limit + 1)
    more = f"/v1/quarantine?skip={skip + limit}&limit={limit}" if len(rows) > limit else None
    return Held(quarantine=[plain(row) for row in rows[:limit]], next=more)


@router.post("/v1/quarantine/{quarantine_id}/release")
def release(
    asked: PersonChanges,
    quarantine_id: Annotated[str, Path(max_length=300, description="Its id, or its memory's.")],
    response: Response,
) -> Stored:
    """Let a refused note in as it is."""
    saved = asked.memory.release(quarantine_id)
    response.headers["Location"] = f"/v1/memories/{saved.memory_id}"
    return Stored.model_validate(saved)
