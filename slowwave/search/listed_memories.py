"""Candidates of questions with a time or a label (rule 3.13)."""

from __future__ import annotations

import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np
import polars as pl
import pyarrow as pa

from slowwave.common import ids
from slowwave.feedback.tiers import with_tiers
from slowwave.home.channels import channels_in
from slowwave.index.channels import SHOWN
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.scoring.days import DAY, day_start
from slowwave.scoring.ranking import Candidates, Ranking, rank
from slowwave.scoring.ranking.text_times import dates_in, words_of_days
from slowwave.scoring.ranking.time_only import (
    asks_what_happened,
    coming_only,
    label_only,
    labels_and_subjects,
    possible_labels,
    time_only,
)
from slowwave.scoring.ranking.time_words import time_words, without_expression
from slowwave.scoring.ranking.words import stems, text_stems
from slowwave.search.filters import labelled
from slowwave.search.outdated import outdated_listed
from slowwave.search.searcher import SearchCandidates, Searcher, same_as
from slowwave.search.signals import condition, confidence_of, signals_in
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace
    from slowwave.scoring.ranking.time_spans import TimeWords
    from slowwave.search.filters import Filters

_STEP: Final = 0.1
"""Range of the strengths of a list, so that the newest is first."""
_LEAST: Final = 1.0 - _STEP
"""Strength that those of a list exceed; what follows it has at most this."""
_DUPLICATED: Final = 2
"""Memories read per result, so that duplicates leave enough (ratio)."""
_OF_DAYS: Final = 10  # chunks read for dates to come, per candidate of a channel (ratio)
_NEAREST: Final = 3  # chunks nearest to the word of a label, one of which may have it (count)
_MORE: Final = "{:,} memories match. A higher limit returns more."
_TYPES: Final = KNOWN_WORDS["memory_type"] - {"note", "document", "chat"}
"""Types that a question may ask for; the others are what is not of these."""
_LABELS: Final = ("tags", "memory_type")
_LONG_DAYS = 7
"""Longest span (days) in the order of dates; a whole month stands behind them."""
_ORDER: Final = ("created_at", "updated_at", "memory_id")


def asked_candidates(
    space: Workspace, searcher: Searcher, namespace: str, query: str, size: int, filters: Filters,
    moment: datetime, *, limit: int, past: bool,
) -> tuple[SearchCandidates, TimeWords | None]:  # fmt: skip
    """Return the candidates of a query, with its time or label if that is all.

    A label counts if no text fits its word, and none the query but by its time: the best one is not among the
    best of the word. With a subject it counts for those of the found memories that mention it, if it is a
    type or if the query abstains otherwise.
    A query with a window that fits no text is searched again: its other words, among the memories of those
    days.

    Args:
        space: Workspace of the home.
        searcher: Of the home.
        namespace: The tenant.
        query: The question.
        size: Chunks of each channel (count).
        filters: Filters of the search.
        moment: Moment of the search.
        limit: Maximum memories of a list (count).
        past: Whether the search is as of a past day, which lists nothing.
    """
    asking = _Asking(space, searcher, namespace, query, size, filters, moment, limit)
    today = moment.date()
    if not past and (asked := time_only(query, today)):
        return asking.of_time(asked), asked
    found = asking.look(query, filters)
    if not past and (asked := coming_only(query, today)) and (coming := asking.of_coming(asked, found)):
        return coming, asked
    if not past and (labelled := asking.with_label(found) or asking.with_subject(found)):
        return labelled
    # Words of time are in few texts, so a question with them fits less than one without.
    asked = time_words(query, moment)
    rest = without_expression(query, asked.words) if asked and asked.since is not None else ""
    if asked is not None and stems(rest) and not asking.is_near(found):
        of_time = asking.look(rest, of_days(filters, asked))
        found = of_time if of_time.candidates.chunk_ids else found
    return found, None


class _Other(NamedTuple):
    """Result that follows a list: its best chunk, and its fit to the query."""

    chunk_id: str
    fit: float = 0.0


