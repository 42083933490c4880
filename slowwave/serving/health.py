"""Liveness and readiness probes for containers and load balancers.

They need no token and reveal only names of parts and fixed texts: no path, namespace or setting.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Mapping
from threading import Lock, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from slowwave.errors import HomeMovedError, SlowwaveError
from slowwave.journal.entry import EVERYBODY, WORK
from slowwave.journal.maintenance_ops import pending_op

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import Route

    from slowwave.home.workspace import Workspace

LOG = logging.getLogger("slowwave.health")
LIVE: Final = "/healthz"
READY: Final = "/readyz"
PATHS: Final = frozenset({LIVE, READY})
KEPT_S: Final = 1.0
"""Lifetime of a result (seconds): many probes cost one check."""
PATIENCE_S: Final = 3.0
"""Time-out of a check (seconds); after it the home is not ready."""
OK: Final = "ok"
MOVED: Final = "moved since the server started: restart it with the home's current settings"

Detail = Callable[[], str]


class Readiness(NamedTuple):
    """Whether requests can be answered, and the state of each part: ``ok`` or a reason."""

    ready: bool
    parts: dict[str, str]


class Health:
    """Readiness of a home, checked by one thread at a time and cached.

    Args:
        space: the home.
        opening: held while its parts are opened, so that they are opened once.
        details: states of other parts by name; they do not affect readiness.
        patience: time-out of a check (seconds).
    """

    def __init__(
        self,
        space: Workspace,
        *,
        opening: AbstractContextManager[object] | None = None,
        details: Mapping[str, Detail] | None = None,
        patience: float = PATIENCE_S,
    ) -> None:
        self._space, self._details, self._patience = space, dict(details or {}), patience
        self._opening = opening or Lock()
        self._lock = Lock()
        self._looking: Thread | None = None
        self._found: Readiness | None = None
        self._at = -KEPT_S

    def look(self) -> Readiness:
        """Return the readiness, at most `KEPT_S` old."""
        with self._lock:
            if self._found is None or time.monotonic() - self._at > KEPT_S:
                if self._looking is None or not self._looking.is_alive():
                    self._looking = Thread(target=self._note, name="slowwave-health", daemon=True)
                    self._looking.start()
                self._looking.join(self._patience)
                if self._looking.is_alive():
                    message = f"no answer within {self._patience:g} s"
                    return Readiness(False, {"home": message, **self._detail_texts()})
            assert self._found is not None
            return self._found

    def _note(self) -> None:
        states = {
            "journal": self._part(self._journal),
            "tables": self._part(self._tables),
            "model": OK if "embedder" in self._space.__dict__ else "not loaded yet",
        }
        ready = all(state == OK for state in states.values())
        self._found, self._at = Readiness(ready, {**states, **self._detail_texts()}), time.monotonic()

    def _detail_texts(self) -> dict[str, str]:
        return {name: say() for name, say in self._details.items()}

    def _part(self, ask: Callable[[], str]) -> str:
        try:
            return ask()
        except HomeMovedError:
            return MOVED
        except Exception as error:  # its message may contain private data
            LOG.warning("not ready: %s", type(error).__name__)
            kind = "error of the home" if isinstance(error, SlowwaveError) else "internal error"
            return f"does not answer ({kind}: {type(error).__name__}); run slowwave doctor"

    def _journal(self) -> str:
        if "journal" not in self._space.__dict__:
            with self._opening:
                self._space.journal.count(EVERYBODY, WORK)
        if pending_op(self._space.journal):
            return "unfinished maintenance of the tables; run slowwave doctor"
        return OK

    def _tables(self) -> str:
        if not {"store", "embedder"} <= self._space.__dict__.keys():
            with self._opening:
                _ = self._space.store, self._space.embedder  # opens them if no request did
        return OK if self._space.store.get_meta("embedding") is not None else "embedding model unknown"


def health_routes(
    space: Workspace,
    *,
    opening: AbstractContextManager[object] | None = None,
    details: Mapping[str, Detail] | None = None,
) -> list[Route]:
    """Return the Starlette routes of the probes: `LIVE` and `READY`.

    Args:
        space: the home that the server serves.
        opening: as of :class:`Health`.
        details: as of :class:`Health`.
    """
    from anyio import to_thread
    from starlette.responses import JSONResponse, PlainTextResponse
    from starlette.routing import Route

    health = Health(space, opening=opening, details=details)
    plain = {"Cache-Control": "no-store"}

    async def live(_: Request) -> Response:
        return PlainTextResponse("ok\n", headers=plain)

    async def ready(_: Request) -> Response:
        readiness = await to_thread.run_sync(health.look)
        body = {"ready": readiness.ready, "parts": readiness.parts}
        return JSONResponse(body, 200 if readiness.ready else 503, headers=plain)

    return [Route(LIVE, live), Route(READY, ready)]
