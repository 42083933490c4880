from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import dagster as dg
import polars as pl
import pytest
from prepared import take_over
from stale_days import pending_days

from slowwave.assets.partitions import home_first_day
from slowwave.assets.resources import SlowwaveResource
from slowwave.assets.run_process import PROCESS_TAG, end_dead_runs, is_dead, process
from slowwave.common import ids
from slowwave.errors import SlowwaveError
from slowwave.home.workspace import Workspace
from slowwave.index import mmap_snapshot
from slowwave.index.incremental_snapshot import COLUMNS, leave_files
from slowwave.journal import Journal
from slowwave.orchestration.definitions import definitions
from slowwave.orchestration.run_nightly import (
    choose_days,
    left_out,
    run_due,
    run_night,
)
from slowwave.settings import Settings, load
from slowwave.vaults import vault

QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
FACTS = (
    "The deploy day is Thursday since the second of March, decided by the whole team.",
    "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer.",
    "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night.",
    "Raw samples are kept for two years, because a customer once asked for a whole winter.",
)
TABLES = (
    "memories",
    "chunks",
    "staged_notes",
    "gate_verdicts",
    "embedded_chunks",
    "quarantine",
    "decisions",
    "edges",
)


@pytest.fixture
def settings(home: Path) -> Settings:
    take_over(home)
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    return load(home)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "vault"
    made.mkdir()
    return made


@pytest.fixture
def today() -> str:
    """As of the test, which may run on the day after this file was read."""
    return datetime.now(UTC).date().isoformat()


def put(folder: Path, name: str, text: str | bytes) -> None:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    past = datetime.now(UTC).timestamp() - 60
    os.utime(path, (past, past))


def watch(settings: Settings, folder: Path, namespace: str = "ada") -> None:
    with Journal.open_path(settings.journal_file) as journal:
        vault.watch(journal, namespace, folder, name="", as_of=datetime.now(UTC), principal="test")


def tables(settings: Settings) -> dict[str, pl.DataFrame]:
    store = Workspace(settings).store
    return {name: store.read(name).sort(store.specs[name].key) for name in TABLES}


def versions(settings: Settings, *names: str) -> dict[str, int]:
    store = Workspace(settings).store
    return {name: store.table(name).version for name in names}


def assert_equal(
    first: dict[str, pl.DataFrame], second: dict[str, pl.DataFrame], *, but: Sequence[str] = ()
) -> None:
    """The same tables row for row; vectors to float32's last places, since a batch may round otherwise."""
    for name, left in first.items():
        right = second[name]
        assert left.height == right.height, name
        other = [column for column in left.columns if column not in {"vector", *but}]
        assert left.select(other).equals(right.select(other)), name
        if "vector" in left.columns and left.height:
            assert left["vector"].is_null().equals(right["vector"].is_null()), name
            ours, theirs = (frame["vector"].drop_nulls().to_numpy() for frame in (left, right))
            assert abs(ours - theirs).max(initial=0) < 1e-6, name


def step(report: dict, asset: str) -> dict:
    (found,) = [one for one in report["steps"] if one["asset"] == asset]
    return found["metadata"]


def statuses(settings: Settings) -> dict[str, str]:
    return dict(Workspace(settings).store.read("memories", columns=["source", "status"]).rows())


