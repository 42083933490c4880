"""Transport of JSON-RPC over standard input and output; batches are answered as one array."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import anyio
import anyio.to_thread
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import jsonrpc_message_adapter

from slowwave.mcp.framing import MessageSplitter
from slowwave.mcp.messages import Message, read_messages

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from mcp.server import Server

REST_SECONDS: Final = 2.0
"""Time in which the rest of a message has to follow; then what there is of it is answered."""
_CHUNK: Final = 65_536  # bytes


async def serve_lines(server: Server[Any]) -> None:
    """Serve one client until standard input ends.

    Args:
        server: the SDK's, which takes single valid messages.
    """
    exchange = LineExchange()
    with _claimed_input() as source:
        put, chunks = anyio.create_memory_object_stream[bytes](0)
        lines: Any = exchange.lines(chunks)
        async with stdio_server(stdin=lines) as (read, write), anyio.create_task_group() as tasks:
            exchange.output = write
            tasks.start_soon(_pump, source, put)
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
class _JsonText:
    """JSON text in the place of a message: the answers of a batch, or an answer with its length."""

    text: str

    def model_dump_json(self, **_: object) -> str:
        """Return the text as it is."""
        return self.text


@dataclass(slots=True)
class LineExchange:
    """Translation between a client's lines and the single messages that the SDK takes.

    Attributes:
        output: takes the answers.
    """

    output: Any = None
    _splitter: MessageSplitter = field(default_factory=MessageSplitter)
    _batches: list[_PendingBatch] = field(default_factory=list)

    async def lines(self, chunks: Any) -> AsyncIterator[str]:  # noqa: ANN401
        """Yield a line for each message; what is none is answered with an error.

        Args:
            chunks: Bytes of the client, as they come.
        """
        async for text in self._texts(chunks):
            read = read_messages(text)
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

    async def _texts(self, chunks: Any) -> AsyncIterator[bytes]:  # noqa: ANN401
        """Yield the texts of messages, also one whose end does not come."""
        data: bytes | None = b""
        while data is not None:
            try:
                with anyio.fail_after(REST_SECONDS if self._splitter.waits else None):
                    data = await chunks.receive()
                texts = self._splitter.feed(data)
            except (TimeoutError, anyio.EndOfStream) as error:
                data = None if isinstance(error, anyio.EndOfStream) else b""
                texts = [self._splitter.rest()]
            for text in filter(bytes.strip, texts):
                yield text
        await chunks.aclose()

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
            await self._send(_JsonText(json.dumps(batch.answers)))

    async def _cancel(self, params: object) -> None:
        """Wait no longer for the answer to a request that the client has cancelled."""
        number = params.get("requestId") if isinstance(params, dict) else None
        for batch in [one for one in self._batches if number in one.missing]:
            batch.missing.remove(number)
            await self._finish(batch)

    async def _send(self, message: Any, whole: SessionMessage | None = None) -> None:  # noqa: ANN401
        if self._splitter.framed:
            text = message.model_dump_json(by_alias=True, exclude_unset=True)
            length = len(text.encode()) + 1  # with the line end that is written behind it
            message, whole = _JsonText(f"Content-Length: {length}\r\n\r\n{text}"), None
        await self.output.send(whole or SessionMessage(message))


async def _pump(source: int, chunks: Any) -> None:  # noqa: ANN401
    """Send the bytes of a file descriptor until it ends."""
    async with chunks:
        while data := await anyio.to_thread.run_sync(os.read, source, _CHUNK):
            await chunks.send(data)


@contextmanager
def _claimed_input() -> Iterator[int]:
    """Give standard input to the protocol alone; other readers and child processes find it empty.

    Yields:
        File descriptor of the input.
    """
    own, empty = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.set_inheritable(own, False)
    os.dup2(empty, 0)
    os.close(empty)
    try:
        yield own
    finally:
        os.dup2(own, 0)
