"""A team's memory: PostgreSQL and S3 behind two stateless servers and a night, each killed while it works."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from hashlib import sha256
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
import servers

import slowwave
from slowwave.store.tables import table_specs

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
TEAM = "team"
FACTS = [
    "The weir at the mill is opened by hand when the river stands above two metres.",
    "Dora reads the tide board at the fish ladder every thirty minutes in spring.",
    "Invoices of the ferry company are paid on the last Thursday of a month.",
    "The backup generator of the pumping station burns diesel for nine hours.",
    "Cem keeps the spare keys of the north lock in the blue cabinet.",
    "Satellite uploads fail while the antenna is covered with ice.",
    "Our wiki moved to the new server on the third of March.",
    "The survey boat needs two people and a radio on board.",
    "Interns write their reports in the shared notebook on Fridays.",
    "Rainfall figures come from the airport and not from the roof.",
    "The old database of levels is read-only since January.",
    "Bob answers the flood telephone in the second half of the year.",
]


class Team:
    """The parts of one memory, each a process with a home folder of its own in which nothing is kept."""

    def __init__(self, folder: Path, variables: dict[str, str], token: str) -> None:
        self.folder, self.token = folder, token
        self._variables = variables
        self._processes: dict[str, tuple[subprocess.Popen[bytes], int]] = {}

    def environment(self, name: str) -> dict[str, str]:
        home = self.folder / name
        home.mkdir(exist_ok=True)
        return servers.clean_environment(
            **self._variables, SLOWWAVE_HOME=str(home), PYTHONPATH=str(ROOT), PYTHONUNBUFFERED="1"
        )

    def start(self, name: str) -> None:
        """A server, listening when this returns."""
        port, log = servers.free_port(), self.folder / f"{name}.log"
        with log.open("ab") as output:
            process = subprocess.Popen(
                [sys.executable, "-m", "slowwave", "mcp", "--http", "--port", str(port)],
                env=self.environment(name), stdout=output, stderr=subprocess.STDOUT, cwd=self.folder,
            )  # fmt: skip
        self._processes[name] = process, port
        servers.until_listens(port, process, log)

    def kill(self, name: str) -> None:
        process, _ = self._processes.pop(name)
        process.kill()
        process.wait()

    def end(self) -> None:
        for process, _ in self._processes.values():
            process.terminate()
        for process, _ in self._processes.values():
            assert process.wait(60) in (0, -signal.SIGTERM)

    def call(self, name: str, tool: str, **arguments: Any) -> dict[str, Any]:
        """What a tool answers; each request stands for itself."""
        params = {"name": tool, "arguments": arguments}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self.token}",
        }
        address = f"http://127.0.0.1:{self._processes[name][1]}/mcp"
        request = urllib.request.Request(address, json.dumps(body).encode(), headers)
        with urllib.request.urlopen(request, timeout=120) as answer:
            result = json.loads(answer.read())["result"]
        assert not result.get("isError"), result
        return result["structuredContent"]

    def night(self) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [sys.executable, "-m", "slowwave", "night", "--json"], env=self.environment("night"),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.folder,
        )  # fmt: skip

    def memory(self, monkeypatch: pytest.MonkeyPatch) -> slowwave.Memory:
        for name, value in self.environment("look").items():
            if name.startswith("SLOWWAVE_"):
                monkeypatch.setenv(name, value)
        return slowwave.open(namespace=TEAM)


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Team]:
    import psycopg

    with ExitStack() as parts:
        address = parts.enter_context(servers.postgres())
        bucket = parts.enter_context(servers.s3())
        plain = address.replace("+psycopg", "")
        with psycopg.connect(plain, autocommit=True) as connection:
            for name in ("journal", "dagster"):
                connection.execute(f"CREATE DATABASE {name}")
        token = "slowwave_" + secrets.token_urlsafe(32)
        known = {"token_sha256": sha256(token.encode()).hexdigest(), "namespace": TEAM, "principal": "app"}
        variables = {
            **bucket.variables("team"),
            "SLOWWAVE_JOURNAL__URL": address.replace("/postgres?", "/journal?"),
            "SLOWWAVE_NIGHT__DAGSTER_URL": plain.replace("/postgres?", "/dagster?"),
            "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256",
            "SLOWWAVE_GATE__MODE": "enforce",
            "SLOWWAVE_MCP__TOKENS": json.dumps([known]),
        }
        made = Team(tmp_path_factory.mktemp("team"), variables, token)
        yield made
        made.end()


def test_a_memory_of_a_team_outlives_each_of_its_processes(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        team.start(name)
    saved = [team.call("a", "memory_save", content=text, key=f"g{n}") for n, text in enumerate(FACTS[:4])]
    assert [one["status"] for one in saved] == ["live"] * 4
    found = team.call("b", "memory_search", query="when is the weir at the mill opened?")
    assert found["results"]
    assert {one["memory_id"] for one in found["results"]} <= {one["memory_id"] for one in saved}
    team.call("a", "memory_observe", search_id=found["search_id"], response=found["results"][0]["text"])

    # One server is killed while it saves: what it acknowledged is there, and nothing is there twice.
    acked: list[str] = []

    def save() -> None:
        for number, text in enumerate(FACTS[4:], start=4):
            try:
                acked.append(team.call("a", "memory_save", content=text, key=f"g{number}")["memory_id"])
            except (OSError, urllib.error.URLError, ValueError):
                return

    saving = threading.Thread(target=save)
    saving.start()
    while len(acked) < 2 and saving.is_alive():
        time.sleep(0.01)
    team.kill("a")
    saving.join()
    assert acked
    again = [team.call("b", "memory_save", content=text, key=f"g{n}") for n, text in enumerate(FACTS)]
    ids = {one["memory_id"] for one in again}
    assert {one["memory_id"] for one in saved} | set(acked) <= ids
    assert len(ids) == len(FACTS)

    # The night is killed in the middle, and the next one comes to the same.
    dead = team.night()
    first = _a_run_that_works(team, dead)
    dead.kill()
    dead.communicate()
    done = team.night()
    out, err = done.communicate(timeout=400)
    assert done.returncode == 0, out + err
    report = json.loads(out)
    assert report["success"]
    assert report["live"] == len(FACTS)
    with _dagster(team) as instance:
        assert instance.get_run_by_id(first).status == dg.DagsterRunStatus.FAILURE
        assert instance.get_runs(dg.RunsFilter(statuses=[dg.DagsterRunStatus.SUCCESS]))

    # A server that searches is killed; another one answers the same question.
    asking = threading.Thread(target=_ask_until_it_is_gone, args=[team, "b"])
    asking.start()
    team.start("a")
    team.kill("b")
    asking.join()
    team.start("b")
    answers = [
        [(one["memory_id"], one["text"]) for one in
         team.call(name, "memory_search", query="who reads the tide board at the fish ladder?")["results"]]
        for name in ("a", "b")
    ]  # fmt: skip
    assert answers[0]
    assert answers[0] == answers[1]

    with team.memory(monkeypatch) as memory:
        for name in table_specs(memory.store.identity.dimension):
            keys = [memory.store.specs[name].key]
            rows = memory.store.read(name, columns=keys)
            assert rows.height == rows.unique().height, f"{name} has rows twice"
        assert memory.count() == len(FACTS)
        chunks = memory.store.read("chunks", columns=["memory_id"])
        assert chunks["memory_id"].n_unique() == len(FACTS)
    kept = {path.name for name in ("a", "b") for path in (team.folder / name).rglob("*") if path.is_file()}
    assert not {name for name in kept if name.endswith((".db", ".lance"))}, kept


def _dagster(team: Team) -> dg.DagsterInstance:
    os.environ["DAGSTER_POSTGRES_URL"] = team.environment("night")["SLOWWAVE_NIGHT__DAGSTER_URL"]
    return dg.DagsterInstance.from_config(str(team.folder / "night" / "dagster"))


def _a_run_that_works(team: Team, night: subprocess.Popen[str]) -> str:
    """The id of the night's run, once a step of it has ended."""
    import psycopg

    address = team.environment("night")["SLOWWAVE_NIGHT__DAGSTER_URL"]
    asked = "SELECT run_id FROM event_logs WHERE dagster_event_type = 'STEP_SUCCESS' LIMIT 1"
    while True:
        assert night.poll() is None, night.communicate()
        with psycopg.connect(address) as connection, suppress(psycopg.errors.UndefinedTable):
            found = connection.execute(asked).fetchone()
            if found is not None:
                return str(found[0])
        time.sleep(0.02)


def _ask_until_it_is_gone(team: Team, name: str) -> None:
    for _ in range(10_000):
        try:
            team.call(name, "memory_search", query="keys of the north lock")
        except (OSError, urllib.error.URLError, ValueError, KeyError):
            return