@dataclass(frozen=True, slots=True)
class _Asking:
    """A query that may ask for the memories with a label; fields as in `asked_candidates`."""

    space: Workspace
    searcher: Searcher
    namespace: str
    query: str
    size: int
    filters: Filters
    moment: datetime
    limit: int

    def look(self, text: str, filters: Filters) -> SearchCandidates:
        return self.searcher.find(self.namespace, text, self.size, filters, self.moment)

    def is_near(self, found: SearchCandidates) -> bool:
        ranking = rank(found.candidates, self.space.policy, as_of=self.moment, limit=0)
        return len(found.candidates) > 0 and not ranking.abstained

    def of_time(self, asked: TimeWords) -> SearchCandidates:
        """Return the memories of the days; for what happened, texts with such a date, too."""
        found = self.newest(asked)
        if asked.since is None or not asks_what_happened(self.query):
            return found
        looked = self.look(self.query, self.filters).candidates
        pairs = zip(looked.memory_ids, looked.chunk_ids, strict=True)
        dated = {memory: chunk for memory, chunk in pairs if looked.times.get(memory, 0.0) >= 1.0}
        listed = dict(zip(found.candidates.memory_ids, found.candidates.chunk_ids, strict=True))
        others = {memory: _Other(chunk) for memory, chunk in dated.items()}
        return self._list(asked, listed or dated, others, found.warnings) if dated else found

    def of_coming(self, asked: TimeWords, found: SearchCandidates) -> SearchCandidates | None:
        """Return the memories whose text has a date in the days: the first one first, long spans last."""
        first, last = asked.since or date.min, asked.until or date.max
        columns = ["memory_id", "chunk_id", "created_at", "text", *_LABELS]
        dated: list[tuple[bool, date, int, str, str]] = []
        by_days = self._having(words_of_days(first, last), _OF_DAYS * self.size)
        rows = [row for shown in (found.shown, by_days) for row in shown.select(columns).to_pylist()]
        is_narrowed = self._is_label(asked.labels)
        for row in rows:
            if is_narrowed and _names_of(row).isdisjoint(asked.labels):
                continue
            for since, until in dates_in(row["text"], row["created_at"].astimezone(UTC).date()):
                if since <= last and until >= first:
                    day, width = max(since, first), (until - since).days
                    dated.append((width > _LONG_DAYS, day, width, row["memory_id"], row["chunk_id"]))
        coming: dict[str, str] = {}
        for *_, memory, chunk in sorted(dated):
            coming.setdefault(memory, chunk)
        if not coming:
            return None
        warnings = (_MORE.format(len(coming)),) if 0 < self.limit < len(coming) else ()
        # The other words only ask: what has them is no answer, but a memory about the label may be one.
        others = self._following(asked._replace(since=None), found) if is_narrowed else {}
        return self._list(asked, dict(list(coming.items())[: self.limit]), others, warnings)

    def _is_label(self, labels: Sequence[str]) -> bool:
        """Whether a memory has one of some labels: "appointments" may be a word of the question only."""
        if not labels:
            return False
        where = condition(signals_in(self.space), self.namespace, self.filters)
        return self.space.store.count("memories", f"{where} AND {labelled(labels)}") > 0

    def _having(self, words: str, size: int) -> pa.Table:
        """Return the best chunks by words alone."""
        chunks = channels_in(self.space)(self.namespace)
        where = condition(signals_in(self.space), self.namespace, self.filters)
        hits = chunks.full_text(words, where, size, self.filters.visible(self.namespace))
        nothing = np.zeros(self.space.embedder.dimension, dtype=np.float32)
        return chunks.merged(chunks.nearest(nothing, where, size), hits, [], nothing).shown

    def newest(self, asked: TimeWords) -> SearchCandidates:
        """Return the newest or oldest memories of the days or label, with first passages."""
        where = condition(signals_in(self.space), self.namespace, of_days(self.filters, asked))
        where += f" AND {labelled(asked.labels)}" if asked.labels else ""
        columns = [*_ORDER, *(_LABELS if asked.labels else ())]
        rows = _with_label(self.space.store.scan("memories", where, columns=columns), asked.labels)
        newest_first = asked.order != "oldest"
        newest = rows.sort(_ORDER, descending=[newest_first, newest_first, False])
        newest = newest.head(min(self.limit, asked.most) if asked.most else _DUPLICATED * self.limit)
        listed = newest["memory_id"].to_list()
        found = self._list(asked, {memory: ids.chunk_id(memory, 0) for memory in listed})
        same = found.candidates.same_as
        distinct = len({same.get(name, name) for name in listed})
        wanted = min(rows.height, asked.most or rows.height)
        is_cut = self.limit > 0 and (distinct > self.limit or wanted > len(listed))
        return replace(found, warnings=(_MORE.format(rows.height),) if is_cut else ())

    def _list(
        self,
        asked: TimeWords,
        listed: Mapping[str, str],
        others: Mapping[str, _Other] = MappingProxyType({}),
        warnings: tuple[str, ...] = (),
    ) -> SearchCandidates:
        """Return memories in this order, and what follows.

        The log holds their order as strengths of a phrase, so a replay needs no clock.

        Args:
            asked: Label of the question.
            listed: The memories, each with a chunk.
            others: Memories that follow the list.
            warnings: Warnings for the user.
        """
        start, signals = time.perf_counter(), signals_in(self.space)
        following = [other.chunk_id for memory, other in others.items() if memory not in listed]
        order = pl.DataFrame({"chunk_id": [*listed.values(), *following]}, {"chunk_id": pl.String})
        where, names = within(self.namespace), order["chunk_id"].to_list()
        chunks = self.space.store.read_by("chunks", "chunk_id", names, columns=list(SHOWN), also=where)
        chunks = order.join(chunks, on="chunk_id", maintain_order="left")
        shown = with_tiers(chunks, signals.promoted(self.namespace)).select(SHOWN).to_arrow()
        names, size = chunks["memory_id"].to_list(), chunks.height
        strengths = [*_falling(1.0, len(listed)), *_falling(_LEAST, len(following))]
        phrase = " ".join((*asked.labels[:1], asked.words)).strip()
        pairs, every = signals.pairs(self.namespace), np.arange(size)
        same = same_as(names, chunks["text"].to_list(), chunks["title"].to_list(), shown, pairs.near, every)
        outdated = outdated_listed(shown, self.moment)
        nothing, unranked = np.full(size, np.nan), np.zeros(size, dtype=np.int64)
        candidates = Candidates(
            chunk_ids=chunks["chunk_id"].to_list(), memory_ids=names, cosine=nothing, bm25=nothing,
            vector_rank=unranked, bm25_rank=unranked, ordinal=chunks["ordinal"].cast(pl.Int64).to_numpy(),
            chunk_count=chunks["chunk_count"].cast(pl.Int64).to_numpy(),
            triggers=dict(zip(names, ((phrase, share) for share in strengths), strict=True)),
            time_words=phrase, same_as=same,
            outdated={memory: update.following for memory, update in outdated.items()},
        )  # fmt: skip
        took = (time.perf_counter() - start) * 1e3
        fits = {memory: other.fit for memory, other in others.items()}
        return SearchCandidates(
            candidates, shown, 0.0, took, warnings=warnings, outdated=outdated, pairs=pairs, fits=fits
        )

    def with_label(self, found: SearchCandidates) -> tuple[SearchCandidates, TimeWords] | None:
        """Return the memories with the label that is all that the query asks for."""
        label = label_only(self.query, self.moment.date())
        if label is None or (not label.words and not label.plural and self.is_near(found)):
            return None
        is_certain = label.plural or (_is_type(label) and label.since is not None)
        if not is_certain:
            is_whole = self.query.casefold() == label.labels[0]
            of_word = found if is_whole else self.look(label.labels[0], self.filters)
            is_certain = bool(label.words) and _have(of_word, label.labels)
            may_be_text = self.is_near(found) or self.is_near(of_word)
            if not is_certain and may_be_text and not (label.order and _is_type(label)):
                return None
        labelled = self.newest(label)
        listed = dict(zip(labelled.candidates.memory_ids, labelled.candidates.chunk_ids, strict=True))
        if not listed or (label.most and is_certain):  # my last 2 decisions
            return (labelled, label) if listed else None
        return self._list(label, listed, self._following(label, found), labelled.warnings), label

    def with_subject(self, found: SearchCandidates) -> tuple[SearchCandidates, TimeWords] | None:
        """Return the found memories with a label that mention the subject of the query.

        The label is a type. A tag may be a word of an ordinary question, so its plural counts only for one
        that abstains.
        """
        possible = possible_labels(self.query)
        if not possible or possible.isdisjoint(_labels_of(found)):
            return None
        for asked, subject in labels_and_subjects(self.query, self.moment.date()):
            about = _about(found, asked, subject)
            if about and (_is_type(asked) or (asked.plural and not self.is_near(found))):
                most = asked.most or self.limit
                counted = asked.most > 0 and asked.plural  # the last 2 decisions about the roof
                others = {} if counted else self._following(asked, found)
                is_cut = 0 < self.limit < len(about) and asked.most != self.limit and asked.plural
                warnings = (_MORE.format(len(about)),) if is_cut else ()
                return self._list(asked, dict(list(about.items())[:most]), others, warnings), asked
        return None

    def _following(self, asked: TimeWords, found: SearchCandidates) -> dict[str, _Other]:
        """Return other results of the query in its days."""
        others = found if asked.since is None else self.look(self.query, of_days(self.filters, asked))
        policy, chunk_ids = self.space.policy, others.candidates.chunk_ids
        results = rank(others.candidates, policy, as_of=self.moment, limit=self.limit).results
        return {result.memory_id: _Other(chunk_ids[result.best], result.fit) for result in results}


