"""Labels by hand: judgments of query-memory pairs by people."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING

from slowwave.errors import NotFoundError
from slowwave.evaluation.judging.entries import NewJudgment, require, write_judgments
from slowwave.evaluation.judging.model import JudgmentError, Pair
from slowwave.home.visibility import Viewer, may_see
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    import polars as pl

    from slowwave.home.workspace import Workspace
    from slowwave.store import Store


@dataclass(frozen=True, slots=True)
class Judged:
    """Accepted label.

    Attributes:
        new: Whether this call wrote it. If False it was the latest judgment already.
    """

    event_id: str
    query_id: str
    memory_id: str
    grade: int | None
    state: str
    new: bool


def label(
    space: Workspace,
    namespace: str,
    query: str,
    memory_id: str,
    grade: int | None,
    *,
    state: str,
    explanation: str,
    principal: str,
    now: datetime,
) -> Judged:
    """Write a label; see `slowwave.Memory.judge`."""
    require(query, grade, state)
    if isinstance(grade, float):
        raise JudgmentError(f"grade = {grade!r} is not a whole number")
    if memory_id not in known_memories(space.store, namespace, [memory_id]):
        raise NotFoundError(
            f"Namespace {namespace!r} has no memory {memory_id!r}. Ids come from save() and search(); "
            f"`slowwave show` lists those of the last one."
        )
    judgment = NewJudgment(query, memory_id, grade, state, explanation, principal, now)
    [(entry, new)] = write_judgments(space.journal, namespace, [judgment])
    return Judged(entry.event_id, entry.subject, memory_id, grade, state, new)


def known_memories(store: Store, namespace: str, memory_ids: Collection[str]) -> set[str]:
    """Return the ids that are memories of the namespace, whatever their status."""
    return set(_rows(store, namespace, memory_ids, ["memory_id"])["memory_id"].to_list())


def pairs_of(
    store: Store, namespace: str, wanted: Iterable[tuple[str, str]]
) -> tuple[dict[tuple[str, str], Pair], set[str]]:
    """Return the text of each pair, and the secret memories.

    A remote judge may not read secret memories. Deleted memories have no pair.
    """
    wanted = list(dict.fromkeys(wanted))
    columns = ["memory_id", "title", "content", "sensitivity"]
    rows = _rows(store, namespace, {memory for _, memory in wanted}, columns)
    texts = {memory: (title or "", content or "") for memory, title, content, _ in rows.iter_rows()}
    pairs = {(query, memory): Pair(query, *texts[memory]) for query, memory in wanted if memory in texts}
    labels = rows.select("memory_id", "sensitivity").iter_rows()
    return pairs, {memory for memory, label in labels if not may_see(Viewer.ASSISTANT, label)}


def _rows(store: Store, namespace: str, memory_ids: Collection[str], columns: list[str]) -> pl.DataFrame:

    where = within(namespace, "content_hash IS NOT NULL")
    return store.read_by("memories", "memory_id", sorted(memory_ids), columns=columns, also=where)
