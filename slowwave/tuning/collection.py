"""Labelled collections (documents, queries, judgments) and the candidates of their queries."""

from __future__ import annotations

import json
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from slowwave.common import ids, progress
from slowwave.errors import SlowwaveError
from slowwave.notes.decoding import says_nothing
from slowwave.scoring.ranking import Candidates
from slowwave.search.searcher import searcher_in

if TYPE_CHECKING:
    from slowwave.memory import Memory

BATCH = 2_000  # documents saved at a time (count)
_COLLECTION = "collection"  # key in ``meta``: digest of the collection, and whether it is complete
_TURN_FIELDS = ("session", "speaker", "role", "said_at")


@dataclass(frozen=True, slots=True)
class Collection:
    """Documents, queries and judgments, as in BEIR.

    Attributes:
        documents: ``_id``, ``title``, ``text``; optional ``namespace``. Turns of a chat, in order, have
            ``session``, ``speaker``, ``role`` or ``said_at``.
        queries: ``_id``, ``text``; optional ``namespace`` and ``answerable``.
        qrels: Grade of documents by query; 0 is judged and not relevant.
    """

    name: str
    documents: Sequence[Mapping[str, Any]]
    queries: Sequence[Mapping[str, Any]]
    qrels: Mapping[str, Mapping[str, int]]

    @property
    def digest(self) -> str:
        """Return a digest that changes with any document."""
        return ids.digest(*(json.dumps(document, sort_keys=True) for document in self.documents))

    def answerable(self) -> list[Mapping[str, Any]]:
        """Return the queries that some document answers."""
        return [
            query
            for query in self.queries
            if query.get("answerable", True)
            and any(grade > 0 for grade in self.qrels.get(query["_id"], {}).values())
        ]

    def unanswerable(self) -> list[Mapping[str, Any]]:
        """Return the queries marked as having no answer."""
        return [query for query in self.queries if not query.get("answerable", True)]


@dataclass(frozen=True, slots=True)
class Asked:
    """Candidates of one query.

    Attributes:
        documents: Document id of each memory.
    """

    query_id: str
    candidates: Candidates
    documents: Mapping[str, str]


def read_collection(folder: Path) -> Collection:
    """Read ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv`` (header, then query, document, grade).

    Raises:
        SlowwaveError: a file is missing, or a line is invalid.
    """
    folder = folder.expanduser()
    documents = _lines(folder / "corpus.jsonl", ("_id", "text"))
    queries = _lines(folder / "queries.jsonl", ("_id", "text"))
    qrels: dict[str, dict[str, int]] = defaultdict(dict)
    path = folder / "qrels.tsv"
    for number, line in enumerate(_text(path).split("\n")[1:], start=2):
        if line.strip():
            try:
                query, document, grade = line.split("\t")
                qrels[query][document] = int(grade)
            except ValueError:
                raise SlowwaveError(
                    f"{path}, line {number}: {line!r} is not query, document, grade."
                ) from None
    return Collection(folder.resolve().name, documents, queries, dict(qrels))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except OSError as error:
        raise SlowwaveError(
            f"Cannot read {path} ({error.strerror}). A collection is a folder with corpus.jsonl, "
            f"queries.jsonl and qrels.tsv, as in BEIR."
        ) from None
    except UnicodeDecodeError as error:
        raise SlowwaveError(f"{path} is not UTF-8: {error}.") from None


def _lines(path: Path, wanted: Sequence[str]) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(_text(path).split("\n"), start=1):  # JSON may hold other separators
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise SlowwaveError(f"{path}, line {number} is not JSON: {error}.") from None
        if not isinstance(row, dict):
            raise SlowwaveError(f"{path}, line {number} is not a JSON object.")
        if missing := [name for name in wanted if not isinstance(row.get(name), str)]:
            raise SlowwaveError(f"{path}, line {number} has no {', '.join(missing)}.")
        rows.append(row)
    return rows


