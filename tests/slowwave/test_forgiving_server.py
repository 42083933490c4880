"""Clients with the known habits: each call gets an answer, and what was well meant is served."""

from __future__ import annotations

import json
import queue
import random
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp_helpers import DEPLOY, command, environment
from starlette.testclient import TestClient

from slowwave.common import ids
from slowwave.common.json_repair import REPLACEMENT
from slowwave.mcp.framing import MessageSplitter
from slowwave.mcp.http import application
from slowwave.mcp.messages import MAX_BATCH, read_messages
from slowwave.serving.lenient_arguments import read_arguments
from slowwave.serving.tokens import add_token
from slowwave.serving.tools import TOOLS
from slowwave.settings import load

SECONDS = 60  # for an answer
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}
PING = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
NOTICE = {"jsonrpc": "2.0", "method": "notifications/roots/list_changed"}
FOREIGN = "The canary of bob is called zyxquux, and it sings at seven in the morning."


# -- what is meant ---------------------------------------------------------------------------------


def meant(tool: str, given: object) -> dict[str, Any]:
    return TOOLS[tool].read(given).values


@pytest.mark.parametrize(
    ("tool", "given", "values"),
    [
        ("memory_search", {"query": "x", "limit": None, "tags": None, "project": None}, {"query": "x"}),
        ("memory_search", {"query": "x", "limit": "10"}, {"query": "x", "limit": 10}),
        ("memory_search", {"query": "x", "limit": 10.0}, {"query": "x", "limit": 10}),
        ("memory_search", {"query": "x", "limit": "", "debug": ""}, {"query": "x"}),
        ("memory_search", {"query": "x", "debug": "True"}, {"query": "x", "debug": True}),
        ("memory_search", {"query": 42}, {"query": "42"}),
        ("memory_search", {"query": "x", "tags": "a, b,"}, {"query": "x", "tags": ("a", "b")}),
        ("memory_search", {"query": "x", "tags": '["a, b", null]'}, {"query": "x", "tags": ("a, b",)}),
        ("memory_search", {"query": "x", "tags": ["a", "", None]}, {"query": "x", "tags": ("a",)}),
        ("memory_search", {"query": "x", "memory_type": "Decision"},
         {"query": "x", "memory_type": ("decision",)}),
        ("memory_search", '{"query": "x"}', {"query": "x"}),
        ("memory_search", {"arguments": '{"query": "x"}', "_meta": {}}, {"query": "x"}),
        ("memory_search", {"params": {"arguments": {"Query": "x"}}}, {"query": "x"}),
        ("memory_save", {"content": "x", "memoryType": ["fact"]}, {"content": "x", "memory_type": "fact"}),
        ("memory_observe", {"searchId": "s", "response": "r", "cited": 1},
         {"search_id": "s", "response": "r", "cited": (1,)}),
        ("knowledge_feedback", {"search_id": "s", "result": "1.0", "rating": " HELPFUL"},
         {"search_id": "s", "result": 1, "rating": "helpful"}),
        ("memory_wakeup", None, {}),
        ("memory_wakeup", {"budget": "2e3", "token_budget": 7}, "budget = '2e3'"),
        ("memory_search", {"query": "x", "limit": "many"}, "limit = 'many'"),
        ("memory_search", {"query": "x", "limit": 2.5}, "limit = 2.5"),
        ("memory_search", {"query": "x", "limit": "51"}, "limit = 51"),
        ("memory_search", {"query": None}, "query = None"),
        ("memory_search", {"query": {"text": "x"}}, "query = {'text': 'x'}"),
        ("memory_save", {"text": "x"}, "Unknown arguments were ignored: 'text'"),
        ("memory_save", {"content": "x", "user_id": "bob"}, "no argument 'user_id'. Nothing was done"),
        ("memory_search", {"query": "x", "TenantId": "bob"}, "no argument 'TenantId'"),
        ("memory_search", {"args": {"query": "x", "roles": ["person"]}}, "no argument 'roles'"),
        ("memory_search", {"query": "x", "owner_name": "", "namespaces": None}, {"query": "x"}),
        ("memory_search", {"query": "x", "userAgent": "y", "progressToken": 1}, {"query": "x"}),
        ("memory_save", {"args": {"content": "x", "Sensitivity": "secret"}}, "no argument 'Sensitivity'"),
        ("memory_forget", {"memory_id": "x", "dry_run": True}, "no argument 'dry_run'"),
        ("memory_search", [1], "The arguments are [1]"),
    ],
)  # fmt: skip
def test_arguments_are_read_as_they_were_meant(tool, given, values):
    if isinstance(values, dict):
        assert meant(tool, given) == values
    else:
        with pytest.raises(ValueError, match=r"\w") as error:
            meant(tool, given)
        assert values in str(error.value)


