"""Interface of engines, and the local one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Piece = TypeVar("Piece")
Made = TypeVar("Made")


class Engine(Protocol):
    """Interface of an engine, which computes pieces of work."""

    @property
    def spreads(self) -> bool:
        """Whether it has workers, so that splitting work pays."""

    def map(self, work: Callable[[Piece], Made], pieces: Iterable[Piece]) -> Iterator[Made]:
        """Yield the results of `work` for the pieces, in order, with few in memory.

        Args:
            work: A function of a module, or a `functools.partial` of one. It and the pieces may travel to
                another machine, so they have plain data only.
            pieces: Consumed lazily.

        Raises:
            EngineError: The workers cannot be reached, or died too often.
        """

    def close(self) -> None:
        """Release the workers."""


class LocalEngine:
    """Engine of this process."""

    spreads = False

    def map(self, work: Callable[[Piece], Made], pieces: Iterable[Piece]) -> Iterator[Made]:
        """Compute each piece lazily."""
        return map(work, pieces)

    def close(self) -> None:
        """Do nothing: there are no workers."""
