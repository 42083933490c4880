"""Outdated values among the candidates of a search (rule 3.12)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from slowwave.common.ids import memory_of
from slowwave.index.channels import DATED, Channels, Merged
from slowwave.quality.admission.statuses import SUPERSEDED
from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.dates import holds_from, written_date
from slowwave.quality.outdated.likely_changes import likely_changes
from slowwave.quality.outdated.question import ANY, Question
from slowwave.quality.outdated.related_changes import (
    asks_what_holds,
    may_tell_alone,
    tells_of_change,
    words_of_subject,
)
from slowwave.quality.outdated.restated_values import restated_values
from slowwave.quality.outdated.short_sentences import is_note
from slowwave.quality.outdated.statements import may_tell_more
from slowwave.quality.outdated.updates import (
    Outdated,
    first_newer,
    last_of,
    may_be_replaced,
    outdated_memories,
)
from slowwave.store.frames import column_values

COMPARED = 10  # best chunks of each channel compared with each other (count)
RELATED = 3  # best chunks of each channel whose related notes are looked up (count)
MAX_RELATED = 10  # chunks that share rare words with one of them (count)
FURTHER = 50  # best chunks of each channel that may say that a value changed (count)


class OutdatedValues(NamedTuple):
    """Outdated values among the candidates of a search.

    Attributes:
        certain: Newer memories, by the older one.
        likely: The memory that goes before each, without a mark.
        held: Memories whose value held in the past time that is asked for, and was replaced later.
    """

    certain: dict[str, Outdated]
    likely: dict[str, str]
    held: frozenset[str] = frozenset()


def outdated_candidates(
    query: str,
    vector_rank: np.ndarray,
    bm25_rank: np.ndarray,
    shown: pa.Table,
    now: datetime | None,
    first_texts: Callable[[Sequence[str]], Mapping[str, str]],
    related: Mapping[str, str],
    until: datetime | None = None,
) -> OutdatedValues:
    """Return the candidates with an outdated value.

    For a question about a past time, what held then goes before what replaced it later.

    All candidates have passed the filters of the search, so none is secret to its caller.

    Args:
        query: Text of the query.
        vector_rank: (n,) rank of each candidate in the vector channel, 0 where it did not find it.
        bm25_rank: (n,) the same for the full-text channel.
        shown: Their columns, one row a candidate.
        now: Moment of the search; a value of a later day replaces none yet. None: all count.
        first_texts: Returns the first passage of some memories, whose dates later ones have.
        related: As `related_changes` returns them.
        until: End of the past time that is asked for; None if it is not over, or none is. Then the query
            has no words of that time.
    """
    moment = now if until is None else until
    question = Question.of(query)
    if until is not None:  # "did" says no more than the window
        question = replace(question, kinds=question.kinds or ANY)
    if not question.kinds and (question.asked.is_past or not question.asked.is_of_state):
        return OutdatedValues({}, dict(related))
    unranked = FURTHER + 1
    rank = np.minimum(
        np.where(vector_rank > 0, vector_rank, unranked), np.where(bm25_rank > 0, bm25_rank, unranked)
    )
    best = np.flatnonzero(rank <= COMPARED)
    best = best[np.argsort(rank[best], kind="stable")]
    further = np.flatnonzero((rank > COMPARED) & (rank <= FURTHER))
    near = _Passages(shown, best.tolist())
    passages = near.of({}, moment)
    telling: list[int] = []
    if question.kinds and any(may_be_replaced(passage.text) for passage in passages):
        texts = shown.column("text").take(pa.array(further)).to_pylist()
        may_tell = may_tell_more(texts, question.keys, counts=bool(question.counted))
        telling = further[may_tell].tolist()
    more = _Passages(shown, telling)
    found = outdated_memories(question, passages, more.of({}, moment))
    if found and (later := near.later | more.later):  # few searches find any: others do not read the dates
        dates = {name: written_date(text) for name, text in first_texts(sorted(later)).items()}
        if any(dates.values()):
            found = outdated_memories(question, near.of(dates, moment), more.of(dates, moment))
    likely = restated_values(question, query, passages) | likely_changes(question, passages)
    held = {} if until is None else _held(question, passages, near.of({}, now), until)
    others = {older: newer for older, newer in {**related, **likely, **held}.items() if older not in found}
    return OutdatedValues(found, others, frozenset(held.values()))


def related_changes(
    query: str, merged: Merged, now: datetime | None, chunks: Channels[Any], where: str, visible: str
) -> dict[str, str]:
    """Return newer notes that may tell of a change, by the older memory.

    It needs no word of the question, so it may be no candidate. It shares rare words with the older one, and
    of all newer ones it is the nearest to that.

    Args:
        query: Text of the query.
        merged: Candidates.
        now: Moment of the search.
        chunks: Channels of the namespace.
        where: Condition on results.
        visible: Condition on what the caller may see.
    """
    question = Question.of(query)
    if not asks_what_holds(question):
        return {}
    ranks = (merged.channels[name] for name in ("vector_rank", "bm25_rank"))
    best = np.flatnonzero(np.logical_or.reduce([(rank > 0) & (rank <= RELATED) for rank in ranks])).tolist()
    counts, chunk_ids = merged.shown.column("chunk_count"), merged.channels["chunk_ids"]
    whole = [row for row in best if counts[row].as_py() == 1]
    chunk_of = {memory_of(chunk_ids[row]): chunk_ids[row] for row in whole}
    notes = {
        chunk_of[note.memory_id]: note
        for note in _Passages(merged.shown, whole).of({}, now)
        if is_note(note.text)
    }
    words = {chunk: words_of_subject(note.titled) for chunk, note in notes.items()}
    shown, rows = chunks.newer_with_rare_words(words, where, MAX_RELATED, visible, may_tell_alone)
    near = _Passages(shown, range(shown.num_rows))
    found = {}
    for chunk, older in notes.items():
        newer = near.of({}, now, rows[chunk])
        telling = {note.memory_id for note in newer if tells_of_change(question, older, note)}
        if telling and (nearest := chunks.nearest_newer(chunk, where, now)) in telling:
            found[older.memory_id] = nearest
    return found


def _held(
    question: Question, then: Sequence[DatedPassage], passages: Sequence[DatedPassage], until: datetime
) -> dict[str, str]:
    """Return what held at the end of a past time, by what replaced it later."""
    since = outdated_memories(question, passages)
    known = {passage.memory_id for passage in then}
    return {one.following: memory for memory, one in since.items() if one.until > until and memory in known}


def outdated_listed(shown: pa.Table, now: datetime | None) -> dict[str, Outdated]:
    """Return the newer memories of listed ones with an outdated value; a list asks about no subject.

    Args:
        shown: Columns of the first passage of each memory.
        now: As of `outdated_candidates`.
    """
    passages = _Passages(shown, list(range(shown.num_rows))).of({}, now)
    following = {
        own.memory_id: newer
        for own in passages
        if may_be_replaced(own.text)
        and (newer := first_newer([own], [one for one in passages if one != own]))
    }
    return {
        memory: Outdated(last_of(memory, following).memory_id, after.moment, after.memory_id)
        for memory, after in following.items()
    }


class _Passages:
    """Candidates at some rows.

    Attributes:
        later: Memories of passages that are not the first one and have no date of their own.
    """

    def __init__(self, shown: pa.Table, rows: Sequence[int]) -> None:
        taken = shown.select(DATED)
        if 2 * len(rows) < shown.num_rows:
            taken, rows = taken.take(pa.array(rows, pa.int64())), range(len(rows))
        every = list(zip(*map(column_values, taken), strict=True)) if rows else []
        self._rows = [every[row] for row in rows]
        self.later = {row[0] for row in self._rows if row[-1] and not written_date(row[2])}

    def of(
        self, dates: Mapping[str, datetime | None], now: datetime | None, rows: Sequence[int] | None = None
    ) -> list[DatedPassage]:
        """Return the passages that are compared.

        Args:
            dates: Dates of memories, for their later passages.
            now: Moment of the search.
            rows: Which of them; None: all.
        """
        chosen = self._rows if rows is None else [self._rows[row] for row in rows]
        passages = [
            DatedPassage(
                memory_id, title or "", text, sensitivity or "", created, updated,
                dates.get(memory_id) if ordinal else None,
            )
            for memory_id, title, text, sensitivity, status, created, updated, ordinal in chosen
            if status != SUPERSEDED
        ]  # fmt: skip
        if now is None:
            return passages
        return [
            replace(one, holds_later=True) if holds_from(one.text, one.moment) > now else one
            for one in passages
            if not one.is_ahead(now)
        ]
