"""OpenAI Agents: function tools over a memory.

There is no `Session`: a session is an exact record of a conversation's items, with calls of tools, that is
popped from its end. A memory judges, merges and supersedes what it is told, so it would be a wrong one.
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
    """The memory's tools, for ``Agent(tools=...)``; `INSTRUCTIONS` belong into the agent's own.

    A call that fails is answered with why, so that the run goes on; that is what the SDK's own tools do.

    Args:
        memory: that is asked, open.
        only: names of the tools that are wanted.
    """
    return [
        FunctionTool(
            name=one.name,
            description=one.description,
            params_json_schema=one.schema,
            on_invoke_tool=_invoked(one),
            strict_json_schema=False,  # its arguments have defaults
        )
        for one in memory_tools(memory, only=only)
    ]


def _invoked(tool: MemoryTool) -> Callable[[ToolContext[Any], str], Awaitable[str]]:
    async def invoked(_: ToolContext[Any], arguments: str) -> str:
        try:
            given = json.loads(arguments or "{}")
        except ValueError as error:
            return f"Failed: the arguments of {tool.name} are no JSON ({error}). Nothing was done."
        if not isinstance(given, dict):
            return f"Failed: the arguments of {tool.name} are no JSON object. Nothing was done."
        try:
            return await tool.acall(given)
        except ToolFailedError as error:
            return f"Failed: {error}"

    return invoked
