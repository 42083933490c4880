"""Feedback states of memories for searches and saves, cached per table version and day."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime
from typing import TYPE_CHECKING

import polars as pl

from slowwave.feedback.text_attribution import texts_in
from slowwave.index.table_cache import TableCache
from slowwave.scoring.days import DAY, day_end
from slowwave.scoring.feedback.columns import day_ends
from slowwave.scoring.feedback.effectiveness import SUMS, effectiveness
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.strength import current
from slowwave.scoring.ranking import MemoryState
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


def states_in(space: Workspace) -> MemoryStates:
    """Return the current feedback states of a home."""
    return space.part("states", lambda: MemoryStates(space))


class MemoryStates:
    """Effectiveness, strength and promotions, from ``memory_state``.

    Args:
        space: Workspace of the home.
        until: Last day that counts; None is today.
    """

    def __init__(self, space: Workspace, until: date | None = None) -> None:
        self._store, self._texts, self._clock, self._until = space.store, texts_in(space), space.now, until
        self._policy = space.feedback_policy
        self._taught = TableCache(self._mark, self._read)

    def states(self, namespace: str, memory_ids: Iterable[str]) -> dict[str, MemoryState]:
        """Return the feedback states of these memories; unused ones are absent."""
        states = self._taught.of(namespace)[0]
        return {name: states[name] for name in memory_ids if name in states} if states else {}

    def promoted(self, namespace: str) -> Mapping[str, str]:
        """Return the tier of each promoted memory (rule 4.4)."""
        return self._taught.of(namespace)[1]

    def _mark(self, _: str) -> tuple[int, date]:
        # Feedback decays from day to day, even without a nightly job.
        return self._store.version("memory_state"), self._until or self._clock().date()

    def _read(self, namespace: str, *_: object) -> tuple[dict[str, MemoryState], dict[str, str]]:
        """Read states and tiers of a namespace."""
        rows = self._rows(namespace)
        tiers = dict(rows.drop_nulls("tier").select("memory_id", "tier").iter_rows())
        return memory_states(rows, self._moment(), self._policy), tiers

    def _moment(self) -> datetime:
        """Return the end of the last complete day, or of the requested day."""
        return day_end(self._until or self._clock().date() - DAY)

    def _rows(self, namespace: str) -> pl.DataFrame:
        where = within(namespace)
        if self._until is None:
            return self._store.read("memory_state", where)
        from slowwave.feedback.apply_state import states_of

        return states_of(self._store, namespace, self._until.isoformat(), self._policy, self._texts)


def memory_states(rows: pl.DataFrame, as_of: datetime, policy: FeedbackPolicy) -> dict[str, MemoryState]:
    """Convert rows of ``memory_state`` for ranking at a moment; missing values are neutral.

    Args:
        rows: Rows of one namespace.
        as_of: Moment to which feedback has decayed; for an unfinished day, its end.
        policy: Decay of feedback.
    """
    neutral, moment = MemoryState(), int(as_of.timestamp() * 1e6)
    ends = day_ends(rows["day"].str.to_date())
    faded = effectiveness(rows.with_columns(pl.col(SUMS).fill_null(0.0)), ends.clip(min=moment), policy)
    elapsed = (moment - rows["last_at"].dt.epoch("us").fill_null(moment).to_numpy()) / 1e6
    remaining = current(rows["strength"].to_numpy(), rows["stability"].fill_null(1.0).to_numpy(), elapsed)
    columns = rows.select(
        "memory_id",
        pl.when(pl.col("explicit_weight").is_null())
        .then("effectiveness")
        .otherwise(faded)
        .fill_null(neutral.effectiveness),
        pl.col("feedback_count").fill_null(neutral.feedback_count),
        pl.col("not_useful_at").fill_null([]),
        strength=pl.Series(remaining).fill_nan(None).fill_null(neutral.strength),
    )
    return {
        name: MemoryState(
            effectiveness=effective, feedback_count=count, not_useful_at=tuple(votes), strength=strong
        )
        for name, effective, count, votes, strong in columns.iter_rows()
    }
