"""Line models of the JSONL form, one event each (`docs/how-to/import-and-export-feedback.md`)."""

from __future__ import annotations

from typing import Annotated, Any, Literal, Self

from pydantic import (
    AwareDatetime,
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    field_validator,
    model_validator,
)

from slowwave.common import ids
from slowwave.evaluation.exchange.values import Malformed, is_memory_id

Count = Annotated[int, Field(strict=True, ge=0)]
Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]


class Strict(BaseModel):
    """Base of lines and their parts; unknown fields are errors."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResultLine(Strict):
    """Memory by source or id; `chunk` is its ordinal from 0, null for the whole memory."""

    source: str = Field("", min_length=1)
    memory_id: str = Field("", min_length=1)
    chunk: Count | None = None
    object: str | None = None

    @field_validator("memory_id")
    @classmethod
    def _is_an_id(cls, value: str) -> str:
        if not is_memory_id(value):
            raise ValueError("is not the id of a memory; a path or a key goes into source")
        return value

    @model_validator(mode="after")
    def _is_named_once(self) -> Self:
        if bool(self.source) == bool(self.memory_id):
            raise ValueError("give either source or memory_id")
        return self

    def memory(self, namespace: str) -> str:
        """Return the memory's id."""
        return self.memory_id or ids.memory_id(namespace, self.source)

    def chunk_id(self, namespace: str) -> str | None:
        """Return the chunk's id, or None for the whole memory."""
        return None if self.chunk is None else ids.chunk_id(self.memory(namespace), self.chunk)


class ShownResultLine(ResultLine):
    """Returned result of a search."""

    rank: Annotated[int, Field(strict=True, ge=1)] | None = None
    score: Number | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class ResultVerdict(ResultLine):
    """Use of a result by an answer (rule 4.1)."""

    verdict: Literal["used", "ignored"]
    evidence: Literal["citation", "denial", "similarity", "short_answer", "words", "none"]
    keywords: Count | None = None
    ratio: Number | None = None
    ratio_beyond_query: Number | None = None
    similarity: Number | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class _Act(Strict):
    at: Annotated[AwareDatetime, Field(strict=True)]
    principal: str = "unknown"
    extra: dict[str, Any] = Field(default_factory=dict)


class SearchLine(_Act):
    """Search with its returned results."""

    type: Literal["search"]
    search_id: str = Field(min_length=1)
    project: str = ""
    query: str
    limit: Count | None = None
    shown: list[ShownResultLine]


class FeedbackLine(_Act, ResultLine):
    """Rating of one result by a person or an assistant."""

    type: Literal["feedback"]
    event_id: str = ""
    search_id: str = Field(min_length=1)
    rating: Literal["helpful", "neutral", "unhelpful"]


class ObservationLine(_Act):
    """Answer with the results it used."""

    type: Literal["observation"]
    event_id: str = ""
    search_id: str = Field(min_length=1)
    response: str = ""
    verdicts: list[ResultVerdict]


class OutcomeLine(_Act):
    """Outcome of a project, for all searches made for it."""

    type: Literal["outcome"]
    event_id: str = ""
    project: str = Field(min_length=1)
    outcome: Literal["success", "failure"]


AnyAct = SearchLine | FeedbackLine | ObservationLine | OutcomeLine
_LINE: TypeAdapter[AnyAct] = TypeAdapter(Annotated[AnyAct, Field(discriminator="type")])


def read_act(text: bytes) -> AnyAct:
    """Parse the event of a line.

    Raises:
        Malformed: invalid; the message names the field and its value.
    """
    try:
        return _LINE.validate_json(text)
    except ValidationError as error:
        raise Malformed(_first_fault(error)) from error


def _first_fault(error: ValidationError) -> str:
    fault = error.errors(include_url=False)[0]
    kind, value = fault["type"], fault["input"]
    if kind == "json_invalid":
        return "not JSON (" + fault["msg"].removeprefix("Invalid JSON: ") + ")"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return "type is none of search, feedback, observation, outcome"
    where = ".".join(str(part) for part in fault["loc"][1:])
    where = f"{where}: " if where else ""
    if kind == "missing":
        return f"{where}missing"
    if kind == "extra_forbidden":
        return f"{where}no such field"
    message = fault["msg"].removeprefix("Value error, ")
    value_text = f", not {_short(value)}" if isinstance(value, str | int | float | None) else ""
    return f"{where}{message}{value_text}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
