"""Search as of a past day: tables of that day rebuilt, and their searcher."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime
from functools import cache, partial
from typing import TYPE_CHECKING

import polars as pl

from slowwave.errors import SlowwaveError
from slowwave.feedback.context import ContextualStates
from slowwave.feedback.states import MemoryStates
from slowwave.index.incremental_snapshot import snapshot_of
from slowwave.index.snapshot import Snapshot
from slowwave.index.table_cache import TableCache
from slowwave.index.vocabulary import Vocabulary
from slowwave.learning.active_boosts import learned_boost, learned_triggers, search_keys
from slowwave.learning.switch import RatingsSwitch
from slowwave.lifecycle import ingest_pipeline
from slowwave.lifecycle.ingest_pipeline import labelled
from slowwave.lifecycle.past.events import events_until
from slowwave.lifecycle.past.log import DECISION, REFUSAL
from slowwave.lifecycle.past.memories import memories_as_of
from slowwave.quality.admission.statuses import MERGED
from slowwave.scoring.days import day_end
from slowwave.search.searcher import Searcher
from slowwave.search.signals import HEIR, MemoryNames, StoredSignals, by_memory, indexed_names
from slowwave.search.stored_pairs import StoredPairs, pairs_as_of
from slowwave.store.frames import to_schema
from slowwave.store.labels import heirs
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


PAST_DAYS_KEPT = 4
"""Past days kept rebuilt (count)."""


class PastSignals(StoredSignals):
    """Signals as of a past day's end, with that day's trigger phrases and heirs.

    Args:
        space: Workspace of the home.
        memories: Returns a namespace's memories as of the day, including merged ones.
        day: The day.
    """

    def __init__(self, space: Workspace, memories: Callable[[str], pl.DataFrame], day: date) -> None:
        super().__init__(
            space.store,
            MemoryStates(space, day),
            ContextualStates(space, day),
            RatingsSwitch(space, day),
            learned_triggers(space, day),
            search_keys(space, day),
        )
        self._memories, self._past_names = memories, cache(self._read_past_names)
        self._past_pairs = cache(partial(pairs_as_of, space.store, before=day_end(day)))

    def heirs(self, namespace: str, source: str) -> list[str]:
        """See `StoredSignals`."""
        return heirs(self._memories(namespace).filter(pl.col("status") == MERGED).select(HEIR), source)

    def pairs(self, namespace: str) -> StoredPairs:
        """See `StoredSignals`."""
        return self._past_pairs(namespace)

    def names(self, namespace: str) -> MemoryNames:
        """See `StoredSignals`."""
        return self._past_names(namespace)

    def _read_past_names(self, namespace: str) -> MemoryNames:
        rows = _present(self._memories(namespace)).select("memory_id", "trigger_phrases", "aliases")
        return indexed_names(0, by_memory(rows))


def searcher_as_of(space: Workspace, day: date) -> Searcher:
    """Return the searcher as of the end of a past day; the last few are cached.

    Raises:
        SlowwaveError: a future day.
    """
    cached: TableCache[date, Searcher] = space.part(
        "past searchers",
        lambda: TableCache(
            # A late event, a nightly job or an undo may change that day.
            lambda _: [space.store.version(name) for name in ("memories", "decisions", "quarantine")],
            lambda day, *_: rebuild_as_of(space, day),
            max_entries=PAST_DAYS_KEPT,
        ),
    )
    return cached.of(day)


def rebuild_as_of(space: Workspace, day: date) -> Searcher:
    """Build the searcher of the memory as of the end of a day (UTC).

    A namespace is rebuilt at its first search, which costs about as much as reading it. Keep the searcher for
    further searches of the same day.

    Raises:
        SlowwaveError: a future day.
    """
    today = datetime.now(UTC).date()
    if day > today:
        raise SlowwaveError(
            f"{day} is in the future (today is {today}, UTC). Ask for today or for a past day."
        )
    memories = cache(partial(_all_memories, space, day=day))
    vocabulary = Vocabulary()

    @cache
    def channels(namespace: str) -> Snapshot:
        rows = to_schema(
            _chunks(space, namespace, _present(memories(namespace))), space.store.specs["chunks"].schema
        )
        return snapshot_of(rows, vocabulary, space.store.table("chunks"))

    return Searcher(channels, space.embedder, PastSignals(space, memories, day), learned_boost(space))


def _all_memories(space: Workspace, namespace: str, *, day: date) -> pl.DataFrame:
    store, where = space.store, within(namespace)
    events = events_until(space.journal, namespace, day)
    return memories_as_of(
        events,
        store.read("decisions", where, columns=DECISION),
        store.read("quarantine", where, columns=REFUSAL),
        store.read("memories", where, columns=["memory_id", "revision"]),
        before=day_end(day),
    )


def _present(memories: pl.DataFrame) -> pl.DataFrame:
    """Return the memories without merged ones, which are part of others."""
    return memories.filter(pl.col("status") != MERGED)


def _chunks(space: Workspace, namespace: str, memories: pl.DataFrame) -> pl.DataFrame:
    """Return the ``chunks`` rows of memories, by chunk id.

    Unchanged memories have today's rows. The others are chunked again, with the vectors of their texts. If
    the chunk settings or the embedding model have changed since, today's apply.
    """
    store, where = space.store, within(namespace)
    now = store.read("chunks", where).join(memories, on=["memory_id", "revision"], how="semi")
    unchanged = now.filter(pl.len().over("memory_id") == pl.col("chunk_count"))
    others = memories.join(unchanged, on="memory_id", how="anti")
    cut = ingest_pipeline.cut(others, space.chunker, space.embedder.name)
    embedded = ingest_pipeline.embed(
        store, space.embedder, cut, look_up_from=1, tables=("embedded_chunks", "chunks")
    )
    rebuilt = labelled(embedded, others).select(unchanged.columns)
    return pl.concat([unchanged, rebuilt]).sort("chunk_id")
