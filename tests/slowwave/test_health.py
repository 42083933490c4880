"""What probes are told: whether a server lives and can answer, and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest
from mcp_helpers import free_port
from starlette.applications import Starlette
from starlette.testclient import TestClient

from slowwave.home.workspace import Workspace
from slowwave.journal.maintenance_ops import maintenance_op
from slowwave.serving.caller import Caller
from slowwave.serving.health import Health, health_routes
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import load
from slowwave.web.app import application
from slowwave.web.sessions import OneTimeLinks

ROOT = Path(__file__).parents[2]
OK = {"journal": "ok", "tables": "ok", "model": "ok"}


class Stop(Exception):  # noqa: N818 - what ends a work in its middle
    pass


def test_a_home_that_answers_is_ready_and_one_with_a_work_under_way_is_not(memory):
    space = memory._space
    assert Health(space).look() == (True, OK)
    with pytest.raises(Stop), maintenance_op(space.journal, "the restore of 'secretname'", "do", space.now()):
        raise Stop
    found = Health(space).look()
    assert not found.ready
    assert found.parts["journal"] == "unfinished maintenance of the tables; run slowwave doctor"
    assert "secretname" not in str(found)
    with maintenance_op(space.journal, "the restore of 'secretname'", "do", space.now()):
        pass
    assert Health(space).look() == (True, OK)


def test_what_is_not_open_is_opened_for_the_first_probe(home, memory, fast_embedder):
    memory.close()
    space = Workspace(load(home))
    assert Health(space).look().ready
    assert {"journal", "store", "embedder"} <= space.__dict__.keys()
    space.close()


def test_a_fault_is_told_by_its_kind_and_not_by_its_words(home, memory):
    memory.close()
    space = Workspace(load(home, journal={"url": "postgresql+psycopg://ada:canarypw@127.0.0.1:1/slowwave"}))
    found = Health(space).look()
    assert not found.ready
    assert "does not answer" in found.parts["journal"]
    assert "does not answer" in found.parts["tables"]
    assert not [word for word in ("canarypw", "ada", str(home), "127.0.0.1") if word in str(found.parts)]


def test_an_answer_serves_for_a_second_and_a_look_that_hangs_is_not_waited_for(memory, monkeypatch):
    from slowwave.serving import health

    looks, gate = [], threading.Event()

    def unfinished(_: Any) -> list[Any]:
        looks.append(1)
        assert gate.wait(30)
        return []

    monkeypatch.setattr(health, "pending_op", unfinished)
    asked = Health(memory._space, patience=0.05)
    first = asked.look()
    assert first == (False, {"home": "no answer within 0.05 s"})
    assert not asked.look().ready
    assert len(looks) == 1  # the second probe began no second look
    gate.set()
    while not asked.look().ready:
        time.sleep(0.01)
    asked.look()
    assert len(looks) == 1
    monkeypatch.setattr(health, "KEPT_S", 0.0)
    asked.look()
    assert len(looks) == 2


def test_other_parts_are_told_and_are_no_reason_not_to_be_ready(memory):
    routes = health_routes(memory._space, details={"night": lambda: "ended; restarting"})
    with TestClient(Starlette(routes=routes)) as client:
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()["ready"]) == (200, True)
        assert answer.json()["parts"] == OK | {"night": "ended; restarting"}
        assert client.get("/healthz").text == "ok\n"
        with pytest.raises(Stop), maintenance_op(memory.journal, "a work", "do", memory._space.now()):
            raise Stop
        time.sleep(1.1)
        assert client.get("/readyz").status_code == 503
        assert client.get("/healthz").status_code == 200  # a restart would mend nothing


def test_probes_by_any_address_are_let_through_to_health_alone(home, memory, fast_embedder):
    memories = MemoryPool(load(home), lambda: Caller("ada", "page"))
    memories._space.__dict__["embedder"] = fast_embedder
    app = application(memories, load(home), OneTimeLinks())
    with TestClient(app, base_url="http://10.1.2.3:8770", follow_redirects=False) as client:
        assert client.get("/healthz").status_code == 200
        answer = client.get("/readyz")
        assert (answer.status_code, answer.json()) == (200, {"ready": True, "parts": OK})
        assert answer.headers["content-security-policy"].startswith("default-src 'none'")
        for path in ("/", "/health", "/sign-in", "/readyz/", "/healthz/../sign-in"):
            assert client.get(path).status_code == 421, path
        assert client.post("/readyz").status_code == 421
    memories.close()


def run(*words: str) -> subprocess.CompletedProcess[str]:
    """The command, in a process of its own."""
    given = {**os.environ, "PYTHONPATH": str(ROOT), "COLUMNS": "80", "NO_COLOR": "1", "SLOWWAVE_ASK": "0"}
    return subprocess.run(
        [sys.executable, "-m", "slowwave", "health", *words],
        env=given, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


@pytest.mark.slow
def test_the_command_asks_a_server_over_http(home, memory, fast_embedder):
    import uvicorn

    memory.close()
    space = Workspace(load(home))
    space.__dict__["embedder"] = fast_embedder
    server = uvicorn.Server(
        uvicorn.Config(
            Starlette(routes=health_routes(space)), port=(port := int(free_port())), log_level="error"
        )
    )
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        limit = time.monotonic() + 60
        while not server.started and time.monotonic() < limit:
            time.sleep(0.05)
        url = f"http://127.0.0.1:{port}/mcp"
        done = run("--url", url)
        assert (done.returncode, done.stdout.splitlines()[0]) == (0, "Ready."), done.stderr
        assert json.loads(run("--url", url, "--json").stdout) == {"ready": True, "parts": OK}
        live = run("--url", url, "--live")
        assert (live.returncode, live.stdout.splitlines()[0]) == (0, "Alive.")
        with pytest.raises(Stop), maintenance_op(space.journal, "a work", "do", space.now()):
            raise Stop
        time.sleep(1.1)
        done = run("--url", url)
        assert (done.returncode, done.stdout.splitlines()[0]) == (1, "Not ready.")
        live = run("--url", url, "--live")
        assert (live.returncode, live.stdout.splitlines()[0]) == (0, "Alive.")
    finally:
        server.should_exit = True
        thread.join()
        space.close()
    done = run("--url", url)
    assert done.returncode == 1
    assert "does not answer" in done.stderr
    done = run("--url", "ftp://somewhere")
    assert done.returncode == 1
    assert "no server URL" in done.stderr
