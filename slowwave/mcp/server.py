"""The server: its tools and resources, whatever carries them."""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, ParamSpec, TypeVar

import anyio.to_thread
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
    UnexpectedToolError,
)
from mcp.types import Tool, ToolAnnotations
from pydantic import ValidationError

from slowwave import __version__
from slowwave.common.arguments import shown
from slowwave.common.boundary import boundary
from slowwave.common.deadline import check, within
from slowwave.errors import NotFoundError, SlowwaveError
from slowwave.mcp.resources import Resources
from slowwave.mcp.schemas import answers, short
from slowwave.mcp.tools import Tools
from slowwave.serving.caller import Caller
from slowwave.serving.fair_limiter import Turns
from slowwave.serving.memory_pool import MemoryPool
from slowwave.telemetry import span
from slowwave.views.mcp_wording import INSTRUCTIONS, with_what_next

P = ParamSpec("P")
R = TypeVar("R")

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
ADDS = ToolAnnotations(
    read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False
)
COUNTS_ONCE = ADDS.model_copy(update={"idempotent_hint": True})
CHANGING = frozenset({"memory_save", "memory_undo", "memory_forget"})
CHANGES = ADDS.model_copy(update={"destructive_hint": True})  # a client may ask its user first

FORGETS = CHANGES.model_copy(update={"idempotent_hint": True})


def build(
    memories: MemoryPool, *, verifier: TokenVerifier | None = None, auth: AuthSettings | None = None
) -> MCPServer[Any]:
    """A server over these memories, which it closes when it ends.

    Args:
        memories: that callers have.
        verifier: knows the bearer tokens, for HTTP.
        auth: the SDK's settings of it.
    """

    @asynccontextmanager
    async def lifespan(_: MCPServer[Any]) -> AsyncIterator[None]:
        try:
            yield
        finally:
            memories.close()

    server = _Server(
        "slowwave",
        title="Slowwave memory",
        version=__version__,
        instructions=INSTRUCTIONS,
        lifespan=lifespan,
        token_verifier=verifier,
        auth=auth,
        log_level="WARNING",
    )
    server.caller = memories.caller
    tools, resources = Tools(memories.mine, memories.caller), Resources(memories.mine)
    turns = Turns()

    def offered(
        call: Callable[P, R], as_error: Callable[[SlowwaveError], Exception]
    ) -> Callable[P, Awaitable[R]]:
        return _in_turn(_telling(call, as_error), turns, memories)

    def writing(call: Callable[P, R]) -> Callable[P, R]:
        @functools.wraps(call)
        def by_who_may(*args: P.args, **kwargs: P.kwargs) -> R:
            require_writing(memories.caller())
            return call(*args, **kwargs)

        return by_who_may

    listed = (
        (tools.memory_wakeup, "What to know at the start", READS),
        (tools.memory_search, "Search the memory", READS),
        (tools.memory_save, "Save to the memory", ADDS),
        (tools.memory_observe, "Say what an answer used", COUNTS_ONCE),
        (tools.knowledge_feedback, "Rate a result", COUNTS_ONCE),
        (tools.memory_outcome, "Say how a project ended", ADDS),
        (tools.memory_history, "History of a memory", READS),
        (tools.memory_undo, "Undo a merge or superseding", CHANGES),
        (tools.memory_forget, "Forget a memory", FORGETS),
    )
    for tool, title, kind in listed:
        as_error = functools.partial(tool_error, tool.__name__)
        call = tool if kind is READS else writing(tool)
        server.add_tool(offered(call, as_error), title=title, annotations=kind, description=_prose(tool))
    server.resource(
        "memory://{memory_id}", name="memory", title="A memory, whole", mime_type="text/markdown"
    )(offered(resources.memory, resource_error))
    server.resource(
        "slowwave://gates", name="gates", title="Status of the gates", mime_type="application/json"
    )(offered(resources.gates, resource_error))
    schemas = answers(tool for tool, *_ in listed)
    server.resource(
        "slowwave://answers", name="answers", title="What each tool answers", mime_type="application/json"
    )(lambda: schemas)
    return server


