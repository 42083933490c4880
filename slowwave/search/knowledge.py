"""What a search knows of memories beside their text: trigger phrases, what use has taught, what was learned.

All are kept in memory and read again when their table has a new version, which costs a fraction of a
millisecond to ask.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from typing import Protocol

import polars as pl
import pyarrow as pa

from slowwave.feedback.texts import Texts
from slowwave.learning.applied import LearnedTriggers
from slowwave.quality.admission import LIVE, MERGED, SUPERSEDED
from slowwave.scoring.feedback.coded import DAY_US
from slowwave.scoring.feedback.effectiveness import SUMS, effectiveness
from slowwave.scoring.feedback.policy import FeedbackPolicy
from slowwave.scoring.feedback.strength import current
from slowwave.scoring.ranking import Confidence, MemoryState
from slowwave.scoring.ranking.confidence import lifecycle_confidence, note_confidence
from slowwave.scoring.ranking.learned import Learned
from slowwave.scoring.ranking.triggers import TriggerIndex
from slowwave.search.filters import Filters
from slowwave.store import Store, one_of, quote
from slowwave.store.labels import heirs

CONFIDENCE_LABELS = (
    "origin", "source_of_truth", "retrieval_priority", "memory_type", "sensitivity", "state", "source_kind",
)  # fmt: skip
HEIR = ("memory_id", "source", "replaced_by")


class Knowledge(Protocol):
    """Where a search gets this from."""

    def triggered(self, namespace: str, query: str) -> Mapping[str, tuple[str, float]]:
        """Memories whose trigger phrase the query says: the phrase and its strength in (0, 1]."""

    def states(self, namespace: str, memory_ids: Iterable[str]) -> dict[str, MemoryState]:
        """What use has taught of these memories; those that nobody used are absent."""

    def promoted(self, namespace: str) -> Mapping[str, str]:
        """The tier that each promoted memory was promoted to (rule 4.4)."""

    def heirs(self, namespace: str, source: str) -> list[str]:
        """The memories that absorbed one whose source begins with this."""

    def learned(self, namespace: str, query: str, now: datetime) -> Mapping[str, Learned]:
        """Memories that learned terms bring to mind, where learning may have an effect (rule 5)."""

    def doubts(self, namespace: str) -> tuple[str, ...]:
        """What a person should know of the last answer of `learned` for this namespace."""


class StoredKnowledge:
    """From the tables as they are.

    Args:
        store: has them.
        policy: how feedback fades.
        until: the last day that counts; None is today.
        clock: says which day that is.
        triggers: what was learned; None where nothing is.
        texts: gives the texts of memories; asked of past days.
    """

    def __init__(
        self,
        store: Store,
        policy: FeedbackPolicy | None = None,
        until: date | None = None,
        clock: Callable[[], datetime] = lambda: datetime.now(UTC),
        triggers: LearnedTriggers | None = None,
        texts: Texts | None = None,
    ) -> None:
        self._texts = texts
        self._store = store
        self._policy = policy or FeedbackPolicy()
        self._until = until
        self._clock = clock
        self._learned = triggers
        self._lock = threading.Lock()
        self._triggers: dict[str, tuple[int, TriggerIndex]] = {}
        self._taught: dict[str, tuple[tuple[int, date], dict[str, MemoryState], dict[str, str]]] = {}

    def triggered(self, namespace: str, query: str) -> Mapping[str, tuple[str, float]]:
        """See `Knowledge`."""
        with self._lock:
            version = self._store.table("memories").version
            known = self._triggers.get(namespace)
            if known is None or known[0] != version:
                known = self._triggers[namespace] = (version, self._read_triggers(namespace))
        return known[1].match(query) if len(known[1]) else {}

    def states(self, namespace: str, memory_ids: Iterable[str]) -> dict[str, MemoryState]:
        """See `Knowledge`."""
        found = self._known(namespace)[0]
        return {name: found[name] for name in memory_ids if name in found} if found else {}

    def promoted(self, namespace: str) -> dict[str, str]:
        """See `Knowledge`."""
        return self._known(namespace)[1]

    def heirs(self, namespace: str, source: str) -> list[str]:
        """See `Knowledge`."""
        merged = f"namespace = {quote(namespace)} AND status = {quote(MERGED)}"
        return heirs(self._store.read("memories", merged, columns=HEIR), source)

    def learned(self, namespace: str, query: str, now: datetime) -> Mapping[str, Learned]:
        """See `Knowledge`."""
        return self._learned.match(namespace, query, now) if self._learned else {}

    def doubts(self, namespace: str) -> tuple[str, ...]:
        """See `Knowledge`."""
        return self._learned.doubts(namespace) if self._learned else ()

    def _known(self, namespace: str) -> tuple[dict[str, MemoryState], dict[str, str]]:
        with self._lock:
            # Feedback fades from day to day, also when no night runs.
            mark = (self._store.table("memory_state").version, self._until or self._clock().date())
            known = self._taught.get(namespace)
            if known is None or known[0] != mark:
                rows = self._rows(namespace)
                tiers = dict(rows.drop_nulls("tier").select("memory_id", "tier").iter_rows())
                known = self._taught[namespace] = (
                    mark,
                    memory_states(rows, self._moment(), self._policy),
                    tiers,
                )
        return known[1:]

    def _moment(self) -> datetime:
        """The end of the last day that is over, or of the day that is asked for."""
        day = self._until or self._clock().date() - timedelta(days=1)
        return datetime.combine(day, time(), UTC) + timedelta(days=1)

    def _rows(self, namespace: str) -> pl.DataFrame:
        mine = f"namespace = {quote(namespace)}"
        if self._until is None:
            return self._store.read("memory_state", mine)
        from slowwave.feedback.fold import states_of

        return states_of(self._store, namespace, self._until.isoformat(), self._policy, self._texts)

    def _read_triggers(self, namespace: str) -> TriggerIndex:
        where = (
            f"namespace = {quote(namespace)} AND {one_of('status', [LIVE, SUPERSEDED])} "
            f"AND array_length(trigger_phrases) > 0"
        )
        rows = self._store.read("memories", where, columns=["memory_id", "trigger_phrases"])
        return TriggerIndex(dict(rows.iter_rows()))


def memory_states(rows: pl.DataFrame, as_of: datetime, policy: FeedbackPolicy) -> dict[str, MemoryState]:
    """Rows of ``memory_state`` as ranking sees them at a moment; what is missing is neutral.

    Args:
        rows: of one namespace.
        as_of: to which feedback has faded; of a day that is not over yet, its end counts.
        policy: how it fades.
    """
    neutral, moment = MemoryState(), int(as_of.timestamp() * 1e6)
    ends = (rows["day"].str.to_date().cast(pl.Int64).to_numpy() + 1) * DAY_US
    faded = effectiveness(rows.with_columns(pl.col(SUMS).fill_null(0.0)), ends.clip(min=moment), policy)
    elapsed = (moment - rows["last_at"].dt.epoch("us").fill_null(moment).to_numpy()) / 1e6
    left = current(rows["strength"].to_numpy(), rows["stability"].fill_null(1.0).to_numpy(), elapsed)
    shown = rows.select(
        "memory_id",
        pl.when(pl.col("explicit_weight").is_null())
        .then("effectiveness")
        .otherwise(faded)
        .fill_null(neutral.effectiveness),
        pl.col("feedback_count").fill_null(neutral.feedback_count),
        pl.col("not_useful_at").fill_null([]),
        strength=pl.Series(left).fill_nan(None).fill_null(neutral.strength),
    )
    return {
        name: MemoryState(
            effectiveness=effective, feedback_count=count, not_useful_at=tuple(votes), strength=strong
        )
        for name, effective, count, votes, strong in shown.iter_rows()
    }


@lru_cache(maxsize=4_096)
def confidence(
    origin: str | None, source_of_truth: bool | None, retrieval_priority: str, memory_type: str,
    sensitivity: str, state: str, source_kind: str,
) -> Confidence:  # fmt: skip
    """Confidence in a memory, from its labels in the order of `CONFIDENCE_LABELS` (rule 3.6).

    What comes from a vault is a note, with its front matter; what an application saved has a life cycle.
    """
    if origin:
        return note_confidence(
            source_of_truth=bool(source_of_truth), retrieval_priority=retrieval_priority,
            memory_type=memory_type, sensitivity=sensitivity,
        )  # fmt: skip
    if source_of_truth:
        return note_confidence(
            source_of_truth=True, retrieval_priority="", memory_type="", sensitivity=sensitivity
        )
    return lifecycle_confidence(state=state, source_kind=source_kind, sensitivity=sensitivity)


def condition(knowledge: Knowledge, namespace: str, filters: Filters) -> str:
    """What a search may show, as a condition on ``chunks`` (or ``memories``)."""
    heirs = knowledge.heirs(namespace, filters.source) if filters.source else ()
    return filters.where(namespace, knowledge.promoted(namespace), heirs)


def confidence_of(rows: pa.Table) -> dict[str, Confidence]:
    """Confidence in each memory; rows (chunks) have memory_id and `CONFIDENCE_LABELS`."""
    columns = [rows.column(name).to_pylist() for name in ("memory_id", *CONFIDENCE_LABELS)]
    return {name: confidence(*labels) for name, *labels in zip(*columns, strict=True)}
