"""Registry of tools: each is declared once, and every face is made from its declaration."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Generic, NamedTuple, TypeVar, get_args, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from slowwave.common.arguments import shown
from slowwave.common.deadline import check
from slowwave.common.error_translation import boundary
from slowwave.errors import SlowwaveError
from slowwave.serving.request import MemoryRequest
from slowwave.views.mcp_text import with_what_next

A = TypeVar("A", bound=BaseModel)
F = TypeVar("F", bound=Callable[..., Any])


@dataclass(frozen=True, slots=True)
class Reply(Generic[A]):
    """Answer of a tool: in words for a model to read, where what is stored is quoted, and as data."""

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
        function: Answers a `MemoryRequest`; its docstring is the description that a model decides by.
        title: For people.
        reads: It changes nothing, so readers may call it.
        destroys: It takes something away; a client may ask its user first.
        idempotent: Called again it changes nothing more.
        writes_tables: It writes tables, which have one writer at a time.
        missing: What to do where there is no such thing; empty: nothing.
        protected: What to do where only a person may do it; empty: nothing.
        route: Of HTTP; None: it has none that is made from this.
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
        """Name that it is called by."""
        return self.function.__name__

    @property
    def description(self) -> str:
        """Description that a model decides by."""
        paragraphs = (self.function.__doc__ or "").split("\n\n")
        return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)

    @cached_property
    def _types(self) -> dict[str, Any]:
        return get_type_hints(self.function, include_extras=True)

    @cached_property
    def parameters(self) -> list[inspect.Parameter]:
        """Arguments with their types, but for the request."""
        first, *others = inspect.signature(self.function).parameters.values()
        assert self._types[first.name] is MemoryRequest, self.name
        return [one.replace(annotation=self._types[one.name]) for one in others]

    @cached_property
    def arguments(self) -> type[BaseModel]:
        """Model of the arguments; it refuses those that it does not know."""
        fields: dict[str, Any] = {
            one.name: (one.annotation, ... if one.default is inspect.Parameter.empty else one.default)
            for one in self.parameters
        }
        return create_model(self.name, __config__=ConfigDict(extra="forbid"), **fields)

    @property
    def answer(self) -> type[BaseModel]:
        """Model of the data that it answers."""
        model: type[BaseModel] = get_args(self._types["return"])[0]
        return model

    def run(self, request: Callable[[], MemoryRequest], arguments: Mapping[str, Any]) -> Reply[Any]:
        """Answer a request.

        Args:
            request: Opens it.
            arguments: As `arguments` has them.

        Raises:
            SlowwaveError: Nothing was done, or the error says what was.
        """
        with boundary(own=True):
            check()
            opened = request()
            if opened.caller.reads_only and not self.reads:
                raise SlowwaveError(
                    "This token may only read (its rights are reader), so nothing was done. Tell the user: "
                    "who runs the memory can give another one."
                )
            return self.function(opened, **arguments)

    def failure(self, error: SlowwaveError) -> str:
        """Return what went wrong in a call, and what an assistant can do about it."""
        return with_what_next(error, missing=self.missing, protected=self.protected)

    def invalid(self, error: ValidationError) -> str:
        """Return what is wrong with which argument, in a line."""
        wrong = " ".join(
            f"{'.'.join(map(str, one['loc']))} = {shown(one['input'])}: {one['msg']}."
            for one in error.errors()[:3]
        )
        return f"{self.name}: {wrong} Nothing was done."


REGISTRY: Final[dict[str, Tool]] = {}
"""Tools by name, in the order of their declarations in :mod:`slowwave.serving.tools`."""


def tool(title: str, **more: Any) -> Callable[[F], F]:  # noqa: ANN401 - fields of `Tool`
    """Declare a function as a tool of every face.

    Args:
        title: For people.
        **more: Other fields of :class:`Tool`.
    """

    def declared(function: F) -> F:
        REGISTRY[function.__name__] = Tool(function, title, **more)
        return function

    return declared


def short(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """Return a schema without names and empty defaults: an assistant reads it before its first word."""
    if isinstance(schema, list):
        return [short(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        # An argument may be called "title"; what names a schema is a text.
        name: short(part)
        for name, part in schema.items()
        if not (name == "title" and isinstance(part, str)) and not (name == "default" and part in ("", []))
    }
