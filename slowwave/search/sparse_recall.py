"""The guaranteed place of short memories (rule 3.5): its figures, and short memories that are not found."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
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
LOOKED_AT = 10  # results among which a memory has to be (count)
_SHOWN = struct(SearchPayload, "query", "shown.memory_id", "shown.flags")


@dataclass(frozen=True, slots=True)
class ShortMemory:
    """How a short memory is found.

    Attributes:
        questions: that were asked: those it was judged relevant for, its trigger phrases, its title and its
            first words (count).
        by_id: share of them that find it when it alone is asked.
        by_search: share that find it among the first ten of all.
        diagnosis: passes, ingestion_failure or retrieval_regression.
    """

    memory_id: str
    questions: int
    by_id: float
    by_search: float
    diagnosis: Diagnosis

    def to_dict(self) -> dict[str, Any]:
        """Plain data, ready for JSON."""
        return asdict(self)


def figures(space: Workspace, days: Sequence[str], namespace: str | None = None) -> SparseRecall:
    """What became of the places that searches of these days gave.

    Args:
        space: has searches, feedback and judgments; the last two as nights have taken them up.
        days: of the searches.
        namespace: only of this one; None is all.
    """
    injected = _injected(space, days, namespace)
    if injected.is_empty():
        return SparseRecall(0, 0, 0)
    names = injected["search_id"].unique().to_list()
    acts = space.store.read_by(
        "usage_signals", "search_id", names, columns=["search_id", "memory_id", "value"],
        also="tier IN ('quick', 'implicit')",
    )  # fmt: skip
    used = acts.select("search_id", "memory_id", relevant=pl.col("value") > 0.5)
    said = judgments_until(space.store, "9999-12-31", namespace=namespace)
    queries = with_query_ids(injected)
    asked = queries.select("namespace", "query_id").unique()
    grades = judgment_list(said, space.settings.judge.agreement, asked)
    judged = queries.join(grades.grades, on=PAIR)
    judged = judged.select("search_id", "memory_id", relevant=pl.col("grade") > 0)
    return sparse_recall(injected, pl.concat([used, judged]))


def _injected(space: Workspace, days: Sequence[str], namespace: str | None) -> pl.DataFrame:
    """``search_id``, ``namespace``, ``query`` and ``memory_id`` of every place that was given."""
    found = []
    none = space.journal.read(kinds=("search",), limit=0)
    pages = space.journal.pages(kinds=("search",), days=days, namespace=namespace, size=SEARCHES_AT_ONCE)
    for page in chain([none], pages):
        rows = shown_rows(decoded(page, _SHOWN)[0])
        rows = rows.filter(pl.col("flags").list.contains(RECALL_INJECTED))
        found.append(rows.select("namespace", "query", "memory_id", search_id="event_id"))
    return pl.concat(found)


def short_memories(
    space: Workspace, namespace: str, *, memory_id: str = "", most: int = 50
) -> list[ShortMemory]:
    """Ask for short memories by their own questions; nothing of it is in the journal.

    Args:
        space: to search in.
        namespace: the tenant.
        memory_id: of this one alone; else of those that changed last.
        most: memories (count).
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
    said = judgments_until(space.store, "9999-12-31", namespace=namespace)
    relevant = judgment_list(said, space.settings.judge.agreement).grades.filter(pl.col("grade") > 0)
    told = said.join(relevant, on=PAIR, how="semi")
    asked: dict[str, list[str]] = {}
    texts = space.store.read_by(
        "judgments", "judgment_id", told["judgment_id"].to_list(), columns=["memory_id", "query"]
    )
    for name, query in texts.drop_nulls().unique().sort("query").iter_rows():
        asked.setdefault(name, []).append(query)
    place = {name: at for at, name in enumerate(names)}
    found = []
    for row in sorted(rows.iter_rows(named=True), key=lambda row: place[row["memory_id"]]):
        words = excerpt(row["content"][:1_000], "")
        questions = [*asked.get(row["memory_id"], ()), *(row["trigger_phrases"] or ()), row["title"], words]
        found.append(_ask(space, namespace, row, [one for one in dict.fromkeys(questions) if one.strip()]))
    return found


def _ask(space: Workspace, namespace: str, row: dict[str, Any], questions: Sequence[str]) -> ShortMemory:
    """The memory, asked for by each question alone and among all."""
    name = row["memory_id"]
    alone, among = Filters(source=row["source"]), Filters()
    shares = []
    for filters in (alone, among):
        policy = space.policy if filters is among else replace(space.policy, abstention_floor=0.0)
        hits = 0
        for question in questions:
            found = searcher_in(space).find(namespace, question, space.settings.ranking.candidates, filters)
            limit = LOOKED_AT if filters is among else len(found.candidates)
            ranking = rank(found.candidates, policy, as_of=space.now(), limit=limit)
            hits += any(one.memory_id == name for one in ranking.results)
        shares.append(hits / len(questions) if questions else 0.0)
    by_id, by_search = shares
    return ShortMemory(name, len(questions), by_id, by_search, diagnose(by_id, by_search))
