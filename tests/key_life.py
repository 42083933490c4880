"""A home in which questions lead to notes: searches and what was taken of them, night by night."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime, timedelta
from typing import Any

import polars as pl
from feedback_days import HOUR, at, fold_days, name

from slowwave.common import ids
from slowwave.feedback.questions import remember
from slowwave.home.workspace import Workspace
from slowwave.learning.impressions import view_days
from slowwave.memory import Memory
from slowwave.scoring.feedback.policy import KeyTeaching
from slowwave.search.results import SearchResponse
from slowwave.store import staging

TTL = KeyTeaching().ttl
TEXTS = {
    "deploy": "We deploy on Tuesday at nine, and the release notes go to the harbour office in Kirkwall.",
    "ferry": "The ferry to Hoy takes bicycles free of charge in winter, but dogs pay half a fare.",
    "radar": "The radar on the eastern mast turns once in three seconds and sees forty kilometres.",
    "ledger": "Every night a copy of the ledger goes to the second machine in the library cellar.",
    "battery": "The battery of the northern gauge lasts eleven weeks in winter, nineteen in summer.",
}
OTHER = "We deploy on Thursday at fourteen, and the release notes go to the harbour office in Kirkwall."
"""Says something else than the first text of ``deploy``."""
SPELLED = TEXTS["deploy"].replace("office", "ofice")
"""Says the same, spelled otherwise."""


class KeyLife:
    """A memory whose clock is set by hand; each look at it is a second later."""

    def __init__(self, memory: Memory) -> None:
        self.memory, self.space, self.moment = memory, memory._space, at(1, 8)
        self.space.now = self.now  # type: ignore[method-assign]

    def now(self) -> datetime:
        self.moment += timedelta(seconds=1)
        return self.moment

    def id(self, key: str) -> str:
        """Of a note of the namespace."""
        return ids.memory_id(self.memory.namespace, key)

    def save(self, key: str, text: str = "", *, when: datetime | None = None, title: str = "") -> None:
        """A note comes in, or says something else; its title is as given, or the same each time."""
        self.moment = when or self.moment
        self.memory.save(text or TEXTS[key], key=key, title=title or f"About the {key}")

    def take(
        self,
        query: str,
        *keys: str,
        when: datetime,
        how: str = "cited",
        by: str = "ann",
        limit: int = 5,
        later: timedelta = timedelta(0),
        **filters: Any,
    ) -> SearchResponse:
        """Someone searches and takes notes from what was shown.

        Args:
            query: the question.
            keys: of the notes that are taken; none: the results are looked at in vain.
            when: the moment.
            how: cited, used (the answer has the words of the note) or helpful.
            by: principal.
            limit: results.
            later: after the search it is that anything is said of it.
            **filters: of the search.
        """
        self.moment, self.memory.principal = when, by
        found = self.memory.search(query, limit=limit, **filters)
        self.moment += later
        names = [self.id(key) for key in keys]
        if how == "helpful":
            for one in names:
                self.memory.feedback(found.search_id, one, "helpful")
        elif how == "used":
            said = " ".join(self.memory.get(one).content for one in names)
            self.memory.observe(found.search_id, f"So it is: {said}")
        else:
            self.memory.observe(found.search_id, "Nobody says it in so many words.", cited=names)
        return found

    def fold(self, first: int, last: int = 0) -> list[str]:
        """What nights do with some days of March before anything is learned."""
        return take_in(self.space, first, last or first)

    def view(self, first: int, last: int = 0) -> pl.DataFrame:
        """What the days from one to another give, in place of what they gave."""
        return view(self.space, self.fold(first, last))


def take_in(space: Workspace, first: int, last: int) -> list[str]:
    """The notes, searches and signals of some days of March."""
    days = [name(day) for day in range(first, last + 1)]
    saves = space.journal.read(kinds=("save", "forget", "undo", "unreadable"), days=days)
    space.store.replace_partition("staged_notes", staging.stage(saves), days)
    fold_days(space, days)
    return days


def view(space: Workspace, days: Sequence[str]) -> pl.DataFrame:
    """What the asset ``search_views`` writes of these days."""
    rows = view_days(space, days)
    space.store.replace_partition("search_views", rows, list(days))
    return rows.sort("view_id")


def keys(
    memory_id: str,
    *questions: str,
    taught: datetime,
    taken: float = 1.0,
    examined: float = 1.0,
    namespace: str = "ada",
    **more: Any,
) -> list[dict[str, Any]]:
    """That questions led to a memory, an hour after the other: rows of ``search_keys``."""
    return [
        {
            "namespace": namespace, "memory_id": memory_id, "search_id": f"search-{turn}", "query": query,
            "query_id": ids.query_id(namespace, query), "principal": "ann",
            "at": taught + turn * HOUR, "expires_at": taught + turn * HOUR + TTL, "taken": taken,
            "examined": examined, "text": "", **more,
        }
        for turn, query in enumerate(questions)
    ]  # fmt: skip


def lead_to(space: Workspace, rows: Iterable[dict[str, Any]]) -> None:
    """Make these all that was learned of past questions, as the nights write it."""
    frame = pl.DataFrame(list(rows))
    if frame.is_empty():
        space.store.delete("search_keys", "day < '~'")
        return
    remember(space.store, space.embedder, frame.select("namespace", "query_id", "query"))
    key = pl.concat_str("search_id", "memory_id", separator=":")
    frame = frame.with_columns(key_id=key, day=pl.col("at").dt.strftime("%Y-%m-%d")).drop("query")
    space.store.delete("search_keys", "day < '~'")
    space.store.replace_partition("search_keys", frame, frame["day"].unique().to_list())
