"""The feedback assets in Dagster: a range, its days, late feedback and the sensor that sees it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import feedback_days as days
import polars as pl
import pytest
from dagster_parts import sensor
from polars.testing import assert_frame_equal
from prepared import take_over
from stale_days import pending_days

from slowwave.assets import daily, feedback
from slowwave.assets.resources import SlowwaveResource
from slowwave.common import ids
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry, Journal
from slowwave.orchestration.definitions import definitions
from slowwave.orchestration.run_nightly import metadata_of, run_due
from slowwave.settings import Settings, load

TABLES = (
    "searches", "events", "usage_signals", "question_vectors", "effectiveness", "strength", "promotions",
    "memory_state",
)  # fmt: skip
MEMORY = ids.memory_id("ada", "deploy")


@pytest.fixture
def settings(home: Path) -> Settings:
    take_over(home)
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    return load(home)


def journal(settings: Settings, acts: list[Entry]) -> None:
    with Journal.open_path(settings.journal_file) as opened:
        opened.append(acts)


def tables(settings: Settings) -> dict[str, pl.DataFrame]:
    store = Workspace(settings).store
    return {name: store.read(name).sort(store.specs[name].key) for name in TABLES}


def week() -> list[Entry]:
    acts = []
    for day in range(1, 8):
        who = {"principal": f"p{day}"}
        acts += [
            days.search(f"s{day}", days.at(day, 1), [MEMORY], project="ship", **who),
            days.rating(f"s{day}", days.at(day, 2), MEMORY, "unhelpful" if day == 3 else "helpful", **who),
            days.observed(f"s{day}", days.at(day, 3), {MEMORY: "used"}, **who),
        ]
    return [*acts, days.outcome("ship", days.at(7, 9), "success")]


def fold(settings: Settings, first: str, last: str) -> dict[str, dict[str, Any]]:
    """Run the job for a range of days; metadata of its assets."""
    defs = definitions(SlowwaveResource(home=str(settings.home)))
    tags = {"dagster/asset_partition_range_start": first, "dagster/asset_partition_range_end": last}
    with dg.DagsterInstance.ephemeral() as instance:
        done = defs.resolve_job_def("feedback").execute_in_process(instance=instance, tags=tags)
    assert done.success
    return metadata_of(done.all_events)


@pytest.mark.slow
def test_a_range_is_one_run_and_equals_its_days(settings, tmp_path):
    acts = week()
    journal(settings, acts)
    metadata = fold(settings, days.name(1), days.name(7))
    assert metadata["events"]["dagster/partition_row_count"] == 15
    assert metadata["usage_signals"]["dagster/partition_row_count"] == 7 + 7 + 7
    assert "| success | " in metadata["usage_signals"]["verdicts"]
    whole = tables(settings)
    assert whole["memory_state"].row(0, named=True)["feedback_count"] == 7  # seven people, one vote each
    assert pending_days(settings) == []
    question = ids.query_id("ada", "when do we deploy?")
    assert whole["question_vectors"].select("query_id", "query").rows() == [(question, "when do we deploy?")]
    assert whole["usage_signals"]["query_id"].to_list() == [question] * 21

    other = tmp_path / "other"
    take_over(other)
    (other / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    daily = load(other)
    journal(daily, acts)
    for day in range(1, 8):
        fold(daily, days.name(day), days.name(day))
    for name, rows in tables(daily).items():
        assert_frame_equal(rows, whole[name], check_exact=True)


def fails_once(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, with an error at its first call, whatever the reason for one may be."""
    calls: list[None] = []

    def failing(*given: Any, **more: Any) -> Any:
        calls.append(None)
        if len(calls) == 1:
            raise ValueError
        return function(*given, **more)

    return failing


@pytest.mark.slow
@pytest.mark.parametrize("faulty", ["", "effectiveness", "strength", "promotions"])
@pytest.mark.soak
def test_a_range_in_parts_is_the_same_also_where_one_is_done_by_namespace(settings, monkeypatch, faulty):
    journal(settings, week())
    fold(settings, days.name(1), days.name(7))
    whole = tables(settings)
    for name in TABLES:
        Workspace(settings).store.delete(name, "true")
    monkeypatch.setattr(daily, "ROWS_AT_ONCE", 2)
    if faulty:
        monkeypatch.setattr(feedback.aggregation, faulty, fails_once(getattr(feedback.aggregation, faulty)))
    told = fold(settings, days.name(1), days.name(7))
    assert told["usage_signals"]["inserted"] == whole["usage_signals"].height
    for name, rows in tables(settings).items():
        assert_frame_equal(rows, whole[name], check_exact=True)


@pytest.mark.slow
def test_unreadable_entries_stop_nothing_and_are_counted(settings):
    bad = days.act("feedback", "s", days.at(2), {"memory_id": ["no", "text"], "rating": {"a": 1}})
    none = days.act("observation", "s", days.at(2), {"verdicts": "many"})
    journal(settings, [*week(), bad, none])
    events = fold(settings, days.name(1), days.name(7))["events"]
    assert (events["unreadable"], events["dagster/partition_row_count"]) == (2, 15)


