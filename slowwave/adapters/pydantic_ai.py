"""Pydantic AI adapter: a toolset."""

from __future__ import annotations

from slowwave.adapters.needed import require

require("pydantic-ai", "pydantic_ai")

from collections.abc import Collection
from typing import Any

from pydantic_ai import FunctionToolset, ModelRetry, Tool
from pydantic_ai.exceptions import ToolFailed

from slowwave.adapters.tools import INSTRUCTIONS, NAMES, ToolFailedError, memory_tools
from slowwave.memory import Memory

__all__ = ["INSTRUCTIONS", "toolset"]

RETRIES = 3
"""Retries of a call with wrong arguments before the run fails (count)."""


def toolset(
    memory: Memory, *, only: Collection[str] = NAMES, instructions: bool = True
) -> FunctionToolset[Any]:
    """Return the memory's tools for ``Agent(toolsets=[...])``.

    Wrong arguments are a `ModelRetry`, so that the model calls again. Any other error is a `ToolFailed`: the
    model gets it, and the run continues.

    Args:
        memory: open.
        only: names of the tools.
        instructions: whether the agent gets the instructions for their use.
    """
    tool_list = [
        Tool.from_schema(
            memory_tool.coroutine(_failure), memory_tool.name, memory_tool.description, memory_tool.schema
        )
        for memory_tool in memory_tools(memory, only=only)
    ]
    return FunctionToolset(
        tool_list,
        max_retries=RETRIES,
        id=f"slowwave-{memory.namespace}",
        instructions=INSTRUCTIONS if instructions else None,
    )


def _failure(error: ToolFailedError) -> Exception:
    return (ModelRetry if error.again else ToolFailed)(str(error))
