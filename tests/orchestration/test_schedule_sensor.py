from __future__ import annotations

import json
import os
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from dagster_parts import schedule, sensor

from slowwave.assets.daily import WHOLE_RANGE
from slowwave.assets.partitions import DAILY, home_first_day
from slowwave.assets.resources import SlowwaveResource
from slowwave.journal import Journal
from slowwave.memory import Memory
from slowwave.orchestration.definitions import definitions
from slowwave.scoring.days import day_end, day_start
from slowwave.settings import load
from slowwave.vaults import vault

ROOT = Path(__file__).parents[2]  # any folder that is there
NOW = "2026-03-01T12:00:00+00:00"


# -- days ------------------------------------------------------------------------------------------


def test_a_day_is_a_utc_day_and_half_open():
    assert day_start("2026-03-01") == datetime(2026, 3, 1, tzinfo=UTC)
    assert day_end("2026-02-28") == day_start("2026-03-01")
    assert day_end("2026-03-01") - day_start("2026-03-01") == timedelta(days=1)


def test_partitions_reach_up_to_and_including_today():
    keys = DAILY.get_partition_keys(current_time=datetime(2026, 3, 1, 0, 0, 1, tzinfo=UTC))
    assert (keys[0], keys[-1]) == ("2024-01-01", "2026-03-01")
    assert len(keys) == 791


def test_a_home_begins_with_its_first_act_that_a_partition_can_have(home, act):
    settings, today = load(home), f"{datetime.now(UTC):%F}"
    assert home_first_day(settings) == today
    assert not home.exists()  # looking makes nothing
    wrong = [datetime(1970, 1, 1, tzinfo=UTC), datetime(2023, 12, 31, 23, 59, tzinfo=UTC)]
    days = [*wrong, datetime(2026, 3, 4, 23, 59, tzinfo=UTC), datetime(2026, 3, 7, tzinfo=UTC)]
    with Journal.open_path(settings.journal_file) as journal:
        journal.append([act("a", "A note", at=datetime(9000, 1, 1, tzinfo=UTC))])
        assert home_first_day(settings) == today
        journal.append([act(f"{at:%F}", "A note", at=at) for at in days])
        assert home_first_day(settings) == "2026-03-04"
        journal.append([act("b", "A note that came late", at=datetime(2025, 5, 5, tzinfo=UTC))])
        assert home_first_day(settings) == "2025-05-05"
    earlier = load(home, night={"first_day": "1970-01-01"})
    assert home_first_day(earlier) == "1970-01-01"


def test_the_page_has_the_days_of_its_home_and_a_command_any(home):
    page = definitions(SlowwaveResource(home=str(home), first_day="2026-03-04"))
    command = definitions(SlowwaveResource(home=str(home)))
    for defs, first in ((page, "2026-03-04"), (command, "2024-01-01")):
        graph = defs.resolve_asset_graph()
        with_days = [key for key in graph.materializable_asset_keys if graph.get(key).partitions_def]
        days = {graph.get(key).partitions_def for key in with_days}
        assert [one.get_first_partition_key() for one in days] == [first]  # one backfill, one run
        assert {graph.get(key).backfill_policy for key in with_days} == {WHOLE_RANGE}
        assert defs.resolve_job_def("night").partitions_def.get_first_partition_key() == first


def test_the_clock_may_be_set_for_a_replay():
    zoned = SlowwaveResource(now="2026-03-01T01:30:00+02:00").clock()
    assert zoned == datetime(2026, 2, 28, 23, 30, tzinfo=UTC)
    assert zoned.utcoffset() == timedelta(0)
    assert abs(SlowwaveResource().clock() - datetime.now(UTC)) < timedelta(seconds=10)


# -- schedule --------------------------------------------------------------------------------------


def asked(schedule: dg.ScheduleDefinition, tick: str, **home: str) -> dg.RunRequest | dg.SkipReason:
    """What a schedule asks for at a tick."""
    with dg.build_schedule_context(
        scheduled_execution_time=datetime.fromisoformat(tick),
        resources={"slowwave": SlowwaveResource(home=str(ROOT), **home)},
    ) as context:
        return schedule(context)


