"""Everything Dagster knows of Slowwave."""

from __future__ import annotations

import os

import dagster as dg

from assets.ingest import ASSETS, IO_MANAGER
from assets.resources import SlowwaveResource
from orchestration.checks import CHECKS
from orchestration.io_manager import LancePartitionIOManager
from orchestration.jobs import NIGHT, nightly
from orchestration.sensors import watched_vaults


def definitions(slowwave: SlowwaveResource) -> dg.Definitions:
    """The code location for one home.

    Steps run in one process: a step costs milliseconds there, and seconds in a process of its own.
    """
    return dg.Definitions(
        assets=ASSETS,
        asset_checks=CHECKS,
        jobs=[NIGHT],
        schedules=[nightly],
        sensors=[watched_vaults],
        resources={"slowwave": slowwave, IO_MANAGER: LancePartitionIOManager(slowwave=slowwave)},
        executor=dg.in_process_executor,
    )


defs = definitions(SlowwaveResource(home=os.environ.get("SLOWWAVE_HOME", "")))
