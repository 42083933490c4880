"""Saving, reading, correcting and forgetting memories."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response

from slowwave.api.auth import BoundaryRoute, Changes, Looks, PersonChanges
from slowwave.api.problems import of_arguments
from slowwave.api.schemas import CorrectBody, Events, Listed, Page, Record, Remembered, SaveBody
from slowwave.errors import ArgumentError
from slowwave.lifecycle.recent_memories import recent_memories
from slowwave.serving import saving
from slowwave.serving.statuses import StatusError
from slowwave.serving.tools import event_of, memory_forget
from slowwave.views.answers import Forgotten, Stored

router = APIRouter(route_class=BoundaryRoute, tags=["memories"])
MemoryId = Annotated[str, Path(max_length=200, description="memory_id of a result or of a save.")]
Skip = Annotated[int, Query(ge=0, le=1_000_000, description="Entries to leave out (count).")]
Limit = Annotated[int, Query(ge=1, le=100, description="Entries, at most (count).")]
IfMatch = Annotated[
    str | None, Header(max_length=200, description="ETag of what you read, so that nobody's change is lost.")
]
IdempotencyKey = Annotated[
    str | None,
    Header(max_length=200, description="Your own name for this save: sent again, it saves nothing twice."),
]


@router.post(
    "/v1/memories",
    status_code=201,
    responses={202: {"model": Stored, "description": "The gate refused it; it is in quarantine."}},
)
def save(
    asked: Changes, body: SaveBody, response: Response, idempotency_key: IdempotencyKey = None
) -> Stored:
    """Save a note, through the gate.

    201: it is a memory, at `Location`. 202: the gate did not let it in; `reasons` and `next_step` say why,
    and a person can let it in.
    """
    note = body.model_dump(exclude={"labels"})
    if body.labels and not asked.person:
        raise StatusError(403, f"Only a person gives labels ({', '.join(sorted(body.labels))[:200]}).")
    if twice := sorted(set(body.labels) & {*note, "request"}):
        raise ArgumentError(f"labels: {twice[0]!r} is no other label: give it beside the labels.")
    manual = {"source_kind": "manual"} if asked.person else {}
    note |= manual | body.labels | {"request": idempotency_key or ""}
    with of_arguments():
        answer = saving.save(asked, note)
    if answer.status == "quarantined":
        response.status_code = 202
    else:
        response.headers["Location"] = f"/v1/memories/{answer.memory_id}"
    return answer


@router.get("/v1/memories")
def listed(asked: Looks, skip: Skip = 0, limit: Limit = 20) -> Page:
    """What was stored lately, the newest first; of what is secret a person sees the id and the labels."""
    found = recent_memories(asked.memory.tenant, skip=skip, limit=limit, viewer=asked.lists)
    rows = [Listed.model_validate(row) for row in found.rows]
    return Page(memories=rows, total=found.total, next=_next("/v1/memories", skip, limit, found.total))


@router.get("/v1/memories/{memory_id}")
def get(asked: Looks, memory_id: MemoryId, response: Response) -> Record:
    """One memory, whole. A person sees what is secret, too, as they name it by its id."""
    asked.require_visible(memory_id)
    record = Record.model_validate(asked.memory.get(memory_id))
    record = record.model_copy(update={"revision": asked.revision(memory_id)})
    response.headers["ETag"] = f'"{record.revision}"'
    return record


@router.put("/v1/memories/{memory_id}")
def correct(
    asked: Changes, memory_id: MemoryId, body: CorrectBody, response: Response, if_match: IfMatch = None
) -> Stored:
    """Let a memory say something else; history and labels are kept. It takes the `If-Match` of a read."""
    asked.require_visible(memory_id)
    asked.memory.get(memory_id)
    if if_match is None:
        raise StatusError(428, "Read the memory first, and send its ETag as If-Match. Nothing was changed.")
    read = if_match.strip().removeprefix("W/").strip('"')

    def check(revision: str) -> None:
        if read not in (revision, "*"):
            raise StatusError(
                412, "The memory was changed since you read it. Read it again. Nothing was changed."
            )

    saved = saving.correct(asked, memory_id, body.content, title=body.title, check=check)
    if saved.status == "quarantined":
        response.status_code = 202
    return saving.stored(asked, saved)


@router.delete("/v1/memories/{memory_id}")
def forget(asked: Changes, memory_id: MemoryId) -> Forgotten:
    """Take a memory out of every search; its text stays in the history, and a person can bring it back."""
    return memory_forget(asked, memory_id).data


@router.post("/v1/memories/{memory_id}/remember", tags=["people"])
def remember(asked: PersonChanges, memory_id: MemoryId) -> Remembered:
    """Take a forgetting back: the memory is found again, as it was."""
    return Remembered(memory_id=memory_id, new=asked.memory.remember(memory_id))


@router.get("/v1/memories/{memory_id}/history")
def history(asked: Looks, memory_id: MemoryId, skip: Skip = 0, limit: Limit = 100) -> Events:
    """Everything that happened to a memory, the oldest first."""
    asked.require_visible(memory_id)
    told = asked.memory.history(memory_id, viewer=asked.viewer)
    events = [event_of(one) for one in told[skip : skip + limit]]
    where = _next(f"/v1/memories/{memory_id}/history", skip, limit, len(told))
    return Events(memory_id=memory_id, events=events, total=len(told), next=where)


def _next(path: str, skip: int, limit: int, total: int) -> str | None:
    return f"{path}?skip={skip + limit}&limit={limit}" if skip + limit < total else None
