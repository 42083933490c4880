"""Counts of pending decisions, quarantine and judgments, for the navigation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final

from slowwave.evaluation.judging.active_sampling import ShownPair, pairs_for, worth_judging
from slowwave.evaluation.judging.labels import known_memories
from slowwave.lifecycle.pending_decisions import waiting
from slowwave.quality.admission.statuses import HELD
from slowwave.serving.caller import Caller

if TYPE_CHECKING:
    from slowwave.memory import Memory

GOOD_S: Final = 30.0  # lifetime of a count (seconds), unless something was done here
PAIRS_GOOD_S: Final = 300.0  # lifetime of drawn pairs (seconds); drawing reads a month of searches
DRAWN: Final = 50  # pairs at a time (count)


@dataclass(frozen=True, slots=True)
class Counts:
    """Counts of pending items."""

    decisions: int
    quarantine: int


@dataclass(slots=True)
class _Pairs:
    """Pairs drawn for a user, and the number of all pairs."""

    drawn: list[ShownPair]
    total: int
    until: float


class PendingCounts:
    """Cache of counts by namespace, and of pairs by user.

    Args:
        clock: seconds; for tests.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._counts: dict[str, tuple[float, int, int]] = {}
        self._pairs: dict[Caller, _Pairs] = {}

    def counts(self, memory: Memory) -> Counts:
        """Return the pending items of a namespace for the current user."""
        now, namespace = self._clock(), memory.namespace
        cached = self._counts.get(namespace)
        if cached is None or cached[0] < now:
            quarantined = memory.store.count("quarantine", memory.tenant.mine(f"status = '{HELD}'"))
            cached = (now + GOOD_S, waiting(memory.store, namespace).height, quarantined)
            self._counts[namespace] = cached
        return Counts(cached[1], cached[2])

    def forget(self, namespace: str) -> None:
        """Drop the cached counts of a namespace."""
        self._counts.pop(namespace, None)

    def pairs(self, memory: Memory) -> tuple[list[ShownPair], int]:
        """Return the next pairs for the user, and the number of all pairs."""
        with self._lock:
            cached = self._pairs.get(_caller(memory))
            if cached is None or cached.until < self._clock() or not cached.drawn:
                candidates = pairs_for(memory.home, memory.namespace, memory.principal)
                existing = known_memories(
                    memory.store, memory.namespace, {pair.memory_id for pair in candidates}
                )
                candidates = [
                    pair for pair in candidates if pair.memory_id in existing
                ]  # imported searches may return other objects
                drawn = worth_judging(candidates, DRAWN, seed=memory.home.now().date().isoformat())
                cached = _Pairs(drawn, len(candidates), self._clock() + PAIRS_GOOD_S)
                self._pairs[_caller(memory)] = cached
            return list(cached.drawn), cached.total

    def settled(self, memory: Memory, query: str, memory_id: str, *, later: bool = False) -> None:
        """Remove a pair that was labelled or postponed."""
        with self._lock:
            cached = self._pairs.get(_caller(memory))
            if cached is None:
                return
            remaining = [pair for pair in cached.drawn if (pair.query, pair.memory_id) != (query, memory_id)]
            removed = len(cached.drawn) - len(remaining)
            cached.drawn, cached.total = remaining, max(0, cached.total - (0 if later else removed))


def _caller(memory: Memory) -> Caller:
    return Caller(memory.namespace, memory.principal)
