"""Metrics of the recall of short memories, and short memories not found (rule 3.5)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from itertools import chain
from typing import TYPE_CHECKING, Any

import polars as pl

from slowwave.evaluation.judgments import judgment_list, judgments_until
from slowwave.feedback.questions import with_query_ids
from slowwave.feedback.states import states_in
from slowwave.journal.kinds.fields import decoded, struct
from slowwave.journal.kinds.search import SearchPayload, shown_rows
from slowwave.scoring.evaluation.judgments import PAIR
from slowwave.scoring.evaluation.sparse_recall import Diagnosis, SparseRecall, diagnose, sparse_recall
from slowwave.scoring.ranking import rank
from slowwave.scoring.ranking.results import RECALL_INJECTED
from slowwave.search.filters import Filters
from slowwave.search.searcher import searcher_in
from slowwave.search.wakeup import excerpt
from slowwave.store.frames import quote

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace

SEARCHES_AT_ONCE = 5_000  # entries that are read at a time (count)
LOOKED_AT = 10  # top results that have to contain the memory (count)
_SHOWN = struct(SearchPayload, "query", "shown.memory_id", "shown.flags")


@dataclass(frozen=True, slots=True)
class ShortMemory:
    """Recall of one short memory.

    Attributes:
        questions: Its questions: queries it was judged relevant for, trigger phrases, title and first words
            (count).
        by_id: Share of them that find it when only this memory is searched.
        by_search: Share that find it among the first ten of all memories.
        diagnosis: passes, ingestion_failure or retrieval_regression.
    """

    memory_id: str
    questions: int
    by_id: float
    by_search: float
    diagnosis: Diagnosis

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for JSON."""
        return asdict(self)


def figures(space: Workspace, days: Sequence[str], namespace: str | None = None) -> SparseRecall:
    """Compute the outcome of recalled short memories in the searches of these days.

    Args:
        space: Workspace with searches, feedback and judgments; the last two as aggregated.
        days: Days of the searches.
        namespace: Only of this one; None is all.
    """
    injected = _injected(space, days, namespace)
    if injected.is_empty():
        return SparseRecall(0, 0, 0)
    names = injected["search_id"].unique().to_list()
    signals = space.store.read_by(
        "usage_signals", "search_id", names, columns=["search_id", "memory_id", "value"],
        also="tier IN ('quick', 'implicit')",
    )  # fmt: skip
    used = signals.select("search_id", "memory_id", relevant=pl.col("value") > 0.5)
    judgments = judgments_until(space.store, "9999-12-31", namespace=namespace)
    queries = with_query_ids(injected)
    query_ids = queries.select("namespace", "query_id").unique()
    grades = judgment_list(judgments, space.settings.judge.agreement, query_ids)
    judged = queries.join(grades.grades, on=PAIR)
    judged = judged.select("search_id", "memory_id", relevant=pl.col("grade") > 0)
    return sparse_recall(injected, pl.concat([used, judged]))


def _injected(space: Workspace, days: Sequence[str], namespace: str | None) -> pl.DataFrame:
    """Return ``search_id``, ``namespace``, ``query`` and ``memory_id`` of every recalled memory."""
    parts = []
    none = space.journal.read(kinds=("search",), limit=0)
    pages = space.journal.pages(kinds=("search",), days=days, namespace=namespace, size=SEARCHES_AT_ONCE)
    for page in chain([none], pages):
        rows = shown_rows(decoded(page, _SHOWN)[0])
        rows = rows.filter(pl.col("flags").list.contains(RECALL_INJECTED))
        parts.append(rows.select("namespace", "query", "memory_id", search_id="event_id"))
    return pl.concat(parts)


def short_memories(
    space: Workspace, namespace: str, *, memory_id: str = "", most: int = 50
) -> list[ShortMemory]:
    """Search for short memories by their own questions, without journal entries.

    Args:
        space: Workspace to search in.
        namespace: The tenant.
        memory_id: Only this memory; else the latest changed ones.
        most: Maximum memories (count).
    """
    where = Filters().where(namespace, states_in(space).promoted(namespace))
    where += f" AND chunk_count <= {space.policy.sparse_chunks}"
    where += f" AND memory_id = {quote(memory_id)}" if memory_id else ""
    columns = ["memory_id", "updated_at"]
    newest = space.store.scan("memories", where, columns=columns).sort(
        columns[::-1], descending=[True, False]
    )
    names = newest["memory_id"].head(most).to_list()
    rows = space.store.read_by(
        "memories", "memory_id", names,
        columns=["memory_id", "title", "content", "source", "trigger_phrases"], also=where,
    )  # fmt: skip
    judgments = judgments_until(space.store, "9999-12-31", namespace=namespace)
    relevant = judgment_list(judgments, space.settings.judge.agreement).grades.filter(pl.col("grade") > 0)
    relevant_judgments = judgments.join(relevant, on=PAIR, how="semi")
    queries: dict[str, list[str]] = {}
    texts = space.store.read_by(
        "judgments",
        "judgment_id",
        relevant_judgments["judgment_id"].to_list(),
        columns=["memory_id", "query"],
    )
    for name, query in texts.drop_nulls().unique().sort("query").iter_rows():
        queries.setdefault(name, []).append(query)
    place = {name: at for at, name in enumerate(names)}
    results = []
    for row in sorted(rows.iter_rows(named=True), key=lambda row: place[row["memory_id"]]):
        words = excerpt(row["content"][:1_000], "")
        questions = [*queries.get(row["memory_id"], ()), *(row["trigger_phrases"] or ()), row["title"], words]
        results.append(
            _ask(
                space, namespace, row, [question for question in dict.fromkeys(questions) if question.strip()]
            )
        )
    return results


def _ask(space: Workspace, namespace: str, row: dict[str, Any], questions: Sequence[str]) -> ShortMemory:
    """Search for the memory by each question, alone and among all."""
    name = row["memory_id"]
    alone, among = Filters(source=row["source"]), Filters()
    shares = []
    for filters in (alone, among):
        policy = space.policy if filters is among else space.policy.complete
        hits = 0
        for question in questions:
            candidates = searcher_in(space).find(
                namespace, question, space.settings.ranking.candidates, filters
            )
            limit = LOOKED_AT if filters is among else len(candidates.candidates)
            ranking = rank(candidates.candidates, policy, as_of=space.now(), limit=limit)
            hits += any(memory.memory_id == name for memory in ranking.results)
        shares.append(hits / len(questions) if questions else 0.0)
    by_id, by_search = shares
    return ShortMemory(name, len(questions), by_id, by_search, diagnose(by_id, by_search))
