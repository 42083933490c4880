"""Dagster's databases, kept open for a run: what is in them is what Dagster reads."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
from dagster._core.storage.runs.sqlite.sqlite_run_storage import SqliteRunStorage

from slowwave.orchestration import kept
from slowwave.orchestration.instance import dagster_home
from slowwave.settings import load


@dg.asset
def something() -> dg.MaterializeResult:
    return dg.MaterializeResult(metadata={"rows": 3})


def test_a_run_is_there_for_every_other_instance(tmp_path: Path):
    folder = dagster_home(load(tmp_path))
    ids = []
    for _ in range(2):
        with kept.instance(folder) as instance:
            assert isinstance(instance.run_storage, kept.KeptRuns)
            ids.append(dg.materialize([something], instance=instance).run_id)
            assert [run.run_id for run in instance.get_runs()] == ids[::-1]
    assert not list(folder.rglob("*-wal"))  # closed, so all is in the files
    with dg.DagsterInstance.from_config(str(folder)) as instance:
        assert type(instance.run_storage) is SqliteRunStorage
        assert {run.run_id for run in instance.get_runs()} == set(ids)
        assert all(run.is_success for run in instance.get_runs())
        made = instance.get_latest_materialization_event(something.key)
        assert made is not None
        assert made.asset_materialization.metadata["rows"].value == 3
        events = [event.dagster_event for event in instance.all_logs(ids[0]) if event.is_dagster_event]
        assert {one.event_type_value for one in events if one} >= {"STEP_SUCCESS", "PIPELINE_SUCCESS"}


def test_an_instance_that_says_where_it_keeps_its_runs_is_left_alone(tmp_path: Path):
    folder = dagster_home(load(tmp_path))
    elsewhere = tmp_path / "elsewhere"
    config = folder / "dagster.yaml"
    config.write_text(f"{config.read_text()}storage:\n  sqlite: {{base_dir: {elsewhere}}}\n")
    with kept.instance(folder) as instance:
        assert type(instance.run_storage) is SqliteRunStorage
        run = dg.materialize([something], instance=instance).run_id
    assert list(elsewhere.rglob(f"{run}.db"))
