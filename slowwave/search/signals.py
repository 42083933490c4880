"""Ranking signals beside the text: trigger phrases, feedback states and learning.

All are cached and read again when their table has a new version, a check that takes a fraction of a
millisecond.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, NamedTuple

import pyarrow as pa

from slowwave.feedback.context import ContextualStates, RatedFor
from slowwave.feedback.states import MemoryStates, states_in
from slowwave.index.channels import CONFIDENCE_LABELS
from slowwave.index.table_cache import TableCache
from slowwave.learning.active_boosts import LearnedTriggers, SearchKeys, learned_triggers, search_keys
from slowwave.learning.search_keys import LedTo
from slowwave.learning.switch import RatingsSwitch
from slowwave.quality.admission.statuses import LIVE, MERGED, SUPERSEDED
from slowwave.scoring.ranking import Confidence, MemoryState
from slowwave.scoring.ranking.aliases import AliasIndex, AliasMatch
from slowwave.scoring.ranking.confidence import memory_confidence
from slowwave.scoring.ranking.learned import Learned
from slowwave.scoring.ranking.triggers import TriggerIndex
from slowwave.search.filters import Filters
from slowwave.search.stored_pairs import StoredPairs, cache_of_pairs
from slowwave.store import Store, one_of, quote
from slowwave.store.labels import heirs
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    import polars as pl

    from slowwave.embedding.base import Vectors
    from slowwave.home.workspace import Workspace

_SEPARATORS = str.maketrans("", "", " ./()-")
HEIR = ("memory_id", "source", "path", "replaced_by")


class MemoryNames(NamedTuple):
    """Trigger phrases and aliases of a namespace, at a version of its memories."""

    version: int
    of_memory: dict[str, tuple[Sequence[str] | None, Sequence[str] | None]]
    triggers: TriggerIndex
    aliases: AliasIndex
    text: str
    joined: str

    def having(self, part: str, joined: str = "") -> dict[str, list[str]]:
        """Return the phrases and aliases of memories with a lower-case part in one.

        Args:
            part: Characters as they are written.
            joined: Characters of a number in any grouping; empty: of none.
        """
        grouped = bool(joined) and joined in self.joined
        if part not in self.text and not grouped:
            return {}
        every = {memory: [*(both[0] or ()), *(both[1] or ())] for memory, both in self.of_memory.items()}
        if grouped:
            return every
        return {memory: texts for memory, texts in every.items() if part in "\n".join(texts).lower()}


def indexed_names(
    version: int, of_memory: dict[str, tuple[Sequence[str] | None, Sequence[str] | None]]
) -> MemoryNames:
    """Index the trigger phrases and the aliases of memories."""
    phrases = {name: both[0] for name, both in of_memory.items() if both[0]}
    aliases = {name: both[1] for name, both in of_memory.items() if both[1]}
    text = "\n".join(name for kind in (phrases, aliases) for names in kind.values() for name in names)
    text = text.lower()
    joined = text.translate(_SEPARATORS)
    return MemoryNames(version, of_memory, TriggerIndex(phrases), AliasIndex(aliases), text, joined)


class StoredSignals:
    """Ranking signals from the current tables.

    Args:
        store: Store of the tables.
        taught: Feedback states of memories.
        context: Feedback on memories for single questions.
        switch: Switch of ratings.
        learned: Learned terms; None if off.
        keys: Search keys; None if off.
    """

    def __init__(
        self,
        store: Store,
        taught: MemoryStates,
        context: ContextualStates,
        switch: RatingsSwitch,
        learned: LearnedTriggers | None = None,
        keys: SearchKeys | None = None,
    ) -> None:
        self._store, self._taught, self._context, self._switch = store, taught, context, switch
        self._learned, self._keys = learned, keys
        self._names = TableCache(lambda _: store.mark("memories"), self._read_names)
        self._pairs = cache_of_pairs(store)

    def triggered(self, namespace: str, query: str) -> Mapping[str, tuple[str, float]]:
        """Return memories whose trigger phrase the query contains: phrase and strength in (0, 1]."""
        triggers = self.names(namespace).triggers
        return triggers.match(query) if len(triggers) else {}

    def named(self, namespace: str, query: str) -> Mapping[str, AliasMatch]:
        """Return memories with an alias that shares a word with the query."""
        aliases = self.names(namespace).aliases
        return aliases.match(query) if len(aliases) else {}

    def names(self, namespace: str) -> MemoryNames:
        """Return the trigger phrases and aliases of a namespace."""
        return self._names.of(namespace)

    def pairs(self, namespace: str) -> StoredPairs:
        """Return pairs of memories in the decision log: near duplicates, contradictions."""
        return self._pairs.of(namespace)

    def states(self, namespace: str, memory_ids: Iterable[str]) -> dict[str, MemoryState]:
        """Return the feedback states of these memories; unused ones are absent."""
        states = self._taught.states(namespace, memory_ids)
        if states and self._switch.off(namespace):
            return {name: MemoryState(strength=state.strength) for name, state in states.items()}
        return states

    def rated(self, namespace: str, vector: Vectors, used: Collection[str]) -> Mapping[str, RatedFor]:
        """Return feedback for similar questions on memories that have `states` (rule 8)."""
        # States have each memory's current text, even if the journal has lost the earlier ones.
        if not used or self._switch.off(namespace):
            return {}
        return self._context.rated(namespace, vector, used)

    def promoted(self, namespace: str) -> Mapping[str, str]:
        """Return the tier of each promoted memory (rule 4.4)."""
        return self._taught.promoted(namespace)

    def heirs(self, namespace: str, source: str) -> list[str]:
        """Return the memories that absorbed one whose source has this prefix."""
        merged = within(namespace, f"status = {quote(MERGED)}")
        return heirs(self._store.read("memories", merged, columns=HEIR), source)

    def learned(self, namespace: str, query: str, now: datetime) -> Mapping[str, Learned]:
        """Return memories that approved learned terms match (rule 5)."""
        return self._learned.match(namespace, query, now) if self._learned else {}

    def led(self, namespace: str, vector: Vectors, now: datetime) -> Mapping[str, LedTo]:
        """Return the query boosts of approved search keys (rule 7)."""
        return self._keys.led(namespace, vector, now) if self._keys else {}

    def doubts(self, namespace: str) -> tuple[str, ...]:
        """Return warnings about the last answers of `learned` and `led` for this namespace."""
        warnings = [source.doubts(namespace) for source in (self._learned, self._keys) if source]
        return tuple(dict.fromkeys(doubt for some in warnings for doubt in some))

    def _read_names(
        self, namespace: str, mark: tuple[int, tuple[str, ...]], cached: MemoryNames | None
    ) -> MemoryNames:
        condition = (
            f"{one_of('status', [LIVE, SUPERSEDED])} "
            "AND (array_length(trigger_phrases) > 0 OR array_length(aliases) > 0)"
        )
        where, columns = within(namespace, condition), ["memory_id", "trigger_phrases", "aliases"]
        if cached is None or cached.version != mark[0]:
            of_memory = by_memory(self._store.read("memories", where, columns=columns))
            return indexed_names(mark[0], of_memory)
        new = by_memory(self._store.read_logged("memories", where, columns))
        if new.items() <= cached.of_memory.items():
            return cached
        of_memory = cached.of_memory | new
        return indexed_names(mark[0], of_memory)


def by_memory(rows: pl.DataFrame) -> dict[str, tuple[Sequence[str] | None, Sequence[str] | None]]:
    """Return trigger phrases and aliases of each row (memory_id, trigger_phrases, aliases)."""
    return {name: (phrases, aliases) for name, phrases, aliases in rows.iter_rows()}


def signals_in(space: Workspace) -> StoredSignals:
    """Return the ranking signals of a home."""
    return space.part(
        "knowledge",
        lambda: StoredSignals(
            space.store,
            states_in(space),
            ContextualStates(space),
            RatingsSwitch(space),
            learned_triggers(space),
            search_keys(space),
        ),
    )


def condition(knowledge: StoredSignals, namespace: str, filters: Filters) -> str:
    """Build the condition on ``chunks`` (or ``memories``) for what a search may return."""
    heirs = knowledge.heirs(namespace, filters.source) if filters.source else ()
    return filters.where(namespace, knowledge.promoted(namespace), heirs)


def confidence_of(rows: pa.Table) -> dict[str, Confidence]:
    """Return the confidence of each memory; rows (chunks) have memory_id and `CONFIDENCE_LABELS`."""
    columns = [rows.column(name).to_pylist() for name in CONFIDENCE_LABELS]
    labels = dict(zip(rows.column("memory_id").to_pylist(), zip(*columns, strict=True), strict=True))
    known = {label: memory_confidence(*label) for label in set(labels.values())}
    return {name: known[label] for name, label in labels.items()}