# -- a vault, night after night --------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.pictures
def test_the_nights_of_a_vault(settings, folder, today):
    put(folder, "deploy.md", f"---\ntags: [ops]\n---\n# Deploy day\n\n{FACTS[0]}")
    put(folder, "battery.md", FACTS[1])
    put(folder, "rota.md", FACTS[2])
    put(folder, "broken.md", b"\xff\xff\xff")
    put(folder, "copy.md", FACTS[1])
    put(folder, "stub.md", "ok")
    watch(settings, folder)
    watch(settings, folder, "bob")

    first = run_night(settings, today, today)
    warning = "1 warning about single files of the vault vault. Run `slowwave ingest FOLDER` to list them."
    assert (first["success"], first["errors"], first["warnings"]) == (True, [], [warning, warning])
    assert first["live"] == 6
    made = [one["asset"] for one in first["steps"]]
    notes = ["staged_notes", "gate_verdicts", "embedded_chunks", "memories", "search_index"]
    assert [name for name in made if name in notes] == notes
    feedback = ["events", "usage_signals", "effectiveness", "memory_state"]
    assert [name for name in made if name in feedback] == feedback
    assert len(made) == 12
    assert step(first, "staged_notes")["dagster/partition_row_count"] == 12
    assert step(first, "gate_verdicts")["quarantined"] == 4  # the broken one and the stub, of each
    assert (
        step(first, "embedded_chunks")["vectors computed"] == 4
    )  # of `copy` and `battery` the titles differ
    assert [step(first, "memories")[name] for name in ("added", "retired", "refused")] == [6, 0, 2]
    reasons = Workspace(settings).store.read("quarantine", "namespace = 'ada'", columns=["source", "reasons"])
    held = dict(reasons.rows())
    assert held.pop("vault/broken.md") == ["not_utf8"]
    assert held.pop("vault/stub.md") == ["no_statement"]
    assert list(held.values()) == [["exact_duplicate"]]

    # Nothing changed: nothing is embedded, no memory is written, and lost chunks come back.
    before, marks = tables(settings), versions(settings, "memories", "embedded_chunks")
    Workspace(settings).store.delete("chunks", "source = 'vault/deploy.md'")
    second = run_night(settings, today, today)
    assert second["success"]
    assert step(second, "embedded_chunks")["vectors computed"] == 0
    assert {name: step(second, "memories")[name] for name in ("added", "changed", "retired")} == {
        "added": 0, "changed": 0, "retired": 0,
    }  # fmt: skip
    assert_equal(before, tables(settings))
    assert versions(settings, "memories", "embedded_chunks") == marks

    # One changes, one goes, one comes.
    put(folder, "deploy.md", FACTS[3])
    (folder / "rota.md").unlink()
    put(folder, "new.md", "A new note about the lighthouse keeper, who never answers his telephone.")
    third = run_night(settings, today, today)
    assert third["success"]
    metadata = step(third, "memories")
    assert (metadata["added"], metadata["changed"], metadata["retired"]) == (2, 2, 2)
    assert third["live"] == 6
    found = statuses(settings)
    assert (found["vault/deploy.md"], found["vault/rota.md"], found["vault/new.md"]) == (
        "live",
        "retired",
        "live",
    )
    store = Workspace(settings).store
    deploy = ids.memory_id("ada", "vault/deploy.md")
    assert store.read("chunks", f"memory_id = '{deploy}'")["text"].to_list() == [FACTS[3]]
    assert set(store.read("chunks", "source = 'vault/rota.md'")["status"]) == {"retired"}


@pytest.mark.slow
def test_a_refused_version_of_a_file_that_says_secret_closes_the_text_before_it(settings, folder, today):
    put(folder, "rota.md", FACTS[2])
    watch(settings, folder)
    assert run_night(settings, today, today)["live"] == 1
    put(folder, "rota.md", "---\nsensitivity: secret\n---\nok")
    for _ in range(2):  # the second run reads the closing event, too
        assert run_night(settings, today, today)["success"]
        space = Workspace(settings)
        rows = space.store.read("memories", columns=["content", "sensitivity", "status"])
        assert rows.rows() == [(FACTS[2], "secret", "live")]
        held = space.store.read("quarantine", columns=["content", "status"])
        assert [(text.strip(), status) for text, status in held.rows()] == [("ok", "held")]
        assert space.journal.count("ada", "save") == 3


@pytest.mark.slow
def test_a_night_leaves_snapshots_for_all_processes(settings, folder, monkeypatch, today):
    monkeypatch.setitem(leave_files.__kwdefaults__, "fewest", 1)
    put(folder, "rota.md", FACTS[2])
    watch(settings, folder)
    done = run_night(settings, today, today)
    index = step(done, "search_index")
    assert index["snapshot files"] == 1
    assert index["vector index"] == "none: each namespace is searched in its snapshot"
    store = Workspace(settings).store
    assert mmap_snapshot.is_current(store, "ada", COLUMNS, store.dataset("chunks"))


