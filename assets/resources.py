"""The home that the assets work on, as a Dagster resource."""

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

WAITING = "waiting for another night"


class SlowwaveResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Store, journal, model and policies of one Slowwave home.

    Attributes:
        home: the home folder; empty: SLOWWAVE_HOME, else the nearest ``.slowwave``.
        now: the moment to take for the present (ISO, UTC); empty: the clock. For replays and tests.
        first_day: of the partitions that are loaded (UTC); empty: `night.first_day`.
        namespace: in place of that of the settings; empty: that of the settings.
        vault: a folder of notes that the namespace watches; empty: those that were added by command.
        hour: of the night (UTC), in place of `night.hour`; negative: that of the settings.
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
        """The opened home; its parts open when they are first used."""
        if self._space is None:
            self._space = Workspace(self.settings(), clock=self.clock)
        return self._space

    def settings(self) -> Settings:
        """The settings of the home, with what is set here in place of theirs.

        Raises:
            SettingsError: a value is not allowed.
        """
        given: dict[str, Any] = {}
        if self.namespace:
            given["namespace"] = self.namespace
        if self.hour >= 0:
            given["night"] = {"hour": self.hour}
        return load(self.home or None, **given)

    def no_home(self) -> dg.SkipReason | None:
        """Reason to skip where there is no home and no vault is declared; None: there is a home."""
        settings = self.settings()
        if self.vault or has_home(settings):
            return None
        makes = "`slowwave init` or `slowwave ingest FOLDER` makes one."
        return dg.SkipReason(f"There is no home at {settings.home}. {makes}")

    def watch_vault(self) -> None:
        """Add the folder of `vault` to the watched vaults.

        One that was added before and is away now stays as it is: the look at the vaults says so.

        Raises:
            FileNotFoundError: no such folder, and there never was.
            NotADirectoryError: it is a file.
        """
        if not self.vault:
            return
        space, folder = self.space, Path(self.vault).expanduser().resolve()
        if not any(one.uri == str(folder) for one in space.journal.sources()):
            watch(
                space.journal, space.settings.namespace, Path(self.vault), name="", as_of=self.clock(),
                principal="vault",
            )  # fmt: skip

    @property
    def first_partition(self) -> str:
        """The first day that may be asked for."""
        return max(self.first_day, self.space.settings.night.first_day)

    def clock(self) -> datetime:
        """The present moment, in UTC."""
        return datetime.fromisoformat(self.now).astimezone(UTC) if self.now else datetime.now(UTC)

    def setup_for_execution(self, context: dg.InitResourceContext) -> None:
        """Begin to watch the run, where somebody does, and note its process: others see whether it lives."""
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
    """A resource as it is set up, with no field that a run could set: who starts one needs to know of none.

    Where the home is, and which moment is the present, is for the process to say, and no business of a form.

    Args:
        resource: set up.
        about: what the page says of it.
    """
    as_it_is = resource.get_resource_definition().resource_fn
    return dg.ResourceDefinition(as_it_is, config_schema={}, description=about)


class OneNight(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Lets one run at a time fold the days of a home; another one waits until it is over.

    The steps of a run are in one process, so it is held from its first step to its last.
    """

    slowwave: dg.ResourceDependency[SlowwaveResource]

    @contextmanager
    def yield_for_execution(self, context: dg.InitResourceContext) -> Iterator[Self]:
        """Hold the home's night."""
        with self.slowwave.space.one_night(_waiting(context)):
            yield self


@contextmanager
def _waiting(context: dg.InitResourceContext) -> Iterator[None]:
    if context.log is not None:
        context.log.info("Another run is folding days of this home; this one begins when that is done.")
    with task(WAITING):
        yield
