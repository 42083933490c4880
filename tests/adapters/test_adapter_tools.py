"""The tools that every framework's are made of are those of MCP."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import anyio
import pytest
from adapter_home import is_quoted

import slowwave.adapters
from slowwave.adapters.needed import require
from slowwave.adapters.tools import NAMES, ToolFailedError, memory_tools
from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.mcp.server import build
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool

UNKNOWN = "0" * 26


def named(memory, name):
    (tool,) = memory_tools(memory, only=[name])
    return tool


def test_they_have_the_names_words_and_arguments_of_the_server(known):
    server = build(MemoryPool(known.memory.settings, lambda: Caller("ada", "x"), space=known.memory.home))
    listed = {one.name: one for one in anyio.run(server.list_tools)}
    made = memory_tools(known.memory)
    assert [one.name for one in made] == list(NAMES)
    assert set(NAMES) == set(listed)
    for one in made:
        assert one.description == listed[one.name].description
        assert one.schema["properties"] == listed[one.name].input_schema["properties"]
        assert one.schema.get("required") == listed[one.name].input_schema.get("required")


def test_a_day_of_an_assistant(known):
    call = {one.name: one.call for one in memory_tools(known.memory)}
    found = call["memory_search"]({"query": "when is the deploy day?", "limit": "2", "project": "spring"})
    search_id = re.match(r"search_id: (\w+)", found)[1]
    assert f"memory_id: {known.deploy}" in found
    seen = call["memory_observe"]({"search_id": search_id, "response": "Thursday.", "cited": known.deploy})
    assert f"{known.deploy} used (citation)" in seen
    rated = call["knowledge_feedback"]({"search_id": search_id, "result": "1", "rating": "helpful"})
    assert rated.startswith("Recorded: helpful")
    assert "1 search" in call["memory_outcome"]({"project": "spring", "outcome": "success"})
    assert call["memory_save"]({"content": "Ruaridh changes the battery of the gauge each November."}) \
        .startswith("Saved as memory ")  # fmt: skip
    assert call["memory_forget"]({"memory_id": known.battery}).startswith("Forgotten")
    with pytest.raises(ToolFailedError, match="no memory"):  # what is forgotten is not for assistants
        call["memory_history"]({"memory_id": known.battery})
    assert is_quoted(call["memory_search"]({"query": "where are the keys of the harbour?"}))
    assert is_quoted(call["memory_history"]({"memory_id": known.order}))


@pytest.mark.parametrize(
    ("name", "arguments", "told", "again"),
    [
        ("memory_search", {"query": "x", "namespace": "bob"}, "namespace", True),
        ("memory_search", {"query": "x", "limit": 51}, "limit = 51", True),
        ("memory_search", {}, "query", True),
        ("memory_search", {"query": " "}, "empty", False),
        ("memory_save", {"content": "A note.", "sensitivity": "secret"}, "sensitivity", True),
        ("memory_history", {"memory_id": UNKNOWN}, "memory_search finds", False),
        ("knowledge_feedback", {"search_id": UNKNOWN, "result": 1, "rating": "helpful"}, UNKNOWN, False),
    ],
)
def test_what_cannot_be_done_is_said_in_words(known, name, arguments, told, again):
    with pytest.raises(ToolFailedError) as failed:
        named(known.memory, name).call(arguments)
    assert told in str(failed.value)
    assert failed.value.again is again


def test_what_is_secret_foreign_and_not_there_have_one_answer(known):
    for name in ("memory_history", "memory_forget"):
        answers = set()
        for one in (known.secret, known.foreign, UNKNOWN):
            with pytest.raises(ToolFailedError) as failed:
                named(known.memory, name).call({"memory_id": one})
            answers.add(str(failed.value).replace(one, "ID"))
        assert len(answers) == 1
    for query in ("what is the code of the harbour gate?", "quuxzyx", "the canary of bob"):
        found = named(known.memory, "memory_search").call({"query": query, "limit": 50, "debug": True})
        assert "quuxzyx" not in found.replace("quuxzyx?", "")
        assert "zyxwabb" not in found


def test_a_tool_that_is_not_there_and_a_framework_that_is_not_installed(memory):
    with pytest.raises(ArgumentError, match="Unknown tool 'memory_erase'"):
        memory_tools(memory, only=["memory_erase"])
    with pytest.raises(SlowwaveError, match=r"needs nothing_like_it: pip install '.\[nothing\]'"):
        require("nothing", "json", "nothing_like_it")


def test_no_adapter_imports_the_framework_of_another():
    owners = {
        "langchain": {"langchain_core"}, "langgraph": {"langgraph"}, "llamaindex": {"llama_index"},
        "openai_agents": {"agents"}, "pydantic_ai": {"pydantic_ai"},
    }  # fmt: skip
    folder = Path(slowwave.adapters.__file__).parent
    for file in folder.glob("*.py"):
        modules = [
            name
            for node in ast.walk(ast.parse(file.read_text()))
            for name in ([node.module or ""] if isinstance(node, ast.ImportFrom) else [])
            + ([one.name for one in node.names] if isinstance(node, ast.Import) else [])
        ]
        used = {name.partition(".")[0] for name in modules}
        others = set().union(*owners.values()) - owners.get(file.stem, set())
        known = {"matching": {"langgraph"}}  # which is of that adapter
        assert used & others <= known.get(file.stem, set()), file
        assert owners.get(file.stem, set()) <= used, file
