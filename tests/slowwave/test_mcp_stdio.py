"""The server as a client starts it: a process of its own, on standard input and output."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from mcp import StdioServerParameters
from mcp_helpers import DEPLOY, TOOLS, command, connected, environment, whole_day

from slowwave.journal.entry import OF_TENANTS
from slowwave.memory import Memory

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

NOISY = """
import slowwave.memory
def noisy(self, decision_id, **_):
    print("stray words on standard output")
    raise RuntimeError("detail-of-the-machine")
slowwave.memory.Memory.undo = noisy
"""


def started(home: Path, *words: object) -> StdioServerParameters:
    program, *arguments = command("mcp", *words)
    return StdioServerParameters(command=program, args=arguments, env=environment(home))


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_a_whole_day_over_standard_input_and_output(open_memory, home, mode):
    open_memory().close()
    server = started(home, "--namespace", "ada", "--principal", "claude")
    with connected(server, mode=mode) as assistant:
        assert [tool.name for tool in assistant.tools()] == TOOLS
        assert "memory_observe" in assistant.client.instructions
        ids = whole_day(assistant)
        assert "eleven weeks" in assistant.read(f"memory://{ids['memory']}")
        assert assistant.gates()["save"]["mode"] == "enforce"
        assert "0000" in assistant.fail("memory_history", memory_id="0000")
    acts = open_memory().journal.read(kinds=OF_TENANTS)
    assert set(acts.select("namespace", "principal").iter_rows()) == {("ada", "claude")}


def test_namespace_and_principal_have_defaults(open_memory, home):
    open_memory().close()
    (home / "slowwave.toml").write_text('namespace = "harbour"\n')
    with connected(started(home)) as assistant:
        assistant.call("memory_save", content=DEPLOY)
    (act,) = open_memory("harbour").journal.read(kinds=["save"]).iter_rows(named=True)
    assert (act["namespace"], act["principal"]) == ("harbour", "assistant")


def test_standard_output_carries_nothing_but_the_protocol(open_memory: Memory, home):
    open_memory().close()
    version = "2025-06-18"
    client = {"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
    calls = [("memory_save", {"content": DEPLOY}), ("memory_search", {"query": "deploy day", "debug": True}),
             ("memory_history", {"memory_id": "x"}), ("memory_undo", {"decision_id": "x"})]  # fmt: skip
    messages = [
        {"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": client},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        *(
            {
                "jsonrpc": "2.0",
                "id": number,
                "method": "tools/call",
                "params": {"name": name, "arguments": told},
            }
            for number, (name, told) in enumerate(calls, 1)
        ),
    ]
    buffered = {name: value for name, value in environment(home).items() if name != "PYTHONUNBUFFERED"}
    with subprocess.Popen(
        command("mcp", "--namespace", "ada", before=NOISY), env=buffered, cwd=home.parent, text=True,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    ) as process:  # fmt: skip
        answers = []
        for message in messages:  # one after the other: a search is to find what was saved
            process.stdin.write(json.dumps(message) + "\n")
            process.stdin.flush()
            if "id" in message:
                answers.append(json.loads(process.stdout.readline()))
        rest, noise = process.communicate(timeout=120)
    assert process.returncode == 0
    assert rest == ""
    assert [answer["id"] for answer in answers] == list(range(len(calls) + 1))
    assert DEPLOY in answers[2]["result"]["content"][0]["text"]
    assert all(answers[number]["result"]["isError"] for number in (3, 4))
    assert "of-the-machine" not in json.dumps(answers)
    assert "stray words" in noise
    assert "detail-of-the-machine" in noise  # for the one who runs the server
