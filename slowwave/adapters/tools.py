"""MCP tools as plain functions with named arguments, from which the adapters build tools.

Names, descriptions, arguments, answers and errors are those of :mod:`slowwave.serving.tools`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from pydantic import BaseModel

from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.serving.request import MemoryRequest
from slowwave.serving.tool import Tool, short, with_remarks
from slowwave.serving.tools import TOOLS
from slowwave.views.mcp_text import INSTRUCTIONS

__all__ = ["INSTRUCTIONS", "NAMES", "MemoryTool", "ToolFailedError", "memory_tools"]

NAMES: Final = tuple(TOOLS)
"""Names of all tools."""


class ToolFailedError(SlowwaveError):
    """Failed call of a tool; the message is for the model.

    Attributes:
        again: whether the arguments were wrong, so that a model may call again.
    """

    def __init__(self, message: str, *, again: bool) -> None:
        super().__init__(message)
        self.again = again


Failure = Callable[[ToolFailedError], Exception]


@dataclass(frozen=True, slots=True)
class MemoryTool:
    """One tool of one memory.

    Attributes:
        tool: its declaration.
        request: of the caller.
    """

    tool: Tool
    request: MemoryRequest

    @property
    def name(self) -> str:
        """Name of the tool."""
        return self.tool.name

    @property
    def description(self) -> str:
        """Description for models."""
        return self.tool.description

    @property
    def arguments(self) -> type[BaseModel]:
        """Model of the arguments."""
        return self.tool.arguments

    @property
    def schema(self) -> dict[str, Any]:
        """JSON schema of the arguments."""
        made: dict[str, Any] = short(self.arguments.model_json_schema())
        return made

    def call(self, arguments: Mapping[str, Any]) -> str:
        """Call the tool.

        Args:
            arguments: from a model.

        Returns:
            The answer as text; notes are quoted.

        Raises:
            ToolFailedError: nothing was done, or the message says what was.
        """
        try:
            read = self.tool.read(arguments)
        except ArgumentError as error:
            raise ToolFailedError(str(error), again=True) from None
        try:
            answer = self.tool.run(lambda: self.request, read.values)
            return with_remarks(answer, read.remarks).words
        except SlowwaveError as error:
            raise ToolFailedError(self.tool.failure(error), again=isinstance(error, ArgumentError)) from error

    async def acall(self, arguments: Mapping[str, Any]) -> str:
        """Run :meth:`call` in a thread."""
        return await asyncio.to_thread(self.call, arguments)

    def function(self, failure: Failure | None = None) -> Callable[..., str]:
        """Return a function with named arguments, for a framework.

        Args:
            failure: converts the error of a failed call; None: unchanged.
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
        """Return :meth:`function` as a coroutine function that runs it in a thread."""
        function = self.function(failure)

        async def call(**arguments: Any) -> str:
            return await asyncio.to_thread(function, **arguments)

        return call


def memory_tools(memory: Memory, *, only: Collection[str] = NAMES) -> list[MemoryTool]:
    """Return the tools of a memory.

    Args:
        memory: open; its principal is the user of the calls.
        only: names of the tools.

    Raises:
        ArgumentError: an unknown tool.
    """
    if unknown := sorted(set(only) - set(NAMES)):
        raise ArgumentError(f"Unknown tool {unknown[0]!r}. Use {', '.join(NAMES)}.")
    request = MemoryRequest(Caller(memory.namespace, memory.principal), memory)
    return [MemoryTool(declared, request) for name, declared in TOOLS.items() if name in only]
