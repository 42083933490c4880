"""Dagster resources of the home that assets work on."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

import dagster as dg
from pydantic import PrivateAttr

from slowwave.assets.instrumentation import NightSpan, start_night
from slowwave.assets.run_process import PROCESS_TAG, process
from slowwave.common.progress import task
from slowwave.home.workspace import Workspace
from slowwave.settings import Settings, has_home, load
from slowwave.vaults.vault import watch

WAITING = "waiting for another nightly run"


class SlowwaveResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Store, journal, model and policies of one Slowwave home.

    Attributes:
        home: Home folder; empty: SLOWWAVE_HOME, else the nearest ``.slowwave``.
        now: Fixed current time (ISO, UTC) for replays and tests; empty: the clock.
        first_day: First partition that is loaded (UTC); empty: `night.first_day`.
        namespace: Overrides the namespace of the settings; empty: no override.
        vault: Folder of notes that the namespace watches; empty: the vaults that were added by command.
        hour: Overrides `night.hour` (UTC); negative: no override.
    """

    home: str = ""
    now: str = ""
    first_day: str = ""
    namespace: str = ""
    vault: str = ""
    hour: int = -1
    _space: Workspace | None = PrivateAttr(default=None)
    _night: NightSpan | None = PrivateAttr(default=None)

    @property
    def space(self) -> Workspace:
        """The opened home; its parts open on first use."""
        if self._space is None:
            self._space = Workspace(self.settings(), clock=self.clock)
        return self._space

    def settings(self) -> Settings:
        """Return the settings of the home, with the overrides of this resource.

        Raises:
            SettingsError: A value is not allowed.
        """
        overrides: dict[str, Any] = {}
        if self.namespace:
            overrides["namespace"] = self.namespace
        if self.hour >= 0:
            overrides["night"] = {"hour": self.hour}
        return load(self.home or None, **overrides)

    def no_home(self) -> dg.SkipReason | None:
        """Return the reason to skip without a home and a declared vault, else None."""
        settings = self.settings()
        if self.vault or has_home(settings):
            return None
        advice = "Create it with `slowwave init` or `slowwave ingest FOLDER`."
        return dg.SkipReason(f"There is no home at {settings.home}. {advice}")

    def watch_vault(self) -> None:
        """Add the folder of `vault` to the watched vaults.

        A known vault whose folder is missing stays watched; the scan reports it.

        Raises:
            FileNotFoundError: The folder does not exist and was never watched.
            NotADirectoryError: It is a file.
        """
        if not self.vault:
            return
        space, folder = self.space, Path(self.vault).expanduser().resolve()
        if not any(source.uri == str(folder) for source in space.journal.sources()):
            watch(
                space.journal, space.settings.namespace, Path(self.vault), name="", as_of=self.clock(),
                principal="vault",
            )  # fmt: skip

    @property
    def first_partition(self) -> str:
        """First day that may be requested."""
        return max(self.first_day, self.space.settings.night.first_day)

    def clock(self) -> datetime:
        """Return the current time, in UTC."""
        return datetime.fromisoformat(self.now).astimezone(UTC) if self.now else datetime.now(UTC)

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Start the run's span, and tag the run with its process, to detect its death."""
        if context.run is not None and context.instance is not None:
            context.instance.add_run_tags(context.run.run_id, {PROCESS_TAG: process()})
        self._night = None if context.run is None else start_night(self.space, context.run)

    def teardown_after_execution(self, context: dg.InitResourceContext) -> None:
        """Close the home after a run."""
        if self._night is not None:
            self._night.end()
            self._night = None
        if self._space is not None:
            self._space.close()
            self._space = None


def of_the_home(resource: dg.ConfigurableResource, about: str) -> dg.ResourceDefinition:  # type: ignore[type-arg]
    """Return a resource without configurable fields, so that the Launchpad shows none.

    The process decides the home and the clock, not the Launchpad.

    Args:
        resource: Configured resource.
        about: Description on Dagster's page.
    """
    resource_fn = resource.get_resource_definition().resource_fn
    return dg.ResourceDefinition(resource_fn, config_schema={}, description=about)


class OneNight(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Lock that lets one run at a time process the days of a home; another run waits.

    The steps of a run are in one process, so the run holds the lock from its first step to its last.
    """

    slowwave: dg.ResourceDependency[SlowwaveResource]

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:
        """Hold the nightly lock of the home."""
        with self.slowwave.space.one_night(_waiting(context)):
            yield self


@contextmanager
def _waiting(context: dg.InitResourceContext) -> Iterator[None]:
    if context.log is not None:
        context.log.info("Another run is processing days of this home. This run starts when it ends.")
    with task(WAITING):
        yield
