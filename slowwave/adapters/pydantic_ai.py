"""Pydantic AI: a toolset over a memory."""

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
"""Of one call that a model may correct, before its run fails (count)."""


def toolset(
    memory: Memory, *, only: Collection[str] = NAMES, instructions: bool = True
) -> FunctionToolset[Any]:
    """The memory's tools, for ``Agent(toolsets=[...])``.

    An argument that is wrong is a `ModelRetry`, so that the model calls again; whatever else fails is a
    `ToolFailed`, which the model is told and the run goes on with.

    Args:
        memory: that is asked, open.
        only: names of the tools that are wanted.
        instructions: whether the agent is told how to use them.
    """
    made = [
        Tool.from_schema(one.coroutine(_failure), one.name, one.description, one.schema)
        for one in memory_tools(memory, only=only)
    ]
    return FunctionToolset(
        made,
        max_retries=RETRIES,
        id=f"slowwave-{memory.namespace}",
        instructions=INSTRUCTIONS if instructions else None,
    )


def _failure(error: ToolFailedError) -> Exception:
    return (ModelRetry if error.again else ToolFailed)(str(error))
