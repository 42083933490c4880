"""A server of this machine that speaks the chat completions protocol, and says what a test wants."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Answer = tuple[int, Any]  # status, and the body: text of a completion, or a whole body


class ChatServer:
    """Answers each request with `answer(number, request)`; keeps the requests."""

    def __init__(self, answer: Callable[[int, dict[str, Any]], Answer]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.paths: list[str] = []
        self.url = ""
        self._answer = answer
        self._lock = threading.Lock()

    def reply(self, handler: BaseHTTPRequestHandler) -> None:
        body = json.loads(handler.rfile.read(int(handler.headers["content-length"])))
        with self._lock:
            self.requests.append(body)
            self.headers.append(dict(handler.headers))
            self.paths.append(handler.path)
            number = len(self.requests)
        status, said = self._answer(number, body)
        data = json.dumps(completion(said) if isinstance(said, str) else said).encode()
        try:
            handler.send_response(status)
            handler.send_header("content-type", "application/json")
            handler.send_header("retry-after-ms", "1")
            handler.send_header("content-length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)
        except (BrokenPipeError, ConnectionResetError):
            pass  # a client that has gone, as some tests want

    def pair(self, number: int) -> dict[str, Any]:
        """What the judge was shown in a request (from 1)."""
        return json.loads(self.requests[number - 1]["messages"][1]["content"])


def completion(content: str | None, tokens: int = 100) -> dict[str, Any]:
    """A body as the protocol has it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 0,
        "model": "judge-1",
        "choices": [
            {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
        ],
        "usage": {"prompt_tokens": tokens - 20, "completion_tokens": 20, "total_tokens": tokens},
    }


def grade(number: int, why: str = "so it is") -> str:
    """An answer of the form that is asked for."""
    return json.dumps({"grade": number, "explanation": why})


@contextmanager
def serving(answer: Callable[[int, dict[str, Any]], Answer]) -> Iterator[ChatServer]:
    """The server, for as long as the block takes."""
    state = ChatServer(answer)

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            state.reply(self)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    state.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def slow(seconds: float, answer: Answer) -> Answer:
    """An answer that takes a while."""
    time.sleep(seconds)
    return answer
