"""The engine whose workers are processes of a Ray cluster, on this machine or on others.

A piece is a task of Ray: where the worker that has it dies, Ray gives it to another one. Where the head
dies, or nobody is left, :class:`EngineError` says so, and whoever asked has committed what came before.
"""

from __future__ import annotations

import logging
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeVar

from slowwave.common.version import VERSION
from slowwave.engine.cluster import Cluster
from slowwave.errors import EngineError

if TYPE_CHECKING:
    from slowwave.settings.groups import EngineSettings

Piece = TypeVar("Piece")
Made = TypeVar("Made")

LOOKED_AFTER = 2.0
"""How often it is asked whether the head is still there; its workers go on for a minute without it (s)."""
TRIES = 4
"""Workers that may die of one piece before it is given up (count)."""
AHEAD = 2
"""Pieces a worker has before it, so that none waits for this process (count)."""

_log = logging.getLogger(__name__)


def computed(of: str, work: Callable[[Piece], Made], piece: Piece) -> Made:
    """What a worker does: the work, if it is of the very version that asks.

    Raises:
        EngineError: it is not; the same text could get another vector.
    """
    if of != VERSION:
        raise EngineError(
            f"A worker has Slowwave {VERSION} and this process {of}. Install the same version on each "
            f"machine of the cluster, and start its Ray again."
        )
    return work(piece)


class RayEngine:
    """Workers of a Ray cluster.

    Args:
        settings: which cluster. It is reached when there is work for it.
    """

    spreads = True

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._cluster = Cluster(settings)

    def map(self, work: Callable[[Piece], Made], pieces: Iterable[Piece]) -> Iterator[Made]:
        """What `work` makes of the pieces, in their order; the workers are a few pieces ahead.

        Raises:
            EngineError: nobody is there to compute them, unless ``engine.fallback`` is on: then this process
                does.
        """
        given = iter(pieces)
        begun: deque[tuple[Any, Piece]] = deque()
        try:
            with self._cluster.at_work():
                yield from self._computed(work, given, begun)
        except EngineError as error:
            if not self._settings.fallback:
                raise
            _log.warning("%s This process computes the rest (engine.fallback).", error)
            yield from map(work, chain((piece for _, piece in begun), given))

    def _computed(
        self, work: Callable[[Piece], Made], given: Iterator[Piece], begun: deque[tuple[Any, Piece]]
    ) -> Iterator[Made]:
        first = next(given, None)
        if first is None:
            return
        begun.append((None, first))  # so that it is not lost where there is no cluster
        ray = self._cluster.connected()
        task = ray.remote(num_cpus=1, max_retries=TRIES - 1)(computed)
        shared = ray.put(work)
        session = self._cluster.session()
        begun[0] = (task.remote(VERSION, shared, first), first)
        ahead = AHEAD * self._cluster.workers() + 1
        for piece in given:
            begun.append((None, piece))
            if self._cluster.session() != session:  # another map has left it; Ray would start one anew
                self._cluster.lost("it was left")
            begun[-1] = (task.remote(VERSION, shared, piece), piece)
            if len(begun) >= ahead:
                yield self._result(begun)
        while begun:
            yield self._result(begun)

    def _result(self, begun: deque[tuple[Any, Any]]) -> Any:  # noqa: ANN401 - whatever the work makes
        """What came of the piece that was begun first."""
        import ray
        from ray import exceptions as of_ray

        one = begun[0][0]
        try:
            while not ray.wait([one], timeout=LOOKED_AFTER)[0]:
                self._cluster.look()
            if time.monotonic() - self._cluster.looked > LOOKED_AFTER:
                self._cluster.look()
            made = ray.get(one)
        except of_ray.RayTaskError as error:  # what the work itself raised, there
            raise error.cause from None
        except of_ray.WorkerCrashedError:
            raise EngineError(
                f"{TRIES} workers died of the same piece of work. If they ran out of memory, give them "
                f"more, or lower engine.texts; then run the same command again: it goes on from what was "
                f"committed."
            ) from None
        except (of_ray.RayError, ConnectionError, ValueError) as error:  # the last: another map left it
            self._cluster.lost(f"{type(error).__name__}")
        begun.popleft()
        return made

    def close(self) -> None:
        """Leave the cluster; one that was started for this process ends."""
        self._cluster.close()
