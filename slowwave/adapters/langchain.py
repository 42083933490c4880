"""LangChain adapter: retriever, saving of documents, feedback and tools.

There is no `VectorStore`. That contract stores any text and vector unchanged, returns it by its id and
deletes it forever. A memory validates notes, embeds them itself, and keeps forgotten ones.
"""

from __future__ import annotations

from slowwave.adapters.needed import require

require("langchain", "langchain_core")

from collections.abc import Collection, Mapping, Sequence
from threading import Lock
from typing import Any
from uuid import UUID

from langchain_core.callbacks import BaseCallbackHandler, CallbackManagerForRetrieverRun
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever
from langchain_core.tools import StructuredTool, ToolException
from pydantic import Field

from slowwave.adapters.quoting import metadata_of, text_of
from slowwave.adapters.saving import save
from slowwave.adapters.tools import NAMES, ToolFailedError, memory_tools
from slowwave.errors import ArgumentError
from slowwave.feedback import Observed, Rated
from slowwave.home.tenant import Saved
from slowwave.home.visibility import Viewer
from slowwave.memory import Memory

__all__ = ["Feedback", "SlowwaveRetriever", "observe", "rate", "save_documents", "tools"]

_LABELS = ("title", "memory_type", "tags", "follows")  # metadata of a document that are labels of a note
_MAX_RUNS = 1_000  # tracked by a callback (count)


class SlowwaveRetriever(BaseRetriever):
    """Retriever of memories; documents have quoted text, and metadata for feedback.

    Attributes:
        memory: to search, open.
        k: number of documents; also an argument of a call.
        project: of the searches.
        memory_type: only these types.
        memory_tags: only with one of these tags.
        explain: add the explanation of every score as `metadata["explanation"]`.
        quote: False returns unquoted texts, for programs that are no models.
    """

    memory: Any = Field(exclude=True, repr=False)
    k: int = Field(5, ge=1)
    project: str = ""
    memory_type: tuple[str, ...] = ()
    memory_tags: tuple[str, ...] = ()
    explain: bool = False
    quote: bool = True

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,
        k: int | None = None,
    ) -> list[Document]:
        memory: Memory = self.memory
        response = memory.search(
            query,
            limit=self.k if k is None else k,
            project=self.project,
            memory_type=self.memory_type,
            tags=self.memory_tags,
            explain=self.explain,
        )
        return [
            Document(
                id=result.memory_id,
                page_content=text_of(result, quote=self.quote),
                metadata=metadata_of(response, result),
            )
            for result in response
        ]


def save_documents(memory: Memory, documents: Sequence[Document]) -> list[Saved]:
    """Save documents through the save gate, and return the outcomes.

    A document's id is its key: saving it again replaces the text. Of its metadata, title, memory_type, tags
    and follows become labels; the rest stays metadata.

    Args:
        memory: to save in.
        documents: with plain text, not with results of a search.

    Raises:
        ProtectedError: only a person may replace the note of an id; nothing was saved.
    """
    return save(memory, [_note(document) for document in documents])


def _note(document: Document) -> dict[str, Any]:
    labels = {name: document.metadata[name] for name in _LABELS if document.metadata.get(name)}
    rest = {name: value for name, value in document.metadata.items() if name not in _LABELS}
    return {"content": document.page_content, "key": document.id or "", "metadata": rest, **labels}


def observe(
    memory: Memory, documents: Sequence[Document], answer: str, *, cited: Collection[Document] = ()
) -> list[Observed]:
    """Record an answer, and detect which results it used, search by search.

    Args:
        memory: that was searched.
        documents: that the answer is based on, of one or several searches.
        answer: its text.
        cited: documents that it cites.
    """
    observed = []
    for search_id in _searches(documents):
        named = [
            document.metadata["memory_id"]
            for document in cited
            if document.metadata.get("search_id") == search_id
        ]
        observed.append(memory.observe(search_id, answer, cited=named, viewer=Viewer.ASSISTANT))
    return observed