def _have(found: SearchCandidates, labels: Sequence[str]) -> bool:
    """Whether one of the nearest memories has one of the labels."""
    nearest = np.flatnonzero((found.candidates.vector_rank > 0) & (found.candidates.vector_rank <= _NEAREST))
    rows = found.shown.select(["tags", "memory_type"]).take(nearest).to_pylist()
    return any(not _names_of(row).isdisjoint(labels) for row in rows)


def _is_type(label: TimeWords) -> bool:
    """Whether a label is a type of memories, which is no word of a subject."""
    return not _TYPES.isdisjoint(label.labels)


def _labels_of(found: SearchCandidates) -> set[str]:
    """Return the tags and types of the memories found."""
    tags, types = (found.shown.column(name).to_pylist() for name in _LABELS)
    return {tag.casefold() for of_one in tags for tag in of_one or ()} | set(types)


def _about(found: SearchCandidates, asked: TimeWords, subject: frozenset[str]) -> dict[str, str]:
    """Return those of the label and the days that mention the subject, with a chunk."""
    columns = ["memory_id", "chunk_id", "created_at", "updated_at", "title", "text", "tags", "memory_type"]
    rows = defaultdict[str, list[dict[str, Any]]](list)
    for row in found.shown.select(columns).to_pylist():
        day = row["created_at"].astimezone(UTC).date()
        is_of_days = (asked.since or date.min) <= day <= (asked.until or date.max)
        if is_of_days and not _names_of(row).isdisjoint(asked.labels):
            rows[row["memory_id"]].append(row)
    about: list[tuple[datetime, datetime, str, str]] = []
    for memory, chunks in sorted(rows.items()):
        words = [
            text_stems(" ".join((row["title"] or "", row["text"], *(row["tags"] or ())))) for row in chunks
        ]
        if subject <= frozenset().union(*words):
            best = max(range(len(chunks)), key=lambda at: len(subject & words[at]))
            about.append((chunks[0]["created_at"], chunks[0]["updated_at"], memory, chunks[best]["chunk_id"]))
    about.sort(key=lambda one: one[:2], reverse=asked.order != "oldest")
    return {memory: chunk for _, _, memory, chunk in about}


