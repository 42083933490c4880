"""Servers that tests start for themselves: PostgreSQL, and one that speaks S3."""

from __future__ import annotations

import importlib.util
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

KEYS = {"aws_access_key_id": "test", "aws_secret_access_key": "test-secret"}
PATIENCE_S = 60.0
_POSTGRES = Path(__file__).parents[1] / "bench" / "_postgres.py"


def postgres() -> AbstractContextManager[str]:
    """A PostgreSQL of one's own; its value is the address of an empty database."""
    if not list(Path("/usr/lib/postgresql").glob("*/bin")):
        pytest.skip("PostgreSQL is not installed; on Debian: apt-get install postgresql")
    spec = importlib.util.spec_from_file_location("_postgres", _POSTGRES)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.server()


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
def s3() -> Iterator[Bucket]:
    """A process that speaks S3, with one bucket."""
    pytest.importorskip("moto.server", reason="moto[server] is not installed")
    import boto3

    port = free_port()
    words = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until_listens(port, process)
        made = Bucket(f"http://127.0.0.1:{port}", "memories")
        client: Any = boto3.client("s3", endpoint_url=made.endpoint, region_name="us-east-1", **KEYS)
        client.create_bucket(Bucket=made.name)
        yield made
    finally:
        process.kill()
        process.wait()


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until_listens(port: int, process: subprocess.Popen[Any], log: Path | None = None) -> None:
    """Wait until a process listens."""
    limit = time.monotonic() + PATIENCE_S
    while True:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        told = "" if log is None else log.read_text()
        assert process.poll() is None, told
        assert time.monotonic() < limit, told
        time.sleep(0.1)


def clean_environment(**variables: str) -> dict[str, str]:
    """This process's variables without settings of a memory or of AWS, and with these."""
    ours = ("SLOWWAVE_", "AWS_", "DAGSTER_")
    clean = {name: value for name, value in os.environ.items() if not name.startswith(ours)}
    return clean | variables
