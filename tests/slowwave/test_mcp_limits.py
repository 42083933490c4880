"""What the HTTP server does with clients that send too slowly, too much, too often or with wrong tokens."""

from __future__ import annotations

import asyncio
import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import anyio
import pytest

from slowwave.mcp.http import application
from slowwave.serving.access import UNKNOWN
from slowwave.serving.caller import Authentication, Caller
from slowwave.serving.fair_limiter import FairLimiter
from slowwave.serving.limits import DELAYED, FREE, LONGEST_DELAY_S, Limits
from slowwave.serving.server import server
from slowwave.serving.tokens import add_token
from slowwave.settings import load

LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
HALF_SENT = 4
PATIENCE_S = 30


@pytest.fixture
def served(home, memory, fast_embedder) -> Iterator[Callable[..., tuple[int, str]]]:
    """Starts a server in this process; gives its port and a token."""
    with ExitStack() as stack:

        def start(**limits: Any) -> tuple[int, str]:
            (home / "slowwave.toml").write_text(f'[embedding]\nmodel = "{fast_embedder.name}"\n')
            token = add_token(load(home), "ada", "claude")
            known = load(home).mcp.tokens
            settings = load(home, mcp={"tokens": known, "max_pending_connections": HALF_SENT, **limits})
            return stack.enter_context(
                running(server(application(settings, "127.0.0.1"), settings, "127.0.0.1", 0))
            ), token

        yield start


@contextmanager
def running(uvicorn_server: Any) -> Iterator[int]:
    thread = threading.Thread(target=uvicorn_server.run)
    thread.start()
    try:
        wait_until(lambda: uvicorn_server.started)
        yield uvicorn_server.servers[0].sockets[0].getsockname()[1]
    finally:
        uvicorn_server.should_exit = True
        thread.join(PATIENCE_S)


def wait_until(true: Callable[[], bool]) -> None:
    limit = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < limit
        time.sleep(0.01)


def connect(port: int, sent: bytes = b"") -> socket.socket:
    client = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    client.sendall(sent)
    return client


def request(
    token: str, body: bytes = b"", length: int | None = None, path: str = "/mcp", **more: str
) -> bytes:
    headers = {
        "Host": "localhost", "Content-Type": "application/json", "Connection": "close",
        "Accept": "application/json, text/event-stream", "Authorization": f"Bearer {token}",
        "Content-Length": str(len(body) if length is None else length), **more,
    }  # fmt: skip
    lines = [f"POST {path} HTTP/1.1", *(f"{name}: {value}" for name, value in headers.items() if value)]
    return "\r\n".join([*lines, "", ""]).encode() + body


def answer(client: socket.socket) -> bytes:
    """Everything that comes until the server closes the connection."""
    parts = []
    try:
        while part := client.recv(65_536):
            parts.append(part)
    except ConnectionResetError:
        pass
    return b"".join(parts)