def rate(memory: Memory, document: Document, rating: str) -> Rated:
    """Rate one document of a search: helpful, neutral or unhelpful.

    Args:
        memory: that was searched.
        document: from the retriever.
        rating: of the document.

    Raises:
        ArgumentError: the document is not from a search.
        FeedbackError: an unknown rating.
    """
    if not _searches([document]):
        raise ArgumentError("The document's metadata has no search_id. Use a document of SlowwaveRetriever.")
    result_ids = document.metadata["search_id"], document.metadata["memory_id"]
    return memory.feedback(*result_ids, rating, viewer=Viewer.ASSISTANT)


def _searches(documents: Sequence[Document]) -> list[str]:
    """Return the searches of documents, in order."""
    named = (search_id.metadata.get("search_id") for search_id in documents)
    return list(dict.fromkeys(search_id for search_id in named if isinstance(search_id, str) and search_id))


class Feedback(BaseCallbackHandler):
    """Callback that records the answer of a chain for the searches made in it.

    Pass it to the call of the outermost chain: ``chain.invoke(question, {"callbacks": [Feedback(memory)]})``.

    Args:
        memory: that is searched.
    """

    raise_error = False  # an error of feedback does not lose the answer
    run_inline = True

    def __init__(self, memory: Memory) -> None:
        self._memory = memory
        self._roots: dict[UUID, UUID] = {}
        self._found: dict[UUID, list[Document]] = {}
        self._lock = Lock()
        self.observed: list[Observed] = []

    def on_chain_start(
        self, serialized: Any, inputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:  # fmt: skip
        """Track the start of a chain."""
        self._belongs(run_id, parent_run_id)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:  # fmt: skip
        """Track the start of a tool, which may call a retriever."""
        self._belongs(run_id, parent_run_id)

    def _belongs(self, run_id: UUID, parent_run_id: UUID | None) -> None:
        with self._lock:
            self._roots[run_id] = self._roots.get(parent_run_id, parent_run_id) if parent_run_id else run_id
            while len(self._roots) > _MAX_RUNS:
                oldest = next(iter(self._roots))
                del self._roots[oldest]
                self._found.pop(oldest, None)

    def on_retriever_end(
        self, documents: Sequence[Document], *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:  # fmt: skip
        """Collect the documents of a retriever."""
        if parent_run_id is not None:
            with self._lock:
                root = self._roots.get(parent_run_id, parent_run_id)
                self._found.setdefault(root, []).extend(documents)

    def on_chain_end(
        self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:  # fmt: skip
        """Observe the answer of the outermost chain."""
        with self._lock:
            self._roots.pop(run_id, None)
            documents = [] if parent_run_id is not None else self._found.pop(run_id, [])
        if documents and (answer := answer_text(outputs)):
            self.observed += observe(self._memory, documents, answer)

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:  # fmt: skip
        """Drop a failed chain, which has no answer."""
        with self._lock:
            self._roots.pop(run_id, None)
            if parent_run_id is None:
                self._found.pop(run_id, None)


def answer_text(outputs: Any) -> str:
    """Return the text of a chain's output: a text, a message, or an answer in a mapping."""
    if isinstance(outputs, str):
        return outputs
    if isinstance(outputs, Mapping):
        for name in ("answer", "output", "result", "text"):
            if isinstance(outputs.get(name), str):
                return str(outputs[name])
        messages = outputs.get("messages")
        return answer_text(messages[-1]) if isinstance(messages, Sequence) and messages else ""
    text = getattr(outputs, "text", None)
    return text if isinstance(text, str) else ""


def tools(memory: Memory, *, only: Collection[str] = ()) -> list[StructuredTool]:
    """Return the memory's tools for agents; the error of a failed call is its answer.

    Args:
        memory: open.
        only: names of the tools; empty: all.
    """
    return [
        StructuredTool(
            name=memory_tool.name,
            description=memory_tool.description,
            args_schema=memory_tool.schema,
            func=memory_tool.function(_failure),
            coroutine=memory_tool.coroutine(_failure),
            handle_tool_error=True,
        )
        for memory_tool in memory_tools(memory, only=only or NAMES)
    ]


def _failure(error: ToolFailedError) -> ToolException:
    return ToolException(str(error))
