"""The days of the asset graph: which rest on the day before, which assets have none, and whose numbers."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

import dagster as dg
import feedback_days as days
import pytest
from dagster_parts import sensor
from prepared import take_over
from stale_days import pending_days

from slowwave.assets import evaluation, feedback, trend, versions, warehouse
from slowwave.assets.partitions import BACKFILL_TAG, range_tags
from slowwave.assets.resources import SlowwaveResource
from slowwave.assets.run_process import PROCESS_TAG, cancel_runs, end_dead_runs, process
from slowwave.evaluation import code
from slowwave.home.fault_isolation import NamespaceFault
from slowwave.home.processing_watermarks import note_faults
from slowwave.home.workspace import Workspace
from slowwave.journal import Journal
from slowwave.maintenance.stale_partitions import stale_partitions
from slowwave.memory import Memory
from slowwave.orchestration.definitions import definitions
from slowwave.orchestration.run_nightly import evaluate_due, run_due, run_night
from slowwave.settings import Settings, load

ROOT = Path(__file__).parents[2]
FIVE = [f"p{number}" for number in range(5)]


@pytest.fixture
def settings(home: Path) -> Settings:
    take_over(home)
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n[gate]\nmode = "off"\n')
    return load(home)


# -- dependencies -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "asset", [feedback.effectiveness, feedback.strength, feedback.promotions, evaluation.evaluation_cycles]
)
def test_what_goes_on_from_the_day_before_depends_on_itself(asset: dg.AssetsDefinition) -> None:
    assert asset.key in asset.dependency_keys
    mapping = asset.get_partition_mapping(asset.key)
    assert isinstance(mapping, dg.TimeWindowPartitionMapping)
    assert (mapping.start_offset, mapping.end_offset) == (-1, -1)


@pytest.mark.parametrize("asset", [trend.trend, warehouse.warehouse])
def test_what_is_made_anew_as_a_whole_has_no_days(asset: dg.AssetsDefinition) -> None:
    assert asset.partitions_def is None


def test_definitions_are_imported_without_a_home_and_without_reading_one(tmp_path: Path) -> None:
    script = """
import sys
opened = []
def note(event, arguments):
    name = str(arguments[0]) if event == "open" else ""
    if name.endswith(("slowwave.toml", "journal.db")):
        opened.append(arguments[0])
sys.addaudithook(note)
import slowwave.orchestration.definitions
print(opened)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=True,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    assert done.stdout == "[]\n"
    assert list(tmp_path.iterdir()) == []


# -- versions ---------------------------------------------------------------------------------------


def test_every_asset_has_the_version_of_its_rules(home: Path) -> None:
    graph = definitions(SlowwaveResource(home=str(home))).resolve_asset_graph()
    names = {key.to_user_string() for key in graph.materializable_asset_keys}
    assert names | {"backup"} == set(versions.RULES)
    assert all(graph.get(dg.AssetKey(name)).code_version == versions.code_version(name) for name in names)
    for places in versions.RULES.values():
        assert all((Path(code.__file__).parents[1] / one).exists() for one in places)


def test_a_changed_rule_changes_the_versions_of_its_assets_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    before = {name: versions.code_version(name) for name in versions.RULES}
    true_digest = versions.digest_of

    def changed(places: list[Path]) -> str:
        same = true_digest(places)
        return same[::-1] if places[0].name == "strength.py" else same

    monkeypatch.setattr(versions, "digest_of", changed)
    for cached in (versions.code_version, versions._digest):
        cached.cache_clear()
    after = {name: versions.code_version(name) for name in versions.RULES}
    for cached in (versions.code_version, versions._digest):
        cached.cache_clear()
    assert [name for name in before if before[name] != after[name]] == ["strength"]


# -- numbers ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_range_gives_each_partition_its_own_numbers(settings: Settings) -> None:
    with Journal.open_path(settings.journal_file) as journal:
        journal.append([days.search(f"s{number}", days.at(2, number), []) for number in range(3)])
    defs = definitions(SlowwaveResource(home=str(settings.home)))
    with dg.DagsterInstance.ephemeral() as instance:
        tags = range_tags(days.name(1), days.name(3))
        done = defs.resolve_job_def("feedback").execute_in_process(instance=instance, tags=tags)
        made = done.asset_materializations_for_node("searches")
        assert {
            one.partition: {name: value.value for name, value in one.metadata.items()} for one in made
        } == {
            days.name(day): {"dagster/partition_row_count": count, "abstained": 0, "without results": count}
            for day, count in ((1, 0), (2, 3), (3, 0))
        }
        (whole,) = [
            one.asset_observation_data.asset_observation
            for one in done.all_events
            if one.event_type == dg.DagsterEventType.ASSET_OBSERVATION and one.asset_key.path == ["searches"]
        ]
    assert whole.partition is None
    assert whole.metadata["inserted"].value == 3
    assert whole.description == f"{days.name(1)} to {days.name(3)} together, 3 days in one run."


