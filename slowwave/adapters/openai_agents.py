"""OpenAI Agents adapter: function tools.

There is no `Session`. A session is an exact record of a conversation's items, including tool calls, and items
are popped from its end. A memory merges and supersedes notes, so it cannot be one.
"""

from __future__ import annotations

from slowwave.adapters.needed import require

require("openai-agents", "agents")

import json
from collections.abc import Awaitable, Callable, Collection
from typing import Any

from agents import FunctionTool
from agents.tool_context import ToolContext

from slowwave.adapters.tools import INSTRUCTIONS, NAMES, MemoryTool, ToolFailedError, memory_tools
from slowwave.memory import Memory

__all__ = ["INSTRUCTIONS", "tools"]


def tools(memory: Memory, *, only: Collection[str] = NAMES) -> list[FunctionTool]:
    """Return the memory's tools for ``Agent(tools=...)``; add `INSTRUCTIONS` to the agent's own.

    The error of a failed call is its answer, so that the run continues, as with the SDK's own tools.

    Args:
        memory: open.
        only: names of the tools.
    """
    return [
        FunctionTool(
            name=memory_tool.name,
            description=memory_tool.description,
            params_json_schema=memory_tool.schema,
            on_invoke_tool=_invoked(memory_tool),
            strict_json_schema=False,  # its arguments have defaults
        )
        for memory_tool in memory_tools(memory, only=only)
    ]


def _invoked(tool: MemoryTool) -> Callable[[ToolContext[Any], str], Awaitable[str]]:
    async def invoked(_: ToolContext[Any], arguments: str) -> str:
        try:
            values = json.loads(arguments or "{}")
        except ValueError as error:
            return f"Failed: the arguments of {tool.name} are no JSON ({error}). Nothing was done."
        if not isinstance(values, dict):
            return f"Failed: the arguments of {tool.name} are no JSON object. Nothing was done."
        try:
            return await tool.acall(values)
        except ToolFailedError as error:
            return f"Failed: {error}"

    return invoked
