"""Every argument is bounded at every door, and the work of a call over a network ends with its time."""

from __future__ import annotations

import inspect
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, get_args

import anyio
import httpx
import pytest
from mcp_helpers import TOOLS, connected, free_port, over_http
from typer.testing import CliRunner

from slowwave.api import schemas
from slowwave.cli import app
from slowwave.common import deadline
from slowwave.common.arguments import METADATA_BYTES, limit_of
from slowwave.errors import ArgumentError, OverdueError
from slowwave.lifecycle.recovery import lacking
from slowwave.lifecycle.write_path import apply_lost_entries
from slowwave.mcp.http import application
from slowwave.mcp.server import build
from slowwave.memory import Memory
from slowwave.search.filters import Filters
from slowwave.serving.caller import Caller
from slowwave.serving.fair_limiter import READ_AT_ONCE
from slowwave.serving.memory_pool import MemoryPool
from slowwave.serving.server import server
from slowwave.serving.tokens import add_token
from slowwave.serving.work_bounds import WorkBounds
from slowwave.settings import load

GOOD: dict[str, Any] = {
    "content": "The pump is switched off on Sundays.", "query": "When is the pump off?", "search_id": "s",
    "result": 1, "rating": "helpful", "memory_id": "m", "decision_id": "d", "quarantine_id": "q",
    "project": "p", "outcome": "success", "response": "On Sundays.", "grade": 1, "days": 1, "key": "k",
    "said": dict, "notes": [],
    "planned": type("Plan", (), {})(),
}  # fmt: skip
OBJECTS = {"planned", "viewer", "similarity", "said"}
LABELS = {
    "tags": ["a"], "trigger_phrases": ["a b"], "aliases": ["a"], "context": "word", "title": "t",
    "follows": "k", "state": "s",
}  # fmt: skip


def texts_of(call: Any) -> Iterator[tuple[str, bool, bool]]:
    """Arguments of a call that take a text or a list: name, whether a text, whether a list."""
    for name, one in inspect.signature(call).parameters.items():
        kind = str(one.annotation)
        if name in ("self", *OBJECTS) or one.kind is inspect.Parameter.VAR_KEYWORD:
            continue
        many = "Sequence" in kind or "Collection" in kind
        text = kind.startswith("str")
        if (text or many) and "Mapping" not in kind:
            yield name, text, many


def too_long(name: str, *, text: bool, many: bool) -> list[Any]:
    limit = limit_of(name)
    values: list[Any] = ["x" * (limit.characters + 1)] if text else []
    return values + ([["x"] * (limit.values + 1), ["x" * (limit.characters + 1)]] if many else [])


CALLS = [
    (method, name, value)
    for method, call in vars(Memory).items()
    if inspect.isfunction(call) and not method.startswith("_")
    for name, text, many in texts_of(inspect.unwrap(call))
    for value in too_long(name, text=text, many=many)
]


@pytest.mark.parametrize(
    ("method", "name", "value"), CALLS, ids=[f"{one[0]}-{one[1]}-{type(one[2]).__name__}" for one in CALLS]
)
def test_no_argument_of_python_is_longer_than_it_may_be(unused_memory, method, name, value):
    call = getattr(unused_memory, method)
    wanted = inspect.signature(inspect.unwrap(getattr(Memory, method))).parameters
    need = {
        one: GOOD[one]
        for one, parameter in wanted.items()
        if one != "self" and parameter.default is parameter.empty and parameter.kind in (
            parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY
        )
    }  # fmt: skip
    given = () if wanted[name].kind is not inspect.Parameter.VAR_POSITIONAL else (value,)
    with pytest.raises(ArgumentError, match=f"{name}.*give at most"):
        call(*given, **(need if given else {**need, name: value}))


@pytest.fixture(scope="module")
def unused_memory(tmp_path_factory: pytest.TempPathFactory) -> Memory:
    """A memory of no home: what opens it is a bound that came too late."""
    memory = object.__new__(Memory)
    memory.namespace, memory.principal = "ada", "test"
    memory._space = type(
        "NoHome", (), {"now": lambda _: None, "settings": load(tmp_path_factory.mktemp("no"))}
    )()
    return memory


@pytest.mark.parametrize(
    ("name", "value"), [*LABELS.items(), ("title", "t"), ("follows", "k"), ("state", "s")]
)
def test_no_label_of_a_note_is_longer_than_it_may_be(memory, name, value):
    many = isinstance(value, list)
    for wrong in too_long(name, text=not many, many=many):
        with pytest.raises(ArgumentError, match=f"{name} .*give at most"):
            memory.save(GOOD["content"], **{name: wrong})
    with pytest.raises(ArgumentError, match=r"^metadata has 65,\d+ bytes"):
        memory.save(GOOD["content"], metadata={"a": "x" * METADATA_BYTES})
    assert memory.count() == 0


