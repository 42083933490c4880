"""LlamaIndex adapter: retriever, memory block and tools."""

from __future__ import annotations

from slowwave.adapters.needed import require
from slowwave.common.arguments import limit_of

require("llamaindex", "llama_index.core")

import asyncio
from collections.abc import Collection, Sequence
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.bridge.pydantic import Field
from llama_index.core.memory import BaseMemoryBlock
from llama_index.core.retrievers import BaseRetriever
from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode
from llama_index.core.tools import FunctionTool, ToolMetadata

from slowwave.adapters.quoting import metadata_of, text_of
from slowwave.adapters.tools import NAMES, memory_tools
from slowwave.common.quoting import NOTICE
from slowwave.feedback import Observed
from slowwave.home.visibility import Viewer
from slowwave.memory import Memory
from slowwave.search import Result

__all__ = ["SlowwaveMemoryBlock", "SlowwaveRetriever", "observe", "tools"]

_MAX_QUERY = limit_of("query").characters


class SlowwaveRetriever(BaseRetriever):
    """Retriever of memories; nodes have quoted text, and metadata for feedback.

    Args:
        memory: to search, open.
        similarity_top_k: number of results.
        project: of the searches.
        memory_type: only these types.
        tags: only with one of these tags.
        explain: add the explanation of every score.
        quote: False returns unquoted texts, for programs that are no models.
        **options: of the base class.
    """

    def __init__(
        self,
        memory: Memory,
        *,
        similarity_top_k: int = 5,
        project: str = "",
        memory_type: Sequence[str] = (),
        tags: Sequence[str] = (),
        explain: bool = False,
        quote: bool = True,
        **options: Any,
    ) -> None:
        self._memory, self._quote = memory, quote
        self._options: dict[str, Any] = {
            "limit": similarity_top_k, "project": project, "memory_type": tuple(memory_type),
            "tags": tuple(tags), "explain": explain,
        }  # fmt: skip
        super().__init__(**options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        response = self._memory.search(query_bundle.query_str, **self._options)
        return [self._node(metadata_of(response, result), result) for result in response]

    def _node(self, metadata: dict[str, Any], result: Result) -> NodeWithScore:
        """Return a result as a node; models read only the quoted text."""
        node = TextNode(
            id_=result.memory_id,
            text=text_of(result, quote=self._quote),
            metadata=metadata,
            excluded_llm_metadata_keys=list(metadata),
            excluded_embed_metadata_keys=list(metadata),
        )
        return NodeWithScore(node=node, score=result.score)

    async def _aretrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        return await asyncio.to_thread(self._retrieve, query_bundle)


def observe(memory: Memory, nodes: Sequence[NodeWithScore], answer: str) -> list[Observed]:
    """Record an answer, and detect which results it used, search by search.

    Args:
        memory: that was searched.
        nodes: that the model read.
        answer: its text.
    """
    search_ids = dict.fromkeys(node.node.metadata.get("search_id", "") for node in nodes)
    return [memory.observe(name, answer, viewer=Viewer.ASSISTANT) for name in search_ids if name]


class SlowwaveMemoryBlock(BaseMemoryBlock[str]):
    """Long-term memory for a `llama_index.core.memory.Memory`: quoted results for the last question.

    Messages that leave the short-term memory are saved through the save gate, each as a note of type chat.
    Refused ones are quarantined.

    Attributes:
        memory: to search, open.
        k: number of memories.
        saves: whether messages that leave the short-term memory are saved.
    """

    name: str = "Slowwave"
    memory: Any = Field(exclude=True)
    k: int = 5
    saves: bool = True

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        questions = [
            entry.content for entry in messages or [] if entry.role is MessageRole.USER and entry.content
        ]
        if not questions:
            return ""
        response = await asyncio.to_thread(self.memory.search, questions[-1][:_MAX_QUERY], limit=self.k)
        shown = [f"memory_id: {result.memory_id}\n{text_of(result, quote=True)}" for result in response]
        unknown = [response.unknown_message] * bool(response.unknown)
        if not shown:
            return "".join(unknown)
        return "\n\n".join([*unknown, NOTICE, f"search_id: {response.search_id}", *shown])

    async def _aput(self, messages: list[ChatMessage]) -> None:
        notes = [
            {"content": message.content, "memory_type": "chat", "metadata": {"role": str(message.role.value)}}
            for message in messages
            if message.content
            and message.content.strip()
            and message.role in (MessageRole.USER, MessageRole.ASSISTANT)
        ]
        if notes and self.saves:
            await asyncio.to_thread(self.memory.save_many, notes)


def tools(memory: Memory, *, only: Collection[str] = ()) -> list[FunctionTool]:
    """Return the memory's tools for agents; a failed call is an error of the tool.

    Args:
        memory: open.
        only: names of the tools; empty: all.
    """
    return [
        FunctionTool(
            fn=memory_tool.function(),
            async_fn=memory_tool.coroutine(),
            metadata=ToolMetadata(memory_tool.description, memory_tool.name, fn_schema=memory_tool.arguments),
        )
        for memory_tool in memory_tools(memory, only=only or NAMES)
    ]
