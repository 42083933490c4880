"""LlamaIndex: retriever, memory block, and an agent with its mock model that calls the tools."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from adapter_home import DEPLOY, SECRET, is_quoted
from llama_index.core.agent.workflow import FunctionAgent
from llama_index.core.base.llms.types import ChatMessage, MessageRole, TextBlock, ToolCallBlock
from llama_index.core.llms.mock import MockFunctionCallingLLM, MockLLM
from llama_index.core.memory import Memory as ChatMemory
from llama_index.core.query_engine import RetrieverQueryEngine
from llama_index.core.schema import MetadataMode

from slowwave.adapters.llamaindex import SlowwaveMemoryBlock, SlowwaveRetriever, observe, tools

FERRY = "The ferry to the island leaves at seven in the morning, from the eastern pier, since April."
KEYS = "where are the keys of the harbour?"


def test_a_node_has_what_feedback_needs_and_a_model_reads_the_quoted_text_alone(known):
    retriever = SlowwaveRetriever(known.memory, similarity_top_k=3, explain=True)
    found = retriever.retrieve("when is the deploy day?")
    best = found[0]
    assert best.node.node_id == known.deploy
    assert best.score == best.node.metadata["score"]
    assert best.node.get_content(MetadataMode.LLM) == f'> title: "Deploy day"\n> {DEPLOY}'
    keys = next(one for one in retriever.retrieve(KEYS) if one.node.node_id == known.order)
    assert is_quoted(keys.node.get_content(MetadataMode.LLM))
    assert "quuxzyx" not in str(retriever.retrieve(SECRET))
    (seen,) = observe(known.memory, found, DEPLOY)
    assert {one.memory_id: one.verdict for one in seen.verdicts}[known.deploy] == "used"


@pytest.mark.asyncio
async def test_it_retrieves_beside_other_work(known):
    found = await SlowwaveRetriever(known.memory, quote=False, tags=["ops"]).aretrieve("the deploy day")
    assert [one.node.get_content() for one in found] == [DEPLOY]


def test_a_query_engine_of_the_framework_asks_it(known):
    """Its mock model answers with its prompt."""
    engine = RetrieverQueryEngine.from_args(SlowwaveRetriever(known.memory), llm=MockLLM())
    response = engine.query(KEYS)
    assert is_quoted(str(response))
    assert known.order in {one.node.node_id for one in response.source_nodes}


@pytest.mark.asyncio
async def test_a_memory_of_the_framework_has_it_as_a_block(known):
    block = SlowwaveMemoryBlock(memory=known.memory, k=2)
    memory = ChatMemory.from_defaults(
        session_id="s", token_limit=120, chat_history_token_ratio=0.5, token_flush_size=40,
        memory_blocks=[block],
    )  # fmt: skip
    for role, text in (("user", FERRY), ("assistant", "Noted."), ("user", f"And {KEYS} " * 6)):
        await memory.aput(ChatMessage(role=role, content=text))
    shown = "\n".join(one.content or "" for one in await memory.aget())
    assert is_quoted(shown)
    assert "quuxzyx" not in shown
    ferry = known.memory.search("when does the ferry leave?").results[0]
    assert (ferry.text, ferry.memory_type) == (FERRY, "chat")
    assert await block.aget([]) == ""
    await SlowwaveMemoryBlock(memory=known.memory, saves=False).aput(
        [ChatMessage(role="user", content="The second ferry of the day leaves at nine from the same pier.")]
    )
    assert "second ferry" not in str(known.memory.search("the second ferry").results)


@pytest.mark.asyncio
async def test_the_block_says_which_identifier_nothing_mentions(known):
    block = SlowwaveMemoryBlock(memory=known.memory, k=1, saves=False)
    shown = await block.aget([ChatMessage(role="user", content="when is the deploy day of INC-4821?")])
    assert shown.startswith("Nothing here mentions INC-4821. The results are only near it.\n\n")
    assert DEPLOY in shown
    (found,) = SlowwaveRetriever(known.memory, similarity_top_k=1).retrieve("the deploy day of INC-4821?")
    assert (found.node.metadata["unknown"], found.node.metadata["flags"]) == (["INC-4821"], ["only_near"])


@pytest.mark.asyncio
async def test_an_agent_calls_the_tools_and_reads_why_a_call_failed(known):
    script: list[ToolCallBlock | TextBlock] = [
        ToolCallBlock(tool_call_id="1", tool_name="memory_search", tool_kwargs={"query": KEYS}),
        ToolCallBlock(tool_call_id="2", tool_name="memory_history", tool_kwargs={"memory_id": known.secret}),
        ToolCallBlock(tool_call_id="3", tool_name="memory_save", tool_kwargs={"content": FERRY}),
        TextBlock(text="In the office."),
    ]
    told: list[str] = []

    def next_said(messages: Sequence[ChatMessage], **_: Any) -> ChatMessage:
        told.extend(one.content or "" for one in messages if one.role is MessageRole.TOOL)
        return ChatMessage(role="assistant", blocks=[script.pop(0)])

    made = tools(known.memory)
    for one in made:
        one.metadata.to_openai_tool()  # which refuses long descriptions
    llm = MockFunctionCallingLLM(response_generator=next_said)
    agent = FunctionAgent(tools=made, llm=llm, streaming=False)
    assert str(await agent.run("Where are the keys?")) == "In the office."
    assert is_quoted(told[0])
    assert "has no memory" in str(told)
    assert "Saved as memory" in str(told)
    assert "quuxzyx" not in str(told)


def test_tools_answer_without_a_loop_too(known):
    (search,) = tools(known.memory, only=["memory_search"])
    assert is_quoted(str(search.call(query=KEYS)))