def test_no_argument_of_a_tool_is_longer_than_it_may_be(memory):
    memories = MemoryPool(memory.settings, lambda: Caller("ada", "pi"), space=memory.home)
    asked = 0
    with connected(build(memories)) as pi:
        for tool in pi.tools():
            need = {one: GOOD[one] for one in tool.input_schema.get("required", ())}
            for name, kind in tool.input_schema["properties"].items():
                kinds = {one.get("type") for one in kind.get("anyOf", [kind])}
                if "enum" in str(kind) and "array" not in kinds:
                    continue
                text, many = "string" in kinds, "array" in kinds
                for value in too_long(name, text=text, many=many):
                    told = pi.fail(tool.name, **{**need, name: value})
                    assert name in told
                    assert len(told) < 1_000
                    asked += 1
        assert [tool.name for tool in pi.tools()] == TOOLS
    assert asked > 20


def test_the_longest_of_everything_is_served(memory):
    memory.save(GOOD["content"], tags=["pump"])
    longest = {
        "query": "x" * limit_of("query").characters, "project": "p" * limit_of("project").characters,
        "tags": [f"{at:03}{'x' * 197}" for at in range(limit_of("tags").values)],
    }  # fmt: skip
    assert not memory.search(**longest).results
    assert [one.tags for one in memory.search("pump", tags=[*longest["tags"][1:], "PUMP"])] == [("pump",)]
    saved = memory.save(
        GOOD["content"] + " It hums.", title="t" * 1_000, key="k" * 1_000, follows="f" * 1_000,
        tags=longest["tags"], trigger_phrases=longest["tags"], aliases=longest["tags"],
    )  # fmt: skip
    assert memory.get(saved.memory_id).tags == tuple(longest["tags"])


ODD = (
    ".*",
    "a|b",
    "[x]",
    "two words",
    "#x",
    "c++",
    "é",
    "\\d",
    "a-b",
    "x&y",
    "~",
    "^$",
    "it's",
    "{2}",
    "(",
    "@<>%_",
)


def test_a_tag_of_any_characters_finds_itself_alone(memory):
    memory.save_many(
        [{"content": f"The {at}th pump is off on day {at}.", "tags": [tag]} for at, tag in enumerate(ODD)]
    )

    def found() -> list[int]:
        return [
            memory.store.count("memories", Filters.of(tags=[tag]).where("ada")) for tag in (*ODD, "x", "a")
        ]

    assert found() == [1] * len(ODD) + [0, 0]
    memory.store.settle()
    assert found() == [1] * len(ODD) + [0, 0]
    assert memory.store.count("memories", Filters.of(tags=ODD).where("ada")) == len(ODD)


def test_a_body_of_http_has_the_same_bounds(memory):
    wanted = {"query": "query", "title": "title", "key": "key", "project": "project", "follows": "key"}
    for model in (schemas.SearchBody, schemas.SaveBody, schemas.OutcomeBody, schemas.FeedbackBody):
        for name, field in model.model_fields.items():
            if name in wanted:
                (found,) = [one.max_length for one in field.metadata if hasattr(one, "max_length")]
                assert found == limit_of(wanted[name]).characters
    (count,) = [one.max_length for one in schemas.SearchBody.model_fields["tags"].metadata]
    assert count == limit_of("tags").values
    assert get_args(schemas.Name)


def test_a_command_refuses_what_is_too_long(home):
    found = CliRunner().invoke(app, ["--home", str(home), "search", "x" * 4_001])
    assert found.exit_code == 1
    assert "at most 4,000" in " ".join(found.output.split())


# -- the work of a call --------------------------------------------------------------------------


def test_work_ends_when_its_time_is_over_and_when_nobody_waits(memory):
    memory.save(GOOD["content"])
    with deadline.within(60) as one:
        assert memory.search("pump").results
        one.is_left = True
        with pytest.raises(OverdueError, match="client has disconnected"):
            memory.search("pump")
    with deadline.within(0), pytest.raises(OverdueError, match=r"after 0 s of work \(mcp.work_seconds\)"):
        memory.get("m" * 20)
    assert memory.search("pump").results