@pytest.mark.slow
def test_a_vault_that_is_away_is_a_warning_and_its_notes_stay(settings, folder, tmp_path, today):
    put(folder, "a.md", FACTS[0])
    watch(settings, folder)
    assert run_night(settings, today, today)["live"] == 1
    folder.rename(tmp_path / "away")
    report = run_night(settings, today, today)
    assert (report["success"], report["live"]) == (True, 1)
    (warning,) = report["warnings"]
    assert "The vault vault is no longer at" in warning


# -- backfills -------------------------------------------------------------------------------------

FIRST = date(2026, 1, 1)
DAYS = [(FIRST + timedelta(days=number)).isoformat() for number in range(30)]


def history(act) -> list:
    """A month of saves: new, changed, equal, too short, forgotten, and saved again."""
    acts = []
    for number, day in enumerate(DAYS):
        noon = datetime.fromisoformat(f"{day}T12:00:00+00:00")
        if number % 7 == 3:
            continue  # a quiet day
        acts.append(act(f"new/{number}", f"{FACTS[number % 4]} Entry {number}.", at=noon))
        acts.append(act("diary", f"{FACTS[number % 3]} As of now.", at=noon + timedelta(hours=1)))
        if number % 5 == 0:
            acts.append(
                act(f"copy/{number}", f"{FACTS[number % 4]} Entry {number}.", at=noon + timedelta(hours=2))
            )
            acts.append(act(f"short/{number}", "ok", at=noon))
            acts.append(
                act("diary", f"{FACTS[3]} Version of the evening {number}.", at=noon + timedelta(hours=8))
            )
        if number % 6 == 5:
            acts.append(act(f"new/{number - 5}", at=noon))
        if number % 12 == 10:
            acts.append(act(f"new/{number - 5}", f"{FACTS[0]} Revised {number}.", at=noon))
            acts.append(act(f"new/{number - 10}", f"{FACTS[0]} Back again.", at=noon))
    return acts