@pytest.mark.parametrize(("name", "job"), [("nightly", "night"), ("evaluated", "evaluation")])
@pytest.mark.parametrize(
    ("tick", "day"),
    [
        ("2026-03-01T02:00:00+00:00", "2026-02-28"),
        ("2026-01-01T02:00:00+00:00", "2025-12-31"),
        ("2026-03-01T01:30:00+02:00", "2026-02-27"),
    ],
)
def test_a_tick_asks_for_yesterdays_partition_once(name, job, tick, day):
    request = asked(schedule(name), tick)
    assert (request.partition_key, request.run_key) == (day, f"{job}-{day}")
    assert asked(schedule(name), tick).run_key == request.run_key


@pytest.mark.parametrize("name", ["nightly", "evaluated"])
def test_a_tick_asks_for_no_day_before_the_home_began(name):
    tick = "2026-03-02T02:00:00+00:00"
    assert asked(schedule(name), tick, first_day="2026-03-01").partition_key == "2026-03-01"
    skipped = asked(schedule(name), tick, first_day="2026-03-02")
    assert "first day of this home is 2026-03-02" in skipped.skip_message


def test_a_day_is_evaluated_after_its_night_has_begun():
    both = [schedule(name) for name in ("nightly", "evaluated")]
    assert [one.cron_schedule for one in both] == ["0 2 * * *", "30 2 * * *"]
    assert {one.execution_timezone for one in both} == {"UTC"}


# -- sensor ----------------------------------------------------------------------------------------


class Watch:
    """Ticks of the sensor on one home, the cursor carried from tick to tick."""

    def __init__(self, memory: Memory) -> None:
        self.journal = memory.journal
        self.resource = SlowwaveResource(home=str(memory.settings.home), now=NOW)
        self.cursor: str | None = None

    def add(self, folder: Path, namespace: str = "ada") -> None:
        folder.mkdir(exist_ok=True)
        moment = datetime.fromisoformat(NOW)
        vault.watch(self.journal, namespace, folder, name="", as_of=moment, principal="test")

    def tick(self) -> dg.SensorResult | dg.SkipReason:
        resources = {"slowwave": self.resource}
        with dg.build_sensor_context(
            dg.DagsterInstance.ephemeral(), cursor=self.cursor, resources=resources
        ) as context:
            result = sensor("watched_vaults")(context)
        if isinstance(result, dg.SensorResult):
            self.cursor = result.cursor
        return result


@pytest.fixture
def watch(open_memory: Callable[..., Memory]) -> Watch:
    return Watch(open_memory())


def test_without_a_vault_the_sensor_says_how_to_add_one(watch):
    result = watch.tick()
    assert isinstance(result, dg.SkipReason)
    assert "slowwave ingest" in result.skip_message


def test_a_vault_that_was_never_seen_asks_for_todays_partition(watch, tmp_path):
    watch.add(tmp_path / "notes")
    (request,) = watch.tick().run_requests
    assert (request.partition_key, request.tags["slowwave/changed_vaults"]) == ("2026-03-01", "ada/notes")
    assert set(json.loads(watch.cursor)) == {"ada/notes"}


def test_an_unchanged_vault_asks_for_nothing(watch, tmp_path):
    watch.add(tmp_path / "notes")
    watch.add(tmp_path / "other", "bob")
    watch.tick()
    result = watch.tick()
    assert isinstance(result, dg.SkipReason)
    assert result.skip_message == "Nothing changed in 2 watched vaults."


def test_only_changed_vaults_are_named_and_their_marks_move_on(watch, tmp_path):
    watch.add(tmp_path / "notes")
    watch.add(tmp_path / "other", "bob")
    watch.tick()
    before = json.loads(watch.cursor)
    path = tmp_path / "other" / "a.md"
    path.write_text("text")
    (request,) = watch.tick().run_requests
    assert request.tags["slowwave/changed_vaults"] == "bob/other"
    after = json.loads(watch.cursor)
    assert after["ada/notes"] == before["ada/notes"]
    assert after["bob/other"] != before["bob/other"]
    assert isinstance(watch.tick(), dg.SkipReason)
    os.utime(path, (1, 1))
    assert len(watch.tick().run_requests) == 1


def test_a_vault_that_is_away_is_no_change_and_keeps_its_mark(watch, tmp_path):
    watch.add(tmp_path / "notes")
    watch.add(tmp_path / "other")
    watch.tick()
    (tmp_path / "notes").rename(tmp_path / "away")
    assert isinstance(watch.tick(), dg.SkipReason)
    (tmp_path / "other" / "a.md").write_text("text")
    watch.tick()
    (tmp_path / "away").rename(tmp_path / "notes")
    assert isinstance(watch.tick(), dg.SkipReason)
