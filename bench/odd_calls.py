"""Odd calls of MCP clients: how many are answered, and how many well-meant ones are served.

    python bench/odd_calls.py [--calls 5000] [--over stdio,http] [--seed 38]

A server of its own is started on an empty home for each transport. Each call is sensible, and is sent as a
client with one known habit sends it; a quarter is no sensible call. A call is answered if each of its ids
gets an answer within a minute, or what has no id an error without one. It is served if no answer is an error.
"""

from __future__ import annotations

import contextlib
import http.client
import json
import os
import queue
import random
import subprocess
import sys
import tempfile
import threading
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any, Protocol
from urllib.parse import urlsplit

from _odd_clients import ARGUMENTS, BROKEN, LINES, MESSAGES, Call, Sent, sensible, well_meant
from _report import bench, options, positive, ratio, report
from mcp_load import MAIN, NOTE, QUERY, serving

import slowwave
from slowwave.serving.tools import TOOLS

ANSWER_SECONDS = 60
BROKEN_SHARE = 0.25
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "odd", "version": "1"}}
VARIABLES = {"SLOWWAVE_RANKING__ABSTENTION_FLOOR": "0"}  # each search returns a result to rate


class Client(Protocol):
    """Client of a server."""

    def send(self, sent: Sent) -> list[dict[str, Any]]:
        """The answers to what is sent, as many as came."""


