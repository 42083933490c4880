"""LangChain: a retriever, saving documents, feedback and tools over a memory.

There is no `VectorStore`: that contract takes any text and any vector as it is, gives it back by its id and
forgets it for ever. A memory judges what it is told, embeds it itself, and keeps what is forgotten.
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

_LABELS = ("title", "memory_type", "tags", "follows")  # of a document's metadata that are labels of a note
_MOST_RUNS = 1_000  # of which a callback remembers what they belong to (count)


class SlowwaveRetriever(BaseRetriever):
    """Finds memories; a document's text is quoted, and its metadata has what feedback needs.

    Attributes:
        memory: that is asked, open.
        k: how many documents; also an argument of a call.
        project: that searches are for.
        memory_type: only of these types.
        memory_tags: only with one of these tags.
        explain: with an account of every score, in `metadata["explanation"]`.
        quote: False gives texts as they are, for programs that are no models.
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
                id=one.memory_id,
                page_content=text_of(one, quote=self.quote),
                metadata=metadata_of(response, one),
            )
            for one in response
        ]


def save_documents(memory: Memory, documents: Sequence[Document]) -> list[Saved]:
    """Save documents through the gate; the answer says of each whether it was let in.

    A document's id is its key: saved again, it replaces what it said before. Of its metadata title,
    memory_type, tags and follows are labels; all else is kept as metadata.

    Args:
        memory: that they are saved in.
        documents: with plain text, not with what a search has shown.

    Raises:
        ProtectedError: an id is the key of what only a person may replace; nothing was saved.
    """
    return save(memory, [_note(one) for one in documents])


def _note(document: Document) -> dict[str, Any]:
    labels = {name: document.metadata[name] for name in _LABELS if document.metadata.get(name)}
    rest = {name: value for name, value in document.metadata.items() if name not in _LABELS}
    return {"content": document.page_content, "key": document.id or "", "metadata": rest, **labels}


def observe(
    memory: Memory, documents: Sequence[Document], answer: str, *, cited: Collection[Document] = ()
) -> list[Observed]:
    """Say what an answer was made of, so that use teaches; one search after the other.

    Args:
        memory: that was asked.
        documents: that the answer was made from, of one or of several searches.
        answer: its text.
        cited: documents that it relied on with certainty.
    """
    said = []
    for search_id in _searches(documents):
        named = [one.metadata["memory_id"] for one in cited if one.metadata.get("search_id") == search_id]
        said.append(memory.observe(search_id, answer, cited=named, viewer=Viewer.ASSISTANT))
    return said


def rate(memory: Memory, document: Document, rating: str) -> Rated:
    """Say what one document of a search was worth: helpful, neutral or unhelpful.

    Args:
        memory: that was asked.
        document: as the retriever gave it.
        rating: of it.

    Raises:
        ArgumentError: the document is not of a search.
        FeedbackError: an unknown rating.
    """
    if not _searches([document]):
        raise ArgumentError("This document has no search_id in its metadata: it is not of SlowwaveRetriever.")
    about = document.metadata["search_id"], document.metadata["memory_id"]
    return memory.feedback(*about, rating, viewer=Viewer.ASSISTANT)


def _searches(documents: Sequence[Document]) -> list[str]:
    """The searches that documents are of, in their order."""
    named = (one.metadata.get("search_id") for one in documents)
    return list(dict.fromkeys(one for one in named if isinstance(one, str) and one))


class Feedback(BaseCallbackHandler):
    """A callback that observes by itself: what a chain answers, of the searches that were made in it.

    Give it to the call of the outermost chain: ``chain.invoke(question, {"callbacks": [Feedback(memory)]})``.

    Args:
        memory: that is asked.
    """

    raise_error = False  # an answer is not lost because nothing could be learned of it
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
        """A chain begins, by itself or in another one."""
        self._belongs(run_id, parent_run_id)

    def on_tool_start(
        self, serialized: Any, input_str: str, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:  # fmt: skip
        """A tool begins; it may ask a retriever."""
        self._belongs(run_id, parent_run_id)

    def _belongs(self, run_id: UUID, parent_run_id: UUID | None) -> None:
        with self._lock:
            self._roots[run_id] = self._roots.get(parent_run_id, parent_run_id) if parent_run_id else run_id
            while len(self._roots) > _MOST_RUNS:
                gone = next(iter(self._roots))
                del self._roots[gone]
                self._found.pop(gone, None)

    def on_retriever_end(
        self, documents: Sequence[Document], *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:  # fmt: skip
        """A retriever has found something."""
        if parent_run_id is not None:
            with self._lock:
                root = self._roots.get(parent_run_id, parent_run_id)
                self._found.setdefault(root, []).extend(documents)

    def on_chain_end(
        self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:  # fmt: skip
        """A chain has answered; the outermost one is what is observed."""
        with self._lock:
            self._roots.pop(run_id, None)
            documents = [] if parent_run_id is not None else self._found.pop(run_id, [])
        if documents and (answer := said(outputs)):
            self.observed += observe(self._memory, documents, answer)

    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **_: Any
    ) -> None:  # fmt: skip
        """A chain has failed: there is no answer."""
        with self._lock:
            self._roots.pop(run_id, None)
            if parent_run_id is None:
                self._found.pop(run_id, None)


def said(outputs: Any) -> str:
    """The text of what a chain answers: a text, a message, or the last message or answer in a mapping."""
    if isinstance(outputs, str):
        return outputs
    if isinstance(outputs, Mapping):
        for name in ("answer", "output", "result", "text"):
            if isinstance(outputs.get(name), str):
                return str(outputs[name])
        messages = outputs.get("messages")
        return said(messages[-1]) if isinstance(messages, Sequence) and messages else ""
    text = getattr(outputs, "text", None)
    return text if isinstance(text, str) else ""


def tools(memory: Memory, *, only: Collection[str] = ()) -> list[StructuredTool]:
    """The memory's tools for agents; a call that fails is answered with why.

    Args:
        memory: that is asked, open.
        only: names of the tools that are wanted; empty: all.
    """
    return [
        StructuredTool(
            name=one.name,
            description=one.description,
            args_schema=one.schema,
            func=one.function(_failure),
            coroutine=one.coroutine(_failure),
            handle_tool_error=True,
        )
        for one in memory_tools(memory, only=only or NAMES)
    ]


def _failure(error: ToolFailedError) -> ToolException:
    return ToolException(str(error))
