"""Routes to save, read, correct and forget memories."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Header, Path, Query, Response

from slowwave.api.auth import BoundaryRoute, Changes, Looks, PersonChanges
from slowwave.api.problems import of_arguments
from slowwave.api.schemas import CorrectBody, Events, Listed, Page, Record, Remembered, SaveBody
from slowwave.errors import ArgumentError
from slowwave.lifecycle.browse import STATES, STORED, BrowseOptions, browse
from slowwave.lifecycle.newer_values import with_newer_values
from slowwave.lifecycle.reading import record_of
from slowwave.serving import saving
from slowwave.serving.statuses import StatusError
from slowwave.serving.tools import event_of, memory_forget
from slowwave.views.answers import Forgotten, Stored

router = APIRouter(route_class=BoundaryRoute, tags=["memories"])
MemoryId = Annotated[str, Path(max_length=200, description="memory_id of a result or of a save.")]
Skip = Annotated[int, Query(ge=0, le=1_000_000, description="Entries to skip (count).")]
Limit = Annotated[int, Query(ge=1, le=100, description="Maximum number of entries.")]
OfType = Annotated[str, Query(max_length=100, description="Only memories of this type.")]
OfTags = Annotated[Sequence[str], Query(max_length=20, description="Only with this tag; repeatable.")]
IfMatch = Annotated[
    str | None, Header(max_length=200, description="ETag of your read, so that no other change is lost.")
]
IdempotencyKey = Annotated[
    str | None,
    Header(max_length=200, description="Your own id of this save; a repeated request saves nothing twice."),
]


@router.post(
    "/v1/memories",
    status_code=201,
    responses={202: {"model": Stored, "description": "The save gate refused it; it is in quarantine."}},
)
def save(
    request: Changes, body: SaveBody, response: Response, idempotency_key: IdempotencyKey = None
) -> Stored:
    """Save a note, through the save gate.

    201: it is a memory, at `Location`. 202: the save gate refused it; `reasons` and `next_step` say why, and
    a person can release it.
    """
    note = body.model_dump(exclude={"labels"})
    if body.labels and not request.person:
        raise StatusError(403, f"Only a person can set labels ({', '.join(sorted(body.labels))[:200]}).")
    if twice := sorted(set(body.labels) & {*note, "idempotency_key"}):
        raise ArgumentError(f"labels: {twice[0]!r} is a field of the body. Set it there.")
    manual = {"source_kind": "manual"} if request.person else {}
    note |= manual | body.labels | {"idempotency_key": idempotency_key or ""}
    with of_arguments():
        answer = saving.save(request, note)
    if answer.status == "quarantined":
        response.status_code = 202
    else:
        response.headers["Location"] = f"/v1/memories/{answer.memory_id}"
    return answer


@router.get("/v1/memories")
def listed(
    request: Looks, skip: Skip = 0, limit: Limit = 20, memory_type: OfType = "", tag: OfTags = ()
) -> Page:
    """List recent memories, newest first. A person sees id and labels of secret ones."""
    options = BrowseOptions(STORED, memory_type=memory_type, tags=tuple(tag), limit=limit, skip=skip)
    found, total = browse(request.memory.tenant, options, request.lists)
    marked = with_newer_values(request.memory.tenant, found)
    rows = [Listed.model_validate(row | {"status": STATES[row["state"]]}) for row in marked]
    following = _next("/v1/memories", skip, limit, total, memory_type=memory_type, tag=tag)
    return Page(memories=rows, total=total, next=following)


@router.get("/v1/memories/{memory_id}")
def get(request: Looks, memory_id: MemoryId, response: Response) -> Record:
    """Return one memory in full. A person can also read secret ones."""
    record = Record.model_validate(request.record(memory_id))
    record = record.model_copy(update={"revision": request.revision(memory_id)})
    response.headers["ETag"] = f'"{record.revision}"'
    return record


@router.put("/v1/memories/{memory_id}")
def correct(
    request: Changes, memory_id: MemoryId, body: CorrectBody, response: Response, if_match: IfMatch = None
) -> Stored:
    """Replace the text of a memory; history and labels stay. `If-Match` is required."""
    request.require_visible(memory_id)
    record_of(request.memory.tenant, memory_id)
    if if_match is None:
        raise StatusError(
            428, "If-Match is missing. Read the memory, and send its ETag as If-Match. Nothing was changed."
        )
    read = if_match.strip().removeprefix("W/").strip('"')

    def check(revision: str) -> None:
        if read not in (revision, "*"):
            raise StatusError(
                412, "The memory has changed since you read it. Read it again. Nothing was changed."
            )

    saved = saving.correct(request, memory_id, body.content, title=body.title, check=check)
    if saved.status == "quarantined":
        response.status_code = 202
    return saving.stored(request, saved)


@router.delete("/v1/memories/{memory_id}")
def forget(request: Changes, memory_id: MemoryId) -> Forgotten:
    """Hide a memory from searches. Its text stays in the history, and a person can unforget it."""
    return memory_forget(request, memory_id).data


@router.post("/v1/memories/{memory_id}/remember", tags=["people"], deprecated=True, include_in_schema=False)
@router.post("/v1/memories/{memory_id}/unforget", tags=["people"])
def unforget(request: PersonChanges, memory_id: MemoryId) -> Remembered:
    """Unforget a memory: searches return it again."""
    return Remembered(memory_id=memory_id, new=request.memory.unforget(memory_id))


@router.get("/v1/memories/{memory_id}/history")
def history(request: Looks, memory_id: MemoryId, skip: Skip = 0, limit: Limit = 100) -> Events:
    """List the events of a memory, oldest first."""
    request.require_visible(memory_id)
    all_events = request.memory.history(memory_id, viewer=request.viewer)
    events = [event_of(event) for event in all_events[skip : skip + limit]]
    where = _next(f"/v1/memories/{memory_id}/history", skip, limit, len(all_events))
    return Events(memory_id=memory_id, events=events, total=len(all_events), next=where)


def _next(path: str, skip: int, limit: int, total: int, **filters: str | Sequence[str]) -> str | None:
    if skip + limit >= total:
        return None
    given = {name: value for name, value in filters.items() if value}
    return f"{path}?{urlencode({'skip': skip + limit, 'limit': limit, **given}, doseq=True)}"