# -- order ------------------------------------------------------------------------------------------


def saved(settings: Settings, text: str, when: datetime) -> str:
    """A note that somebody saves at a moment; its memory."""
    with Memory(settings, namespace="ada", principal="ann") as memory:
        memory._space.now = lambda: when
        return str(memory.save(text).memory_id)


def praised(settings: Settings) -> None:
    """A note of the first day, and five people who found it helpful on the second."""
    name = saved(settings, "The lock of the boathouse sticks when it rains; lift the door.", days.at(1))
    acts = []
    for number, who in enumerate(FIVE):
        acts.append(days.search(f"s{number}", days.at(2, number), [name], principal=who))
        acts.append(days.rating(f"s{number}", days.at(2, number + 1), name, "helpful", principal=who))
    with Journal.open_path(settings.journal_file) as journal:
        journal.append(acts)


def promotions(settings: Settings) -> list[tuple[str, str]]:
    store = Workspace(settings).store
    return sorted(store.read("promotions", columns=["day", "reason"]).rows())


@pytest.mark.slow
def test_feedback_that_was_folded_before_its_notes_is_due_again_and_loses_no_promotion(
    settings: Settings,
) -> None:
    praised(settings)
    assert run_night(settings, days.name(2), days.name(2), job="feedback")["success"]
    assert promotions(settings) == [(days.name(2), "tier_not_promotable")]
    assert days.name(1) in pending_days(settings)
    assert all(report["success"] for report in run_due(settings))
    assert promotions(settings) == [(days.name(2), "promoted")]
    assert pending_days(settings) == []


@pytest.mark.slow
def test_a_missed_night_of_notes_is_asked_for_and_feedback_waits_for_it(settings: Settings) -> None:
    praised(settings)
    resource = SlowwaveResource(home=str(settings.home), now=days.at(20).isoformat())
    with dg.build_sensor_context(dg.DagsterInstance.ephemeral(), resources={"slowwave": resource}) as context:
        (request,) = sensor("late_notes")(context).run_requests
        assert request.partition_key == days.name(1)
        assert "those come first" in sensor("late_feedback")(context).skip_message
    assert run_night(settings, days.name(1), days.name(1))["success"]
    with dg.build_sensor_context(dg.DagsterInstance.ephemeral(), resources={"slowwave": resource}) as context:
        assert "are ingested" in sensor("late_notes")(context).skip_message
        (request,) = sensor("late_feedback")(context).run_requests
    assert request.partition_key == days.name(2)


@pytest.mark.slow
def test_the_runs_of_a_backfill_go_on_from_one_another(settings: Settings) -> None:
    """Assets that depend on themselves run apart from others in a backfill of Dagster: it is several runs."""
    praised(settings)
    assert run_night(settings, days.name(1), days.name(1))["success"]
    defs = definitions(SlowwaveResource(home=str(settings.home)))
    parts: list[list[Any]] = [
        [feedback.searches, feedback.events, feedback.usage_signals],
        [feedback.effectiveness, feedback.strength, feedback.promotions],
        [feedback.memory_state],
    ]
    job = defs.resolve_job_def("feedback")
    with dg.DagsterInstance.ephemeral() as instance:
        for part in parts:
            tags = {**range_tags(days.name(1), days.name(3)), BACKFILL_TAG: "one"}
            done = job.execute_in_process(
                instance=instance, tags=tags, asset_selection=[one.key for one in part]
            )
            assert done.success
    assert promotions(settings) == [(days.name(2), "promoted")]
    assert days.name(2) not in pending_days(settings)


# -- how things stand -------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_numbers_of_today_are_reported_when_they_change_and_not_else(settings: Settings) -> None:
    now = days.at(20)
    resource = SlowwaveResource(home=str(settings.home), now=now.isoformat())
    with dg.DagsterInstance.ephemeral() as instance:

        def tick(cursor: str | None) -> dg.SensorResult | dg.SkipReason:
            with dg.build_sensor_context(
                instance=instance, cursor=cursor, resources={"slowwave": resource}
            ) as context:
                return sensor("standing")(context)

        first = tick(None)
        (made,) = first.asset_events
        assert (made.partition, made.metadata["memories now"].value) == (days.name(20), 0)
        assert "Nothing has changed" in tick(first.cursor).skip_message
        saved(settings, "The key of the boathouse hangs behind the clock.", now)
        (made,) = tick(first.cursor).asset_events
        assert made.metadata["memories now"].value == 1


# -- runs that were ended, faults, and order --------------------------------------------------------


