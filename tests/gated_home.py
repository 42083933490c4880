"""A copy of a home whose learning gate is open, and everything that could make it learn."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

import dagster as dg
import polars as pl
import pytest
from dagster_parts import sensor

from slowwave.assets.resources import SlowwaveResource
from slowwave.home.workspace import Workspace
from slowwave.learning.events import write_event
from slowwave.orchestration.definitions import definitions
from slowwave.settings import load
from slowwave.store import Store

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}


class GatedHome:
    """A home and a Dagster instance.

    Args:
        folder: of the home.
        instance: knows the runs.
        embedder: of its vectors.
        now: the moment of everything.
    """

    def __init__(self, folder: Path, instance: dg.DagsterInstance, embedder: Any, now: datetime) -> None:
        self.folder, self.instance, self.now = folder, instance, now
        self.space = Workspace(load(folder), clock=lambda: now)
        self.space.__dict__["embedder"] = embedder

    @property
    def store(self) -> Store:
        """The tables."""
        return self.space.store

    def decide(self, action: str, when: datetime, why: str = "", **detail: str) -> None:
        """Somebody decides."""
        write_event(self.space.journal, "ada", action, who="ida", why=why, at=when, detail=detail)

    def sensor(self) -> dg.SensorExecutionData:
        """What the sensor says."""
        home = self._resource()
        with dg.build_sensor_context(
            instance=self.instance, resources={"slowwave": home}, definitions=definitions(home)
        ) as context:
            return sensor("learning_gate_opens").evaluate_tick(context)

    def run_days(self, first: str, last: str) -> dg.ExecuteInProcessResult:
        """The job for a range of days, as a request of the sensor or a backfill runs it."""
        job = definitions(self._resource()).resolve_job_def("learning")
        tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
        return job.execute_in_process(
            instance=self.instance, raise_on_error=False, run_config=QUIET, tags=tags
        )  # fmt: skip

    def run_asset(self, day: str, asset: Any) -> dg.ExecuteInProcessResult:
        """An asset by itself, as a click on the page runs it."""
        job = definitions(self._resource()).resolve_implicit_global_asset_job_def()
        return job.execute_in_process(
            instance=self.instance, raise_on_error=False, run_config=QUIET, partition_key=day,
            asset_selection=[asset.key],
        )  # fmt: skip

    def tags(self, done: dg.ExecuteInProcessResult) -> Mapping[str, str]:
        """What the list of runs shows of a run."""
        run = self.instance.get_run_by_id(done.run_id)
        assert run is not None
        return run.tags

    def tables(self, names: Sequence[str]) -> dict[str, tuple[int, pl.DataFrame]]:
        """Some tables, with the number of their commits."""
        return {
            name: (
                int(self.store.table(name).version),
                self.store.read(name).sort(self.store.specs[name].key),
            )
            for name in names
        }

    def _resource(self) -> SlowwaveResource:
        return SlowwaveResource(home=str(self.folder), now=self.now.isoformat())


Gated = TypeVar("Gated", bound=GatedHome)


@contextmanager
def a_copy(
    kind: type[Gated], opened: Path, folder: Path, embedder: Any, now: datetime, patch: pytest.MonkeyPatch
) -> Iterator[Gated]:
    """A copy of an open home at a moment, also for what opens homes by itself."""
    patch.setattr("slowwave.embedding.load_embedder", lambda *_: embedder)
    patch.setattr("slowwave.orchestration.run_nightly.Workspace", partial(Workspace, clock=lambda: now))
    patch.setattr(
        "slowwave.orchestration.run_nightly.SlowwaveResource", partial(SlowwaveResource, now=now.isoformat())
    )
    shutil.copytree(opened, folder)
    with dg.DagsterInstance.ephemeral() as instance:
        made = kind(folder, instance, embedder, now)
        yield made
        made.space.close()
