"""Whether a server lives, and whether it can answer: what probes of containers and balancers ask.

No token is needed, and nothing is told but names of parts and fixed words: no path, no namespace, no setting.
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
"""An answer serves for so long (seconds): probes of many askers cost one look."""
PATIENCE_S: Final = 3.0
"""A look that takes longer is not waited for, and the home is not ready (seconds)."""
OK: Final = "ok"
MOVED: Final = "was moved since this server began: start it again, with the settings that the home has now"

Detail = Callable[[], str]


class Readiness(NamedTuple):
    """Whether requests can be answered, and how each part is: ``ok``, or why not."""

    ready: bool
    parts: dict[str, str]


class Health:
    """Looks whether the parts of a home answer; one look at a time, and none more often than needed.

    Args:
        space: the home.
        opening: held by whoever opens its parts, so that nobody opens them a second time.
        details: how other parts are, by their name; told, and no reason not to be ready.
        patience: how long a look is waited for (seconds).
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
        """How it is now, or was up to `KEPT_S` ago."""
        with self._lock:
            if self._found is None or time.monotonic() - self._at > KEPT_S:
                if self._looking is None or not self._looking.is_alive():
                    self._looking = Thread(target=self._note, name="slowwave-health", daemon=True)
                    self._looking.start()
                self._looking.join(self._patience)
                if self._looking.is_alive():
                    told = f"the parts of the home have not answered within {self._patience:g} s"
                    return Readiness(False, {"home": told, **self._told()})
            assert self._found is not None
            return self._found

    def _note(self) -> None:
        found = {
            "journal": self._part(self._journal),
            "tables": self._part(self._tables),
            "model": OK if "embedder" in self._space.__dict__ else "is not loaded yet",
        }
        ready = all(said == OK for said in found.values())
        self._found, self._at = Readiness(ready, {**found, **self._told()}), time.monotonic()

    def _told(self) -> dict[str, str]:
        return {name: say() for name, say in self._details.items()}

    def _part(self, ask: Callable[[], str]) -> str:
        try:
            return ask()
        except HomeMovedError:
            return MOVED
        except Exception as error:  # whatever it is: its words may name what is nobody's business
            LOG.warning("not ready: %s", type(error).__name__)
            kind = "a fault of the home" if isinstance(error, SlowwaveError) else "an error"
            return f"does not answer ({kind}: {type(error).__name__}); slowwave doctor says more"

    def _journal(self) -> str:
        if "journal" not in self._space.__dict__:
            with self._opening:
                self._space.journal.count(EVERYBODY, WORK)
        if pending_op(self._space.journal):
            return "a work on the tables has begun and not ended; slowwave doctor says which"
        return OK

    def _tables(self) -> str:
        if not {"store", "embedder"} <= self._space.__dict__.keys():
            with self._opening:
                _ = self._space.store, self._space.embedder  # it may be that nobody else opens them
        return OK if self._space.store.get_meta("embedding") is not None else "do not say whose they are"


def health_routes(
    space: Workspace,
    *,
    opening: AbstractContextManager[object] | None = None,
    details: Mapping[str, Detail] | None = None,
) -> list[Route]:
    """Routes of Starlette that answer probes: `LIVE` and `READY`.

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
        found = await to_thread.run_sync(health.look)
        told = {"ready": found.ready, "parts": found.parts}
        return JSONResponse(told, 200 if found.ready else 503, headers=plain)

    return [Route(LIVE, live), Route(READY, ready)]
