"""MCP server: tools and resources, for any transport."""

from __future__ import annotations

import functools
import inspect
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Any, TypeVar

import anyio.to_thread
from mcp.server.auth.provider import TokenVerifier
from mcp.server.auth.settings import AuthSettings
from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import (
    ResourceError,
    ResourceNotFoundError,
    ToolError,
)
from mcp.types import CallToolResult, TextContent, ToolAnnotations
from mcp.types import Tool as ListedTool

from slowwave import __version__
from slowwave.common.deadline import check, within
from slowwave.common.error_translation import boundary
from slowwave.errors import ArgumentError, NotFoundError, SlowwaveError
from slowwave.mcp.line_transport import serve_lines
from slowwave.mcp.resources import gate_status, memory_text
from slowwave.serving.caller import Caller
from slowwave.serving.fair_limiter import Turns
from slowwave.serving.memory_pool import MemoryPool
from slowwave.serving.request import MemoryRequest
from slowwave.serving.tool import Tool, short
from slowwave.serving.tools import TOOLS
from slowwave.telemetry import span
from slowwave.views.mcp_text import INSTRUCTIONS

R = TypeVar("R")


def build(
    memories: MemoryPool, *, verifier: TokenVerifier | None = None, auth: AuthSettings | None = None
) -> MCPServer[Any]:
    """Build a server on open memories, which it closes at the end.

    Args:
        memories: of the callers.
        verifier: verifies bearer tokens, for HTTP.
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
    turns = Turns()

    def worked(call: Callable[..., R], signature: inspect.Signature, *, writes: bool = False) -> Any:  # noqa: ANN401
        """Wrap a call to run in a worker thread, with fair turns and a deadline."""

        async def in_turn(**arguments: Any) -> R:  # noqa: ANN401
            with within(memories.space.settings.mcp.work_seconds):
                async with turns.of(memories.caller(), writes=writes):
                    return await anyio.to_thread.run_sync(functools.partial(call, **arguments))

        in_turn.__signature__ = signature  # type: ignore[attr-defined]
        in_turn.__annotations__ = {item.name: item.annotation for item in signature.parameters.values()}
        in_turn.__annotations__["return"] = signature.return_annotation
        in_turn.__name__, in_turn.__doc__ = call.__name__, call.__doc__
        return in_turn

    for tool in TOOLS.values():
        server.add_tool(
            worked(_answering(tool, memories.request), _signature(tool), writes=tool.writes_tables),
            name=tool.name,
            title=tool.title,
            annotations=_annotations(tool),
            description=tool.description,
        )

    def read(call: Callable[..., Any]) -> Any:  # noqa: ANN401
        signature = inspect.signature(call, eval_str=True)
        _, *parameters = signature.parameters.values()
        return worked(_reading(call, memories.request), signature.replace(parameters=parameters))

    server.resource(
        "memory://{memory_id}", name="memory", title="A memory in full", mime_type="text/markdown"
    )(read(memory_text))
    server.resource(
        "slowwave://gates", name="gates", title="Status of the gates", mime_type="application/json"
    )(read(gate_status))
    schemas = {tool.name: tool.answer.model_json_schema() for tool in TOOLS.values()}
    server.resource(
        "slowwave://answers",
        name="answers",
        title="Schemas of the tools' answers",
        mime_type="application/json",
    )(lambda: schemas)
    return server


class _Server(MCPServer[Any]):
    """MCP server with short tool schemas, which reads arguments as :meth:`Tool.read`.

    Attributes:
        caller: returns the current caller; readers are offered only tools that read.
    """

    caller: Callable[[], Caller]

    async def list_tools(self) -> list[ListedTool]:
        """List the tools. Schemas of their answers are a resource, as no assistant needs them to decide."""
        reads_only = self.caller().reads_only
        return [
            tool.model_copy(update={"input_schema": short(tool.input_schema), "output_schema": None})
            for tool in await super().list_tools()
            if not reads_only or (tool.annotations and tool.annotations.read_only_hint)
        ]

    async def run_stdio_async(self) -> None:
        """Serve the client that started this process."""
        await serve_lines(self._lowlevel_server)

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Any = None,  # noqa: ANN401
    ) -> Any:  # noqa: ANN401
        """Call a tool by its name.

        Raises:
            ToolError: an argument is invalid, or as of the SDK.
        """
        offered = {tool.name for tool in await self.list_tools()}
        metric_name = name if name in offered else "unknown"  # a client may send anything
        measured: dict[str, Any] = {"method": "tools/call", "tool": metric_name}
        with span(f"tools/call {metric_name}", kind="server", metric="slowwave.tool.duration", **measured):
            if name not in offered:
                return await super().call_tool(name, arguments, context)
            try:
                read = TOOLS[name].read(arguments)
            except ArgumentError as error:
                raise ToolError(str(error)) from None
            return _remarked(await super().call_tool(name, read.values, context), read.remarks)


def _remarked(result: Any, remarks: Sequence[str]) -> Any:  # noqa: ANN401 - as of the SDK
    """Return an answer with remarks about its arguments, among its warnings."""
    if not remarks or not isinstance(result, CallToolResult):
        return result
    lines = [TextContent(type="text", text=f"Warning: {remark}") for remark in remarks]
    data = dict(result.structured_content or {})
    data["warnings"] = [*data.get("warnings", ()), *remarks]
    return result.model_copy(update={"content": [*result.content, *lines], "structured_content": data})


def _annotations(tool: Tool) -> ToolAnnotations:
    """Return the SDK's annotations of a tool."""
    if tool.reads:
        return ToolAnnotations(read_only_hint=True, open_world_hint=False)
    return ToolAnnotations(
        read_only_hint=False,
        destructive_hint=tool.destroys,
        idempotent_hint=tool.idempotent,
        open_world_hint=False,
    )


def _signature(tool: Tool) -> inspect.Signature:
    """Return the signature that the SDK builds a tool's schemas from."""
    return inspect.Signature(tool.parameters, return_annotation=Annotated[CallToolResult, tool.answer])


def _answering(tool: Tool, request: Callable[[], MemoryRequest]) -> Callable[..., CallToolResult]:
    """Return the call of a tool for the SDK; its errors contain advice for an assistant."""

    def answering(**arguments: Any) -> CallToolResult:  # noqa: ANN401
        try:
            reply = tool.run(request, arguments)
        except SlowwaveError as error:
            raise ToolError(tool.failure(error)) from error
        return CallToolResult(
            content=[TextContent(type="text", text=reply.words)],
            structured_content=reply.data.model_dump(mode="json", exclude_none=True),
        )

    return answering


def _reading(call: Callable[..., R], request: Callable[[], MemoryRequest]) -> Callable[..., R]:
    """Return the call of a resource; expected errors become the SDK's errors."""

    @functools.wraps(call)
    def reading(**arguments: Any) -> R:  # noqa: ANN401
        try:
            with boundary(own=True):
                check()
                return call(request(), **arguments)
        except SlowwaveError as error:
            error_type = ResourceNotFoundError if isinstance(error, NotFoundError) else ResourceError
            raise error_type(str(error)) from error

    return reading
