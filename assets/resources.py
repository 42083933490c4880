"""The home that the assets work on, as a Dagster resource."""

from datetime import UTC, datetime

import dagster as dg
from pydantic import PrivateAttr

from slowwave.settings import load
from slowwave.workspace import Workspace


class SlowwaveResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Store, journal, model and policies of one Slowwave home.

    Attributes:
        home: the home folder; empty: SLOWWAVE_HOME, else the nearest ``.slowwave``.
        now: the moment to take for the present (ISO, UTC); empty: the clock. For replays and tests.
    """

    home: str = ""
    now: str = ""
    _space: Workspace | None = PrivateAttr(default=None)

    @property
    def space(self) -> Workspace:
        """The opened home; its parts open when they are first used."""
        if self._space is None:
            self._space = Workspace(load(self.home or None))
        return self._space

    def clock(self) -> datetime:
        """The present moment, in UTC."""
        return datetime.fromisoformat(self.now).astimezone(UTC) if self.now else datetime.now(UTC)

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Close the home after a run."""
        if self._space is not None:
            self._space.close()
            self._space = None