def notes_of(documents: Sequence[Mapping[str, Any]]) -> dict[str, list[dict[str, Any]]]:
    """Convert documents to notes by namespace; a chat turn follows the previous one.

    A document without a word cannot be saved and is never found.
    """
    notes: dict[str, list[dict[str, Any]]] = defaultdict(list)
    previous: dict[tuple[str, Any], str] = {}
    for document in documents:
        content = document["text"] or document.get("title") or ""
        if says_nothing(content):
            continue
        space = document.get("namespace") or "default"
        note = {
            "key": document["_id"],
            "title": document.get("title") or document.get("speaker") or "",
            "content": content,
        }
        if any(name in document for name in _TURN_FIELDS):
            chat = (space, document.get("session"))
            note |= {"memory_type": "chat", "follows": previous.get(chat, "")}
            previous[chat] = document["_id"]
        notes[space].append(note)
    return dict(notes)


def fill(home: Path, collection: Collection, model: str) -> dict[str, Memory]:
    """Save the documents into a separate home by namespace; a home that has them is reused.

    Raises:
        SlowwaveError: the home holds another collection.
    """
    from slowwave.memory import open_memory

    memories: dict[str, Memory] = {}
    by_space = notes_of(collection.documents)
    try:
        for name in by_space:
            memories[name] = open_memory(
                home, namespace=name, principal="tune", embedding={"model": model}, gate={"mode": "off"},
                journal={"log_searches": False},
            )  # fmt: skip
        _save(memories, by_space, collection)
    except BaseException:
        for memory in memories.values():
            memory.close()
        raise
    return memories


def _save(
    memories: Mapping[str, Memory],
    by_space: Mapping[str, Sequence[Mapping[str, Any]]],
    collection: Collection,
) -> None:
    store = next(iter(memories.values())).store
    mark = store.get_meta(_COLLECTION)
    if mark is not None and mark["digest"] != collection.digest:
        raise SlowwaveError(
            f"{store.uri} holds another collection than {collection.name}. Use another folder."
        )
    if mark is not None and mark["whole"]:
        return
    store.put_meta(_COLLECTION, {"digest": collection.digest, "whole": False})
    for name, notes in by_space.items():
        with progress.task(f"saving {collection.name}", len(notes)) as advance:
            for at in range(0, len(notes), BATCH):
                memories[name].save_many(notes[at : at + BATCH])
                advance(len(notes[at : at + BATCH]))
    store.put_meta(_COLLECTION, {"digest": collection.digest, "whole": True})


@contextmanager
def opened(collection: Collection, model: str, *, cache: Path | None = None) -> Iterator[dict[str, Memory]]:
    """Open the collection as memories by namespace, for the time of the context.

    Args:
        collection: Collection to save.
        model: Embedding model.
        cache: Folder that keeps the home for the next time; None uses a temporary one.
    """
    with ExitStack() as stack:
        if cache is None:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        else:
            home = cache.expanduser() / collection.name
            home.mkdir(parents=True, exist_ok=True)
        memories = fill(home, collection, model)
        for memory in memories.values():
            stack.callback(memory.close)
        yield memories


def ask(memories: Mapping[str, Memory], queries: Sequence[Mapping[str, Any]], size: int = 100) -> list[Asked]:
    """Return the candidates of each query, as a search finds them.

    Raises:
        SlowwaveError: a query of a namespace without documents.
    """
    results = []
    with progress.task("searching", len(queries)) as advance:
        for query in queries:
            name = query.get("namespace") or "default"
            if name not in memories:
                raise SlowwaveError(f"Query {query['_id']} is of namespace {name!r}, which has no documents.")
            memory = memories[name]
            candidates = searcher_in(memory.home).find(memory.namespace, query["text"], size)
            sources = candidates.shown.column("source").to_pylist()
            documents = dict(zip(candidates.candidates.memory_ids, sources, strict=True))
            results.append(Asked(query["_id"], candidates.candidates, documents))
            advance(1)
    return results
