"""Stale days of each stage of the nightly job, for commands, schedules, sensors and pages.

Three stages run per day: notes are ingested, feedback is aggregated, searches are evaluated. Learning is
requested by its gate (`slowwave.learning.applied_terms`).
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
"""Kinds of the journal's events about notes."""


@dataclass(frozen=True, slots=True)
class StalePartitions:
    """Stale days (YYYY-MM-DD, UTC, in order), by stage.

    Attributes:
        notes: With events about notes that no finished nightly job ingested.
        feedback: Never aggregated, or with changed inputs: late entries, late notes, an earlier day.
        evaluation: Never evaluated, or with changed inputs: late feedback, judgments or notes.
    """

    notes: tuple[str, ...]
    feedback: tuple[str, ...]
    evaluation: tuple[str, ...]

    @property
    def days(self) -> list[str]:
        """Days that are stale in any stage."""
        return sorted({*self.notes, *self.feedback, *self.evaluation})


def stale_partitions(journal: Journal, store: Store) -> StalePartitions:
    """Return all stale days, with or without a partition; see `partitions` and `over`."""
    last = journal.days(ACTS).group_by("day").agg(pl.col("last_seq").max())
    return StalePartitions(
        tuple(notes_due(store, dict(last.iter_rows()))),
        tuple(stale_days(journal, store)),
        tuple(due_days(journal, store)),
    )


def partitions(days: Iterable[str], settings: Settings, now: datetime, first: str = "") -> list[str]:
    """Return the days that have a partition: not before the first one, and not in the future.

    Args:
        days: In any order.
        settings: Of the home; ``night.first_day`` is the first partition.
        now: Its UTC day is the last partition.
        first: A later first day, such as that of the page.
    """
    first, today = max(first, settings.night.first_day), now.astimezone(UTC).date().isoformat()
    return [day for day in days if first <= day <= today]


def over(
    days: Iterable[str], settings: Settings, now: datetime, patience: timedelta = timedelta(0)
) -> list[str]:
    """Return the days whose nightly job is over: `patience` after its hour on the following day."""
    last = (now.astimezone(UTC) - timedelta(hours=settings.night.hour) - patience).date().isoformat()
    return [day for day in days if day < last]