@pytest.mark.parametrize(
    "sent", [b"", b"POST /mcp HTT", b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-", "half a body"]
)
def test_a_request_that_does_not_arrive_is_given_up(served, sent):
    port, token = served(request_timeout_seconds=0.3)
    if isinstance(sent, str):
        sent = request(token, b'{"jsonrpc"', length=100)
    with connect(port, sent) as client:
        assert answer(client) == b""
    with connect(port, request(token, json.dumps(LIST).encode())) as client:
        assert b"200 OK" in answer(client)


def test_a_request_that_comes_byte_by_byte_is_given_up(served):
    port, _ = served(request_timeout_seconds=0.3)
    with connect(port) as client:
        client.settimeout(0.02)
        sent = 0
        try:
            for sent in range(2_000):
                client.sendall(b"G" if not sent else b"x")
                try:
                    if not client.recv(1):
                        break
                except TimeoutError:
                    continue
        except (ConnectionResetError, BrokenPipeError):
            pass
        assert sent < 1_999


def test_only_so_many_are_half_sent_and_the_oldest_makes_room(served):
    port, token = served(request_timeout_seconds=600)
    with ExitStack() as stack:
        half = [stack.enter_context(connect(port, b"POST /mcp HTTP/1.1\r\nHost: x\r\n")) for _ in range(40)]
        for client in half[:-HALF_SENT]:
            assert answer(client) == b""
        with connect(port, request(token, json.dumps(LIST).encode())) as client:
            assert b"200 OK" in answer(client)
        half[-1].setblocking(False)
        with pytest.raises(BlockingIOError):  # still open
            half[-1].recv(1)


def test_a_request_that_is_too_large_is_refused(served):
    port, token = served(max_request_bytes=10_000)
    big = json.dumps(LIST | {"params": {"x": "x" * 20_000}}).encode()
    for sent in (request(token, b"", length=20_000_000), request(token, big)):
        with connect(port, sent) as client:
            assert b" 413 " in answer(client)
    chunked = request(token, **{"Transfer-Encoding": "chunked", "Content-Length": ""})
    with connect(port, chunked + b"%x\r\n%s\r\n" % (len(big), big)) as client:
        assert b" 413 " in answer(client)


def test_nobody_is_sent_elsewhere(served):
    port, token = served()
    for path in ("/mcp/", "//mcp", "/mcp//"):
        sent = request(token, json.dumps(LIST).encode(), path=path, Host="evil.example.com")
        with connect(port, sent) as client:
            said = answer(client)
        assert b" 404 " in said.partition(b"\r\n")[0]
        assert b"evil" not in said


# -- wrong tokens and too many requests ----------------------------------------------------------------


class Asked:
    """An application that answers when it is told to, behind the limits."""

    def __init__(self, requests: int = 2) -> None:
        self.slept: list[float] = []
        self.go = anyio.Event()
        self.status = 401
        self.limits = Limits(self, self, requests, self._sleep)

    async def answer(self, bearer: str) -> Authentication:
        """Who calls: one token is right, one has expired, and others may have been guessed."""
        known = {
            "right": Authentication(Caller("ada", "claude")),
            "old": Authentication(None, 'It "expired" ä.'),
        }
        return known.get(bearer, UNKNOWN)

    async def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.go.wait()
        await send({"type": "http.response.start", "status": self.status, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def ask(self, token: str, address: str = "10.0.0.1") -> dict[bytes, bytes]:
        """The status and headers of the answer."""
        said: dict[bytes, bytes] = {}

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                said.update(message["headers"])
                said[b":status"] = message["status"]

        headers = [(b"authorization", f"Bearer {token}".encode())] if token else []
        scope = {"type": "http", "headers": headers, "client": (address, 1), "method": "POST", "path": "/"}
        await self.limits(scope, None, send)
        return said


def test_wrong_tokens_are_answered_slower_and_slower():
    async def run() -> None:
        asked = Asked()
        asked.go.set()
        for _ in range(FREE + 8):
            await asked.ask("wrong")
        assert asked.slept == sorted(asked.slept)
        assert (len(asked.slept), asked.slept[-1]) == (8, LONGEST_DELAY_S)
        await asked.ask("wrong", address="10.0.0.2")
        await asked.ask("right")
        await asked.ask("")
        assert len(asked.slept) == 8

    asyncio.run(run())


def test_who_had_a_right_to_come_is_told_at_once_why_it_is_over():
    async def run() -> None:
        asked = Asked()
        asked.go.set()
        for _ in range(FREE + 8):
            said = await asked.ask("old")
        assert asked.slept == []
        assert said[b":status"] == 401
        expected = b'Bearer error="invalid_token", error_description="It ?expired? ?."'
        assert said[b"www-authenticate"] == expected
        asked.status = 404
        assert (await asked.ask("old"))[b":status"] == 404

    asyncio.run(run())


def test_answers_to_wrong_tokens_are_held_back_only_so_many_at_a_time():
    async def run() -> None:
        asked = Asked()
        async with anyio.create_task_group() as group:
            for number in range(DELAYED):
                group.start_soon(asked.ask, "wrong", f"10.0.0.{number}")
            await anyio.wait_all_tasks_blocked()
            assert (await asked.ask("wrong"))[b":status"] == 429
            asked.go.set()
        assert (await asked.ask("wrong"))[b":status"] == 401

    asyncio.run(run())


def test_too_many_requests_with_one_token_are_told_to_come_back():
    async def run() -> None:
        asked = Asked(requests=2)
        asked.status = 200
        async with anyio.create_task_group() as group:
            group.start_soon(asked.ask, "right")
            group.start_soon(asked.ask, "right")
            await anyio.wait_all_tasks_blocked()
            busy = await asked.ask("right")
            assert (busy[b":status"], busy[b"retry-after"]) == (429, b"2")
            asked.go.set()
        assert (await asked.ask("right"))[b":status"] == 200

    asyncio.run(run())


# -- turns ---------------------------------------------------------------------------------------------


def test_callers_work_in_turn_whoever_asked_for_more():
    async def run() -> list[str]:
        turns, done, go = FairLimiter(1), [], anyio.Event()

        async def work(caller: str) -> None:
            async with turns.of(Caller(caller, "x")):
                await go.wait()
                done.append(caller)

        async with anyio.create_task_group() as group:
            for caller in ("ada", *["ada"] * 5, "bob", "bob", "cy"):
                group.start_soon(work, caller)
                await anyio.wait_all_tasks_blocked()
            go.set()
        async with turns.of("again"):
            done.append("free")
        return done

    assert asyncio.run(run()) == ["ada", "ada", "bob", "cy", "ada", "bob", "ada", "ada", "ada", "free"]


def test_who_is_gone_gives_his_turn_away():
    async def run() -> bool:
        turns = FairLimiter(1)
        async with turns.of("ada"):
            with anyio.move_on_after(0.01):
                async with turns.of("bob"):
                    raise AssertionError
        with anyio.fail_after(PATIENCE_S):
            async with turns.of("cy"):
                return not turns._line
        return False

    assert asyncio.run(run())
