"""Clients with the known habits: each call gets an answer, and what was well meant is served."""

from __future__ import annotations

import json
import queue
import random
import re
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from mcp_helpers import DEPLOY, command, environment

from slowwave.common.json_repair import REPLACEMENT
from slowwave.mcp.messages import MAX_BATCH, read_messages
from slowwave.serving.lenient_arguments import read_arguments
from slowwave.serving.tools import TOOLS

Call = dict[str, Any]
SECONDS = 60  # for an answer
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzz", "version": "1"}}


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


def test_messages_are_read_or_answered_with_an_error():
    ping = '{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    for text, ids, errors in (
        (ping, [1], []),
        (ping.replace("1,", "1.0,").replace('"jsonrpc": "2.0", ', ""), [1], []),
        (f"{ping}{ping.replace('1', '2')}", [1, 2], []),
        (f"[{ping}, 5]", [1], [-32600]),
        ("[]", [], [-32600]),
        (f"[{', '.join([ping] * (MAX_BATCH + 1))}]", [], [-32600]),
        ("{", [], [-32700]),
        ("[" * 100_000, [], [-32700]),
        ('{"id": 1' + "0" * 5_000 + ', "method": "ping"}', [], [-32700]),
        (ping.replace("1", "null"), [], [-32600]),
        (ping.replace('"ping"', "7"), [], [-32600]),
        ('{"id": 1, "method": "tools/call", "params": {"name": "x", "arguments": [1]}}', [], [-32602]),
        ('{"id": 1, "method": "tools/call", "params": {"name": "x", "arguments": "{"}}', [], [-32602]),
    ):
        read = read_messages(text)
        assert [message["id"] for message in read.requests] == ids, text[:80]
        assert [error["error"]["code"] for error in read.errors] == errors, text[:80]
        assert read.batch == (text[:2] == "[{" and bool(ids))


# -- ten clients -----------------------------------------------------------------------------------


def nulls(_: random.Random, call: Call, names: list[str]) -> Call:
    return {**dict.fromkeys(names), **call}


def texts(_: random.Random, call: Call, names: list[str]) -> Call:
    return {name: value if isinstance(value, str) else json.dumps(value) for name, value in call.items()}


def floats(_: random.Random, call: Call, names: list[str]) -> Call:
    return {name: float(value) if type(value) is int else value for name, value in call.items()}


def commas(_: random.Random, call: Call, names: list[str]) -> Call:
    joined = {name: ", ".join(map(str, value)) for name, value in call.items() if isinstance(value, list)}
    return {**call, **joined}


def nested(chance: random.Random, call: Call, names: list[str]) -> Call:
    return {chance.choice(["arguments", "args", "input", "params"]): call}


def as_text(chance: random.Random, call: Call, names: list[str]) -> Any:
    return chance.choice([json.dumps(call), {"arguments": json.dumps(call)}])


def extra(_: random.Random, call: Call, names: list[str]) -> Call:
    return {**call, "_meta": {"progressToken": 1}, "requestId": "r1", "sessionId": None, "toolCallId": "c"}


def empty(_: random.Random, call: Call, names: list[str]) -> Call:
    return {**{name: "" for name in names if name not in call}, **call}


def camel(_: random.Random, call: Call, names: list[str]) -> Call:
    return {re.sub("_([a-z])", lambda one: one[1].upper(), name): value for name, value in call.items()}


def halves(_: random.Random, call: Call, names: list[str]) -> Call:
    text = {"content", "query", "response", "title"}
    return {name: f"{value} \ud83d" if name in text else value for name, value in call.items()}


HABITS: list[Callable[[random.Random, Call, list[str]], Any]] = [
    nulls, texts, floats, commas, nested, as_text, extra, empty, camel, halves
]  # fmt: skip
"""Ways to send arguments that were seen in clients; each gets them and the names of the tool's."""