@pytest.mark.slow
def test_a_run_that_was_canceled_is_asked_for_again(settings: Settings) -> None:
    praised(settings)
    resource = SlowwaveResource(home=str(settings.home), now=days.at(20).isoformat())
    with dg.DagsterInstance.ephemeral() as instance:

        def key() -> str:
            with dg.build_sensor_context(instance=instance, resources={"slowwave": resource}) as context:
                (request,) = sensor("late_notes")(context).run_requests
            return str(request.run_key)

        first = key()
        assert key() == first
        job = definitions(resource).resolve_job_def("night")
        tags = {"dagster/run_key": first}
        run = instance.create_run_for_job(job, tags=tags, status=dg.DagsterRunStatus.STARTED)
        assert key() == first
        instance.report_run_canceled(run)
        assert key() not in ("", first)


def test_runs_of_a_group_that_ends_are_canceled_and_those_of_others_go_on(settings: Settings) -> None:
    job = definitions(SlowwaveResource(home=str(settings.home))).resolve_job_def("night")
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    dead = f"{socket.gethostname()}:{gone.pid}:1"
    status = dg.DagsterRunStatus
    with dg.DagsterInstance.ephemeral() as instance:
        ours, killed, elsewhere = (
            instance.create_run_for_job(job, tags={PROCESS_TAG: one}, status=status.STARTED).run_id
            for one in (process(), dead, "another-machine:1:1")
        )
        assert cancel_runs(instance, os.getpgid(0)) == [ours]
        assert end_dead_runs(instance) == [killed]
        found = {one.run_id: one.status for one in instance.get_runs()}
        assert found == {ours: status.CANCELING, killed: status.FAILURE, elsewhere: status.STARTED}
        instance.add_run_tags(ours, {PROCESS_TAG: dead})
        assert end_dead_runs(instance) == [ours]
        assert instance.get_run_by_id(ours).status == status.CANCELED


@pytest.mark.slow
def test_notes_that_a_fault_keeps_open_hold_no_feedback_up(settings: Settings) -> None:
    praised(settings)
    store = Workspace(settings).store
    note_faults(store, "memories", [days.name(1)], [NamespaceFault("bob", "a broken note")])
    resource = SlowwaveResource(home=str(settings.home), now=days.at(20).isoformat())
    with dg.build_sensor_context(dg.DagsterInstance.ephemeral(), resources={"slowwave": resource}) as context:
        (request,) = sensor("late_feedback")(context).run_requests
    assert request.partition_key == days.name(2)


@pytest.mark.slow
def test_days_that_were_evaluated_in_another_order_are_due_again(settings: Settings) -> None:
    praised(settings)
    assert all(report["success"] for report in run_due(settings))
    for day in (2, 1):
        assert run_night(settings, days.name(day), days.name(day), job="evaluation")["success"]
    space = Workspace(settings)
    late = stale_partitions(space.journal, space.store).evaluation
    space.close()
    assert days.name(2) in late
    assert all(report["success"] for report in evaluate_due(settings))
    space = Workspace(settings)
    assert not [day for day in stale_partitions(space.journal, space.store).evaluation if day <= days.name(3)]
    space.close()


@pytest.mark.slow
@pytest.mark.parametrize("asset", ["warehouse", "trend"])
def test_an_asset_without_days_is_made_by_itself_while_somebody_watches(
    settings: Settings, asset: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLOWWAVE_TELEMETRY__METRICS_PORT", "9464")
    defs = definitions(SlowwaveResource(home=str(settings.home)))
    with dg.DagsterInstance.ephemeral() as instance:
        done = defs.resolve_job_def("evaluation").execute_in_process(
            instance=instance, asset_selection=[dg.AssetKey(asset)]
        )
        assert done.success
        assert "slowwave/process" in instance.get_run_by_id(done.run_id).tags


@pytest.mark.slow
def test_two_ranges_of_a_backfill_are_told_apart(settings: Settings) -> None:
    praised(settings)
    assert run_night(settings, days.name(1), days.name(1))["success"]
    job = definitions(SlowwaveResource(home=str(settings.home))).resolve_job_def("feedback")
    first = [feedback.searches.key, feedback.events.key, feedback.usage_signals.key]
    rest = [one.key for one in feedback.ASSETS if one.key not in first]
    later, earlier = (
        {**range_tags(days.name(since), days.name(until)), BACKFILL_TAG: "one"}
        for since, until in ((9, 11), (1, 3))
    )
    with dg.DagsterInstance.ephemeral() as instance:
        for tags, part in ((later, first), (earlier, first), (later, rest)):
            assert job.execute_in_process(instance=instance, tags=tags, asset_selection=part).success
    assert days.name(2) in pending_days(settings)  # its promotions were not decided yet


def test_a_vault_that_was_watched_and_is_away_stops_no_night(settings: Settings, tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    (vault / "one.md").write_text("The bell of the ferry rings twice at the northern pier.")
    resource = SlowwaveResource(home=str(settings.home), vault=str(vault))
    resource.watch_vault()
    vault.rename(tmp_path / "elsewhere")
    resource.watch_vault()
    assert [one.uri for one in resource.space.journal.sources()] == [str(vault)]
