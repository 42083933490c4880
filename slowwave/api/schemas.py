"""Bodies of requests with examples, and answers that only the HTTP API has."""

from __future__ import annotations

from contextvars import ContextVar
from datetime import date, datetime
from typing import Annotated, Any, Final, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    StrictBool,
    StrictInt,
    ValidationInfo,
    create_model,
    model_validator,
)

from slowwave.common.arguments import limit_of, shown
from slowwave.common.search_request import DAY, LABELS, MOMENT, SEARCH_ARGUMENTS
from slowwave.errors import ArgumentError
from slowwave.notes.dates import parsed_moment
from slowwave.serving.lenient_arguments import read_arguments
from slowwave.serving.tools import MemoryType
from slowwave.views.answers import HistoryEvent, Quoted, Rating


def _longest(name: str) -> int:
    """Return the maximum length of an argument (characters)."""
    return limit_of(name).characters


Query = Annotated[str, Field(description="A whole question, or words.", max_length=_longest("query"))]
SearchId = Annotated[str, Field(description="Id of the search.", max_length=_longest("search_id"))]
Name = Annotated[str, Field(max_length=_longest("tags"))]
Names = Annotated[list[Name], Field(max_length=limit_of("tags").values)]
Title = Annotated[str, Field(max_length=_longest("title"))]
Key = Annotated[str, Field(max_length=_longest("key"))]
Project = Annotated[str, Field(max_length=_longest("project"))]


REMARKS: Final = ContextVar[list[str] | None]("remarks", default=None)
"""Remarks about the body of the current request, for the warnings of its answer."""


