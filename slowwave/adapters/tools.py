"""The tools of MCP as plain functions of named arguments, from which each framework makes tools of its own.

Names, descriptions, arguments, answers and errors are those of :mod:`slowwave.mcp`: there is one of each.
"""

from __future__ import annotations

from slowwave.adapters.needed import require

require("mcp", "mcp")

import asyncio
import inspect
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from slowwave.common.boundary import boundary
from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.mcp.schemas import short
from slowwave.mcp.server import _prose, _wrong  # the same words of the same tools
from slowwave.mcp.tools import Tools
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.views.mcp_wording import INSTRUCTIONS, with_what_next

__all__ = ["INSTRUCTIONS", "NAMES", "MemoryTool", "ToolFailedError", "memory_tools"]

NAMES: Final = (
    "memory_wakeup", "memory_search", "memory_save", "memory_observe", "knowledge_feedback",
    "memory_outcome", "memory_history", "memory_undo", "memory_forget",
)  # fmt: skip
"""The tools that there are."""


class ToolFailedError(SlowwaveError):
    """A call of a tool failed; the message is for the model.

    Attributes:
        again: whether it was the arguments, so that a model may call again with others.
    """

    def __init__(self, told: str, *, again: bool) -> None:
        super().__init__(told)
        self.again = again


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """One tool.

    Attributes:
        name: that a model calls it by.
        description: that a model decides by.
        arguments: the model of its arguments; it refuses those that it does not know.
        function: that answers.
    """

    name: str
    description: str
    arguments: type[BaseModel]
    function: Callable[..., Any]

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        made: dict[str, Any] = short(self.arguments.model_json_schema())
        return made

    def call(self, arguments: Mapping[str, Any]) -> str:
        """Call it.

        Args:
            arguments: as a model gave them.

        Returns:
            The answer in words; what is stored is quoted in it.

        Raises:
            ToolFailedError: nothing was done, or the answer says what was.
        """
        try:
            given = self.arguments.model_validate(dict(arguments))
            with boundary(own=True):
                answer = self.function(**{name: getattr(given, name) for name in given.model_fields_set})
        except ValidationError as error:
            raise ToolFailedError(f"{self.name}: {_wrong(error)} Nothing was done.", again=True) from None
        except SlowwaveError as error:
            told = with_what_next(self.name, error)
            raise ToolFailedError(told, again=isinstance(error, ArgumentError)) from error
        return "\n".join(part.text for part in answer.content)

    async def acall(self, arguments: Mapping[str, Any]) -> str:
        """:meth:`call` in a thread."""
        return await asyncio.to_thread(self.call, arguments)


def memory_tools(memory: Memory, *, only: Collection[str] = NAMES) -> list[MemoryTool]:
    """The tools of a memory.

    Args:
        memory: that they are about, open; acts are in the name of its principal.
        only: names of those that are wanted.

    Raises:
        ArgumentError: a name that no tool has.
    """
    if unknown := sorted(set(only) - set(NAMES)):
        raise ArgumentError(f"There is no tool {unknown[0]!r}. There are {', '.join(NAMES)}.")
    caller = Caller(memory.namespace, memory.principal)
    tools = Tools(lambda: memory, lambda: caller)
    return [_tool(getattr(tools, name)) for name in NAMES if name in only]


def _tool(function: Callable[..., Any]) -> MemoryTool:
    """A tool from a method of `Tools`: its arguments' annotations have their descriptions."""
    kinds = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        name: (kinds[name], ... if one.default is inspect.Parameter.empty else one.default)
        for name, one in inspect.signature(function).parameters.items()
    }
    name = function.__name__
    arguments = create_model(name, __config__=ConfigDict(extra="forbid"), **fields)
    return MemoryTool(name, _prose(function), arguments, function)
