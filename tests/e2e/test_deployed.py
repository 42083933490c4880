"""The services of deploy/compose.yaml as processes of this machine, with its own commands and settings."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import servers
import yaml

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
COMPOSE = yaml.safe_load((ROOT / "deploy/compose.yaml").read_text())
NAME = "memory.example.org"
SAID = "The tide board of the ferry pier is read at six in the morning by Ada."


class Services:
    """What the file starts, here: other addresses of PostgreSQL and S3, other ports, and folders as homes."""

    def __init__(self, folder: Path, postgres: str, s3: servers.Bucket, token: str) -> None:
        self._folder, self._running, self.ports = folder, [], {}
        self.token = token
        known = {"token_sha256": sha256(token.encode()).hexdigest(), "namespace": "team", "principal": "app"}
        filled = {
            "${MEMORY_HOST:?}": NAME,
            "${SLOWWAVE_MCP__TOKENS:?}": json.dumps([known]),
            "${POSTGRES_PASSWORD:?}": "of nobody",
            "${AWS_ACCESS_KEY_ID:?}": servers.KEYS["aws_access_key_id"],
            "${AWS_SECRET_ACCESS_KEY:?}": servers.KEYS["aws_secret_access_key"],
            "http://s3:8333": s3.endpoint,
            "postgresql://slowwave@postgres/slowwave": postgres.replace("/postgres?", "/slowwave?"),
            "postgresql://slowwave@postgres/dagster": postgres.replace("/postgres?", "/dagster?"),
        }
        self._settings = {"SLOWWAVE_EMBEDDING__MODEL": "wordllama-256", "SLOWWAVE_GATE__MODE": "enforce"}
        for name, value in COMPOSE["x-memory"]["environment"].items():
            for old, new in filled.items():
                value = value.replace(old, new)
            assert "${" not in value
            self._settings[name] = value

    def _start(self, service: str, name: str) -> tuple[subprocess.Popen[bytes], Path]:
        described = COMPOSE["services"][service]
        home, log = self._folder / name, self._folder / f"{name}.log"
        home.mkdir()
        words = [sys.executable, "-m", "slowwave"]
        if "entrypoint" in described:
            words = [sys.executable, str(ROOT / "deploy/check_s3.py")]
        for word in described.get("command", []):
            if word in ("8765", "3000"):
                self.ports[name] = servers.free_port()
            exchanged = {"/var/lib/slowwave/home": str(home), "8765": "", "3000": ""}
            words.append(exchanged.get(word, word) or str(self.ports[name]))
        with log.open("wb") as output:
            process = subprocess.Popen(
                words, stdout=output, stderr=subprocess.STDOUT, cwd=self._folder,
                env=servers.clean_environment(
                    **self._settings, SLOWWAVE_HOME=str(home), PYTHONPATH=str(ROOT), PYTHONUNBUFFERED="1"
                ),
            )  # fmt: skip
        self._running.append((process, log))
        return process, log

    def run(self, service: str, name: str) -> str:
        """A service that ends by itself: what it said."""
        process, log = self._start(service, name)
        assert process.wait(240) == 0, log.read_text()
        return log.read_text()

    def begin(self, service: str, name: str) -> subprocess.Popen[bytes]:
        """A service that stays, as it begins."""
        return self._start(service, name)[0]

    def serve(self, service: str, name: str) -> None:
        """A service that stays: listening when this returns."""
        process, log = self._start(service, name)
        servers.until_listens(self.ports[name], process, log)

    def call(self, name: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool of a server answers to a request for the one name, as the proxy passes it on."""
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
        body["params"] = {"name": tool, "arguments": arguments}
        headers = {
            "Host": NAME,
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.token}",
        }
        address = f"http://127.0.0.1:{self.ports[name]}/mcp"
        request = urllib.request.Request(address, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            result = json.loads(answer.read())["result"]
        assert not result.get("isError"), result
        return result["structuredContent"]

    def end(self) -> None:
        """TERM, as the engine sends it."""
        left = [(process, log) for process, log in self._running if process.poll() is None]
        for process, _ in left:
            process.terminate()
        for process, _ in left:
            process.wait(90)

    def said(self) -> str:
        """All that was printed."""
        return "\n".join(log.read_text() for _, log in self._running)


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    import psycopg

    with ExitStack() as parts:
        address = parts.enter_context(servers.postgres()).replace("+psycopg", "")
        with psycopg.connect(address, autocommit=True) as connection:
            connection.execute("CREATE DATABASE slowwave")
            connection.execute((ROOT / "deploy/databases.sql").read_text())
        token = "slowwave_" + secrets.token_urlsafe(32)
        made = Services(tmp_path, address, parts.enter_context(servers.s3()), token)
        parts.callback(made.end)
        yield made


def test_the_services_of_the_file_are_one_memory(services: Services) -> None:
    assert "each created once" in services.run("check", "check")
    services.run("init", "init")
    services.serve("mcp", "first")
    services.serve("mcp", "second")
    saved = services.call("first", "memory_save", content=SAID, key="tide")
    assert saved["status"] == "live"
    found = services.call("second", "memory_search", query="who reads the tide board?")
    assert [one["memory_id"] for one in found["results"]] == [saved["memory_id"]]

    process = services.begin("night", "night")
    address = f"http://127.0.0.1:{services.ports['night']}/server_info"
    while True:  # the test's own limit is the limit of this
        assert process.poll() is None, services.said()
        try:
            with urllib.request.urlopen(address, timeout=10) as answer:
                assert "dagster_version" in json.load(answer)
            break
        except OSError:
            time.sleep(0.2)
    services.end()
    assert services.token not in services.said()
    assert servers.KEYS["aws_secret_access_key"] not in services.said()
