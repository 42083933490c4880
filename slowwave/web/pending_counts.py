"""How much waits for a person, for the navigation of every page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Final

from slowwave.evaluation.judging.active_sampling import ShownPair, pairs_for, worth_judging
from slowwave.evaluation.judging.labels import known_memories
from slowwave.lifecycle.pending_decisions import waiting
from slowwave.lifecycle.quarantine import HELD
from slowwave.serving.caller import Caller

if TYPE_CHECKING:
    from slowwave.memory import Memory

GOOD_S: Final = 30.0  # that a count is good for, unless something was done here
PAIRS_GOOD_S: Final = 300.0  # that drawn pairs are; to find them is to read a month of searches
DRAWN: Final = 50  # pairs at a time (count)


@dataclass(frozen=True, slots=True)
class Counts:
    """What waits (counts); `judge` is None while nobody has looked yet."""

    decisions: int
    quarantine: int
    judge: int | None


@dataclass(slots=True)
class _Pairs:
    """Pairs that were drawn for somebody, and how many there were in all."""

    drawn: list[ShownPair]
    total: int
    until: float


class PendingCounts:
    """Counts and queues by namespace and person, kept for a short while.

    Args:
        clock: seconds; for tests.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock, self._lock = clock, Lock()
        self._counts: dict[str, tuple[float, int, int]] = {}
        self._pairs: dict[Caller, _Pairs] = {}

    def counts(self, memory: Memory) -> Counts:
        """What waits in a namespace for who asks."""
        now, namespace = self._clock(), memory.namespace
        known = self._counts.get(namespace)
        if known is None or known[0] < now:
            held = memory.store.count("quarantine", memory.tenant.mine(f"status = '{HELD}'"))
            known = (now + GOOD_S, waiting(memory.store, namespace).height, held)
            self._counts[namespace] = known
        pairs = self._pairs.get(_who(memory))
        return Counts(known[1], known[2], None if pairs is None else pairs.total)

    def forget(self, namespace: str) -> None:
        """Something was done: look again."""
        self._counts.pop(namespace, None)

    def pairs(self, memory: Memory) -> tuple[list[ShownPair], int]:
        """The pairs that who asks labels next, the first one first, and how many there are in all."""
        with self._lock:
            known = self._pairs.get(_who(memory))
            if known is None or known.until < self._clock() or not known.drawn:
                found = pairs_for(memory.home, memory.namespace, memory.principal)
                there = known_memories(memory.store, memory.namespace, {one.memory_id for one in found})
                found = [one for one in found if one.memory_id in there]  # imported searches show others
                drawn = worth_judging(found, DRAWN, seed=memory.home.now().date().isoformat())
                known = _Pairs(drawn, len(found), self._clock() + PAIRS_GOOD_S)
                self._pairs[_who(memory)] = known
            return list(known.drawn), known.total

    def settled(self, memory: Memory, query: str, memory_id: str, *, later: bool = False) -> None:
        """A pair was labelled, or put off."""
        with self._lock:
            known = self._pairs.get(_who(memory))
            if known is None:
                return
            left = [one for one in known.drawn if (one.query, one.memory_id) != (query, memory_id)]
            gone = len(known.drawn) - len(left)
            known.drawn, known.total = left, max(0, known.total - (0 if later else gone))


def _who(memory: Memory) -> Caller:
    return Caller(memory.namespace, memory.principal)