def test_what_is_ignored_or_replaced_is_named():
    read = read_arguments(
        TOOLS["memory_save"].arguments,
        {"content": "six \ud83d", "requestId": 1, "_meta": {}, "namespace": None},
    )
    assert read.values == {"content": f"six {REPLACEMENT}"}
    assert read.remarks == (
        "Unknown arguments were ignored: '_meta', 'namespace', 'requestId'.",
        f"content: 1 character without a Unicode value, replaced by {REPLACEMENT}.",
    )


def call(arguments: str) -> str:
    return f'{{"id": 1, "method": "tools/call", "params": {{"name": "x", "arguments": {arguments}}}}}'


def test_messages_are_read_or_answered_with_an_error():
    ping = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    for text, numbers, errors in (
        (ping, [1], []),
        (ping.replace("1,", "1.0,").replace('"jsonrpc": "2.0", ', ""), [1], []),
        (f"{ping}{ping.replace('1', '2')}", [1, 2], []),
        (f"[{ping}, 5]", [1], [-32600]),
        ("[]", [], [-32600]),
        (f"[{', '.join([ping] * (MAX_BATCH + 1))}]", [], [-32600]),
        ("{", [], [-32700]),
        ("[" * 100_000, [], [-32700]),
        (call('{"x": %s}' % ("[" * 900 + "]" * 900)), [], [-32600]),
        ("\ufeff" + ping, [1], []),
        (ping[:-9] + ping, [1], [-32700]),
        ('{"id": 1' + "0" * 5_000 + ', "method": "ping"}', [], [-32700]),
        (ping.replace("1", "null"), [], [-32600]),
        (ping.replace('"ping"', "7"), [], [-32600]),
        (call("[1]"), [], [-32602]),
        (call('"{"'), [], [-32602]),
    ):
        read = read_messages(text)
        assert [message["id"] for message in read.requests] == numbers, text[:80]
        assert [error["error"]["code"] for error in read.errors] == errors, text[:80]
        assert read.batch == (text[:2] == "[{" and bool(numbers))


# -- where a message ends --------------------------------------------------------------------------


def split(*parts: bytes) -> list[bytes]:
    splitter = MessageSplitter()
    return [text for part in parts for text in splitter.feed(part) if text.strip()]


@given(st.lists(st.integers(1, 9) | st.dictionaries(st.text(max_size=5), st.text(max_size=5), max_size=2)),
       st.sampled_from([None, 0, 1, "\t"]), st.integers(1, 7))  # fmt: skip
def test_messages_are_split_however_they_are_written_and_arrive(values, indent, size):
    messages = [{"id": number, "params": value} for number, value in enumerate(values)]
    data = "".join(json.dumps(message, indent=indent) + "\n" for message in messages).encode()
    pieces = [data[at : at + size] for at in range(0, len(data), size)]
    assert [json.loads(text) for text in split(*pieces)] == messages


