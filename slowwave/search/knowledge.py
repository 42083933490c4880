"""What a search knows of memories beside their text: trigger phrases, and what use has taught.

Both are kept in memory and read again when their table has a new version, which costs a fraction of a
millisecond to ask.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from datetime import date
from functools import lru_cache
from typing import Protocol

import pyarrow as pa

from quality.admission import LIVE, SUPERSEDED
from scoring.ranking import Confidence, MemoryState
from scoring.ranking.confidence import lifecycle_confidence, note_confidence
from scoring.ranking.triggers import TriggerIndex
from slowwave.store import Store, one_of, quote

CONFIDENCE_LABELS = (
    "origin", "source_of_truth", "retrieval_priority", "memory_type", "sensitivity", "state", "source_kind",
)  # fmt: skip


class Knowledge(Protocol):
    """Where a search gets this from."""

    def triggered(self, namespace: str, query: str) -> Mapping[str, tuple[str, float]]:
        """Memories whose trigger phrase the query says: the phrase and its strength in (0, 1]."""

    def states(self, namespace: str, memory_ids: Iterable[str]) -> dict[str, MemoryState]:
        """What use has taught of these memories; those that nobody used are absent."""


class StoredKnowledge:
    """From the tables as they are.

    Args:
        store: has them.
        until: the last day that counts; None is today.
    """

    def __init__(self, store: Store, until: date | None = None) -> None:
        self._store = store
        self._until = until
        self._lock = threading.Lock()
        self._triggers: dict[str, tuple[int, TriggerIndex]] = {}
        self._states: dict[str, tuple[int, dict[str, MemoryState]]] = {}

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
        with self._lock:
            version = self._store.table("memory_state").version
            known = self._states.get(namespace)
            if known is None or known[0] != version:
                known = self._states[namespace] = (version, self._read_states(namespace))
        found = known[1]
        return {name: found[name] for name in memory_ids if name in found} if found else {}

    def _read_triggers(self, namespace: str) -> TriggerIndex:
        where = (
            f"namespace = {quote(namespace)} AND {one_of('status', [LIVE, SUPERSEDED])} "
            f"AND array_length(trigger_phrases) > 0"
        )
        rows = self._store.read("memories", where, columns=["memory_id", "trigger_phrases"])
        return TriggerIndex(dict(rows.iter_rows()))

    def _read_states(self, namespace: str) -> dict[str, MemoryState]:
        where = f"namespace = {quote(namespace)}"
        if self._until is not None:
            where += f" AND day <= {quote(self._until.isoformat())}"
        rows = self._store.read("memory_state", where)
        latest = rows.sort("day").unique("memory_id", keep="last")
        return {row["memory_id"]: memory_state(row) for row in latest.iter_rows(named=True)}


def memory_state(row: Mapping[str, object]) -> MemoryState:
    """A row of ``memory_state`` as ranking sees it; what is missing is neutral."""
    neutral = MemoryState()
    votes: Sequence[object] = row["not_useful_at"] or ()  # type: ignore[assignment]
    return MemoryState(
        effectiveness=_or(row["effectiveness"], neutral.effectiveness),
        feedback_count=int(_or(row["feedback_count"], neutral.feedback_count)),
        not_useful_at=tuple(votes),  # type: ignore[arg-type]
        strength=_or(row["strength"], neutral.strength),
    )


def _or(value: object, default: float) -> float:
    return default if value is None else float(value)  # type: ignore[arg-type]


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


def confidence_of(rows: pa.Table) -> dict[str, Confidence]:
    """Confidence in each memory; rows (chunks) have memory_id and `CONFIDENCE_LABELS`."""
    columns = [rows.column(name).to_pylist() for name in ("memory_id", *CONFIDENCE_LABELS)]
    return {name: confidence(*labels) for name, *labels in zip(*columns, strict=True)}
