"""LlamaIndex: a retriever, a memory block and tools over a memory."""

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

_LONGEST_QUERY = limit_of("query").characters


class SlowwaveRetriever(BaseRetriever):
    """Finds memories; a node's text is quoted, and its metadata has what feedback needs.

    Args:
        memory: that is asked, open.
        similarity_top_k: how many (count).
        project: that searches are for.
        memory_type: only of these types.
        tags: only with one of these tags.
        explain: with an account of every score.
        quote: False gives texts as they are, for programs that are no models.
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
        self._asked: dict[str, Any] = {
            "limit": similarity_top_k, "project": project, "memory_type": tuple(memory_type),
            "tags": tuple(tags), "explain": explain,
        }  # fmt: skip
        super().__init__(**options)

    def _retrieve(self, query_bundle: QueryBundle) -> list[NodeWithScore]:
        response = self._memory.search(query_bundle.query_str, **self._asked)
        return [self._node(metadata_of(response, one), one) for one in response]

    def _node(self, metadata: dict[str, Any], result: Result) -> NodeWithScore:
        """Return a result as a node, of which a model reads the quoted text alone."""
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
    """Say what an answer was made of, so that use teaches; one search after the other.

    Args:
        memory: that was asked.
        nodes: that it was shown.
        answer: its text.
    """
    named = dict.fromkeys(one.node.metadata.get("search_id", "") for one in nodes)
    return [memory.observe(name, answer, viewer=Viewer.ASSISTANT) for name in named if name]


class SlowwaveMemoryBlock(BaseMemoryBlock[str]):
    """Long-term memory of a `llama_index.core.memory.Memory`: what bears on the last question, quoted.

    Messages that leave the short-term memory are saved through the gate, each as a note of type chat; what
    the gate refuses is in quarantine, as always.

    Attributes:
        memory: that is asked, open.
        k: memories that are shown (count).
        saves: whether messages that leave the short-term memory are saved.
    """

    name: str = "Slowwave"
    memory: Any = Field(exclude=True)
    k: int = 5
    saves: bool = True

    async def _aget(self, messages: list[ChatMessage] | None = None, **_: Any) -> str:
        asked = [one.content for one in messages or [] if one.role is MessageRole.USER and one.content]
        if not asked:
            return ""
        response = await asyncio.to_thread(self.memory.search, asked[-1][:_LONGEST_QUERY], limit=self.k)
        shown = [f"memory_id: {one.memory_id}\n{text_of(one, quote=True)}" for one in response]
        return "\n\n".join([NOTICE, f"search_id: {response.search_id}", *shown]) if shown else ""

    async def _aput(self, messages: list[ChatMessage]) -> None:
        notes = [
            {"content": one.content, "memory_type": "chat", "metadata": {"role": str(one.role.value)}}
            for one in messages
            if one.content and one.content.strip() and one.role in (MessageRole.USER, MessageRole.ASSISTANT)
        ]
        if notes and self.saves:
            await asyncio.to_thread(self.memory.save_many, notes)


def tools(memory: Memory, *, only: Collection[str] = ()) -> list[FunctionTool]:
    """The memory's tools for agents; a call that fails is an error of the tool, which the model is told.

    Args:
        memory: that is asked, open.
        only: names of the tools that are wanted; empty: all.
    """
    return [
        FunctionTool(
            fn=one.function(),
            async_fn=one.coroutine(),
            metadata=ToolMetadata(one.description, one.name, fn_schema=one.arguments),
        )
        for one in memory_tools(memory, only=only or NAMES)
    ]
