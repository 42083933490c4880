"""Transport of JSON-RPC over lines of standard input and output; batches are answered as one array."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from slowwave.mcp.messages import Message, read_messages

if TYPE_CHECKING:
    import io
    from collections.abc import AsyncIterator

    from mcp.server import Server


async def serve_lines(server: Server[Any]) -> None:
    """Serve one client until standard input ends.

    Args:
        server: the SDK's, which takes single valid messages.
    """
    exchange = LineExchange()
    with _claimed_input() as stream:
        lines: Any = exchange.lines(anyio.wrap_file(stream))
        async with stdio_server(stdin=lines) as (read, write), anyio.create_task_group() as tasks:
            exchange.output = write
            answers, received = anyio.create_memory_object_stream[SessionMessage](0)
            tasks.start_soon(exchange.send_all, received)
            async with answers:
                await server.run(read, answers, server.create_initialization_options())


@dataclass(slots=True)
class _PendingBatch:
    """Batch of requests whose answers go out together."""

    missing: list[object]
    answers: list[Message]


@dataclass(slots=True)
class _Array:
    """Answers of a batch, written as one line in the place of a message."""

    answers: list[Message]

    def model_dump_json(self, **_: object) -> str:
        """Return the answers as a JSON array."""
        return json.dumps(self.answers)


@dataclass(slots=True)
class LineExchange:
    """Translation between a client's lines and the single messages that the SDK takes.

    Attributes:
        output: takes the answers.
    """

    output: Any = None
    _batches: list[_PendingBatch] = field(default_factory=list)

    async def lines(self, stream: Any) -> AsyncIterator[str]:  # noqa: ANN401
        """Yield a line for each message; what is none is answered with an error."""
        async for line in stream:
            if not line.strip():
                continue
            read = read_messages(line)
            if read.batch:
                batch = _PendingBatch([message["id"] for message in read.requests], list(read.errors))
                self._batches.append(batch)
                await self._finish(batch)
            else:
                for error in read.errors:
                    await self._send(jsonrpc_message_adapter.validate_python(error))
            for message in read.messages:
                if message.get("method") == "notifications/cancelled":
                    await self._cancel(message.get("params"))
                yield json.dumps(message)

    async def send_all(self, answers: Any) -> None:  # noqa: ANN401
        """Send the server's messages; answers of a batch wait for each other."""
        async with answers:
            async for answer in answers:
                number = getattr(answer.message, "id", None)
                asks = hasattr(answer.message, "method")
                batch = None if asks else next((one for one in self._batches if number in one.missing), None)
                if batch is None:
                    await self._send(answer.message, answer)
                else:
                    batch.missing.remove(number)
                    batch.answers.append(
                        answer.message.model_dump(mode="json", by_alias=True, exclude_unset=True)
                    )
                    await self._finish(batch)
        if self.output is not None:
            await self.output.aclose()

    async def _finish(self, batch: _PendingBatch) -> None:
        """Send the answers of a batch once there are all of them."""
        if batch.missing:
            return
        self._batches.remove(batch)
        if batch.answers:
            await self._send(_Array(batch.answers))

    async def _cancel(self, params: object) -> None:
        """Wait no longer for the answer to a request that the client has cancelled."""
        number = params.get("requestId") if isinstance(params, dict) else None
        for batch in [one for one in self._batches if number in one.missing]:
            batch.missing.remove(number)
            await self._finish(batch)

    async def _send(self, message: Any, whole: SessionMessage | None = None) -> None:  # noqa: ANN401
        await self.output.send(whole or SessionMessage(message))


@contextmanager
def _claimed_input() -> Iterator[io.BufferedReader]:
    """Give standard input to the protocol alone; other readers and child processes find it empty."""
    own, empty = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(own, False)
    os.dup2(empty, 0)
    os.close(empty)
    try:
        yield os.fdopen(own, "rb", closefd=False)
    finally:
        os.dup2(own, 0)
