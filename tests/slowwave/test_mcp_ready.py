"""The server is ready before anybody asks, says so at once, and a call that comes early waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp_helpers import BATTERY, DEPLOY, connected

from slowwave.index.incremental_snapshot import Snapshots
from slowwave.mcp import http, stdio
from slowwave.mcp.http import application
from slowwave.mcp.server import build
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MAX_READY, MemoryPool
from slowwave.serving.tokens import add_token
from slowwave.settings import load

FAST = {"model": "wordllama-256"}


class Watched:
    """A model that says when it is asked for a vector, and waits to be let go."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.name, self.dimension = model.name, model.dimension
        self.asked: list[str] = []
        self.began, self.go = threading.Event(), threading.Event()
        self.go.set()

    def embed_query(self, text: str) -> Any:
        self.asked.append(text)
        self.began.set()
        assert self.go.wait(60)
        return self._model.embed_query(text)

    def embed_documents(self, *given: Any) -> Any:
        return self._model.embed_documents(*given)


@pytest.fixture
def model(fast_embedder: Any, monkeypatch: pytest.MonkeyPatch) -> Watched:
    """What every home that is opened from now on loads."""
    watched = Watched(fast_embedder)
    monkeypatch.setattr("slowwave.embedding.load_embedder", lambda *_: watched)
    return watched


@pytest.fixture
def filled(open_memory: Callable[..., Memory]) -> Memory:
    memory = open_memory()
    memory.save(DEPLOY)
    memory.save(BATTERY)
    return memory


def memories_of(home: Path, namespace: str = "ada") -> MemoryPool:
    settings = load(home, embedding=FAST)
    return MemoryPool(settings, lambda: Caller(namespace, "claude"), namespace=namespace)


def test_model_and_tables_are_loaded_before_any_call_comes(filled, home, model, monkeypatch):
    read, real = [], Snapshots.of
    monkeypatch.setattr(Snapshots, "of", lambda self, name: (read.append(name), real(self, name))[1])
    memories = memories_of(home)
    memories.begin(["ada"]).join(60)
    space = memories._space
    assert {"store", "journal", "embedder", "policy", "gate_policy"} <= set(vars(space))
    assert len(model.asked) == 1  # a vector was made: the model is there
    assert set(read) == {"ada"}  # and the chunks of the namespace
    assert filled.journal.count("ada", "search") == 0  # nobody has searched
    assert [one.text for one in memories.of(memories.caller()).search("when do we deploy?")][:1] == [DEPLOY]
    assert len(model.asked) == 2
    memories.close()


def test_the_server_answers_while_it_loads_and_the_first_call_waits(filled, home, model):
    model.go.clear()
    memories = memories_of(home)
    begun = memories.begin(["ada"])
    assert model.began.wait(60)
    with connected(build(memories)) as assistant:
        assert "memory_search" in [tool.name for tool in assistant.tools()]  # though nothing is loaded
        assert begun.is_alive()
        found: list[Any] = []
        call = threading.Thread(
            target=lambda: found.append(assistant.call("memory_search", query="when do we deploy?"))
        )
        call.start()
        call.join(0.3)
        assert call.is_alive()
        assert not found
        model.go.set()
        call.join(60)
    assert DEPLOY in str(found)
    assert len(model.asked) == 2  # one that nobody sees, and the one that was asked


def test_what_cannot_be_loaded_is_told_to_the_first_caller_and_to_the_log(home, caplog):
    home.mkdir()
    settings = load(home, embedding={"model": "no-such-model"})
    memories = MemoryPool(settings, lambda: Caller("ada", "claude"))
    memories.begin(["ada", "bob"]).join(60)
    (line,) = caplog.messages
    assert "'no-such-model' is unknown" in line
    with connected(build(memories)) as assistant:
        assert "'no-such-model' is unknown" in assistant.fail("memory_search", query="deploy day")


def test_a_server_that_ended_loads_nothing_more(filled, home, model):
    memories = memories_of(home)
    memories.close()
    memories.begin(["ada", "bob"]).join(60)
    assert not model.asked
    assert "store" not in vars(memories._space)


def test_very_many_namespaces_are_not_all_loaded(filled, home, model):
    memories = memories_of(home)
    memories.begin(f"tenant-{number}" for number in range(50)).join(60)
    assert len(model.asked) == MAX_READY
    memories.close()


@pytest.fixture
def begun(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """What servers load when they begin, without doing it."""
    seen: list[list[str]] = []
    monkeypatch.setattr(MemoryPool, "begin", lambda self, namespaces: seen.append(list(namespaces)))
    return seen


def test_over_standard_input_it_begins_before_the_client_has_said_anything(filled, home, begun, monkeypatch):
    class Server:
        def run(self, how: str) -> None:
            begun.append([how])

    monkeypatch.setattr(stdio, "build", lambda _: Server())
    stdio.serve(load(home, embedding=FAST), Caller("ada", "claude"))
    assert begun == [["ada"], ["stdio"]]


def test_over_http_it_begins_with_the_namespaces_of_the_tokens(filled, home, begun):
    for namespace in ("ada", "bob", "ada"):
        add_token(load(home, embedding=FAST), namespace, "claude")
    served = application(load(home, embedding=FAST), "127.0.0.1")
    assert begun == []

    async def lives() -> int:
        async with served.router.lifespan_context(served):
            transport = httpx2.ASGITransport(app=served)
            async with httpx2.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
                return (await client.post(http.PATH, json={})).status_code

    assert anyio.run(lives) == 401
    assert begun == [["ada", "bob", "ada"]]
