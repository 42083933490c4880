"""Days on which a stage of the night is due: the one answer for commands, schedules, sensors and pages.

Three stages are done day by day: notes are taken in, feedback is folded, searches are evaluated. What was
learned of evaluated days is due by its gate (`slowwave.learning.applied_terms`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Final

import polars as pl

from slowwave.evaluation.stale_days import due_days
from slowwave.feedback.stale_days import stale_days
from slowwave.home.processing_watermarks import notes_due
from slowwave.journal.entry import WORDS

if TYPE_CHECKING:
    from slowwave.journal import Journal
    from slowwave.settings import Settings
    from slowwave.store import Store

ACTS: Final = ("save", "forget", *WORDS, "unreadable")
"""Kinds of the journal's acts on notes."""


@dataclass(frozen=True, slots=True)
class StalePartitions:
    """Days (YYYY-MM-DD, UTC, in order) with something to do, by stage.

    Attributes:
        notes: with acts on notes that no finished night took in.
        feedback: never folded, or resting on something else by now: late entries, late notes, an earlier day.
        evaluation: never evaluated, or resting on something else by now: late feedback, judgments or notes.
    """

    notes: tuple[str, ...]
    feedback: tuple[str, ...]
    evaluation: tuple[str, ...]

    @property
    def days(self) -> list[str]:
        """Those of any stage."""
        return sorted({*self.notes, *self.feedback, *self.evaluation})


def stale_partitions(journal: Journal, store: Store) -> StalePartitions:
    """All days that are due, whether they have a partition or not; see `partitions` and `over`."""
    last = journal.days(ACTS).group_by("day").agg(pl.col("last_seq").max())
    return StalePartitions(
        tuple(notes_due(store, dict(last.iter_rows()))),
        tuple(stale_days(journal, store)),
        tuple(due_days(journal, store)),
    )


def partitions(days: Iterable[str], settings: Settings, now: datetime, first: str = "") -> list[str]:
    """Those of some days that have a partition: not before the first one, and not to come.

    Args:
        days: in any order.
        settings: whose ``night.first_day`` is the first one.
        now: today is its day (UTC).
        first: a later first one, such as that of the page.
    """
    first, today = max(first, settings.night.first_day), now.astimezone(UTC).date().isoformat()
    return [day for day in days if first <= day <= today]


def over(
    days: Iterable[str], settings: Settings, now: datetime, patience: timedelta = timedelta(0)
) -> list[str]:
    """Those of some days whose night is over: `patience` after its hour on the day after."""
    last = (now.astimezone(UTC) - timedelta(hours=settings.night.hour) - patience).date().isoformat()
    return [day for day in days if day < last]