@pytest.mark.slow
def test_a_night_without_days_takes_up_late_feedback_and_what_rests_on_it(settings):
    acts = week()
    journal(settings, [act for act in acts if act.occurred_at != days.at(2, 2)])
    fold(settings, days.name(1), days.name(7))
    assert pending_days(settings) == []
    journal(settings, acts)  # the one of the second day is late, the others are there
    assert pending_days(settings)[0] == days.name(2)
    runs = run_due(settings)
    assert [(run["job"], run["from"], run["success"]) for run in runs] == [
        ("feedback", days.name(2), True), ("night", runs[-1]["to"], True),
    ]  # fmt: skip
    late = tables(settings)
    fold(settings, days.name(1), days.name(7))
    for name, rows in tables(settings).items():
        assert_frame_equal(rows, late[name], check_exact=True)
    assert pending_days(settings) == []


# -- the sensor ------------------------------------------------------------------------------------


class Ticks:
    """Ticks of the sensor over one home, and runs of what it asks for."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.resource = SlowwaveResource(home=str(home), now="2026-03-20T12:00:00+00:00")
        self.defs = definitions(self.resource)

    def tick(self) -> dg.SensorResult | dg.SkipReason:
        with dg.build_sensor_context(
            dg.DagsterInstance.ephemeral(), resources={"slowwave": self.resource}
        ) as context:
            return sensor("late_feedback")(context)

    def run(self, request: dg.RunRequest, instance: dg.DagsterInstance) -> dg.ExecuteInProcessResult:
        job = self.defs.resolve_job_def("feedback")
        return job.execute_in_process(instance=instance, tags=request.tags)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.ephemeral() as made:
        yield made


@pytest.mark.slow
def test_the_sensor_asks_for_the_days_that_late_feedback_changes(settings, instance):
    ticks = Ticks(settings.home)
    assert "is processed" in ticks.tick().skip_message
    journal(settings, week())
    (request,) = ticks.tick().run_requests
    assert request.tags["dagster/asset_partition_range_start"] == days.name(1)
    assert request.tags["dagster/asset_partition_range_end"] == days.name(7)
    (same,) = ticks.tick().run_requests
    assert same.run_key == request.run_key  # so it is asked for once
    assert ticks.run(request, instance).success
    assert "is processed" in ticks.tick().skip_message

    late = days.rating("s3", days.at(4), MEMORY, "neutral", principal="zoe")
    journal(settings, [late])
    (again,) = ticks.tick().run_requests
    assert again.run_key != request.run_key
    assert again.tags["dagster/asset_partition_range_start"] == days.name(4)
    assert again.tags["dagster/asset_partition_range_end"] == days.name(7)
    assert ticks.run(again, instance).success
    assert "is processed" in ticks.tick().skip_message


def test_the_sensor_leaves_the_days_of_the_nightly_run_to_it(settings):
    ticks = Ticks(settings.home)
    today = days.at(20, 8)
    journal(
        settings,
        [days.search("a", today, [MEMORY]), days.search("b", today - timedelta(hours=1), [])],
    )
    assert "is processed" in ticks.tick().skip_message
    ticks.resource = SlowwaveResource(home=str(settings.home), now="2026-03-21T02:30:00+00:00")
    assert "is processed" in ticks.tick().skip_message  # tonight's run may be going on
    ticks.resource = SlowwaveResource(home=str(settings.home), now="2026-03-21T03:30:00+00:00")
    assert len(ticks.tick().run_requests) == 1


def test_the_sensor_says_what_to_do_about_days_before_the_first_partition(settings):
    journal(settings, [days.search("a", days.at(1) - timedelta(days=900), [MEMORY])])
    assert "Set night.first_day" in Ticks(settings.home).tick().skip_message


def test_the_sensor_asks_for_no_day_that_the_page_has_not_loaded(settings):
    ticks = Ticks(settings.home)
    ticks.resource = SlowwaveResource(
        home=str(settings.home), now=ticks.resource.now, first_day=days.name(3)
    )  # fmt: skip
    journal(settings, [days.search("wrong", days.at(1) - timedelta(days=900), [MEMORY])])
    journal(settings, [days.search("a", days.at(3), [MEMORY])])
    (request,) = ticks.tick().run_requests  # an act with a wrong date stops nothing
    assert request.partition_key == days.name(3)
    journal(settings, [days.search("b", days.at(2), [MEMORY])])
    said = ticks.tick().skip_message
    assert days.name(2) in said
    assert "reload the code location" in said
    ticks.resource = SlowwaveResource(
        home=str(settings.home), now=ticks.resource.now, first_day=days.name(2)
    )  # fmt: skip
    (request,) = ticks.tick().run_requests
    assert request.tags["dagster/asset_partition_range_start"] == days.name(2)


# -- what people see -------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_late_day_is_a_warning_of_the_state(settings, instance):
    ticks = Ticks(settings.home)
    journal(settings, week())
    (request,) = ticks.tick().run_requests
    sound = {"nothing_late": True, "unique_key": True, "every_namespace": True}
    assert checked(ticks.run(request, instance)) == sound
    journal(settings, [days.rating("s3", days.at(4), MEMORY, "neutral", principal="zoe")])
    only = dg.RunRequest(
        tags={
            "dagster/asset_partition_range_start": days.name(4),
            "dagster/asset_partition_range_end": days.name(4),
        }
    )
    done = ticks.run(only, instance)
    assert checked(done) == sound | {"nothing_late": False}
    assert done.success


def checked(result: dg.ExecuteInProcessResult) -> dict[str, bool]:
    mine = [one for one in result.get_asset_check_evaluations() if one.asset_key == feedback.memory_state.key]
    return {one.check_name: one.passed for one in mine}


def test_the_state_has_a_freshness_policy(home: Path):
    graph = definitions(SlowwaveResource(home=str(home))).resolve_asset_graph()
    assert graph.get(feedback.memory_state.key).freshness_policy is not None