class _Body(BaseModel):
    """Request body, read as :mod:`slowwave.serving.lenient_arguments` reads arguments."""

    model_config = ConfigDict(extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _meant(cls, given: object) -> dict[str, Any]:
        arguments = read_arguments(cls, given)
        if (remarks := REMARKS.get()) is not None:
            remarks += arguments.remarks
        return arguments.values


def _example(**values: JsonValue) -> ConfigDict:
    return ConfigDict(extra="forbid", json_schema_extra={"examples": [values]})


class _Search(_Body):
    query: Query
    limit: StrictInt = Field(5, ge=1, le=50, description="Maximum number of memories.")
    project: Project = Field("", description="Project of the search; report its outcome to /v1/outcome.")


def _moment(value: object, info: ValidationInfo) -> object:
    """Read a day or a time as tools do."""
    if value is None or isinstance(value, datetime):
        return value
    try:
        return parsed_moment(str(info.field_name), value if isinstance(value, str) else shown(value))
    except ArgumentError as error:
        raise ValueError(str(error)) from None


Moment = Annotated[datetime | None, BeforeValidator(_moment)]
_KINDS: Final[dict[Any, Any]] = {
    LABELS: Names, MOMENT: Moment, DAY: date | None, bool: StrictBool, str: str,
}  # fmt: skip
_FILTERS: Final[dict[str, Any]] = {
    name: (
        list[MemoryType] if name == "memory_type" else _KINDS[one.kind],
        Field([] if one.kind == LABELS else one.default, description=one.words.data),
    )
    for name, one in SEARCH_ARGUMENTS.items()
    if one.words.data
}
_Filtered = create_model("_Filtered", __base__=_Search, **_FILTERS)


class SearchBody(_Filtered):
    """A search."""

    model_config = _example(query="When do we deploy?", limit=5, project="spring release")


class SaveBody(_Body):
    """A note to save."""

    model_config = _example(
        content="We deploy on Thursday since 2 March; Friday is for repairs only.",
        title="Deploy day",
        memory_type="decision",
        tags=["operations"],
    )

    content: str = Field(description="The note, in whole sentences.")
    title: Title = Field("", description="Topic; default: the first heading or words.")
    key: Key = Field("", description="Your own id of the note: saving it again replaces the text.")
    memory_type: MemoryType = Field("note", description="Kind of memory.")
    tags: Names = Field([], description="Tags to filter by; searches match them, too.")
    follows: Key = Field("", description="Key of the previous note of a conversation or series.")
    created_at: Moment = Field(None, description="Day or time of an older note (2026-05-03); default: now.")
    labels: dict[str, Any] = Field(
        {},
        description="Only for persons: other labels of a note, such as sensitivity or importance_tier.",
    )


class CorrectBody(_Body):
    """New text of a memory."""

    model_config = _example(content="We deploy on Tuesday since 4 May; Friday is for repairs only.")

    content: str = Field(description="The complete new text.")
    title: Title = Field("", description="Empty: unchanged.")


class FeedbackBody(_Body):
    """Rating of one result of a search."""

    model_config = _example(search_id="SEARCH_ID", result=1, rating="helpful")

    search_id: SearchId
    result: StrictInt | Name = Field(description="Its rank (from 1), or its memory's id.")
    rating: Rating


class ObserveBody(_Body):
    """Answer based on the results of a search."""

    model_config = _example(
        search_id="SEARCH_ID", response="On Thursday; Friday is for repairs only.", cited=[1]
    )

    search_id: SearchId
    response: str = Field(description="The complete answer. It is not stored.")
    cited: list[StrictInt | Name] = Field(
        [], description="Results that it relies on: ranks or ids.", max_length=limit_of("cited").values
    )


class OutcomeBody(_Body):
    """Outcome of a project."""

    model_config = _example(project="spring release", outcome="success")

    project: Project = Field(description="Project name given to searches.")
    outcome: Literal["success", "failure"]


class WakeupBody(_Body):
    """Request of the wake-up packet."""

    model_config = _example(budget=1_000)

    budget: StrictInt = Field(2_000, ge=50, le=20_000, description="Approximate maximum of tokens.")


class Me(BaseModel):
    """Identity and rights of a token."""

    namespace: str
    principal: str
    rights: Literal["reader", "assistant", "person"]


class Record(BaseModel):
    """One memory in full."""

    model_config = ConfigDict(from_attributes=True)

    memory_id: str
    status: str = Field(description="live, merged, superseded or retired (forgotten).")
    replaced_by: str | None = None
    title: Quoted
    content: Quoted
    memory_type: str
    importance_tier: str
    sensitivity: str
    tags: list[str]
    source: str
    created_at: datetime
    updated_at: datetime
    revision: str = Field("", description="Revision of the text; the ETag, for If-Match.")
    outdated_by: str = Field("", description="Memory with a newer value of the same thing.")
    newer_title: Quoted = ""
    valid_until: datetime | None = Field(None, description="When the newer value began.")


class Listed(BaseModel):
    """A memory in a list."""

    memory_id: str
    title: Quoted | None
    beginning: Quoted
    status: str
    memory_type: str | None
    tags: list[str] | None
    principal: str | None
    updated_at: datetime
    outdated_by: str = Field("", description="Memory with a newer value of the same thing.")
    newer_title: Quoted = ""
    valid_until: datetime | None = Field(None, description="When the newer value began.")


class Page(BaseModel):
    """Memories, newest first."""

    memories: list[Listed]
    total: int
    next: str | None = Field(description="Address of the next page; null: this is the last one.")


class Events(BaseModel):
    """Events of a memory, oldest first."""

    memory_id: str
    events: list[HistoryEvent]
    total: int
    next: str | None = Field(description="Address of the next page; null: this is the last one.")


class Decisions(BaseModel):
    """Reconsolidation decisions, newest first."""

    decisions: list[dict[str, Any]]


class Decision(BaseModel):
    """A decision with its current state."""

    decision: dict[str, Any]


class Held(BaseModel):
    """Refused notes, newest first."""

    quarantine: list[dict[str, Any]]
    next: str | None = Field(description="Address of the next page; null: this is the last one.")


class Remembered(BaseModel):
    """Result of unforgetting a memory."""

    memory_id: str
    new: bool = Field(description="false: it was not forgotten.")
