"""The session hook uses the session of its client, so that nothing is given twice."""

from __future__ import annotations

import io
import json
import os

import pytest
from command_runner import run_command

from slowwave.ipc import hook_session
from slowwave.ipc.hook_session import session_id, with_session

JSON = json.dumps({"session_id": "5f0c", "hook_event_name": "SessionStart", "source": "startup"}).encode()


@pytest.fixture
def given(monkeypatch):
    """Give bytes on standard input; the client keeps it open."""
    ends = []

    def give(data: bytes) -> None:
        reading, writing = os.pipe()
        os.write(writing, data)
        ends.append(writing)
        monkeypatch.setattr("sys.stdin", os.fdopen(reading))

    monkeypatch.setattr(hook_session, "WAIT_SECONDS", 0.01)
    yield give
    for end in ends:
        os.close(end)


def test_recall_gets_the_session_of_the_hook(given):
    given(JSON)
    words = ["--home", "x", "recall", "-n", "ada"]
    assert with_session(words) == [*words, "--session=5f0c"]


@pytest.mark.parametrize(
    "words", [["search", "recall"], ["capture"], ["recall", "--session", "mine"], ["recall", "--help"], []]
)
def test_other_commands_leave_standard_input_alone(given, words):
    given(JSON)
    assert with_session(words) == words
    assert os.read(hook_session.sys.stdin.fileno(), 10_000) == JSON


def test_no_input_and_a_closed_one_give_no_session(given, monkeypatch):
    given(b"")
    assert with_session(["recall"]) == ["recall"]
    monkeypatch.setattr("sys.stdin", io.StringIO("no file"))
    assert with_session(["recall"]) == ["recall"]
    monkeypatch.setattr("sys.stdin", None)
    assert with_session(["recall"]) == ["recall"]


@pytest.mark.parametrize(
    "document",
    [b"", b"{", b"[]", b"{}", b"\xff", b'{"session_id": 7}', b'{"session_id": "a\\u0000"}', b"[" * 60_000,
     json.dumps({"session_id": "x" * 201}).encode()],
)  # fmt: skip
def test_what_names_no_session_gives_none(document):
    assert session_id(document) == ""


def test_white_space_around_the_session_is_no_part_of_it():
    assert session_id(b'{"session_id": " a-1\\n"}') == "a-1"


def test_recall_begins_the_session_and_a_search_leaves_out_what_it_gave(open_memory, home):
    memory = open_memory("ada")
    memory.save("We decided to use PostgreSQL for the billing service.", memory_type="decision")
    command = ("--home", home, "recall", "--session", "5f0c", "-n", "ada", "--principal", memory.principal)
    packet = run_command(*command, environment=dict(os.environ)).stdout
    assert "PostgreSQL" in packet
    assert packet.rstrip().endswith(
        'Your session is "5f0c": pass it as `session` in memory_search, so nothing comes twice.'
    )
    response = memory.search("Which database does the billing service use?", session="5f0c")
    assert not response.results
    assert len(response.left_out) == 1
    assert memory.search("Which database does billing use?", session="other").results
