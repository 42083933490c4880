"""Pydantic AI: agents with the framework's test models call the tools on a real memory."""

from __future__ import annotations

import re

import pytest
from adapter_home import DEPLOY, is_quoted
from pydantic_ai import Agent
from pydantic_ai.messages import ModelMessage, ModelResponse, TextPart, ToolCallPart, ToolReturnPart
from pydantic_ai.models.function import AgentInfo, FunctionModel
from pydantic_ai.models.test import TestModel

from slowwave.adapters.pydantic_ai import INSTRUCTIONS, toolset
from slowwave.adapters.tools import NAMES


def scripted(script: list[ModelResponse]) -> FunctionModel:
    def said(messages: list[ModelMessage], info: AgentInfo) -> ModelResponse:
        assert [one.name for one in info.function_tools] == list(NAMES)
        assert INSTRUCTIONS.strip() in str(info.instructions)
        return script[sum(isinstance(one, ModelResponse) for one in messages)]

    return FunctionModel(said)


def calls(name: str, **arguments: object) -> ModelResponse:
    return ModelResponse([ToolCallPart(name, arguments)])


def told(result: object) -> list[tuple[str, str]]:
    """What the tools answered, and how it ended."""
    return [
        (part.outcome, str(part.content))
        for one in result.all_messages()  # type: ignore[attr-defined]
        for part in one.parts
        if isinstance(part, ToolReturnPart)
    ]


def test_the_test_model_can_call_what_reads(known):
    """It makes arguments from the schemas, without a thought."""
    wanted = ["memory_wakeup", "memory_search", "memory_save"]
    agent = Agent(TestModel(), toolsets=[toolset(known.memory, only=wanted, instructions=False)])
    result = agent.run_sync("Go on.")
    assert set(wanted) == {name for name in wanted if name in result.output}


def test_an_agent_searches_and_says_what_it_was_worth(known):
    agent = Agent(
        scripted(
            [
                calls("memory_search", query="where are the keys of the harbour?"),
                calls("memory_search", query="x", namespace="bob"),
                calls("memory_history", memory_id=known.secret),
                calls("memory_save", content=DEPLOY.replace("Thursday", "Friday"), title="New deploy day"),
                ModelResponse([TextPart("In the office.")]),
            ]
        ),
        toolsets=[toolset(known.memory)],
    )
    result = agent.run_sync("Where are the keys?")
    assert result.output == "In the office."
    found, again, hidden, saved = told(result)
    assert is_quoted(found[1])
    assert re.match(r"search_id: \w+", found[1])
    assert (again[0], "namespace" in again[1]) == ("retried", True)
    assert (hidden[0], "has no memory" in hidden[1]) == ("failed", True)
    assert (saved[0], saved[1][:15]) == ("success", "Saved as memory")
    assert "quuxzyx" not in str(result.all_messages())


@pytest.mark.asyncio
async def test_several_calls_of_one_answer_run_at_once(known):
    agent = Agent(
        scripted(
            [
                ModelResponse(
                    [ToolCallPart("memory_search", {"query": "the deploy day?"}) for _ in range(6)]
                ),
                ModelResponse([TextPart("Thursday.")]),
            ]
        ),
        toolsets=[toolset(known.memory)],
    )
    result = await agent.run("When?")
    answers = [one for _, one in told(result)]
    assert len({one.splitlines()[0] for one in answers}) == 6
    assert all(DEPLOY in one for one in answers)
