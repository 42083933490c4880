"""The lines of the JSONL form: one act each (`docs/how-to/import-and-export-feedback.md`)."""

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
from slowwave.evaluation.exchange.errors import Malformed
from slowwave.evaluation.exchange.identity import is_memory_id

Count = Annotated[int, Field(strict=True, ge=0)]
Number = Annotated[int, Field(strict=True)] | Annotated[float, Field(strict=True, allow_inf_nan=False)]


class Strict(BaseModel):
    """A line or a part of one: every field is known."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class ResultLine(Strict):
    """A memory, by its source or by its id; `chunk` is which part of it, from 0, null all of it."""

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
        """The memory's id."""
        return self.memory_id or ids.memory_id(namespace, self.source)

    def chunk_id(self, namespace: str) -> str | None:
        """The chunk's id, or None for the whole memory."""
        return None if self.chunk is None else ids.chunk_id(self.memory(namespace), self.chunk)


class ShownResultLine(ResultLine):
    """A result as it was shown."""

    rank: Annotated[int, Field(strict=True, ge=1)] | None = None
    score: Number | None = None
    extra: dict[str, Any] = Field(default_factory=dict)


class ResultVerdict(ResultLine):
    """What an answer made of a result (rule 4.1)."""

    verdict: Literal["used", "ignored"]
    evidence: Literal["citation", "words", "similarity", "none"]
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
    """A search and what it showed."""

    type: Literal["search"]
    search_id: str = Field(min_length=1)
    project: str = ""
    query: str
    limit: Count | None = None
    shown: list[ShownResultLine]


class FeedbackLine(_Act, ResultLine):
    """What a person or an assistant said of one result."""

    type: Literal["feedback"]
    event_id: str = ""
    search_id: str = Field(min_length=1)
    rating: Literal["helpful", "neutral", "unhelpful"]


class ObservationLine(_Act):
    """Which results an answer used."""

    type: Literal["observation"]
    event_id: str = ""
    search_id: str = Field(min_length=1)
    response: str = ""
    verdicts: list[ResultVerdict]


class OutcomeLine(_Act):
    """How a project ended, for all searches that were made for it."""

    type: Literal["outcome"]
    event_id: str = ""
    project: str = Field(min_length=1)
    outcome: Literal["success", "failure"]


AnyAct = SearchLine | FeedbackLine | ObservationLine | OutcomeLine
_LINE: TypeAdapter[AnyAct] = TypeAdapter(Annotated[AnyAct, Field(discriminator="type")])


def read_act(text: bytes) -> AnyAct:
    """The act on a line.

    Raises:
        Malformed: it is none; the message names the field and its value.
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
    said = fault["msg"].removeprefix("Value error, ")
    shown = f", not {_short(value)}" if isinstance(value, str | int | float | None) else ""
    return f"{where}{said}{shown}"


def _short(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
