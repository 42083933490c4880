"""Registry of tools: each is declared once, and all interfaces are built from it."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, NamedTuple, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from slowwave.common.arguments import shown
from slowwave.common.deadline import check
from slowwave.common.error_translation import boundary
from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.serving.lenient_arguments import Arguments, means_closing, read_arguments
from slowwave.serving.request import MemoryRequest
from slowwave.views.mcp_text import with_what_next

A = TypeVar("A", bound=BaseModel)
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """Answer of a tool, as text for a model (with quoted notes) and as data."""

    words: str
    data: A


class Route(NamedTuple):
    """HTTP route of a tool: POST takes its arguments as JSON and answers its data."""

    path: str
    description: str


@dataclass(frozen=True)
class Tool:
    """One tool. Its name, arguments and answer are those of its function.

    Attributes:
        function: answers a `MemoryRequest`; its docstring is the description that a model decides by.
        title: for people.
        reads: changes nothing, so readers may call it.
        destroys: removes something; a client may ask its user first.
        idempotent: a repeated call changes nothing more.
        writes_tables: writes tables, which have one writer at a time.
        missing: advice for a missing object; empty: none.
        protected: advice if only a person may do it; empty: none.
        route: of HTTP; None: no generated route.
    """

    function: Callable[..., Reply[Any]]
    title: str
    reads: bool = False
    destroys: bool = False
    idempotent: bool = False
    writes_tables: bool = False
    missing: str = ""
    protected: str = ""
    route: Route | None = None

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """Description for models."""
        paragraphs = (self.function.__doc__ or "").split("\n\n")
        return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

    @cached_property
    def _types(self) -> dict[str, Any]:
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """Arguments with their types, without the request."""
        first, *others = inspect.signature(self.function).parameters.values()
        assert self._types[first.name] is MemoryRequest, self.name
        return [parameter.replace(annotation=self._types[parameter.name]) for parameter in others]

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """Model of the arguments, as :mod:`slowwave.serving.lenient_arguments` reads them."""
        fields: dict[str, Any] = {
            parameter.name: (
                parameter.annotation,
                ... if parameter.default is inspect.Parameter.empty else parameter.default,
            )
            for parameter in self.parameters
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    @property
    def answer(self) -> type[BaseModel]:
        """Model of the answer's data."""
        model: type[BaseModel] = get_args(self._types["return"])[0]
        return model

    def read(self, given: object) -> Arguments:
        """Return the arguments that a client meant, validated.

        Raises:
            ArgumentError: one is missing, invalid, or may not be ignored; the message names it.
        """
        arguments = read_arguments(self.arguments, given)
        try:
            validated = self.arguments.model_validate(arguments.values)
        except ValidationError as error:
            raise ArgumentError(" ".join((self.invalid(error), *arguments.remarks))) from None
        values = {name: getattr(validated, name) for name in validated.model_fields_set}
        return Arguments(values, arguments.remarks)

    def run(self, request: Callable[[], MemoryRequest], arguments: Mapping[str, Any]) -> Reply[Any]:
        """Answer a request.

        Args:
            request: opens it.
            arguments: as of `arguments`.

        Raises:
            SlowwaveError: nothing was done, or the error says what was.
        """
        with boundary(own=True):
            check()
            opened = request()
            if opened.caller.reads_only and not self.reads:
                raise SlowwaveError(
                    "This token has read access only (rights: reader). Nothing was done. Tell the user: "
                    "the operator of the memory can create another token."
                )
            return self.function(opened, **arguments)

    def failure(self, error: SlowwaveError) -> str:
        """Return the error of a call, and what an assistant can do about it."""
        return with_what_next(error, missing=self.missing, protected=self.protected)

    def invalid(self, error: ValidationError) -> str:
        """Return the invalid arguments, in a line."""
        refused = {
            str(entry["loc"][0]): entry["input"]
            for entry in error.errors() if entry["type"] == "extra_forbidden"
        }  # fmt: skip
        if refused:
            names = ", ".join(self.arguments.model_fields)
            how = CLOSE if any(means_closing(name, value) for name, value in refused.items()) else ""
            name = ascii(next(iter(refused))[:80])
            return f"{self.name} has no argument {name}. Nothing was done. {how}It has {names}."
        wrong = " ".join(
            f"{'.'.join(map(str, entry['loc']))} {_fault(entry['type'], entry['input'], entry['msg'])}"
            for entry in error.errors()[:3]
        )
        return f"{self.name}: {wrong} Nothing was done."


def _fault(kind: str, given: object, message: str) -> str:
    return "is missing." if kind == "missing" else f"= {shown(given)}: {message}."


CLOSE: Final = (
    "To close a note, begin its content with front matter that says `sensitivity: secret`; over HTTP a "
    "person gives the label `sensitivity`. "
)
"""Remedy for an argument that means to close a note."""

REGISTRY: Final[dict[str, Tool]] = {}
"""Tools by name, in the order of their declarations in :mod:`slowwave.serving.tools`."""


def with_remarks(reply: Reply[A], remarks: Sequence[str]) -> Reply[A]:
    """Return an answer with remarks about its arguments, among its warnings."""
    if not remarks:
        return reply
    words = "\n".join((reply.words, *(f"Warning: {remark}" for remark in remarks)))
    warnings = [*getattr(reply.data, "warnings", ()), *remarks]
    return Reply(words, reply.data.model_copy(update={"warnings": warnings}))


def tool(title: str, **more: Any) -> Callable[[F], F]:  # noqa: ANN401 - fields of `Tool`
    """Declare a function as a tool of every interface.

    Args:
        title: for people.
        **more: other fields of :class:`Tool`.
    """

    def declared(function: F) -> F:
        REGISTRY[function.__name__] = Tool(function, title, **more)
        return function

    return declared


def short(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a schema without titles and empty defaults, to save tokens."""
    if isinstance(schema, list):
        return [short(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        # An argument may be named "title"; the title of a schema is a string.
        name: short(part)
        for name, part in schema.items()
        if not (name == "title" and isinstance(part, str)) and not (name == "default" and part in ("", []))
    }
