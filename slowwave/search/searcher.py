"""The candidates of one search: what two channels found, and what is known of the memories they found.

Where the channels have to wait, words are looked up in a thread while the query is being embedded. Two kinds
of memory cost another question: one that nothing but its trigger phrase or what was learned found, and a long
one whose title may be its own first line. Else the candidates carry all that a result shows. Of one that only
a learned term or a search key found its nearest chunk is a candidate.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from slowwave.common.arguments import limit_of
from slowwave.common.ids import normalised_query
from slowwave.embedding import Embedder, knows, profile
from slowwave.feedback.context import RatedFor
from slowwave.feedback.tiers import COLUMN, tiers_of
from slowwave.index.channels import DIGITS, Channels, Hits
from slowwave.index.incremental_snapshot import Snapshots
from slowwave.index.lancedb_channels import TableChannels
from slowwave.learning.active_boosts import learned_boost
from slowwave.learning.search_keys import LedTo
from slowwave.quality.admission.types import SUPERSEDED
from slowwave.quality.titles import is_cut, is_from_first_words
from slowwave.scoring.ranking import Candidates, MemoryState
from slowwave.scoring.ranking.candidates import NEUTRAL, Led, QuestionRating
from slowwave.scoring.ranking.learned import Learned
from slowwave.scoring.ranking.words import coverage, stems, text_stems, title_share
from slowwave.search.filters import Filters
from slowwave.search.signals import StoredSignals, condition, confidence_of, signals_in
from slowwave.telemetry import carried, span

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

MAX_QUERY_CHARACTERS = limit_of("query").characters
TRIGGERED_CHUNKS = 64  # read of memories that nothing but their trigger phrase found (count)
LEARNED_MEMORIES = 10  # that nothing but learned terms found, or search keys, the strongest of each (count)
LEARNED_CHUNKS = 200  # read of them (count)
KNOWN = 0.5  # share of a query's language that the model knows, from which similar questions can be told
COVERED = 10  # best chunks of each channel whose words are compared with the query's (count)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchCandidates:
    """Candidates of one query with what their results show."""

    candidates: Candidates
    shown: pa.Table  # one row per candidate, columns SHOWN
    embedding_ms: float
    total_ms: float
    learned: Mapping[str, Learned] = field(default_factory=dict)  # of memories of the candidates
    led: Mapping[str, LedTo] = field(default_factory=dict)  # the same, by search keys
    rated: Mapping[str, RatedFor] = field(default_factory=dict)  # the same, by feedback on similar questions
    warnings: tuple[str, ...] = ()


class Searcher:
    """Finds candidates for one embedding model.

    Args:
        channels: what searches the chunks of a namespace.
        embedder: turns queries into vectors.
        knowledge: of memories beside their text.
        boost: what learned terms add to a score.
    """

    def __init__(
        self,
        channels: Callable[[str], Channels[Any]],
        embedder: Embedder,
        knowledge: StoredSignals,
        boost: Callable[[Learned], float] = Learned.boost,
    ) -> None:
        self._channels, self._embedder, self._knowledge, self._boost = channels, embedder, knowledge, boost
        self._pool = ThreadPoolExecutor(4, thread_name_prefix="slowwave-search")

    def close(self) -> None:
        """Stop the threads."""
        self._pool.shutdown(wait=False)

    def _beside(self, work: Callable[..., Any], *arguments: Any) -> Future[Any]:  # noqa: ANN401
        return self._pool.submit(carried(work), *arguments)

    def find(
        self,
        namespace: str,
        query: str,
        size: int,
        filters: Filters | None = None,
        now: datetime | None = None,
    ) -> SearchCandidates:
        """The best `size` chunks of each channel, of the namespace's memories that pass the filters.

        Args:
            namespace: the tenant.
            query: the question.
            size: chunks of each channel (count).
            filters: what a result has to be.
            now: moment of the search, for what was learned; without it nothing learned counts.
        """
        start = time.perf_counter()
        chunks = self._channels(namespace)
        promoted = self._knowledge.promoted(namespace)
        where = condition(self._knowledge, namespace, filters or Filters())
        ask = self._beside if chunks.waits else _at_once
        text = ask(_full_text, chunks, query, where, size)
        triggered = ask(self._knowledge.triggered, namespace, query)
        asked = None if now is None else ask(self._knowledge.learned, namespace, query, now)
        saying = ask(knows, self._embedder, query)
        with span("slowwave.search.embed"):
            vector = self._embedder.embed_query(query).astype(np.float32, copy=False)
        embedded = time.perf_counter()
        question = self._question(query, vector)
        led = {} if now is None else self._knowledge.led(namespace, question, now)
        with span("slowwave.search.vector"):
            nearest = chunks.nearest(vector, where, size)
        phrases = triggered.result()
        learned = {} if asked is None else asked.result()
        others: list[Hits] = []
        found = [nearest.memory_ids, text.result().memory_ids] if phrases or learned or led else []
        if lacking := set(phrases).difference(*found):
            others.append(chunks.of(sorted(lacking), where, TRIGGERED_CHUNKS))
            found.append(others[-1].memory_ids)
        taught = (
            {name: one.share for name, one in learned.items()},
            {name: one.lift for name, one in led.items()},
        )
        best = {name for strength in taught for name in _strongest(strength, [*phrases, *chain(*found)])}
        if best:
            others.append(chunks.best_of_each(chunks.of(sorted(best), where, LEARNED_CHUNKS), vector))
        merged = chunks.merged(nearest, text.result(), others, vector)
        channels, shown = merged.channels, merged.shown
        channels |= _words(query, channels, shown)
        channels["title"] = self._given(channels["title"], shown, chunks)
        ids = shown.column("memory_id").to_pylist()
        there = set(ids)
        phrases, learned, led = _of(phrases, there), _of(learned, there), _of(led, there)
        if not there.isdisjoint(promoted):
            own = shown.column(COLUMN).to_pylist()
            place = shown.schema.get_field_index(COLUMN)
            shown = shown.set_column(place, COLUMN, pa.array(tiers_of(ids, own, promoted), pa.string()))
        known = saying.result()
        states = self._knowledge.states(namespace, there)
        rated = self._knowledge.rated(namespace, question, states) if known >= KNOWN else {}
        candidates = Candidates(
            **channels,
            memory_ids=ids,
            ordinal=_whole(shown, "ordinal"),
            chunk_count=_whole(shown, "chunk_count"),
            follows=_follows(shown),
            triggers=phrases,
            states=_raised(states, rated, {name: self._boost(one) for name, one in learned.items()}, led),
            confidence=confidence_of(shown),
            superseded=_superseded(shown),
            led={memory: Led(one.count, one.nearest, "", one.at) for memory, one in led.items()},
            rated={
                memory: QuestionRating(one.count, one.nearest, "", one.at) for memory, one in rated.items()
            },
            vector_say=round(known, DIGITS),
        )
        done = time.perf_counter()
        return SearchCandidates(
            candidates,
            shown,
            (embedded - start) * 1e3,
            (done - start) * 1e3,
            learned,
            led,
            rated,
            () if now is None else self._knowledge.doubts(namespace),
        )

    def _question(self, query: str, vector: np.ndarray) -> np.ndarray:
        """The vector by which past questions are looked up: of the plain spelling, as they are stored."""
        plain = normalised_query(query)
        if plain == query or not profile(self._embedder.name).cased:
            return vector
        return self._embedder.embed_query(plain).astype(np.float32, copy=False)

    def _given(self, share: np.ndarray, shown: pa.Table, chunks: Channels[Any]) -> np.ndarray:
        """The shares of titles, 0 of those that are only the first words of their text."""
        asked = shown.filter(pa.array(share > 0)).select(["memory_id", "title", "ordinal", "text", "origin"])
        # A note of a vault has a title or a name.
        rows = [row for row in asked.to_pylist() if not row["origin"]]
        title = {row["memory_id"]: row["title"] for row in rows}
        first = {row["memory_id"]: row["text"] for row in rows if row["ordinal"] == 0}
        derived = {memory for memory, said in title.items() if memory not in first and is_cut(said)}
        if unread := sorted(title.keys() - first.keys() - derived):
            first |= chunks.first_texts(unread)
        derived |= {memory for memory, text in first.items() if is_from_first_words(title[memory], text)}
        mine = pc.is_in(shown.column("memory_id"), pa.array(sorted(derived), pa.string()))
        return np.where(mine.to_numpy(), 0.0, share)

    def term_scores(
        self, namespace: str, query_words: list[str], chunk_ids: list[str], filters: Filters | None = None
    ) -> dict[str, dict[str, float]]:
        """BM25 of every word alone, by chunk: they sum to the score of the whole query."""
        where = condition(self._knowledge, namespace, filters or Filters())
        return self._channels(namespace).term_scores(query_words, chunk_ids, where)


def _raised(
    states: dict[str, MemoryState],
    rated: Mapping[str, RatedFor],
    learned: Mapping[str, float],
    led: Mapping[str, LedTo],
) -> dict[str, MemoryState]:
    """What use has taught of memories, with what ratings, learned terms and search keys add to this query."""
    for memory, said in rated.items():
        states[memory] = replace(
            states.get(memory, NEUTRAL),
            question_effectiveness=said.effectiveness,
            question_count=said.count,
            question_not_useful=said.not_useful,
        )
    for memory, boost in learned.items():
        states[memory] = replace(states.get(memory, NEUTRAL), learned=boost)
    for memory, to in led.items():
        states[memory] = replace(states.get(memory, NEUTRAL), key=to.lift)
    return states


def _of(found: Mapping[str, T], memories: Collection[str]) -> dict[str, T]:
    """What was found of some memories."""
    return {name: one for name, one in found.items() if name in memories}


def searcher_in(space: Workspace) -> Searcher:
    """What finds candidates in a home."""
    return space.part("searcher", lambda: _searcher(space))


def _searcher(space: Workspace) -> Searcher:
    tables = cache(lambda namespace: TableChannels(space.store, namespace))
    snapshots = Snapshots(space.store, int(space.settings.store.snapshot_mb * 2**20))

    def channels(namespace: str) -> Channels[Any]:
        return snapshots.of(namespace) or tables(namespace)

    return Searcher(channels, space.embedder, signals_in(space), learned_boost(space))


def _full_text(chunks: Channels[Any], query: str, where: str, size: int) -> Any:  # noqa: ANN401 - hits
    with span("slowwave.search.text"):
        return chunks.full_text(query, where, size)


def _strongest(strength: Mapping[str, float], known: Collection[str]) -> list[str]:
    """Memories that nothing else found, the strongest; of equal ones the first."""
    lacking = set(strength).difference(known)
    return sorted(lacking, key=lambda memory: (-strength[memory], memory))[:LEARNED_MEMORIES]


class _Done:
    """An answer that is there."""

    def __init__(self, answer: Any) -> None:  # noqa: ANN401 - whatever was asked
        self._answer = answer

    def result(self) -> Any:  # noqa: ANN401
        return self._answer


def _at_once(ask: Callable[..., Any], *arguments: Any) -> _Done:  # noqa: ANN401
    return _Done(ask(*arguments))


def _words(query: str, channels: dict[str, Any], shown: pa.Table) -> dict[str, np.ndarray]:
    """How far the query and the titles share their words, and the query and the best chunks."""
    asked = stems(query)
    vector, text = channels["vector_rank"], channels["bm25_rank"]
    looked = np.flatnonzero(((vector > 0) & (vector <= COVERED)) | ((text > 0) & (text <= COVERED)))
    covered = np.zeros(len(vector))
    covered[looked] = coverage(asked, shown.column("text").take(pa.array(looked)).to_pylist())
    title = title_share(text_stems(query), shown.column("title").to_pylist())
    return {"title": np.round(title, DIGITS), "coverage": np.round(covered, DIGITS)}


def _follows(rows: pa.Table) -> dict[str, str]:
    pairs = zip(rows.column("memory_id").to_pylist(), rows.column("follows").to_pylist(), strict=True)
    return {memory: before for memory, before in pairs if before}


def _superseded(rows: pa.Table) -> frozenset[str]:
    old = pc.equal(rows.column("status"), SUPERSEDED)
    return frozenset(rows.column("memory_id").filter(old).to_pylist())


def _whole(rows: pa.Table, name: str) -> np.ndarray:
    numbers: np.ndarray = rows.column(name).to_numpy().astype(np.int64)
    return numbers