def require_writing(caller: Caller) -> None:
    """Raise where somebody may only look.

    Raises:
        SlowwaveError: the token has the rights of a reader.
    """
    if caller.reads_only:
        raise SlowwaveError(
            "This token may only read (its rights are reader), so nothing was done. Tell the user: who runs "
            "the memory can give another one."
        )


class _Server(MCPServer[Any]):
    """A server that lists its tools in few words; they refuse an argument that they do not know.

    Attributes:
        caller: who is calling now; to who may only look it offers what looks.
    """

    caller: Callable[[], Caller]

    async def list_tools(self) -> list[Tool]:
        """The tools; the schemas of what they answer are a resource, as no assistant needs them to decide."""
        looks = self.caller().reads_only
        return [
            tool.model_copy(update={"input_schema": short(tool.input_schema), "output_schema": None})
            for tool in await super().list_tools()
            if not looks or (tool.annotations and tool.annotations.read_only_hint)
        ]

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Call a tool by its name.

        Raises:
            ToolError: it does not have such an argument; and as the SDK says.
        """
        tools = await self.list_tools()
        for tool in tools:
            known = tool.input_schema.get("properties", {})
            if tool.name == name and (odd := sorted(set(arguments) - set(known))):
                raise ToolError(
                    f"{name} has no argument {odd[0][:80]!a}, so nothing was done. It has {list(known)}."
                )
        told = name if name in {tool.name for tool in tools} else "unknown"  # a client may send anything
        called = span(
            f"tools/call {told}",
            kind="server",
            metric="slowwave.tool.duration",
            method="tools/call",
            tool=told,
        )
        try:
            with called:
                return await super().call_tool(name, arguments, context)
        except ToolError as error:
            foreseen = not isinstance(error, UnexpectedToolError)  # of arguments, before the call
            if foreseen and isinstance(error.__cause__, ValidationError):
                raise ToolError(f"{name}: {_wrong(error.__cause__)} Nothing was done.") from None
            raise


def _wrong(error: ValidationError) -> str:
    """What is wrong with which argument, in a line."""
    return " ".join(
        f"{'.'.join(map(str, one['loc']))} = {shown(one['input'])}: {one['msg']}."
        for one in error.errors()[:3]
    )


def tool_error(tool: str, error: SlowwaveError) -> Exception:
    """What the SDK takes for the failure of a tool that was foreseen, with what an assistant can do next."""
    return ToolError(with_what_next(tool, error))


def resource_error(error: SlowwaveError) -> Exception:
    """What the SDK takes for the failure of a resource that was foreseen."""
    return (ResourceNotFoundError if isinstance(error, NotFoundError) else ResourceError)(str(error))


def _telling(call: Callable[P, R], as_error: Callable[[SlowwaveError], Exception]) -> Callable[P, R]:
    """The call; its errors for people reach the client, of others it only learns that there was one."""

    @functools.wraps(call)
    def telling(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            with boundary(own=True):
                check()
                return call(*args, **kwargs)
        except SlowwaveError as error:
            raise as_error(error) from error

    return telling


def _in_turn(call: Callable[P, R], turns: Turns, memories: MemoryPool) -> Callable[P, Awaitable[R]]:
    """Run the call in a worker thread, in fair turns of the callers, until its deadline."""

    @functools.wraps(call)
    async def in_turn(*args: P.args, **kwargs: P.kwargs) -> R:
        with within(memories.space.settings.mcp.work_seconds):
            async with turns.of(memories.caller(), writes=call.__name__ in CHANGING):
                return await anyio.to_thread.run_sync(functools.partial(call, *args, **kwargs))

    return in_turn


def _prose(tool: Callable[..., Any]) -> str:
    """A docstring without its line breaks."""
    paragraphs = (tool.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