def _names_of(row: Mapping[str, Any]) -> set[str]:
    """Return the type and the tags of a memory."""
    return {row["memory_type"], *(tag.casefold() for tag in row["tags"] or ())}


def of_days(filters: Filters, asked: TimeWords) -> Filters:
    """Return the filters, narrowed to the days of the question."""
    first = None if asked.since in (None, date.min) else day_start(str(asked.since))
    last = None if asked.until in (None, date.max) else day_start(str(asked.until)) + DAY
    starts = [bound.astimezone(UTC) for bound in (filters.since, first) if bound is not None]
    ends = [bound.astimezone(UTC) for bound in (filters.until, last) if bound is not None]
    return replace(filters, since=max(starts, default=None), until=min(ends, default=None))


def _falling(highest: float, size: int) -> list[float]:
    """Return strengths from `highest` on that stay above `_STEP` less."""
    return [highest - _STEP * place / size for place in range(size)]


def _with_label(rows: pl.DataFrame, labels: Sequence[str]) -> pl.DataFrame:
    """Return the rows with one of the labels; all without labels.

    If the first label is the most frequent, it alone counts. So *news* is not *new*, but one memory tagged
    *boats* does not hide all that are tagged *boat*.
    """
    if not labels:
        return rows
    tags = pl.col("tags").list.eval(pl.element().str.to_lowercase())
    having = [(tags.list.contains(label) | (pl.col("memory_type") == label)).alias(label) for label in labels]
    counts = rows.select(having).sum().row(0) if rows.height else (0,) * len(labels)
    is_first = counts[0] > 0 and counts[0] >= max(counts)
    return rows.filter(having[0] if is_first else pl.any_horizontal(having))


def as_asked(ranking: Ranking, found: SearchCandidates) -> Ranking:
    """Return the ranking with each memory's confidence and fit; what is listed fits as a whole."""
    confidence = confidence_of(found.shown)
    strengths = found.candidates.triggers
    results = tuple(
        replace(
            result,
            confidence=confidence[result.memory_id],
            fit=1.0
            if strengths[result.memory_id][1] > _LEAST
            else found.fits.get(result.memory_id, result.fit),
        )
        for result in ranking.results
    )
    return replace(ranking, results=results)
