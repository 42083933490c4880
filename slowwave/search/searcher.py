"""Candidates of one search: results of two channels, with signals of their memories.

If the channels wait for a disk, full text runs in a thread while the query is embedded. Memories found only
by a trigger phrase or by learning cost another read. So do long ones whose title may be their own first line.
Otherwise the candidates carry everything that a result shows. A memory found only by a learned term or search
key contributes its nearest chunk.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa

from slowwave.common.arguments import limit_of
from slowwave.common.ids import normalised_query
from slowwave.embedding import Embedder, knows, profile
from slowwave.feedback.context import RatedFor
from slowwave.feedback.tiers import COLUMN, tiers_of
from slowwave.home.channels import channels_in
from slowwave.index.channels import DIGITS, Channels, Hits
from slowwave.learning.active_boosts import learned_boost
from slowwave.learning.search_keys import LedTo
from slowwave.quality.admission.statuses import SUPERSEDED
from slowwave.quality.outdated.updates import Outdated
from slowwave.scoring.ranking import Candidates, MemoryState
from slowwave.scoring.ranking.aliases import AliasMatch, with_aliases
from slowwave.scoring.ranking.asking import without_asking
from slowwave.scoring.ranking.candidates import NEUTRAL, Led, QuestionRating
from slowwave.scoring.ranking.duplicates import duplicates
from slowwave.scoring.ranking.learned import Learned
from slowwave.scoring.ranking.time_words import time_words
from slowwave.scoring.ranking.words import content_words, coverage, stems, text_stems, title_share
from slowwave.search.derived_titles import without_derived_titles
from slowwave.search.filters import Filters
from slowwave.search.identifier_lookup import NOTHING_ASKED, Lookup, look_up
from slowwave.search.outdated import outdated_candidates, related_changes
from slowwave.search.query_window import (
    end_of_past,
    for_full_text,
    of_asked_time,
    shares_by_memory,
    with_rest,
    without_time,
)
from slowwave.search.signals import StoredSignals, condition, confidence_of, signals_in
from slowwave.search.stored_pairs import StoredPairs, whole_memories, with_near_duplicates
from slowwave.telemetry import carried, span

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

MAX_QUERY_CHARACTERS = limit_of("query").characters
TRIGGERED_CHUNKS = 64  # read of memories found only by a trigger phrase (count)
LEARNED_MEMORIES = 10  # found only by learned terms, or only by search keys: maximum of each (count)
LEARNED_CHUNKS = 200  # read of them (count)
KNOWN = 0.5  # minimum share of the query's words the model knows, to compare questions
COVERED = 10  # best chunks of each channel compared with the query's words (count)

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SearchCandidates:
    """Candidates of one query, with the columns that results show."""

    candidates: Candidates
    shown: pa.Table  # one row per candidate, columns SHOWN
    embedding_ms: float
    total_ms: float
    learned: Mapping[str, Learned] = field(default_factory=dict)  # of memories of the candidates
    led: Mapping[str, LedTo] = field(default_factory=dict)  # the same, by search keys
    rated: Mapping[str, RatedFor] = field(default_factory=dict)  # the same, by feedback on similar questions
    warnings: tuple[str, ...] = ()
    identifiers: Lookup = NOTHING_ASKED
    outdated: Mapping[str, Outdated] = field(default_factory=dict)  # memories with an earlier value
    pairs: StoredPairs | None = None  # of the namespace
    fits: Mapping[str, float] = field(default_factory=dict)  # of what follows a list, to the query

    @property
    def titles(self) -> dict[str, Any]:
        """Return the title of each memory."""
        return dict(zip(self.candidates.memory_ids, self.shown.column("title").to_pylist(), strict=True))


class Searcher:
    """Candidate search for one embedding model.

    Args:
        channels: Returns the channels of a namespace.
        embedder: Embeds queries.
        knowledge: Signals of memories beside their text.
        boost: Score boost of learned terms.
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

    def _beside(self, work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401
        return self._pool.submit(carried(work), *arguments).result

    def find(
        self,
        namespace: str,
        query: str,
        size: int,
        filters: Filters | None = None,
        now: datetime | None = None,
    ) -> SearchCandidates:
        """Return the best `size` chunks of each channel that pass the filters.

        Args:
            namespace: The tenant.
            query: The question.
            size: Chunks of each channel (count).
            filters: Filters of the results.
            now: Moment of the search for learning; None ignores what was learned.
        """
        start = time.perf_counter()
        filters = filters or Filters()
        chunks = self._channels(namespace)
        promoted = self._knowledge.promoted(namespace)
        where, visible = self._conditions(namespace, filters)
        ask = self._beside if chunks.waits else _at_once
        question = without_asking(query)
        asked_time = None if now is None else time_words(question, now)
        asked = without_time(question, asked_time)
        worded = for_full_text(question, asked_time)
        text = ask(_full_text, chunks, worded, where, size, visible)
        triggered = ask(self._knowledge.triggered, namespace, query)
        names = ask(self._knowledge.named, namespace, query)
        looked_up = ask(look_up, query, chunks, self._knowledge, namespace, filters)
        learned_terms = None if now is None else ask(self._knowledge.learned, namespace, query, now)
        known_words = ask(knows, self._embedder, question)
        with span("slowwave.search.embed"):
            whole = vector = self._embedder.embed_query(question).astype(np.float32, copy=False)
            if asked != question:
                vector = self._embedder.embed_query(asked).astype(np.float32, copy=False)
        embedded = time.perf_counter()
        stored = self._as_stored(query, question, whole)
        led = {} if now is None else self._knowledge.led(namespace, stored, now)
        with span("slowwave.search.vector"):
            nearest = chunks.nearest(vector, where, size)
        named = names()
        lookup: Lookup = looked_up()
        phrases = {**with_aliases(triggered(), named), **lookup.found}
        learned = {} if learned_terms is None else learned_terms()
        hits = text()
        others = _found_otherwise(chunks, where, vector, [nearest, hits], phrases, learned, led)
        merged = chunks.merged(nearest, hits, others, vector)
        past = end_of_past(asked_time, now)
        related = {} if past else related_changes(question, merged, now, chunks, where, visible)
        if missing := set(related.values()).difference(merged.shown.column("memory_id").to_pylist()):
            others.append(chunks.of(sorted(missing), where, TRIGGERED_CHUNKS))
            merged = chunks.merged(nearest, hits, others, vector)
        channels, shown = merged.channels, merged.shown
        ids, texts, titles = (shown.column(name).to_pylist() for name in ("memory_id", "text", "title"))
        times = shares_by_memory(asked_time, shown, _best_of_channels(channels)) if asked_time else {}
        channels |= _words(question, channels, texts, titles)
        values = outdated_candidates(
            question if past is None else asked, channels["vector_rank"], channels["bm25_rank"], shown, now,
            chunks.first_texts, related, past,
        )  # fmt: skip
        if asked != question:
            near = chunks.merged(nearest, hits, others, whole).channels["cosine"]
            rest = _words(asked, channels, texts, titles)["coverage"]
            channels["bm25_bound"] = round(chunks.bound_of(question, visible), DIGITS)
            wider = channels["bm25_bound"] / (chunks.bound_of(asked, visible) or 1.0)
            of_time = of_asked_time(ids, times, values.held)
            channels |= with_rest(channels, of_time, near, rest, max(wider, 1.0))
        channels["title"] = without_derived_titles(channels["title"], shown, chunks)
        channels["title"], aliases = _with_alias_shares(channels["title"], ids, named)
        candidate_ids = set(ids)
        phrases = _only(phrases, candidate_ids)
        learned, led = _only(learned, candidate_ids), _only(led, candidate_ids)
        if not candidate_ids.isdisjoint(promoted):
            shown = _with_tiers(shown, ids, promoted)
        pairs = self._knowledge.pairs(namespace)
        known_share = known_words()
        states = self._knowledge.states(namespace, candidate_ids)
        rated = self._knowledge.rated(namespace, stored, states) if known_share >= KNOWN else {}
        candidates = Candidates(
            **channels,
            memory_ids=ids,
            ordinal=_whole(shown, "ordinal"),
            chunk_count=_whole(shown, "chunk_count"),
            follows=_follows(ids, shown),
            same_as=same_as(ids, texts, titles, shown, pairs.near, _best_of_channels(channels)),
            times=times,
            time_words=asked_time.words if asked_time else "",
            outdated={memory: update.following for memory, update in values.certain.items()},
            maybe_outdated=values.likely,
            triggers=phrases,
            aliases=aliases,
            states=_raised(states, rated, {name: self._boost(entry) for name, entry in learned.items()}, led),
            confidence=confidence_of(shown),
            superseded=_superseded(ids, shown),
            led={memory: Led(entry.count, entry.nearest, "", entry.at) for memory, entry in led.items()},
            rated={
                memory: QuestionRating(entry.count, entry.nearest, "", entry.at)
                for memory, entry in rated.items()
            },
            vector_say=round(known_share, DIGITS),
            query_words=len(content_words(question)),
        )
        finished = time.perf_counter()
        return SearchCandidates(
            candidates,
            shown,
            (embedded - start) * 1e3,
            (finished - start) * 1e3,
            learned,
            led,
            rated,
            () if now is None else self._knowledge.doubts(namespace),
            lookup,
            values.certain,
            pairs,
        )

    def _conditions(self, namespace: str, filters: Filters) -> tuple[str, str]:
        """Return the conditions on results, and on all that the caller may see."""
        return condition(self._knowledge, namespace, filters), filters.visible(namespace)

    def _as_stored(self, query: str, compared: str, vector: np.ndarray) -> np.ndarray:
        """Return the vector for past questions: of the normalised query, as they are stored.

        Args:
            query: Text of the query.
            compared: The part of it that the vector embeds.
            vector: Its embedding.
        """
        plain = normalised_query(query)
        if plain == compared or (compared == query and not profile(self._embedder.name).cased):
            return vector
        return self._embedder.embed_query(plain).astype(np.float32, copy=False)

    def term_scores(
        self, namespace: str, query_words: list[str], chunk_ids: list[str], filters: Filters | None = None,
        *, in_pieces: bool = False,
    ) -> dict[str, dict[str, float]]:  # fmt: skip
        """Return BM25 of every word alone, by chunk; they sum to the query's score."""
        where, visible = self._conditions(namespace, filters or Filters())
        channels = self._channels(namespace)
        return channels.term_scores(query_words, chunk_ids, where, in_pieces=in_pieces, visible=visible)


def _raised(
    states: dict[str, MemoryState],
    rated: Mapping[str, RatedFor],
    learned: Mapping[str, float],
    led: Mapping[str, LedTo],
) -> dict[str, MemoryState]:
    """Add ratings, learned terms and search keys for this query to feedback states."""
    for memory, feedback in rated.items():
        states[memory] = replace(
            states.get(memory, NEUTRAL),
            question_effectiveness=feedback.effectiveness,
            question_count=feedback.count,
            question_not_useful=feedback.not_useful,
        )
    for memory, boost in learned.items():
        states[memory] = replace(states.get(memory, NEUTRAL), learned=boost)
    for memory, to in led.items():
        states[memory] = replace(states.get(memory, NEUTRAL), key=to.lift)
    return states


def _only(by_memory: Mapping[str, T], memories: Collection[str]) -> dict[str, T]:
    """Return the entries of some memories."""
    return {name: value for name, value in by_memory.items() if name in memories}


def searcher_in(space: Workspace) -> Searcher:
    """Return the searcher of a home."""
    return space.part("searcher", lambda: _searcher(space))


def _searcher(space: Workspace) -> Searcher:
    return Searcher(channels_in(space), space.embedder, signals_in(space), learned_boost(space))


def _full_text(chunks: Channels[Any], query: str, where: str, size: int, visible: str) -> Any:  # noqa: ANN401 - hits
    with span("slowwave.search.text"):
        return chunks.full_text(query, where, size, visible)


def _found_otherwise(
    chunks: Channels[Any], where: str, vector: np.ndarray, found: Sequence[Hits],
    phrases: Mapping[str, tuple[str, float]], learned: Mapping[str, Learned], led: Mapping[str, LedTo],
) -> list[Hits]:  # fmt: skip
    """Return chunks of memories that no channel found: those of phrases, and the strongest of learning."""
    if not (phrases or learned or led):
        return []
    known = {memory for hits in found for memory in hits.memory_ids}
    others: list[Hits] = []
    if missing := phrases.keys() - known:
        others.append(chunks.of(sorted(missing), where, TRIGGERED_CHUNKS))
    known.update(phrases)
    best: set[str] = set()
    shares = {name: entry.share for name, entry in learned.items()}
    for strength in (shares, {name: entry.lift for name, entry in led.items()}):
        strongest = sorted(strength.keys() - known, key=lambda memory: (-strength[memory], memory))
        best.update(strongest[:LEARNED_MEMORIES])
    if best:
        others.append(chunks.best_of_each(chunks.of(sorted(best), where, LEARNED_CHUNKS), vector))
    return others


def _at_once(work: Callable[..., Any], *arguments: Any) -> Callable[[], Any]:  # noqa: ANN401
    answer = work(*arguments)
    return lambda: answer


def _words(
    query: str, channels: dict[str, Any], texts: Sequence[str], titles: Sequence[str]
) -> dict[str, np.ndarray]:
    """Compute the word overlap of the query with titles and with the best chunks."""
    query_stems = stems(query)
    looked = _best_of_channels(channels)
    covered = np.zeros(len(texts))
    covered[looked] = coverage(query_stems, [texts[at] for at in looked.tolist()])
    title = title_share(text_stems(query), titles)
    return {"title": np.round(title, DIGITS), "coverage": np.round(covered, DIGITS)}


def _best_of_channels(channels: Mapping[str, np.ndarray]) -> np.ndarray:
    """Return the rows of the best chunks of each channel."""
    vector, text = channels["vector_rank"], channels["bm25_rank"]
    return np.flatnonzero(((vector > 0) & (vector <= COVERED)) | ((text > 0) & (text <= COVERED)))


def _with_alias_shares(
    share: np.ndarray, memory_ids: Sequence[str], named: Mapping[str, AliasMatch]
) -> tuple[np.ndarray, dict[str, str]]:
    """Return the title share of each chunk with aliases, and the alias where one decides."""
    if not named:
        return share, {}
    of_alias = np.array([named[memory].share if memory in named else 0.0 for memory in memory_ids])
    decides = (of_alias > 0) & (of_alias >= share)
    deciding = {memory for memory, by_alias in zip(memory_ids, decides.tolist(), strict=True) if by_alias}
    return np.round(np.maximum(share, of_alias), DIGITS), {name: named[name].alias for name in deciding}


def same_as(
    ids: Sequence[str],
    texts: Sequence[str],
    titles: Sequence[str],
    rows: pa.Table,
    near: Mapping[str, Sequence[str]],
    best: np.ndarray,
) -> Mapping[str, str]:
    """Return the memory that each exact or near duplicate is grouped with; near ones among the best."""
    ordinals, counts = (rows.column(name).to_pylist() for name in ("ordinal", "chunk_count"))
    same = duplicates(ids, ordinals, counts, texts, titles)
    if near.keys().isdisjoint(ids):
        return same
    return with_near_duplicates(same, near, whole_memories(rows.take(pa.array(best))))


def _with_tiers(rows: pa.Table, ids: Sequence[str], promoted: Mapping[str, str]) -> pa.Table:
    tiers = tiers_of(ids, rows.column(COLUMN).to_pylist(), promoted)
    return rows.set_column(rows.schema.get_field_index(COLUMN), COLUMN, pa.array(tiers, pa.string()))


def _follows(ids: Sequence[str], rows: pa.Table) -> dict[str, str]:
    pairs = zip(ids, rows.column("follows").to_pylist(), strict=True)
    return {memory: previous for memory, previous in pairs if previous}


def _superseded(ids: Sequence[str], rows: pa.Table) -> frozenset[str]:
    pairs = zip(ids, rows.column("status").to_pylist(), strict=True)
    return frozenset(memory for memory, status in pairs if status == SUPERSEDED)


def _whole(rows: pa.Table, name: str) -> np.ndarray:
    numbers: np.ndarray = rows.column(name).to_numpy().astype(np.int64)
    return numbers
