"""Every public call and every tool with odd values: it works, or it raises a `SlowwaveError`."""

from __future__ import annotations

import asyncio
import inspect
import json
import reprlib
import traceback
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from odd_values import WORST, odd

import slowwave
from slowwave.errors import SlowwaveError
from slowwave.mcp.server import build
from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool

pytestmark = pytest.mark.slow
OTHERS = 10  # odd values of a parameter beside the worst ones (count)
DEPLOY = "We deploy on Thursday since the second of March, and Friday is for repairs only."


@pytest.fixture
def known(memory: Memory) -> dict[str, Any]:
    """What a sensible caller gives, by the name of the parameter."""
    saved = memory.save(DEPLOY, key="deploy")
    response = memory.search("when do we deploy?", project="spring")
    return {
        "content": DEPLOY, "query": "when do we deploy?", "memory_id": saved.memory_id, "result": 1,
        "search_id": response.search_id, "rating": "helpful", "response": "On Thursday.", "project": "spring",
        "outcome": "success", "grade": 2, "notes": [{"content": DEPLOY}], "decision_id": "none",
        "quarantine_id": "none", "who": "Ruaridh", "scope": "memory", "value": saved.memory_id,
        "namespace": "ada",
    }  # fmt: skip


def public(thing: type) -> list[str]:
    """The methods that a caller may call."""
    return [
        name
        for name, member in inspect.getmembers(thing, inspect.isfunction)
        if not name.startswith("_") and name != "close"
    ]


def parameters(call: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    found = inspect.signature(call).parameters
    return {name: one for name, one in found.items() if name != "self"}


def oddly(call: Callable[..., Any], known: dict[str, Any], name: str) -> Iterator[dict[str, Any]]:
    """Arguments of a call: sensible ones but for one, which is odd."""
    every = parameters(call)
    sensible = {
        one: known.get(one, "x")
        for one, parameter in every.items()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL)
    }
    for one, parameter in every.items():
        target = {parameter.VAR_KEYWORD: "unknown", parameter.VAR_POSITIONAL: "*"}.get(parameter.kind, one)
        for value in odd(f"{name}.{target}", OTHERS):
            yield sensible | {target: value}


LABELS = (
    "context", "memory_type", "tags", "trigger_phrases", "aliases", "sensitivity", "importance_tier",
    "retrieval_priority", "state", "source_kind", "source_of_truth", "created_at", "metadata",
)  # fmt: skip


def without(arguments: dict[str, Any], name: str) -> dict[str, Any]:
    return {one: value for one, value in arguments.items() if one != name}


def fault(call: Callable[..., Any], arguments: dict[str, Any]) -> str:
    """What went wrong that should not, or nothing."""
    try:
        call(*([arguments["*"]] if "*" in arguments else []), **without(arguments, "*"))
    except SlowwaveError as error:
        return "" if str(error).strip() else "an error without words"
    except Exception:
        shown = {name: _shown(value) for name, value in arguments.items()}
        return f"{shown}\n{traceback.format_exc(limit=-3)}"
    return ""


def _shown(value: object) -> str:
    try:
        return reprlib.repr(value)
    except RuntimeError:
        return f"<{type(value).__name__}>"


def faults_of(thing: object, known: dict[str, Any]) -> list[str]:
    """Every fault of every public method, once."""
    return list(
        dict.fromkeys(
            f"{name}: {found}"
            for name in public(type(thing))
            for arguments in oddly(getattr(thing, name), known, name)
            if (found := fault(getattr(thing, name), arguments))
        )
    )


def test_every_call_of_the_memory(memory, known):
    faults = faults_of(memory, known)
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:5])
    assert memory.search("when do we deploy?").search_id


def test_every_call_about_learning(memory, known):
    faults = faults_of(memory.learning, known)
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:5])


def test_several_notes_with_odd_labels(memory):
    labels = [(label, value) for label in (*LABELS, "content", "title", "key", "follows", 1, None, "\ud800")
              for value in odd(f"notes.{label}", OTHERS)]  # fmt: skip
    faults = {
        found: None
        for label, value in labels
        if (found := fault(memory.save_many, {"notes": [{"content": DEPLOY, label: value}]}))
    }
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(list(faults)[:3])


def test_opening_a_memory(tmp_path, monkeypatch, home, memory):
    def opened(**arguments: Any) -> None:
        slowwave.open(**arguments).close()

    monkeypatch.chdir(tmp_path)
    sensible = {"path": home, "namespace": "ada", "embedding": {"model": "wordllama-256"}}
    faults = [
        found
        for target in ("path", "namespace", "principal", "embedding", "unknown", "journal")
        for value in odd(f"open.{target}", OTHERS)
        if (found := fault(opened, sensible | {target: value}))
    ]
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:9])


def test_every_tool_of_an_assistant(memory, home, known):
    memories = MemoryPool(memory.settings, lambda: Caller("ada", "claude"))
    memories._space.__dict__["embedder"] = memory.embedder
    server = build(memories)

    async def answered(tool: str, arguments: dict[str, Any]) -> str:
        try:
            await server.call_tool(tool, arguments)
        except Exception as error:  # the SDK's own kind for what a tool did not foresee
            if type(error).__name__ == "UnexpectedToolError":
                return f"{tool} {reprlib.repr(arguments)}: {error.__cause__!r}"
        return ""

    async def all_of_them() -> list[str]:
        faults = []
        for tool in await server.list_tools():
            schema = tool.input_schema
            sensible = {name: known.get(name, "x") for name in schema.get("required", ())}
            for target in schema["properties"]:
                for value in filter(_is_json, odd(f"{tool.name}.{target}", OTHERS)):
                    if found := await answered(tool.name, sensible | {target: value}):
                        faults.append(found)
        return faults

    faults = asyncio.run(all_of_them())
    memories.close()
    assert not faults, f"{len(faults)} faults, such as\n" + "\n".join(faults[:5])


def _is_json(value: object) -> bool:
    try:
        json.dumps(value)
    except (TypeError, ValueError, RecursionError):
        return False
    return True


def test_the_odd_values_hold_what_has_been_reported():
    assert {None, "\ud800", "5"} <= {value for value in WORST if isinstance(value, str | None)}
