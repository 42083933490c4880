"""The tools of MCP as plain functions of named arguments, from which each framework makes tools of its own.

Names, descriptions, arguments, answers and errors are those of :mod:`slowwave.serving.tools`: there is one of
each.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel, ValidationError

from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.serving.request import MemoryRequest
from slowwave.serving.tool import Tool, short
from slowwave.serving.tools import TOOLS
from slowwave.views.mcp_text import INSTRUCTIONS

__all__ = ["INSTRUCTIONS", "NAMES", "MemoryTool", "ToolFailedError", "memory_tools"]

NAMES: Final = tuple(TOOLS)
"""The tools that there are."""


class ToolFailedError(SlowwaveError):
    """A call of a tool failed; the message is for the model.

    Attributes:
        again: whether it was the arguments, so that a model may call again with others.
    """

    def __init__(self, told: str, *, again: bool) -> None:
        super().__init__(told)
        self.again = again


Failure = Callable[[ToolFailedError], Exception]


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """One tool of one memory.

    Attributes:
        tool: Its declaration.
        request: Of who calls it.
    """

    tool: Tool
    request: MemoryRequest

    @property
    def name(self) -> str:
        """Name that a model calls it by."""
        return self.tool.name

    @property
    def description(self) -> str:
        """Description that a model decides by."""
        return self.tool.description

    @property
    def arguments(self) -> type[BaseModel]:
        """Model of its arguments; it refuses those that it does not know."""
        return self.tool.arguments

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
        except ValidationError as error:
            raise ToolFailedError(self.tool.invalid(error), again=True) from None
        values = {name: getattr(given, name) for name in given.model_fields_set}
        try:
            return self.tool.run(lambda: self.request, values).words
        except SlowwaveError as error:
            raise ToolFailedError(self.tool.failure(error), again=isinstance(error, ArgumentError)) from error

    async def acall(self, arguments: Mapping[str, Any]) -> str:
        """:meth:`call` in a thread."""
        return await asyncio.to_thread(self.call, arguments)

    def function(self, failure: Failure | None = None) -> Callable[..., str]:
        """Return a function of named arguments, as a framework wants it.

        Args:
            failure: Makes the framework's error of a failed call; None: it takes any error.
        """

        def call(**arguments: Any) -> str:
            try:
                return self.call(arguments)
            except ToolFailedError as error:
                if failure is None:
                    raise
                raise failure(error) from error

        return call

    def coroutine(self, failure: Failure | None = None) -> Callable[..., Awaitable[str]]:
        """Return :meth:`function` in a thread."""
        function = self.function(failure)

        async def call(**arguments: Any) -> str:
            return await asyncio.to_thread(function, **arguments)

        return call


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
    request = MemoryRequest(Caller(memory.namespace, memory.principal), memory)
    return [MemoryTool(one, request) for name, one in TOOLS.items() if name in only]
