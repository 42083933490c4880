"""A web server that takes messages, and answers as it is told."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Webhook:
    """What a server got.

    Attributes:
        url: of it.
        status: that it answers with.
        location: where it sends its callers instead.
        silent: never answers.
        got: bodies, the first first.
        headers: of the last one.
    """

    url: str = ""
    status: int = 200
    location: str = ""
    silent: threading.Event | None = None
    got: list[dict[str, Any]] = field(default_factory=list)
    headers: dict[str, str] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)


@contextmanager
def serving() -> Iterator[Webhook]:
    """A server on a free port of this machine, until the end of the block."""
    hook = Webhook()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            hook.asked.append(self.path)
            body = self.rfile.read(int(self.headers["Content-Length"]))
            hook.got.append(json.loads(body))
            hook.headers = dict(self.headers)
            if hook.silent is not None:
                hook.silent.wait(30)
                return
            self.send_response(hook.status)
            if hook.location:
                self.send_header("Location", hook.location)
            self.end_headers()

        def do_GET(self) -> None:
            hook.asked.append(f"GET {self.path}")
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    hook.url = f"http://127.0.0.1:{server.server_port}/hooks/secret-token"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hook
    finally:
        if hook.silent is not None:
            hook.silent.set()
        server.shutdown()
        server.server_close()
