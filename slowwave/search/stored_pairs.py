"""Pairs of memories that a search takes into account: near duplicates, contradictions.

Decisions are on memories of one namespace and one sensitivity. A text may have changed since, so the texts of
this search are compared again. Short notes are also compared without a decision.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import polars as pl
import pyarrow as pa
import pyarrow.compute as pc

from slowwave.index.table_cache import TableCache
from slowwave.quality.admission.reasons import UNDONE_BY_HAND
from slowwave.quality.admission.statuses import NEAR_DUPLICATE
from slowwave.quality.divergence.sentences import nearly_equal
from slowwave.quality.outdated.short_sentences import MAX_CHARACTERS
from slowwave.quality.titles import is_from_first_words
from slowwave.store import Store, quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.quality.divergence.note import ComparedNote

COLUMNS: Final = (
    "decision_id", "memory_id", "other_memory", "outcome", "proposed", "reasons", "refused", "decided_at",
    "undone_at", "undone_why",
)  # fmt: skip
MAX_COMPARED: Final = 8  # pairs of short notes that no decision names, of one search (count)
NEAR, OPPOSED, RELATED, SETTLED = _KINDS = "near", "opposed", "related", "settled"

_COMPARES: Final = "other_memory IS NOT NULL AND outcome IN ('related', 'supersede', 'complement')"
_COUNTS: Final = f"(undone_at IS NULL OR undone_why = {quote(UNDONE_BY_HAND)})"


class StoredPair(NamedTuple):
    """Two memories with what a decision says of them.

    `kind`: near (nearly the same words), opposed (one supersedes the other, or waits to), related, or settled
    (a user declined or undid the decision).
    """

    memory_id: str
    other: str
    kind: str


@dataclass(frozen=True, slots=True)
class StoredPairs:
    """Pairs of a namespace at a version of its decisions.

    Attributes:
        version: Version of the table.
        committed: Pairs in the table, by decision.
        near: Memories that the save gate marked as near duplicates of each memory.
        opposed: Memories that a decision sets against each memory.
        related: Memories that are kept beside each memory, with other values or other words.
        settled: Memories that a user keeps beside each memory, so that they are not compared again.
    """

    version: int
    committed: Mapping[str, StoredPair]
    near: Mapping[str, Sequence[str]]
    opposed: Mapping[str, Sequence[str]]
    related: Mapping[str, Sequence[str]]
    settled: Mapping[str, Sequence[str]]


class ComparedPassage(NamedTuple):
    """Passage of a returned memory, as the contradictions compare it.

    Attributes:
        is_whole: Whether the memory has no other passage.
    """

    memory_id: str
    sensitivity: str
    title: str
    source: str
    text: str
    is_whole: bool = True

    @property
    def is_short(self) -> bool:
        """Whether it is a short note."""
        return self.is_whole and len(self.text) <= MAX_CHARACTERS


def pairs_of(rows: pl.DataFrame, before: datetime | None = None) -> dict[str, StoredPair | None]:
    """Return the pair of each decision; None if it has none, or no longer.

    Args:
        rows: Decisions, columns `COLUMNS`.
        before: End of a past day; None: as of now.
    """
    pairs: dict[str, StoredPair | None] = {}
    for row in rows.iter_rows(named=True):
        ended = row["undone_at"] is not None and (before is None or row["undone_at"] < before)
        made = before is None or (row["decided_at"] is not None and row["decided_at"] < before)
        kind = "" if not made or row["refused"] else _kind(row)
        if ended and kind:
            kind = SETTLED if row["undone_why"] == UNDONE_BY_HAND else ""
        pairs[row["decision_id"]] = (
            StoredPair(row["memory_id"], row["other_memory"], kind) if kind and row["other_memory"] else None
        )
    return pairs


def _kind(row: Mapping[str, Any]) -> str:
    """Return what a decision says of its pair."""
    if row["outcome"] == "supersede" or row["proposed"] == "supersede":
        return OPPOSED
    if NEAR_DUPLICATE in (row["reasons"] or ()):
        return NEAR
    return RELATED if row["outcome"] == "related" and not row["proposed"] else ""


def indexed(version: int, committed: Mapping[str, StoredPair], pairs: Iterable[StoredPair]) -> StoredPairs:
    """Index pairs by both of their memories."""
    sides: dict[str, defaultdict[str, list[str]]] = {kind: defaultdict(list) for kind in _KINDS}
    for one, other, kind in pairs:
        sides[kind][one].append(other)
        sides[kind][other].append(one)
    return StoredPairs(version, committed, *(dict(sides[kind]) for kind in _KINDS))


def cache_of_pairs(store: Store) -> TableCache[str, StoredPairs]:
    """Return the pairs of each namespace, read again when its decisions change."""

    def read(namespace: str, mark: tuple[int, tuple[str, ...]], cached: StoredPairs | None) -> StoredPairs:
        where = within(namespace, _COMPARES)
        if cached is None or cached.version != mark[0]:
            read_rows = store.read("decisions", f"{where} AND {_COUNTS}", columns=COLUMNS)
            committed = _present(pairs_of(read_rows))
        else:
            committed = dict(cached.committed)
        logged = pairs_of(store.read_logged("decisions", where, COLUMNS)) if mark[1] else {}
        return indexed(mark[0], committed, _present({**committed, **logged}).values())

    return TableCache(lambda _: store.mark("decisions"), read)


def pairs_as_of(store: Store, namespace: str, before: datetime) -> StoredPairs:
    """Return the pairs of a namespace as of the end of a past day."""
    rows = store.read("decisions", within(namespace, _COMPARES), columns=COLUMNS)
    committed = _present(pairs_of(rows, before))
    return indexed(0, committed, committed.values())


def _present(pairs: Mapping[str, StoredPair | None]) -> dict[str, StoredPair]:
    return {name: pair for name, pair in pairs.items() if pair is not None}


def whole_memories(rows: pa.Table) -> dict[str, ComparedPassage]:
    """Return the memories of one chunk among candidates, by id."""
    columns = ["memory_id", "sensitivity", "title", "source", "text"]
    whole = rows.filter(pc.equal(rows.column("chunk_count"), 1)).select(columns).to_pylist()
    return {
        row["memory_id"]: ComparedPassage(
            **row | {"title": row["title"] or "", "sensitivity": row["sensitivity"] or ""}
        )
        for row in whole
    }


def with_near_duplicates(
    same_as: Mapping[str, str], near: Mapping[str, Sequence[str]], whole: Mapping[str, ComparedPassage]
) -> Mapping[str, str]:
    """Add near duplicates to the groups of equal memories.

    Args:
        same_as: The memory that each exact duplicate is grouped with.
        near: Near duplicates of each memory.
        whole: Best candidates whose passage is all that the memory says, by memory.
    """
    pairs = [
        (one, other)
        for one in near.keys() & whole.keys()
        for other in near[one]
        if one < other and other in whole and _repeats(whole[one], whole[other])
    ]
    if not pairs:
        return same_as
    first = {**dict.fromkeys(same_as.values()), **same_as}
    root = {name: first[name] or name for name in first}
    for one, other in sorted(pairs):
        left, right = root.get(one, one), root.get(other, other)
        together = min(left, right)
        for name in {one, other, left, right, *(name for name, of in root.items() if of in (left, right))}:
            root[name] = together
    return {name: of for name, of in root.items() if name != of}


def _repeats(one: ComparedPassage, other: ComparedPassage) -> bool:
    """Whether two passages of one sensitivity say the same, and their titles, too."""
    from slowwave.quality.divergence.contradiction import says_the_same  # lazy: most searches have no pair

    left, right = _note(one), _note(other)
    titled = bool(left.title and right.title)
    return (
        one.sensitivity == other.sensitivity
        and says_the_same(left.content, right.content)
        and (not titled or says_the_same(left.title, right.title))
    )


def contradictions(pairs: StoredPairs, passages: Sequence[ComparedPassage]) -> Iterator[tuple[int, int]]:
    """Yield positions of passages whose memories contradict each other.

    Compare short notes with each other, and longer ones where a decision names both.

    Args:
        pairs: Stored pairs of the namespace.
        passages: Best passages of the returned memories.
    """
    place = {passage.memory_id: at for at, passage in enumerate(passages)}
    for others, contradict in ((pairs.opposed, _decided), (pairs.related, _kept_apart)):
        for at, passage in enumerate(passages):
            for other in others.get(passage.memory_id, ()):
                second = place.get(other, -1)
                if second > at and contradict(passage, passages[second]):
                    yield at, second
    for at, second in islice(_alike(pairs, passages), MAX_COMPARED):
        if _kept_apart(passages[at], passages[second]):
            yield at, second


def _alike(pairs: StoredPairs, passages: Sequence[ComparedPassage]) -> Iterator[tuple[int, int]]:
    """Yield positions of nearly equal short notes, the best first; settled pairs are left out."""
    short = [at for at, passage in enumerate(passages) if passage.is_short]
    for at, second in combinations(short, 2):
        settled = pairs.settled.get(passages[at].memory_id, ())
        if passages[second].memory_id not in settled and nearly_equal(
            passages[at].text, passages[second].text
        ):
            yield at, second


def _decided(one: ComparedPassage, other: ComparedPassage) -> bool:
    """Whether two passages contradict each other whose memories a decision sets against each other."""
    from slowwave.quality.divergence.contradiction import denied  # lazy: most searches have no pair

    return one.sensitivity == other.sensitivity and denied(one.text, other.text)


def _kept_apart(one: ComparedPassage, other: ComparedPassage) -> bool:
    """Whether two passages contradict each other whose memories are related."""
    from slowwave.quality.divergence.contradiction import opposed  # lazy: most searches have no pair

    return one.sensitivity == other.sensitivity and opposed(_note(one), _note(other))


def _note(passage: ComparedPassage) -> ComparedNote:
    from slowwave.quality.divergence.note import ComparedNote  # lazy: most searches have no pair

    title = "" if is_from_first_words(passage.title, passage.text) else passage.title
    return ComparedNote(title, passage.source, passage.text)