class Runs:
    """Runs of the night on an ephemeral Dagster instance."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    def run(self, first: str, last: str = "") -> None:
        defs = definitions(SlowwaveResource(home=str(self.settings.home)))
        names = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")
        tags = dict(zip(names, (first, last or first), strict=True))
        with dg.DagsterInstance.ephemeral() as instance:
            job = defs.resolve_job_def("night")
            assert job.execute_in_process(instance=instance, tags=tags, run_config=QUIET).success


@pytest.fixture
def homes(tmp_path: Path, act) -> list[Runs]:
    made = []
    for name in ("one", "many"):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
        settings = load(folder)
        with Journal.open_path(settings.journal_file) as journal:
            journal.append(history(act))
        made.append(Runs(settings))
    return made


@pytest.mark.slow
@pytest.mark.soak
def test_a_backfill_in_one_run_equals_a_run_per_day(homes):
    one, many = homes
    some = DAYS[:12]
    one.run(some[0], some[-1])
    for day in some:
        many.run(day)
    left, right = tables(one.settings), tables(many.settings)
    assert left["memories"].height > 10
    assert set(left["memories"]["status"]) == {"live", "retired"}
    assert set(left["gate_verdicts"]["verdict"]) == {"pass", "refuse", "retire"}
    assert left["quarantine"].height > 3
    assert_equal(left, right, but=["created_at"])
    # An old day once more, in either home, changes nothing.
    for runs, before in ((one, left), (many, right)):
        for day in (DAYS[10], DAYS[0]):
            runs.run(day)
        runs.run(DAYS[4], DAYS[6])
        assert_equal(before, tables(runs.settings))


@pytest.mark.slow
def test_a_backfill_in_one_run_keeps_when_a_note_was_first_saved(homes):
    one, many = homes
    one.run(DAYS[0], DAYS[1])
    for day in DAYS[:2]:
        many.run(day)
    assert_equal(tables(one.settings), tables(many.settings))


@pytest.mark.slow
def test_a_day_that_is_run_after_a_later_one_gives_what_the_right_order_gives(homes):
    right, wrong = homes
    for day in (DAYS[0], DAYS[5]):
        right.run(day)
    for day in (DAYS[5], DAYS[0]):
        wrong.run(day)
    assert statuses(right.settings)["new/0"] == "retired"
    assert statuses(wrong.settings) == statuses(right.settings)


# -- which days ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_days_with_news_are_pending_until_their_night_is_over(settings, act):
    with Journal.open_path(settings.journal_file) as journal:
        assert pending_days(settings) == []
        moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
        journal.append([act("b", FACTS[1], at=moment + timedelta(days=4)), act("a", FACTS[0], at=moment)])
        assert pending_days(settings) == ["2026-03-01", "2026-03-05"]
        last = journal.days(["save"]).filter(day="2026-03-01")["last_seq"].item()
        store = Workspace(settings).store
        store.put_meta("night-2026-03-01", {"seq": last})
        assert pending_days(settings) == ["2026-03-05"]
        journal.append([act("late", FACTS[2], at=moment + timedelta(hours=1))])
        assert pending_days(settings) == ["2026-03-01", "2026-03-05"]


def test_two_namespaces_of_one_day_are_both_waited_for(settings, act):
    with Journal.open_path(settings.journal_file) as journal:
        moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
        journal.append(
            [act("a", FACTS[0], at=moment, namespace="zed"), act("a", FACTS[0], at=moment, namespace="ada")]
        )
        first, last = journal.read(kinds=["save"])["seq"]
        Workspace(settings).store.put_meta("night-2026-03-01", {"seq": first})
        assert pending_days(settings) == ["2026-03-01"]
        Workspace(settings).store.put_meta("night-2026-03-01", {"seq": last})
        assert pending_days(settings) == []


@pytest.mark.slow
def test_a_finished_night_leaves_nothing_pending(settings, act):
    with Journal.open_path(settings.journal_file) as journal:
        moment = datetime(2026, 3, 1, 12, tzinfo=UTC)
        journal.append([act("a", FACTS[0], at=moment), act("b", "ok", at=moment)])
        run_night(settings, "2026-03-01", "2026-03-02")
        assert pending_days(settings) == []


@pytest.mark.slow
def test_a_clock_that_was_wrong_once_costs_a_run_of_its_own(settings, act, today):
    """And not the hundreds of days in between."""
    yesterday = datetime.now(UTC) - timedelta(days=1)
    with Journal.open_path(settings.journal_file) as journal:
        journal.append([act("old", FACTS[0], at=datetime(2024, 5, 5, 12, tzinfo=UTC))])
        journal.append([act("new", FACTS[1], at=yesterday)])
    reports = run_due(settings)
    assert [(one["job"], one["from"], one["to"], one["success"]) for one in reports] == [
        ("night", "2024-05-05", "2024-05-05", True),
        ("night", yesterday.date().isoformat(), today, True),
    ]
    assert reports[-1]["live"] == 2
    assert pending_days(settings) == []


def test_acts_of_days_that_no_partition_has_are_named_and_stop_no_night(settings, act):
    moments = [datetime(1, 1, 1, tzinfo=UTC), datetime(2023, 12, 31, 12, tzinfo=UTC),
               datetime(9000, 12, 31, tzinfo=UTC), datetime.now(UTC) - timedelta(days=1)]  # fmt: skip
    with Journal.open_path(settings.journal_file) as journal:
        journal.append([act(f"note {at}", FACTS[at], at=moment) for at, moment in enumerate(moments)])
    yesterday = moments[-1].date().isoformat()
    assert pending_days(settings) == [yesterday]
    assert 'set night.first_day = "0001-01-01"' in left_out(settings)


def test_what_was_erased_is_of_no_day(settings, open_memory, today):
    """Records have no moment of their own: erased ones were of 1970, and the page would have begun there."""
    memory = open_memory()
    memory.save(FACTS[0], key="stays")
    memory.erase(memory.save(FACTS[1], key="goes").memory_id)
    memory.close()
    assert left_out(settings) == ""
    assert home_first_day(settings) == today


@pytest.mark.parametrize(
    ("asked", "chosen"),
    [
        ({"date": "2026-03-01"}, ("2026-03-01", "2026-03-01")),
        ({"since": "2026-03-01"}, ("2026-03-01", "today")),
        ({"since": "2026-03-01", "until": "2026-03-05"}, ("2026-03-01", "2026-03-05")),
        ({"until": "2026-03-05"}, ("2026-03-05", "2026-03-05")),
        ({"date": "today"}, ("today", "today")),
        ({"date": "20260301"}, ("2026-03-01", "2026-03-01")),
        ({"date": "2024-01-01"}, ("2024-01-01", "2024-01-01")),
    ],
)
def test_days_are_taken_as_asked(settings, today, asked, chosen):
    found = choose_days(settings, **{name: day.replace("today", today) for name, day in asked.items()})
    assert found == tuple(day.replace("today", today) for day in chosen)


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"date": "yesterday"}, "'yesterday' is not a day. Write it as YYYY-MM-DD."),
        ({"date": "2026-02-30"}, "'2026-02-30' is not a day"),
        ({"date": "2023-12-31"}, "before the first partition, 2024-01-01"),
        ({"since": "2026-03-02", "until": "2026-03-01"}, "--from 2026-03-02 is after --to 2026-03-01"),
        ({"date": "2026-03-01", "since": "2026-03-01"}, "not both"),
        ({"date": "2026-03-01", "until": "2026-03-01"}, "not both"),
    ],
)
def test_days_that_cannot_be_run_are_refused(settings, asked, message):
    with pytest.raises(SlowwaveError, match=message):
        choose_days(settings, **asked)


@pytest.mark.parametrize("asked", ["date", "since"])
def test_a_day_to_come_is_refused(settings, asked):
    tomorrow = (datetime.now(UTC).date() + timedelta(days=1)).isoformat()
    with pytest.raises(SlowwaveError, match=f"{tomorrow} is in the future"):
        choose_days(settings, **{asked: tomorrow})


# -- runs that died --------------------------------------------------------------------------------


def test_a_run_whose_process_is_gone_is_marked_failed():
    import socket

    @dg.op
    def nothing() -> None:
        pass

    @dg.job
    def job() -> None:
        nothing()

    with subprocess.Popen([sys.executable, "-c", "pass"]) as process:
        process.wait()
    host = socket.gethostname()
    with dg.DagsterInstance.ephemeral() as instance:
        made = {
            name: instance.create_run_for_job(job, status=dg.DagsterRunStatus.STARTED, tags=tags).run_id
            for name, tags in {
                "dead": {PROCESS_TAG: f"{host}:{process.pid}"},
                "mine": {PROCESS_TAG: f"{host}:{os.getpid()}"},
                "elsewhere": {PROCESS_TAG: f"another-host:{process.pid}"},
                "unknown": {},
            }.items()
        }
        assert end_dead_runs(instance) == [made["dead"]]
        found = {name: instance.get_run_by_id(run).status for name, run in made.items()}
        assert found.pop("dead") == dg.DagsterRunStatus.FAILURE
        assert set(found.values()) == {dg.DagsterRunStatus.STARTED}
        assert end_dead_runs(instance) == []


def test_a_number_that_came_again_is_another_process():
    mine = process()
    assert not is_dead(mine)
    host, number, began = mine.split(":")
    assert is_dead(f"{host}:{number}:{int(began) - 1}")  # of the container before this one
    assert not is_dead(f"another:{number}:{int(began) - 1}")
    assert not is_dead("")


@pytest.mark.slow
def test_a_night_that_fails_says_why_and_the_next_one_goes_on(settings, act, monkeypatch):
    with Journal.open_path(settings.journal_file) as journal:
        journal.append([act("a", FACTS[0], at=datetime(2026, 3, 1, 12, tzinfo=UTC))])
    from slowwave.assets import ingest

    def fails(*_args: object, **_options: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(ingest, "admit_batch", fails)
    report = run_night(settings, "2026-03-01", "2026-03-01")
    assert (report["success"], report["live"]) == (False, 0)
    assert any("no space left on device" in error for error in report["errors"])
    assert pending_days(settings) == ["2026-03-01"]
    monkeypatch.undo()
    assert run_night(settings, "2026-03-01", "2026-03-01")["live"] == 1
    assert pending_days(settings) == []
