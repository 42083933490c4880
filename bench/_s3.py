"""Temporary S3 server: a process of moto with one bucket, removed afterwards.

moto looks whether an object is there and then makes it, so that of two writers at once both may; S3 lets one
(`If-None-Match: *`), and two writers of a table rest on that. So it is given one request at a time.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any

KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test-secret"}
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Bucket:
    """A bucket of a server."""

    endpoint: str
    name: str

    def options(self) -> dict[str, str]:
        """As LanceDB takes them."""
        return {**KEYS, "endpoint": self.endpoint, "allow_http": "true", "region": "us-east-1"}

    def variables(self, prefix: str) -> dict[str, str]:
        """Of a home whose tables are in it."""
        return {
            "SLOWWAVE_STORE__URI": f"s3://{self.name}/{prefix}",
            "SLOWWAVE_STORE__STORAGE_OPTIONS": json.dumps(self.options()),
        }


@contextmanager
def bucket() -> Iterator[Bucket]:
    """Run a server; the value is its one bucket.

    Raises:
        ImportError: moto or boto3 is not installed.
        RuntimeError: it does not start.
    """
    import boto3
    import moto.server  # noqa: F401 - the process below needs it

    port = free_port()
    process = subprocess.Popen(
        [sys.executable, __file__, str(port)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        until_listens(port, process)
        made = Bucket(f"http://127.0.0.1:{port}", "memories")
        client: Any = boto3.client("s3", endpoint_url=made.endpoint, region_name="us-east-1", **KEYS)
        client.create_bucket(Bucket=made.name)
        yield made
    finally:
        process.kill()
        process.wait()


def serve(port: int) -> None:
    """Be the server; it ends with its process."""
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import run_simple

    application, turn = DomainDispatcherApplication(create_backend_app), Lock()

    def one_at_a_time(environ: dict[str, Any], start: Any) -> list[bytes]:  # noqa: ANN401 - of WSGI
        with turn:
            return list(application(environ, start))

    run_simple("127.0.0.1", port, one_at_a_time, threaded=True)


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until_listens(port: int, process: subprocess.Popen[Any], log: Path | None = None) -> None:
    """Wait until a process listens.

    Raises:
        RuntimeError: it ended, or does not listen within a minute; with its log.
    """
    limit = time.monotonic() + PATIENCE_S
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        if process.poll() is not None or time.monotonic() > limit:
            raise RuntimeError("" if log is None else log.read_text())
        time.sleep(0.1)


if __name__ == "__main__":
    serve(int(sys.argv[1]))
