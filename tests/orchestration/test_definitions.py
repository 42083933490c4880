from __future__ import annotations

import dagster as dg
import pytest

from slowwave.assets import evaluation, feedback, ingest, learning, overview, trend, warehouse
from slowwave.assets.resources import SlowwaveResource, of_the_home
from slowwave.orchestration import learning_jobs
from slowwave.orchestration.definitions import definitions, defs
from slowwave.quality.contract import CHECKS as CONTRACT

ASSETS = [*ingest.ASSETS, *feedback.ASSETS, *evaluation.ASSETS, *learning.ASSETS]
CLAUSES = {check.name for check in CONTRACT}


@pytest.fixture
def code_location(home) -> dg.Definitions:
    return definitions(SlowwaveResource(home=str(home)))


def test_the_definitions_can_be_loaded(code_location):
    dg.Definitions.validate_loadable(code_location)
    dg.Definitions.validate_loadable(defs())


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
            "tags": dict(node.tags),
            "kinds": sorted(node.kinds),
            "fresh": bool(graph.get(node.key).freshness_policy_or_from_metadata),
            "owners": sorted(node.owners),
        }
        for node in (graph.get(key) for key in graph.get_all_asset_keys())
    }
    assert dict(sorted(nodes.items())) == snapshot


def test_every_check_but_six_blocks_what_comes_after_it(code_location):
    """Duplicates are there while the gate only warns, and where a person let one in; feedback may be late;
    a fault of one namespace is its own; that the learning gate is closed is how it begins; and whether use
    makes searches worse, the regression guard decides."""
    graph = code_location.resolve_asset_graph()
    specs = [spec for definition in code_location.asset_checks for spec in definition.check_specs]
    assert len(specs) == len(graph.asset_check_keys) == len(ASSETS) + len(CONTRACT) + 9
    assert not graph.get(warehouse.warehouse.key).check_keys  # it is checked as it is built
    assert not graph.get(trend.trend.key).check_keys  # it makes no table
    assert not graph.get(overview.at_a_glance.key).check_keys  # nor does this
    assert sorted(spec.name for spec in specs if not spec.blocking) == [
        "beside_never_used", *["every_namespace"] * 3, "learning_gate", "no_exact_duplicates", "nothing_late",
        "save_gate",
    ]  # fmt: skip
    assert {spec.asset_key for spec in specs} == {asset.key for asset in ASSETS}
    assert {spec.asset_key.path[-1] for spec in specs if spec.name in CLAUSES} == {"gate_verdicts"}


def test_the_jobs_the_schedule_and_the_sensors_are_the_ones_that_were_agreed(code_location, snapshot):
    night = code_location.resolve_job_def("night")
    schedules = [code_location.resolve_schedule_def(name) for name in ("nightly", "evaluated")]
    sensors = [
        code_location.resolve_sensor_def(name)
        for name in ("watched_vaults", "late_notes", "late_feedback", "late_evaluation", "standing")
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
                "job": sensor.job_name if sensor.has_jobs else None,
                "seconds": sensor.minimum_interval_seconds,
                "status": sensor.default_status.value,
            }
            for sensor in sensors
        },
    } == snapshot


# -- what a person reads there ----------------------------------------------------------------------


def jobs_of(code_location: dg.Definitions) -> list[dg.JobDefinition]:
    """The jobs that the page lists."""
    return [job for job in code_location.resolve_all_job_defs() if not job.name.startswith("__")]


def test_everything_that_the_page_lists_has_a_description(code_location):
    graph = code_location.resolve_asset_graph()
    found = {
        "asset": {key.to_user_string(): graph.get(key).description for key in graph.get_all_asset_keys()},
        "check": {
            f"{spec.asset_key.to_user_string()}:{spec.name}": spec.description
            for one in code_location.asset_checks
            for spec in one.check_specs
        },
        "job": {job.name: job.description for job in jobs_of(code_location)},
        "op": {node.name: node.description for job in learning_jobs.JOBS for node in job.all_node_defs},
        "schedule": {one.name: one.description for one in code_location.schedules},
        "sensor": {one.name: one.description for one in code_location.sensors},
        "resource": {name: one.description for name, one in resources_of(code_location).items()},
    }
    assert all(found.values())
    bare = [f"{kind} {name}" for kind, all_ in found.items() for name, said in all_.items() if not said]
    assert bare == []
    long = [  # the list of assets cuts at one line
        name for name, said in found["asset"].items() if len(said.splitlines()[0]) > 110
    ]
    assert long == []


def resources_of(code_location: dg.Definitions) -> dict[str, dg.ResourceDefinition]:
    """Those of this project."""
    made = code_location.get_repository_def().get_top_level_resources()
    return {name: one for name, one in made.items() if name != "io_manager"}  # Dagster's own


def test_no_form_asks_for_anything_that_a_person_need_not_know(code_location):
    """An empty form can be launched, whatever the job; and no resource has a field."""
    for job in jobs_of(code_location):
        dg.validate_run_config(job, {})
        with pytest.raises(dg.DagsterInvalidConfigError):
            dg.validate_run_config(job, {"resources": {"slowwave": {"config": {"home": "/elsewhere"}}}})
    for name, resource in resources_of(code_location).items():
        assert not getattr(resource.config_schema.config_type, "fields", {}), name


@pytest.mark.parametrize("job", learning_jobs.JOBS, ids=lambda job: job.name)
def test_each_field_of_a_form_is_plain_and_says_what_it_is(job):
    asked = job.run_config_schema.config_type.fields
    more = {"scope", "value"} if job.name == "rollback_learning" else set()
    assert set(asked) == {"namespace", "kind", "who", "why", *more}
    assert all(one.description and one.default_provided for one in asked.values())


def test_whoever_the_settings_name_owns_the_assets(home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_NIGHT__OWNER", "ann@example.org")
    graph = definitions(SlowwaveResource(home=str(home))).resolve_asset_graph()
    assert {owner for key in graph.get_all_asset_keys() for owner in graph.get(key).owners} == {
        "ann@example.org"
    }


def test_the_home_of_a_resource_without_fields_is_the_one_it_was_made_with(home):
    made = of_the_home(SlowwaveResource(home=str(home), now="2026-03-01T12:00:00+00:00"), "it")
    with dg.build_resources({"it": made}) as found:
        assert (found.it.home, f"{found.it.clock():%F}") == (str(home), "2026-03-01")


def test_configuration_below_an_asset_is_refused_as_there_is_nothing_to_set():
    job = defs().resolve_job_def("feedback")
    with pytest.raises(dg.DagsterInvalidConfigError, match='unexpected config entry "day"'):
        dg.validate_run_config(job, {"ops": {"usage_signals": {"config": {"day": "2026-01-01"}}}})
