"""OpenAI Agents: a run of the SDK with a model of this file calls the tools on a real memory."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from adapter_home import is_quoted
from agents import Agent, Model, ModelResponse, RunConfig, Runner, Usage
from agents.items import TResponseStreamEvent
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

from slowwave.adapters.openai_agents import INSTRUCTIONS, tools
from slowwave.adapters.tools import NAMES


class Scripted(Model):
    """Says what its script says, and remembers what it was told."""

    def __init__(self, *script: Any) -> None:
        self.script, self.told = list(script), []

    async def get_response(self, system_instructions: Any, input: Any, *_: Any, **__: Any) -> ModelResponse:  # noqa: A002 - theirs
        self.told.append((system_instructions, input))
        return ModelResponse(output=[self.script.pop(0)], usage=Usage(), response_id=None)

    def stream_response(self, *_: Any, **__: Any) -> AsyncIterator[TResponseStreamEvent]:
        raise NotImplementedError


def calls(name: str, arguments: object) -> ResponseFunctionToolCall:
    given = arguments if isinstance(arguments, str) else json.dumps(arguments)
    return ResponseFunctionToolCall(
        arguments=given, call_id=f"{name} {given}", name=name, type="function_call"
    )


def says(text: str) -> ResponseOutputMessage:
    part = ResponseOutputText(annotations=[], text=text, type="output_text")
    return ResponseOutputMessage(id="m", content=[part], role="assistant", status="completed", type="message")


@pytest.mark.asyncio
async def test_a_run_searches_saves_and_goes_on_after_a_failure(known):
    model = Scripted(
        calls("memory_search", {"query": "where are the keys of the harbour?"}),
        calls("memory_history", {"memory_id": known.secret}),
        calls("memory_search", {"query": "x", "limit": 0}),
        calls("memory_save", "no JSON"),
        calls("memory_save", "[1]"),
        calls("memory_save", {"content": "Ruaridh changes the battery of the gauge each November."}),
        says("In the office."),
    )
    agent = Agent("keeper", instructions=INSTRUCTIONS, tools=tools(known.memory), model=model)
    result = await Runner.run(agent, "Where are the keys?", run_config=RunConfig(tracing_disabled=True))
    assert result.final_output == "In the office."
    system, told = model.told[-1]
    assert system == INSTRUCTIONS
    outputs = [one["output"] for one in told if one.get("type") == "function_call_output"]
    assert is_quoted(outputs[0])
    assert "has no memory" in outputs[1]
    assert "quuxzyx" not in str(told)
    assert "limit = 0" in outputs[2]
    assert "no JSON" in outputs[3]
    assert "no JSON object" in outputs[4]
    assert outputs[5].startswith("Saved as memory")


def test_its_tools_are_those_that_are_wanted(memory):
    assert [one.name for one in tools(memory)] == list(NAMES)
    assert [one.name for one in tools(memory, only=["memory_search"])] == ["memory_search"]
