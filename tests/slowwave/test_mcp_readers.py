"""Who may only look: every tool is walked."""

from __future__ import annotations

from typing import Any

import pytest
from mcp_helpers import BATTERY, TOOLS, connected

from slowwave.journal.entry import OF_TENANTS
from slowwave.mcp.server import build
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import load

LOOKS = {"memory_history", "memory_search", "memory_wakeup"}


@pytest.fixture
def reader(home, memory, fast_embedder) -> Any:
    memories = MemoryPool(
        load(home, embedding={"model": fast_embedder.name}), lambda: Caller("ada", "eve", "reader")
    )
    memories._space.__dict__["embedder"] = fast_embedder
    with connected(build(memories)) as assistant:
        yield assistant


def test_a_reader_can_call_nothing_that_changes_anything(reader, memory):
    one = memory.save(BATTERY, title="Battery").memory_id
    search = memory.search("how long does the battery last?").search_id
    arguments: dict[str, dict[str, Any]] = {
        "knowledge_feedback": {"search_id": search, "result": 1, "rating": "helpful"},
        "memory_forget": {"memory_id": one},
        "memory_history": {"memory_id": one},
        "memory_observe": {"search_id": search, "response": BATTERY},
        "memory_outcome": {"project": "winter", "outcome": "success"},
        "memory_save": {"content": "The kettle whistles at noon, since Tuesday."},
        "memory_search": {"query": "how long does the battery last?"},
        "memory_undo": {"decision_id": "nothing"},
        "memory_wakeup": {},
    }
    assert sorted(arguments) == TOOLS
    before = memory.journal.read(kinds=OF_TENANTS).height
    for tool, given in arguments.items():
        if tool in LOOKS:
            assert "memory_observe" not in reader.say(tool, **given)
        else:
            assert "This token has read access only" in reader.fail(tool, **given)
    assert "eleven weeks" in reader.say("memory_search", query="how long does the battery last?")
    assert "eleven weeks" in reader.read(f"memory://{one}")
    assert reader.gates()["namespace"] == "ada"
    assert memory.journal.read(kinds=OF_TENANTS).height == before
    assert memory.get(one).status == "live"


def test_a_reader_is_offered_what_looks(reader):
    assert {tool.name for tool in reader.tools()} == LOOKS