def sensible(chance: random.Random, number: int, ids: dict[str, str]) -> tuple[str, Call]:
    """A call that an assistant means."""
    what = chance.choice(["anchor", "boiler", "ledger", "ladder", "ferry", "gauge"])
    memory, of_search = {"memory_id": ids["memory"]}, {"search_id": ids["search"]}
    save = {"content": f"The {what} number {number} is in the shed of {chance.randint(1, 9)}.", "title": what}
    search = {"query": f"where is the {what}?", "limit": chance.randint(1, 5), "debug": False}
    calls: list[tuple[str, Call]] = [
        ("memory_search", {**search, "project": "spring", "memory_type": ["note", "fact"]}),
        (
            "memory_save",
            {**save, "memory_type": "fact", "tags": ["harbour", "store"], "key": f"k{number % 40}"},
        ),
        ("memory_observe", {**of_search, "response": "On Thursday.", "cited": [1, ids["memory"]]}),
        ("knowledge_feedback", {**of_search, "result": 1, "rating": "helpful"}),
        ("memory_outcome", {"project": "spring", "outcome": "success"}),
        ("memory_history", memory),
        ("memory_wakeup", {"budget": chance.randint(100, 900)}),
    ]
    return chance.choices(calls, [8, 3, 2, 2, 1, 2, 2])[0]


class Client:
    """A client that sends lines and reads lines."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._input = process.stdin
        self._lines: queue.Queue[bytes] = queue.Queue()
        output = process.stdout
        threading.Thread(target=lambda: [self._lines.put(line) for line in output], daemon=True).start()

    def ask(self, message: object) -> Any:
        """The next line after a message, as JSON; None: there is none."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        self._input.write(line + b"\n")
        self._input.flush()
        try:
            return json.loads(self._lines.get(timeout=SECONDS))
        except queue.Empty:
            return None

    def call(self, number: int, tool: str, arguments: object) -> Any:
        params = {"name": tool, "arguments": arguments}
        return self.ask({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})


@contextmanager
def started(home: Path) -> Iterator[Client]:
    with subprocess.Popen(
        command("mcp", "--namespace", "ada"), env=environment(home), cwd=home.parent,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        client = Client(process)
        assert client.ask({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": HELLO})
        process.stdin.write(b'{"jsonrpc": "2.0", "method": "notifications/initialized"}\n')
        yield client
        process.stdin.close()
        assert process.wait(60) == 0


def fuzz(client: Client, calls: int, seed: int) -> tuple[int, list[Any]]:
    """Unanswered calls (count), and the answers that refuse a well-meant one."""
    chance = random.Random(seed)
    saved = client.call(-1, "memory_save", {"content": DEPLOY})
    found = client.call(-2, "memory_search", {"query": "deploy day", "project": "spring"})
    ids = {
        "memory": saved["result"]["structuredContent"]["memory_id"],
        "search": found["result"]["structuredContent"]["search_id"],
    }
    silent, refused = 0, []
    schemas = {name: list(tool.arguments.model_fields) for name, tool in TOOLS.items()}
    for number in range(1, calls + 1):
        tool, call = sensible(chance, number, ids)
        given: Any = call
        for way in chance.sample(HABITS, chance.choice([1, 1, 2, 3])):
            given = way(chance, given, schemas[tool]) if isinstance(given, dict) else given
        answer = client.call(number, tool, given)
        if answer is None or answer.get("id") != number:
            silent += 1
        elif "error" in answer or answer["result"]["isError"]:
            refused.append((tool, given, answer))
    return silent, refused


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_clients_with_their_habits_are_answered_and_served(open_memory, home):
    open_memory().close()
    with started(home) as client:
        silent, refused = fuzz(client, 300, seed=38)
        assert silent == 0
        assert len(refused) <= 300 * 0.05, refused[:5]
        ping = {"jsonrpc": "2.0", "id": 7, "method": "ping"}
        for line in (b"{half a mess", b"\xff\xfe", b"Content-Length: 20"):
            answer = client.ask(line)
            assert (answer["id"], answer["error"]["code"]) == (None, -32700)
        assert client.ask([ping, {**ping, "id": "b"}, 5])[0]["error"]["code"] == -32600
        answers = client.ask(
            [ping, {"jsonrpc": "2.0", "method": "notifications/progress"}, {**ping, "id": "b"}]
        )
        assert [answer["id"] for answer in answers] == [7, "b"]
        assert client.ask(ping)["id"] == 7


@pytest.mark.soak
@pytest.mark.slow
@pytest.mark.timeout(3_000)
def test_five_thousand_calls(open_memory, home):
    open_memory().close()
    with started(home) as client:
        silent, refused = fuzz(client, 5_000, seed=2_038)
    assert silent == 0
    assert len(refused) <= 5_000 * 0.05, refused[:5]
