"""Saving, reading, correcting and forgetting memories."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Header, Path, Query, Response

from slowwave.api.asked import Asked, Changes, Looks, PersonChanges, Way, named
from slowwave.api.bodies import CorrectBody, Events, Listed, Page, Record, Remembered, SaveBody
from slowwave.api.problems import of_arguments
from slowwave.errors import ArgumentError
from slowwave.home.visibility import sight
from slowwave.lifecycle.correcting import correction
from slowwave.lifecycle.forgetting import require_replaceable
from slowwave.lifecycle.lately import lately
from slowwave.mcp.tools import save as saved_by
from slowwave.mcp.tools import stored
from slowwave.serving.statuses import StatusError
from slowwave.store import one_of
from slowwave.views import mcp_wording as wording
from slowwave.views.answers import Forgotten, HistoryEvent, Stored
from slowwave.views.calls import HTTP

router = APIRouter(route_class=Way, tags=["memories"])
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
        answer = _in_words_of_http(asked, saved_by(asked.memory, note, viewer=asked.viewer))
    if answer.status == "quarantined":
        response.status_code = 202
    else:
        response.headers["Location"] = f"/v1/memories/{answer.memory_id}"
    return answer


@router.get("/v1/memories")
def listed(asked: Looks, skip: Skip = 0, limit: Limit = 20) -> Page:
    """What was stored lately, the newest first; of what is secret a person sees the id and the labels."""
    found = lately(asked.memory.tenant, skip=skip, limit=limit, viewer=asked.lists)
    rows = [Listed.model_validate(row) for row in found.rows]
    return Page(memories=rows, total=found.total, next=_next("/v1/memories", skip, limit, found.total))


@router.get("/v1/memories/{memory_id}")
def get(asked: Looks, memory_id: MemoryId, response: Response) -> Record:
    """One memory, whole. A person sees what is secret, too, as they name it by its id."""
    record = _record(asked, memory_id)
    response.headers["ETag"] = f'"{record.revision}"'
    return record


@router.put("/v1/memories/{memory_id}")
def correct(
    asked: Changes, memory_id: MemoryId, body: CorrectBody, response: Response, if_match: IfMatch = None
) -> Stored:
    """Let a memory say something else; history and labels are kept. It takes the `If-Match` of a read."""
    record = _record(asked, memory_id)
    if if_match is None:
        raise StatusError(428, "Read the memory first, and send its ETag as If-Match. Nothing was changed.")
    read, memory = if_match.strip().removeprefix("W/").strip('"'), asked.memory

    def said() -> dict[str, Any]:
        if read not in (_record(asked, memory_id).revision, "*"):
            raise StatusError(
                412, "The memory was changed since you read it. Read it again. Nothing was changed."
            )
        now = memory.get(memory_id)
        note = correction(memory.tenant, now, body.content, title=body.title, person=asked.person)
        if not asked.person:
            require_replaceable(memory.tenant, now.source)
        return note

    saved = memory.save_over(record.source, said)
    answer = _in_words_of_http(asked, stored(memory, saved, viewer=asked.viewer))
    if answer.status == "quarantined":
        response.status_code = 202
    return answer


@router.delete("/v1/memories/{memory_id}")
def forget(asked: Changes, memory_id: MemoryId) -> Forgotten:
    """Take a memory out of every search; its text stays in the history, and a person can bring it back."""
    new = asked.memory.forget(named("memory_id", memory_id), viewer=asked.viewer)
    return Forgotten(memory_id=memory_id, new=new, next_step=wording.after_forgetting(memory_id, HTTP))


@router.post("/v1/memories/{memory_id}/remember", tags=["people"])
def remember(asked: PersonChanges, memory_id: MemoryId) -> Remembered:
    """Take a forgetting back: the memory is found again, as it was."""
    return Remembered(memory_id=memory_id, new=asked.memory.remember(named("memory_id", memory_id)))


@router.get("/v1/memories/{memory_id}/history")
def history(asked: Looks, memory_id: MemoryId, skip: Skip = 0, limit: Limit = 100) -> Events:
    """Everything that happened to a memory, the oldest first."""
    _require(asked, memory_id)
    told = asked.memory.history(memory_id, viewer=asked.viewer)
    events = [
        HistoryEvent.model_validate({name: "" if value is None else value for name, value in one.items()})
        for one in told[skip : skip + limit]
    ]
    where = _next(f"/v1/memories/{memory_id}/history", skip, limit, len(told))
    return Events(memory_id=memory_id, events=events, total=len(told), next=where)


def _in_words_of_http(asked: Asked, answer: Stored) -> Stored:
    """An answer that was made for a tool, with what there is to call here instead."""
    told = wording.after_the_gate(answer, asked.memory.gate_policy.enforces_from, HTTP)
    return answer.model_copy(update={"next_step": told})


def _require(asked: Asked, memory_id: str) -> None:
    """Raise where who asks may not see a memory, or there is none."""
    named("memory_id", memory_id)
    memory = asked.memory
    if asked.viewer is not None:
        sight(memory.store, memory.namespace, [memory_id], asked.viewer).require(memory_id, memory.namespace)


def _record(asked: Asked, memory_id: str) -> Record:
    _require(asked, memory_id)
    record = Record.model_validate(asked.memory.get(memory_id))
    mine = asked.memory.tenant.mine(one_of("memory_id", [memory_id]))
    rows = asked.memory.store.read("memories", mine, columns=["revision"])
    return record.model_copy(update={"revision": rows["revision"][0]})


def _next(path: str, skip: int, limit: int, total: int) -> str | None:
    return f"{path}?skip={skip + limit}&limit={limit}" if skip + limit < total else None
