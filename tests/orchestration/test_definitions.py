from __future__ import annotations

import dagster as dg
import pytest

from slowwave.assets import evaluation, feedback, ingest, learning, trend, warehouse
from slowwave.assets.resources import SlowwaveResource
from slowwave.orchestration.definitions import definitions, defs
from slowwave.quality.contract import CHECKS as CONTRACT

ASSETS = [*ingest.ASSETS, *feedback.ASSETS, *evaluation.ASSETS, *learning.ASSETS]
CLAUSES = {check.name for check in CONTRACT}


@pytest.fixture
def code_location(home) -> dg.Definitions:
    return definitions(SlowwaveResource(home=str(home)))


def test_the_definitions_can_be_loaded(code_location):
    dg.Definitions.validate_loadable(code_location)
    dg.Definitions.validate_loadable(defs)


def test_the_asset_graph_is_the_one_that_was_agreed(code_location, snapshot):
    graph = code_location.resolve_asset_graph()
    nodes = {
        node.key.to_user_string(): {
            "deps": sorted(key.to_user_string() for key in node.parent_keys),
            "group": node.group_name,
            "partitions": node.partitions_def and type(node.partitions_def).__name__,
            "first_partition": node.partitions_def and node.partitions_def.get_first_partition_key(),
            "backfill": node.backfill_policy and str(node.backfill_policy.policy_type.value),
            "checks": sorted(
                key.name + (" (blocking)" if graph.get(key).blocking else "") for key in node.check_keys
            ),
            "pools": sorted(node.pools or ()),
            "kinds": sorted(node.kinds),
            "code_version": node.code_version,
            "described": bool(node.description),
        }
        for node in (graph.get(key) for key in graph.get_all_asset_keys())
    }
    assert dict(sorted(nodes.items())) == snapshot


def test_every_check_but_five_blocks_what_comes_after_it(code_location):
    """Duplicates are there while the gate only warns, and where a person let one in; feedback may be late;
    a fault of one namespace is its own; that the learning gate is closed is how it begins."""
    graph = code_location.resolve_asset_graph()
    specs = [spec for definition in code_location.asset_checks for spec in definition.check_specs]
    assert len(specs) == len(graph.asset_check_keys) == len(ASSETS) + len(CONTRACT) + 8
    assert not graph.get(warehouse.warehouse.key).check_keys  # it is checked as it is built
    assert not graph.get(trend.trend.key).check_keys  # it makes no table
    assert sorted(spec.name for spec in specs if not spec.blocking) == [
        *["every_namespace"] * 3, "learning_gate", "no_exact_duplicates", "nothing_late",
        "save_gate",
    ]  # fmt: skip
    assert {spec.asset_key for spec in specs} == {asset.key for asset in ASSETS}
    assert {spec.asset_key.path[-1] for spec in specs if spec.name in CLAUSES} == {"gate_verdicts"}


def test_the_jobs_the_schedule_and_the_sensors_are_the_ones_that_were_agreed(code_location, snapshot):
    night = code_location.resolve_job_def("night")
    schedules = [code_location.resolve_schedule_def(name) for name in ("nightly", "evaluated")]
    sensors = [
        code_location.resolve_sensor_def(name)
        for name in ("watched_vaults", "late_feedback", "late_evaluation")
    ]
    assert {
        "jobs": sorted(
            job.name for job in code_location.resolve_all_job_defs() if not job.name.startswith("__")
        ),
        "feedback": sorted(
            key.to_user_string()
            for key in code_location.resolve_job_def("feedback").asset_layer.executable_asset_keys
        ),
        "evaluation": sorted(
            key.to_user_string()
            for key in code_location.resolve_job_def("evaluation").asset_layer.executable_asset_keys
        ),
        "night": sorted(key.to_user_string() for key in night.asset_layer.executable_asset_keys),
        "executor": night.executor_def.name,
        "schedules": {
            schedule.name: {
                "cron": schedule.cron_schedule,
                "timezone": schedule.execution_timezone,
                "job": schedule.job_name,
                "status": schedule.default_status.value,
            }
            for schedule in schedules
        },
        "sensors": {
            sensor.name: {
                "job": sensor.job_name,
                "seconds": sensor.minimum_interval_seconds,
                "status": sensor.default_status.value,
            }
            for sensor in sensors
        },
    } == snapshot
