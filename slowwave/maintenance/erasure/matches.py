"""What a person named, as memories; who says the same; and by what the rest is known."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from slowwave.common import ids
from slowwave.errors import NotFoundError
from slowwave.journal import SOURCE_KINDS
from slowwave.journal.kinds.note import texts_in, without_follows
from slowwave.maintenance.erasure.entry_redaction import entries_of
from slowwave.maintenance.erasure.model import ErasureError, Named, Scope
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints, phrases_of, vocabulary
from slowwave.notes.conversation_context import last_words
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

_BESIDE = "outcome IN ('merge', 'duplicate', 'supersede')"


@dataclass
class ErasureSubjects:
    """What is known of the memories that go, from the journal."""

    named: dict[str, Named] = field(default_factory=dict)
    needles: QuoteFingerprints = field(default_factory=lambda: QuoteFingerprints(frozenset(), ()))
    lent: set[str] = field(default_factory=set)
    followers: set[str] = field(default_factory=set)
    elsewhere: frozenset[str] | set[str] = frozenset()
    once: set[str] = field(default_factory=set)
    """Memories that stay and have a text, now or before, that one of these has or had."""

    @property
    def sources(self) -> dict[str, str]:
        """Their ids by source."""
        return {one.source: name for name, one in self.named.items()}


def scope_of(memory_ids: Sequence[str], source: str, *, everything: bool) -> Scope:
    """What was named.

    Raises:
        ErasureError: nothing, or more than one kind of thing.
    """
    named: dict[Scope, bool] = {"memories": bool(memory_ids), "source": bool(source), "namespace": everything}
    asked = [scope for scope, is_named in named.items() if is_named]
    if len(asked) != 1:
        raise ErasureError(
            "Say one thing to erase: ids of memories, the beginning of their sources (--source), or "
            "everything that the namespace has (--everything)."
        )
    return asked[0]


def find(
    space: Workspace, namespace: str, scope: Scope, memory_ids: Sequence[str] = (), source: str = ""
) -> ErasureSubjects:
    """The memories that were named, and those that say exactly what one of them says.

    Raises:
        NotFoundError: the namespace has none of this name.
    """
    origins = _sources(space, namespace)
    known = {ids.memory_id(namespace, name): name for name in origins}
    if scope == "memories":
        if unknown := [name for name in memory_ids if name not in known]:
            raise NotFoundError(
                f"Namespace {namespace!r} has no memory {unknown[0]!r}. Ids come from save() and search(); "
                f"what was erased has none. Nothing was erased."
            )
        wanted = set(memory_ids)
    else:
        wanted = {memory for memory, name in known.items() if scope == "namespace" or name.startswith(source)}
    if not wanted and scope == "source":
        raise NotFoundError(
            f"Namespace {namespace!r} has nothing whose source begins with {source!r}. Nothing was erased."
        )
    found = ErasureSubjects()
    titles, hashes, said = _said(space, namespace)
    going = wanted | _copies(wanted, hashes)
    texts = {one for memory in going for one in said.get(memory, ())}
    found.once = {memory for memory, own in said.items() if memory not in going and own & texts}
    for memory in sorted(going):
        name = known[memory]
        found.named[memory] = Named(memory, name, titles.get(memory, ""), origins[name], memory not in wanted)
    _look_around(space, namespace, found)
    return found


def _sources(space: Workspace, namespace: str) -> dict[str, str]:
    """Every source that the journal or a table knows, with its vault."""
    found = space.journal.subjects(namespace)
    mine = within(namespace)
    for table in ("memories", "quarantine"):
        for source in space.store.read(table, mine, columns=["source"])["source"].drop_nulls().unique():
            found.setdefault(source, "")
    return found


def _said(space: Workspace, namespace: str) -> tuple[dict[str, str], dict[str, str], dict[str, set[str]]]:
    """Title and content hash of the newest text of every memory, and the hashes of all its texts."""
    titles, hashes, every = {}, {}, dict[str, set[str]]()
    for row in entries_of(space.journal, namespace, ("save", "unreadable")):
        memory = ids.memory_id(namespace, row["subject"])
        titles[memory] = str(row["said"].get("title") or "")
        hashes[memory] = row["content_hash"]
        every.setdefault(memory, set()).update(filter(None, [row["content_hash"]]))
    return titles, hashes, every


def _copies(wanted: Collection[str], hashes: Mapping[str, str]) -> set[str]:
    said = {hashes[memory] for memory in wanted if hashes.get(memory)}
    return {memory for memory, one in hashes.items() if one in said}


def _look_around(space: Workspace, namespace: str, found: ErasureSubjects) -> None:
    """Read all notes of the namespace once: what only these say, and who follows them."""
    mine, sources = found.named, found.sources
    own: set[str] = set()
    phrases: set[str] = set()
    for row in entries_of(space.journal, namespace, SOURCE_KINDS):
        if row["subject"] in sources:
            own |= vocabulary(texts_in(row["said"])) | vocabulary([row["subject"]])
            phrases.update(phrases_of(str(row["said"].get("title") or ""), row["subject"]))
            found.lent.add(last_words(str(row["said"].get("content") or "")))
    found.lent.discard("")
    other: set[str] = set()
    titles: set[str] = set()
    for row in entries_of(space.journal, namespace, SOURCE_KINDS):
        if row["subject"] not in sources:
            said = row["said"]
            if said.get("follows") in sources:
                found.followers.add(ids.memory_id(namespace, row["subject"]))
                said = without_follows(said, found.lent)
            other |= vocabulary(texts_in(said)) | vocabulary([row["subject"]])
            titles.add(str(said.get("title") or "").casefold())
    assert not found.followers & mine.keys()
    found.needles = QuoteFingerprints(frozenset(own - other), tuple(sorted(phrases - titles)))
    found.elsewhere = found.needles.words & _said_by_others(space, namespace)


def _said_by_others(space: Workspace, namespace: str) -> set[str]:
    """Words of what other namespaces saved, asked and judged."""
    kinds = (*SOURCE_KINDS, "search", "judgment")
    names = set(space.journal.days(kinds)["namespace"]) - {namespace}
    return {
        word
        for name in names
        for row in entries_of(space.journal, name, kinds)
        for word in vocabulary([*texts_in(row["said"]), str(row["said"].get("query") or "")])
    }


def beside(space: Workspace, namespace: str, found: ErasureSubjects) -> tuple[str, ...]:
    """Memories that stay and may say the same: decided about together with one that goes, or once equal."""
    mine = found.named.keys()
    rows = space.store.read("decisions", within(namespace, _BESIDE), columns=["memory_id", "other_memory"])
    pairs = (set(filter(None, pair)) for pair in rows.iter_rows())
    return tuple(sorted(found.once.union(*(pair for pair in pairs if pair & mine)) - mine))


def files_of(space: Workspace, namespace: str, named: Iterable[Named]) -> tuple[str, ...]:
    """Files of watched vaults that the memories came from and that are there still."""
    folders = {one.name: Path(one.uri) for one in space.journal.sources() if one.namespace == namespace}
    paths = {
        folders[one.origin] / one.source.removeprefix(f"{one.origin}/").partition("#")[0]
        for one in named
        if one.origin in folders
    }
    return tuple(sorted(str(path) for path in paths if path.is_file()))