@given(st.lists(st.text(max_size=9), min_size=1, max_size=4), st.integers(1, 7))
def test_messages_with_a_length_need_no_line_end(texts, size):
    bodies = [json.dumps({"text": text}, ensure_ascii=False).encode() for text in texts]
    data = b"".join(
        b"Content-Length: %d\r\nContent-Type: application/json\r\n\r\n%s" % (len(body), body)
        for body in bodies
    )
    assert split(*[data[at : at + size] for at in range(0, len(data), size)]) == bodies


def test_what_has_no_end_is_given_back():
    for data in (
        b"Content-Length: 20\n",
        b'Content-Length: 90\r\n\r\n{"id": 1',
        b'{\n "id": 1,\n',
        b'{"id": 1}',
    ):
        splitter = MessageSplitter()
        assert b"".join(splitter.feed(data)) == b""
        assert splitter.waits
        assert splitter.rest() == data.replace(b"\r\n\r\n", b"\r\n")
        assert not splitter.waits
    splitter = MessageSplitter()
    assert splitter.feed(b'{"id": 1, "te') == []
    assert not splitter.waits  # a slow client


# -- over standard input ---------------------------------------------------------------------------


class Client:
    """A client that writes bytes and reads lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._input, self.lines = process.stdin, queue.Queue[bytes]()
        threading.Thread(target=lambda: list(map(self.lines.put, process.stdout)), daemon=True).start()

    def ask(self, message: object) -> Any:
        """The next line after a message."""
        data = message if isinstance(message, bytes) else json.dumps(message).encode() + b"\n"
        self._input.write(data)
        self._input.flush()
        return self.next()

    def next(self) -> Any:
        line = self.lines.get(timeout=SECONDS)
        return json.loads(line) if line.startswith((b"{", b"[")) else line


@pytest.fixture
def client(open_memory, home) -> Iterator[Client]:
    open_memory().close()
    with subprocess.Popen(
        command("mcp", "--namespace", "ada"), env=environment(home), cwd=home.parent,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        client = Client(process)
        assert client.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO})
        yield client
        process.stdin.close()
        assert process.wait(SECONDS) == 0


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_whatever_a_client_writes_gets_an_answer(client):
    for line in (b"{half a mess\n", b"\xff\xfe\n", b"Content-Length: 20\n", b"{\n", b'{"id": 3, "method":\n'):
        answer = client.ask(line)
        assert (answer["id"], answer["error"]["code"]) == (None, -32700)
    assert client.ask([PING, {**PING, "id": "b"}, 5])[0]["error"]["code"] == -32600
    answers = client.ask([PING, NOTICE, {**PING, "id": "b"}])
    assert [answer["id"] for answer in answers] == [7, "b"]
    assert client.ask(json.dumps(PING).encode())["id"] == 7  # without a line end
    assert client.ask(json.dumps(PING, indent=2).encode() + b"\n")["id"] == 7
    body = json.dumps(PING).encode()
    header = client.ask(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    assert client.next() == b"\r\n"
    line = client.lines.get(timeout=SECONDS)
    assert header == b"Content-Length: %d\r\n" % len(line)
    assert json.loads(line)["id"] == 7


# -- over HTTP -------------------------------------------------------------------------------------


@dataclass
class Site:
    """The server in this process, with a token for each of some callers."""

    client: TestClient
    tokens: dict[str, str]

    def post(self, body: object, by: str = "ada") -> tuple[int, Any]:
        """Status and answer."""
        headers = {
            "Authorization": f"Bearer {self.tokens[by]}", "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
        }  # fmt: skip
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        answer = self.client.post("/mcp", content=data, headers=headers)
        return answer.status_code, answer.json() if answer.content else None

    def call(self, by: str, tool: str, arguments: object) -> tuple[bool, str]:
        """Whether a call is served, and the answer as text."""
        params = {"name": tool, "arguments": arguments}
        _, answer = self.post({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, by)
        served = "result" in answer and not answer["result"].get("isError")
        return served, json.dumps(answer)


@pytest.fixture
def site(home, memory, open_memory, fast_embedder) -> Iterator[Site]:
    (home / "slowwave.toml").write_text(f'[embedding]\nmodel = "{fast_embedder.name}"\n')
    tokens = {
        "ada": add_token(load(home), "ada", "claude"),
        "reader": add_token(load(home), "ada", "eve", rights="reader"),
        "bob": add_token(load(home), "bob", "cursor"),
    }
    app = application(load(home), "127.0.0.1", memory.home)
    with TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False) as client:
        yield Site(client, tokens)


def test_each_body_over_http_gets_an_answer(site):
    for body, status, code in (
        (b"{half", 400, -32700), (b"", 400, -32700), (b"\xff", 400, -32700), (b"5", 400, -32600),
        ([], 400, -32600), ({**PING, "id": None}, 400, -32600), ({**PING, "method": 7}, 400, -32600),
    ):  # fmt: skip
        given_status, answer = site.post(body)
        assert (given_status, answer["id"], answer["error"]["code"]) == (status, answer["id"], code), body
        assert "Nothing was done" in answer["error"]["message"]
    assert site.post(PING)[1]["id"] == 7
    assert site.post(b"\xef\xbb\xbf" + json.dumps(PING, indent=1).encode())[1]["id"] == 7
    status, answers = site.post([PING, NOTICE, 5, {**PING, "id": "b"}])
    assert status == 200
    assert [answer["id"] for answer in answers] == [None, 7, "b"]
    assert [answer["id"] for answer in site.post(json.dumps(PING).encode() * 2)[1]] == [7, 7]
    assert site.post([NOTICE]) == (202, None)
    nulls = {"query": "when?", **dict.fromkeys(("limit", "tags", "project", "debug"))}
    assert site.call("ada", "memory_search", nulls)[0]


def test_an_unknown_client_is_read_nothing_of(site):
    site.tokens["nobody"] = "wrong"
    assert [site.post(body, "nobody")[0] for body in (b"{half", [PING], PING)] == [401] * 3


NAMES = ("namespace", "tenant_id", "tenantId", "tenant", "role", "rights", "user", "user_id", "userId",
         "owner", "principal", "scopes", "permissions", "token", "account_id", "admin",
         "on_behalf_of")  # fmt: skip
VALUES = ("bob", "person", "*", ["bob"], {"name": "bob"}, True, 0, "../bob", "bob\ud83d")


@pytest.mark.timeout(300)
def test_no_argument_gives_rights_that_a_token_has_not(site, memory, open_memory):
    assert site.call("ada", "memory_save", {"content": DEPLOY, "key": "day"})[0]
    assert site.call("bob", "memory_save", {"content": FOREIGN, "key": "canary"})[0]
    chance = random.Random(38)
    kept = memory.journal.read(kinds=["save", "forget"])["event_id"].to_list()
    calls = {
        "memory_search": {"query": "what is the canary called?"},
        "memory_save": {"content": "The canary of bob is called nothing.", "key": "canary"},
        "memory_forget": {"memory_id": ids.memory_id("bob", "canary")},
        "memory_history": {"memory_id": ids.memory_id("bob", "canary")},
        "memory_wakeup": {},
    }
    for number in range(150):
        tool = chance.choice(sorted(calls))
        name, value = chance.choice(NAMES), chance.choice(VALUES)
        odd = {**calls[tool], name: value}
        wrapped = chance.choice(
            [odd, {"arguments": odd}, json.dumps(odd), {**calls[tool], "params": {name: value}}]
        )
        served, answer = site.call("reader", tool, wrapped)
        assert "zyxquux" not in answer, (tool, wrapped)
        assert not served or "Unknown arguments were ignored" in answer, (number, tool, wrapped)
        assert not served or wrapped == {**calls[tool], "params": {name: value}}, (tool, wrapped)
    for tool in ("memory_save", "memory_forget"):
        for wrapped in (calls[tool], json.dumps(calls[tool]), {"arguments": calls[tool]}):
            assert site.call("reader", tool, wrapped)[0] is False
    assert memory.journal.read(kinds=["save", "forget"])["event_id"].to_list() == kept