class OverStdio:
    """Client of a process.

    Args:
        process: The server, with pipes.
    """

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdin
        assert process.stdout
        self._input = process.stdin
        self._messages: queue.Queue[dict[str, Any]] = queue.Queue()
        threading.Thread(target=self._read, args=(process.stdout,), daemon=True).start()

    def send(self, sent: Sent) -> list[dict[str, Any]]:
        """See `Client`."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._messages.get_nowait()
        self._input.write(sent.data + b"\n" * (not sent.data.startswith(b"Content-Length")))
        self._input.flush()
        answers: list[dict[str, Any]] = []
        missing = Counter(sent.ids)
        with contextlib.suppress(queue.Empty):
            while missing.total():
                answer = self._messages.get(timeout=ANSWER_SECONDS)
                if missing[answer.get("id")] > 0:
                    missing[answer.get("id")] -= 1
                    answers.append(answer)
        return answers

    def _read(self, output: IO[bytes]) -> None:
        while line := output.readline():
            if line.startswith(b"Content-Length:"):
                output.readline()
                line = output.read(int(line.partition(b":")[2]))
            value = json.loads(line)
            for message in value if isinstance(value, list) else [value]:
                self._messages.put(message)


class OverHttp:
    """Client of a server over HTTP."""

    def __init__(self, url: str, token: str) -> None:
        self._url, self._token = urlsplit(url), token
        self._connection = http.client.HTTPConnection(self._url.netloc, timeout=ANSWER_SECONDS)

    def send(self, sent: Sent) -> list[dict[str, Any]]:
        """See `Client`."""
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "Authorization": f"Bearer {self._token}",
        }
        try:
            self._connection.request("POST", self._url.path, sent.data, headers)
            value = json.loads(self._connection.getresponse().read())
        except (OSError, http.client.HTTPException, ValueError):
            self._connection.close()
            return []
        answers = value if isinstance(value, list) else [value]
        return [answer for answer in answers if answer.get("id") in sent.ids]


@contextmanager
def over_stdio(home: Path, model: str) -> Iterator[Client]:
    """A client of a server on an empty home, over standard input and output."""
    with slowwave.open(home, namespace="ada", embedding={"model": model}) as memory:
        assert memory.store.count("meta") > 0  # makes the home
    environment = {**os.environ, **VARIABLES, "SLOWWAVE_HOME": str(home), "SLOWWAVE_EMBEDDING__MODEL": model}
    command = [sys.executable, "-c", MAIN, "mcp", "--namespace", "ada"]
    with subprocess.Popen(
        command, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        yield OverStdio(process)
        assert process.stdin
        process.stdin.close()


@contextmanager
def over_http(home: Path, model: str) -> Iterator[Client]:
    """A client of a server on an empty home, over HTTP."""
    with serving(home, model, **VARIABLES) as (url, tokens):
        yield OverHttp(url, tokens["ada"])


TRANSPORTS = {"stdio": over_stdio, "http": over_http}


def first_ids(client: Client) -> dict[str, str]:
    """A memory and a search to speak of."""
    chance = random.Random(0)
    client.send(Sent(json.dumps(
        {"jsonrpc": "2.0", "id": "hello", "method": "initialize", "params": HELLO}).encode(), ("hello",)
    ))  # fmt: skip
    calls = [
        Call(-1, "memory_save", {"content": NOTE}, (), chance),
        Call(-2, "memory_search", {"query": QUERY, "project": "spring"}, (), chance),
    ]
    saved, found = (
        client.send(Sent(json.dumps(call.message()).encode(), (call.number,)))[0]["result"] for call in calls
    )
    return {
        "memory": saved["structuredContent"]["memory_id"], "search": found["structuredContent"]["search_id"]
    }  # fmt: skip


def is_served(answers: Sequence[dict[str, Any]]) -> bool:
    """Whether no answer is an error."""
    return all("result" in answer and not answer["result"].get("isError") for answer in answers)


def measure(client: Client, calls: int, habits: Sequence[str], seed: int) -> Counter[tuple[str, str]]:
    """Counts of `sent`, `answered` and `served` calls by habit."""
    chance, ids = random.Random(seed), first_ids(client)
    names = {name: tuple(tool.arguments.model_fields) for name, tool in TOOLS.items()}
    counts: Counter[tuple[str, str]] = Counter()
    for number in range(1, calls + 1):
        call = sensible(chance, number, ids, names)
        if chance.random() < BROKEN_SHARE:
            habit = chance.choice(sorted(BROKEN))
            sent = BROKEN[habit](call)
        else:
            habit = chance.choice(habits)
            sent = well_meant(call, habit)
        answers = client.send(sent)
        counts[habit, "sent"] += 1
        if len(answers) == len(sent.ids):
            counts[habit, "answered"] += 1
            counts[habit, "served"] += is_served(answers)
    return counts


def totals(counts: Counter[tuple[str, str]], name: str) -> dict[str, Any]:
    """Calls of a transport without an answer, and the share of well-meant ones that were served."""
    figures = {
        what: sum(count for (habit, kind), count in counts.items() if kind == what and habit not in BROKEN)
        for what in ("sent", "served")
    }
    unanswered = sum(
        (kind == "sent") * count - (kind == "answered") * count for (_, kind), count in counts.items()
    )
    return {
        f"{name}_unanswered": unanswered,
        f"{name}_well_meant": figures["sent"],
        f"{name}_served": ratio(figures["served"], figures["sent"]),
    }


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--calls", type=positive, default=5_000, help="over each transport")
    parser.add_argument("--over", default="stdio,http", help="transports: stdio, http or both")
    parser.add_argument("--seed", type=int, default=38)
    parser.add_argument("--model", default="wordllama-256", help="embedding model")
    asked = parser.parse_args(argv)
    names = asked.over.split(",")
    if unknown := sorted(set(names) - set(TRANSPORTS)):
        parser.error(f"--over {', '.join(unknown)}: there are {', '.join(TRANSPORTS)}")
    counts, figures = {}, {}
    with tempfile.TemporaryDirectory() as folder:
        for name in names:
            habits = [*ARGUMENTS, *MESSAGES, *(LINES if name == "stdio" else ())]
            with TRANSPORTS[name](Path(folder) / name, asked.model) as client:
                counts[name] = measure(client, asked.calls, habits, asked.seed)
            figures |= totals(counts[name], name)
    rows = [
        {
            "habit": habit, "well_meant": "yes" if habit not in BROKEN else "no",
            **{what: sum(counts[name][habit, what] for name in names)
               for what in ("sent", "answered", "served")},
        }
        for habit in (*ARGUMENTS, *MESSAGES, *LINES, *BROKEN)
    ]  # fmt: skip
    report("odd_calls", rows, note=f"{asked.calls:,} calls over each of {', '.join(names)}", totals=figures)


if __name__ == "__main__":
    main()
