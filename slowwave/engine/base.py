"""What an engine is, and the one that is always there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol, TypeVar

Piece = TypeVar("Piece")
Made = TypeVar("Made")


class Engine(Protocol):
    """Computes pieces of work."""

    @property
    def spreads(self) -> bool:
        """Whether there are others to compute: then it is worth while to cut work into pieces."""

    def map(self, work: Callable[[Piece], Made], pieces: Iterable[Piece]) -> Iterator[Made]:
        """What `work` makes of the pieces, in their order; few of them are in memory at a time.

        Args:
            work: a function of a module, or a `functools.partial` of one: it and the pieces may travel to
                another machine, and have nothing but data in them.
            pieces: taken one after the other, as they are needed.

        Raises:
            EngineError: the workers cannot be reached, or died too often.
        """

    def close(self) -> None:
        """Let go of the workers."""


class LocalEngine:
    """This process."""

    spreads = False

    def map(self, work: Callable[[Piece], Made], pieces: Iterable[Piece]) -> Iterator[Made]:
        """What `work` makes of each piece, when it is asked for."""
        return map(work, pieces)

    def close(self) -> None:
        """There is nothing to let go of."""
