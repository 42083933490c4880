"""Schemas of tools as short as they can be said: an assistant reads all of them before its first word."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel


def short(schema: Any) -> Any:  # noqa: ANN401 - JSON
    """A schema without what says nothing: names of schemas and of fields again, defaults that are empty."""
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


def answers(tools: Iterable[Callable[..., Any]]) -> dict[str, Any]:
    """The JSON schema of the data that each tool answers, by the tool's name."""
    return {tool.__name__: _answer(tool).model_json_schema() for tool in tools}


def _answer(tool: Callable[..., Any]) -> type[BaseModel]:
    """The model of an answer: ``-> Annotated[CallToolResult, Model]``."""
    model: type[BaseModel] = get_args(get_type_hints(tool, include_extras=True)["return"])[1]
    return model
