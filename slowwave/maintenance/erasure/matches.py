"""Memories that an erasure request names, their copies, and the fingerprints of quotes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.common import ids
from slowwave.errors import NotFoundError
from slowwave.journal import SOURCE_KINDS
from slowwave.journal.kinds.note import texts_in, without_follows
from slowwave.lifecycle.repetitions import repetitions
from slowwave.maintenance.erasure.entry_redaction import entries_of
from slowwave.maintenance.erasure.model import ErasureError, Named, Scope
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints, phrases_of, vocabulary
from slowwave.notes.conversation_context import last_words
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.journal import Journal
    from slowwave.maintenance.erasure.entry_redaction import Row


_TABLES: Final = ("memories", "quarantine")
"""Tables with a row per note."""
_KEPT: Final = 20_000
"""Maximum journal entries of notes that are kept between passes over them (count)."""


class NoteEntries:
    """Journal entries of a namespace's notes, for several passes; a few are read once and kept.

    Args:
        journal: That has them.
        namespace: Of the notes.
    """

    def __init__(self, journal: Journal, namespace: str) -> None:
        self._journal, self._namespace = journal, namespace
        self._kept: list[Row] | None = None

    def __iter__(self) -> Iterator[Row]:
        """Yield them by `seq`, as `entries_of` does."""
        if self._kept is not None:
            yield from self._kept
            return
        kept: list[Row] = []
        for row in entries_of(self._journal, self._namespace, SOURCE_KINDS):
            if len(kept) <= _KEPT:
                kept.append(row)
            yield row
        self._kept = kept if len(kept) <= _KEPT else None


@dataclass
class ErasureSubjects:
    """Memories to erase, with what the journal knows of them."""

    named: dict[str, Named] = field(default_factory=dict)
    needles: QuoteFingerprints = field(default_factory=lambda: QuoteFingerprints(frozenset(), ()))
    lent: set[str] = field(default_factory=set)
    followers: set[str] = field(default_factory=set)
    elsewhere: frozenset[str] | set[str] = frozenset()
    once: set[str] = field(default_factory=set)
    """Remaining memories that share a text, current or previous, with one of these."""

    @property
    def sources(self) -> dict[str, str]:
        """Ids of the erased memories by source."""
        return {memory.source: name for name, memory in self.named.items()}


def scope_of(memory_ids: Sequence[str], source: str, *, everything: bool) -> Scope:
    """Return the scope that the arguments name.

    Raises:
        ErasureError: They name nothing, or more than one scope.
    """
    named: dict[Scope, bool] = {"memories": bool(memory_ids), "source": bool(source), "namespace": everything}
    scopes = [scope for scope, is_named in named.items() if is_named]
    if len(scopes) != 1:
        raise ErasureError(
            "Name exactly one scope to erase: ids of memories, the beginning of their sources (--source), or "
            "the whole namespace (--everything)."
        )
    return scopes[0]


def find(
    space: Workspace, namespace: str, scope: Scope, memory_ids: Sequence[str] = (), source: str = ""
) -> ErasureSubjects:
    """Return the named memories, and those with exactly the same text as one of them.

    Raises:
        NotFoundError: The namespace has none of this name.
    """
    subjects = ErasureSubjects()
    entries = NoteEntries(space.journal, namespace)
    titles, hashes, texts_of, written = _texts(entries, namespace)
    origins = space.journal.subjects(namespace)
    known = _named_sources(space, namespace, memory_ids) if scope == "memories" else None
    if known is None:
        origins = _sources(space, namespace, origins)
        known = {ids.memory_id(namespace, name): name for name in origins}
    if scope == "memories":
        if unknown := [name for name in memory_ids if name not in known]:
            raise NotFoundError(
                f"Namespace {namespace!r} has no memory {unknown[0]!r}. Ids come from save() and search(); "
                f"an erased memory has none. Nothing was erased."
            )
        wanted = set(memory_ids)
    else:
        paths = _paths(space, namespace)
        wanted = {
            memory
            for memory, name in known.items()
            if scope == "namespace" or name.startswith(source) or paths.get(memory, name).startswith(source)
        }
    if not wanted and scope == "source":
        raise NotFoundError(
            f"Namespace {namespace!r} has no source that begins with {source!r}. Nothing was erased."
        )
    going = wanted | _copies(wanted, hashes)
    texts = {text for memory in going for text in texts_of.get(memory, ())}
    subjects.once = {memory for memory, own in texts_of.items() if memory not in going and own & texts}
    known = written | known
    for memory in sorted(going):
        name = known[memory]
        subjects.named[memory] = Named(
            memory, name, titles.get(memory, ""), origins.get(name, ""), memory not in wanted
        )
    _add_fingerprints(space, namespace, subjects, entries)
    return subjects


def _sources(space: Workspace, namespace: str, written: Mapping[str, str]) -> dict[str, str]:
    """Return every source that the journal or a table knows, with its vault."""
    sources = dict(written)
    for table in _TABLES:
        for source in space.store.scan(table, within(namespace), columns=["source"])["source"].drop_nulls():
            sources.setdefault(source, "")
    return sources


def _named_sources(space: Workspace, namespace: str, wanted: Sequence[str]) -> dict[str, str] | None:
    """Return the sources of named memories by id, without computing the ids of all sources.

    A table's row is taken only if its id is that of its source. None if some memory has no such row: only
    the journal may know it.
    """
    columns, also = ["memory_id", "source"], within(namespace)
    rows = pl.concat(
        space.store.read_by(name, "memory_id", wanted, columns=columns, also=also) for name in _TABLES
    )
    stored = rows.drop_nulls("source").iter_rows()
    named = {name: source for name, source in stored if ids.memory_id(namespace, source) == name}
    return named if set(wanted) <= named.keys() else None


def _paths(space: Workspace, namespace: str) -> dict[str, str]:
    """Return the present paths of notes that have moved, by memory id."""
    rows = space.store.read("memories", within(namespace, "path IS NOT NULL"), columns=["memory_id", "path"])
    return dict(rows.iter_rows())


def _texts(
    entries: NoteEntries, namespace: str
) -> tuple[dict[str, str], dict[str, str], dict[str, set[str]], dict[str, str]]:
    """Return by memory: latest title and content hash, hashes of all texts, source."""
    titles, hashes, every, sources = {}, {}, dict[str, set[str]](), {}
    for row in entries:
        if row["kind"] not in ("save", "unreadable"):
            continue
        memory = ids.memory_id(namespace, row["subject"])
        titles[memory], sources[memory] = str(row["data"].get("title") or ""), row["subject"]
        hashes[memory] = row["content_hash"]
        every.setdefault(memory, set()).update(filter(None, [row["content_hash"]]))
    return titles, hashes, every, sources


def _copies(wanted: Collection[str], hashes: Mapping[str, str]) -> set[str]:
    named = {hashes[memory] for memory in wanted if hashes.get(memory)}
    return {memory for memory, digest in hashes.items() if digest in named}


def _add_fingerprints(
    space: Workspace, namespace: str, subjects: ErasureSubjects, entries: NoteEntries
) -> None:
    """Find unique words, phrases and followers of the subjects, in two passes over all notes."""
    erased, sources = subjects.named, subjects.sources
    own: set[str] = set()
    phrases: set[str] = set()
    for row in entries:
        if row["subject"] in sources:
            own |= vocabulary(texts_in(row["data"])) | vocabulary([row["subject"]])
            title = str(row["data"].get("title") or "")
            for place in (row["subject"], str(row["data"].get("path") or row["subject"])):
                phrases.update(phrases_of(title, place))
            subjects.lent.add(last_words(str(row["data"].get("content") or "")))
    subjects.lent.discard("")
    other: set[str] = set()
    titles: set[str] = set()
    for row in entries:
        if row["subject"] not in sources:
            data = row["data"]
            if data.get("follows") in sources:
                subjects.followers.add(ids.memory_id(namespace, row["subject"]))
                data = without_follows(data, subjects.lent)
            other |= vocabulary(texts_in(data)) | vocabulary([row["subject"]])
            titles.add(str(data.get("title") or "").casefold())
    assert not subjects.followers & erased.keys()
    subjects.needles = QuoteFingerprints(frozenset(own - other), tuple(sorted(phrases - titles)))
    subjects.elsewhere = subjects.needles.words & _words_elsewhere(space, namespace)


def _words_elsewhere(space: Workspace, namespace: str) -> set[str]:
    """Return words of the saves, searches and judgments of other namespaces."""
    kinds = (*SOURCE_KINDS, "search", "judgment")
    names = set(space.journal.days(kinds)["namespace"]) - {namespace}
    return {
        word
        for name in names
        for row in entries_of(space.journal, name, kinds)
        for word in vocabulary([*texts_in(row["data"]), str(row["data"].get("query") or "")])
    }


def beside(space: Workspace, namespace: str, subjects: ErasureSubjects) -> tuple[str, ...]:
    """Return remaining memories that may have the same text: decided with an erased one, or once equal."""
    erased = subjects.named.keys()
    return tuple(sorted(subjects.once | repetitions(space, namespace, erased)))


def files_of(space: Workspace, namespace: str, named: Iterable[Named]) -> tuple[str, ...]:
    """Return files of watched vaults that the memories came from and that still exist."""
    folders = {
        vault.name: Path(vault.uri) for vault in space.journal.sources() if vault.namespace == namespace
    }
    moved = _paths(space, namespace)
    paths = {
        folders[memory.origin] / place.removeprefix(f"{memory.origin}/").partition("#")[0]
        for memory in named
        if memory.origin in folders
        for place in (moved.get(memory.memory_id, memory.source),)
    }
    return tuple(sorted(str(path) for path in paths if path.is_file()))