def test_a_save_that_ends_in_the_middle_is_taken_in_later(memory):
    memory.save(GOOD["content"])
    journal = memory.journal
    append = journal.append_next

    def and_then_it_is_over(*arguments: Any) -> Any:
        done = append(*arguments)
        one.is_left = True
        return done

    journal.append_next = and_then_it_is_over
    with deadline.within(60) as one, pytest.raises(Exception, match="The event is in the journal"):
        memory.save("The boat lies at the pier in winter, and Ruaridh looks after it.")
    journal.append_next = append
    assert [one.subject for one in lacking(memory.home)]
    apply_lost_entries(memory.home)
    assert memory.count() == 2


def test_who_goes_is_not_worked_for_any_more():
    """Over ASGI: the client goes while a thread works for it."""
    ended, working = threading.Event(), threading.Event()

    def work() -> None:
        try:
            while True:
                deadline.check()
                working.set()
        except OverdueError:
            ended.set()
            raise

    async def application(scope: Any, receive: Any, send: Any) -> None:
        await receive()
        with pytest.raises(OverdueError):
            await anyio.to_thread.run_sync(work)

    async def asked() -> None:
        messages = [{"type": "http.request", "body": b"", "more_body": False}]

        async def receive() -> dict[str, Any]:
            if messages:
                return messages.pop()
            await anyio.to_thread.run_sync(working.wait)
            return {"type": "http.disconnect"}

        with anyio.fail_after(30):
            await WorkBounds(application, 60)({"type": "http"}, receive, None)

    anyio.run(asked)
    assert ended.is_set()


@contextmanager
def served(memory: Memory, seconds: float) -> Iterator[tuple[str, str]]:
    """The address of a server of this home, in this process, and a token."""
    token = add_token(memory.settings, "ada", "pi")
    mcp = load(memory.settings.home).mcp.model_copy(update={"work_seconds": seconds})
    settings = memory.settings.model_copy(update={"mcp": mcp})
    port = free_port()
    memory.home.settings = settings
    running = server(application(settings, "127.0.0.1", memory.home), settings, "127.0.0.1", port)
    thread = threading.Thread(target=running.run)
    thread.start()
    try:
        while not running.started:
            assert thread.is_alive()
            time.sleep(0.01)
        yield f"http://127.0.0.1:{port}/mcp", token
    finally:
        running.should_exit = True
        thread.join()


@pytest.mark.slow
def test_a_call_over_http_ends_with_its_time_and_the_next_one_is_served(memory, monkeypatch):
    memory.save(GOOD["content"])
    with served(memory, 1.0) as (url, token), over_http(url, token) as pi:
        with monkeypatch.context() as patch:
            patch.setattr("slowwave.search.run.search", _endless)
            assert "mcp.work_seconds" in pi.fail("memory_search", query="pump")
        assert pi.call("memory_search", query="When is the pump off?")["results"]


@pytest.mark.slow
def test_four_clients_that_go_leave_the_server_to_others(memory, monkeypatch):
    """As many as work at a time: each has a search that never ends, and closes its connection."""
    memory.save(GOOD["content"])
    begun = threading.Semaphore(0)

    def endless(*_: Any, **__: Any) -> None:
        begun.release()
        _endless()

    call = {"name": "memory_search", "arguments": {"query": "pump"}}
    body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call}
    with served(memory, 600.0) as (url, token), monkeypatch.context() as patch:
        patch.setattr("slowwave.search.run.search", endless)
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json, text/event-stream"}
        clients = [httpx.Client(headers=headers, timeout=0.5) for _ in range(READ_AT_ONCE)]
        for one in clients:
            with suppress(httpx.ReadTimeout):  # it goes
                one.post(url, json=body)
            one.close()
        for _ in clients:
            assert begun.acquire(timeout=60)
        patch.undo()
        with over_http(url, token) as pi:
            assert pi.call("memory_search", query="When is the pump off?")["results"]


@pytest.mark.slow
def test_a_server_that_ends_tells_whose_work_it_ends_and_writes_no_traceback(memory, monkeypatch, caplog):
    memory.save(GOOD["content"])
    begun = threading.Event()

    def endless(*_: Any, **__: Any) -> None:
        begun.set()
        _endless()

    monkeypatch.setattr("slowwave.search.run.search", endless)
    said: list[str] = []

    def ask(url: str, token: str) -> None:
        with over_http(url, token) as pi:
            said.append(pi.fail("memory_search", query="pump"))

    with served(memory, 600.0) as (url, token):
        asking = threading.Thread(target=ask, args=(url, token))
        asking.start()
        assert begun.wait(60)
    asking.join()
    assert "The server is shutting down" in said[0]
    assert not [one for one in caplog.records if one.exc_info or one.levelname == "ERROR"]


def _endless(*_: Any, **__: Any) -> None:
    while True:
        deadline.check()
