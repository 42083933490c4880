"""Engine with workers on a Ray cluster, on this machine or on others.

A piece is a Ray task: if its worker dies, Ray gives it to another one. If the head dies, or no worker is
left, :class:`EngineError` is raised; earlier results are committed by the caller.
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

CHECK_INTERVAL_SECONDS = 2.0
"""Interval of checks of the head (s); its workers continue for a minute without it."""
TRIES = 4
"""Maximum workers that may die of one piece (count)."""
AHEAD = 2
"""Queued pieces per worker (count), so that none waits for this process."""

_log = logging.getLogger(__name__)


def computed(of: str, work: Callable[[Piece], Made], piece: Piece) -> Made:
    """Run the work on a worker, if its version equals that of the caller.

    Raises:
        EngineError: It differs, so the same text could get another vector.
    """
    if of != VERSION:
        raise EngineError(
            f"A worker has Slowwave {VERSION} and this process {of}. Install the same version on each "
            f"machine of the cluster, and restart Ray."
        )
    return work(piece)


class RayEngine:
    """Engine with workers of a Ray cluster.

    Args:
        settings: Name the cluster, which is reached when there is work.
    """

    spreads = True

    def __init__(self, settings: EngineSettings) -> None:
        self._settings = settings
        self._cluster = Cluster(settings)

    def map(self, work: Callable[[Piece], Made], pieces: Iterable[Piece]) -> Iterator[Made]:
        """Yield the results of `work` for the pieces, in order; workers are a few pieces ahead.

        Raises:
            EngineError: The cluster is unreachable or lost, unless ``engine.fallback`` is on: then this
                process computes.
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
        begun.append((None, first))  # kept for the fallback if there is no cluster
        ray = self._cluster.connected()
        task = ray.remote(num_cpus=1, max_retries=TRIES - 1)(computed)
        shared = ray.put(work)
        session = self._cluster.session()
        begun[0] = (task.remote(VERSION, shared, first), first)
        ahead = AHEAD * self._cluster.workers() + 1
        for piece in given:
            begun.append((None, piece))
            if self._cluster.session() != session:  # another map has left it; Ray would start a new one
                self._cluster.lost("it was left")
            begun[-1] = (task.remote(VERSION, shared, piece), piece)
            if len(begun) >= ahead:
                yield self._result(begun)
        while begun:
            yield self._result(begun)

    def _result(self, begun: deque[tuple[Any, Any]]) -> Any:  # noqa: ANN401 - result of the work
        """Return the result of the oldest piece."""
        import ray
        from ray import exceptions as of_ray

        task = begun[0][0]
        try:
            while not ray.wait([task], timeout=CHECK_INTERVAL_SECONDS)[0]:
                self._cluster.check()
            if time.monotonic() - self._cluster.checked_at > CHECK_INTERVAL_SECONDS:
                self._cluster.check()
            result = ray.get(task)
        except of_ray.RayTaskError as error:  # an error of the work itself
            raise error.cause from None
        except of_ray.WorkerCrashedError:
            raise EngineError(
                f"{TRIES} workers died of the same piece of work. If they ran out of memory, give them "
                f"more, or lower engine.texts; then run the same command again: it continues from what was "
                f"committed."
            ) from None
        except (of_ray.RayError, ConnectionError, ValueError) as error:  # the last: another map left it
            self._cluster.lost(f"{type(error).__name__}")
        begun.popleft()
        return result

    def close(self) -> None:
        """Leave the cluster; one that this process started ends."""
        self._cluster.close()
