from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest
from prepared import take_over

from slowwave.assets import ingest
from slowwave.assets.resources import SlowwaveResource
from slowwave.home.workspace import GATE_ACTIVATED, Workspace
from slowwave.journal import Journal
from slowwave.memory import Memory
from slowwave.orchestration.checks import accepted_notes
from slowwave.orchestration.definitions import definitions
from slowwave.quality.contract import CHECKS, run_contract
from slowwave.quality.gate_policy import GatePolicy
from slowwave.settings import Settings, load

FIRST = datetime(2026, 3, 1, 12, tzinfo=UTC)
QUIET = {"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}}
NOTES = [asset.key.path[-1] for asset in ingest.ASSETS]
FACTS = (
    "The deploy day is Thursday since the second of March, decided by the whole team.",
    "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer.",
)


def run(home: Path, first: str, last: str) -> tuple[bool, list[str], dict[str, dg.AssetCheckEvaluation]]:
    """Whether a night succeeds, the assets it made, and what the contract found."""
    names = ("dagster/asset_partition_range_start", "dagster/asset_partition_range_end")
    job = definitions(SlowwaveResource(home=str(home))).resolve_job_def("night")
    with dg.DagsterInstance.ephemeral() as instance:
        done = job.execute_in_process(
            instance=instance,
            tags=dict(zip(names, (first, last), strict=True)),
            run_config=QUIET,
            raise_on_error=False,
        )
        made = [event.asset_key.path[-1] for event in done.get_asset_materialization_events()]
        found = {
            one.check_name: one
            for one in done.get_asset_check_evaluations()
            if one.check_name in {check.name for check in CHECKS}
        }
        return done.success, list(dict.fromkeys(made)), found


@pytest.fixture
def settings(home: Path, act, monkeypatch) -> Settings:
    take_over(home)
    monkeypatch.setenv("SLOWWAVE_GATE__MODE", "off")  # which the environment says for all tests
    monkeypatch.setenv("SLOWWAVE_GATE__MIN_CHARACTERS", "50")
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    made = load(home)
    with Journal.open_path(made.journal_file) as journal:
        journal.append(
            [
                act("a", FACTS[0], at=FIRST),
                act("b", FACTS[1], at=FIRST),
                act("stub", "too short", at=FIRST),
                # Of one memory on two days, and so no duplicate.
                act("a", FACTS[0], at=FIRST + timedelta(days=1)),
            ]
        )
    return made


@pytest.mark.slow
def test_the_contract_is_asked_once_of_all_days_of_a_run(settings, home):
    success, made, found = run(home, "2026-03-01", "2026-03-02")
    assert success
    assert "search_index" in made
    assert set(found) == {check.name for check in CHECKS}
    failed = [name for name, one in found.items() if not one.passed]
    assert failed == ["content_is_long_enough"]
    short = found["content_is_long_enough"]
    assert short.severity == dg.AssetCheckSeverity.WARN
    assert short.metadata["notes"].value == 4
    assert short.metadata["unexpected"].value == 1
    assert short.metadata["examples"].value.splitlines()[0] == "| note |"  # its id, and no word of it
    assert short.metadata["expectation"].value == "expect_column_values_to_be_between"

    # The same notes in a memory whose gate enforces: what was let in is a failure, and nothing follows it.
    space = Workspace(settings)
    batch = accepted_notes(space.store, ["2026-03-01"])
    assert (batch.height, space.gate_policy.enforces_at(FIRST)) == (3, False)
    checks = run_contract(batch, GatePolicy(score="seeds"), enforced=True).checks
    assert any(not one.passed and one.severity == "error" for one in checks)


def activate(settings: Settings, home: Path, at: datetime) -> None:
    """A gate that warns for a day from this moment on."""
    (home / "slowwave.toml").write_text(
        '[embedding]\nmodel = "wordllama-256"\n[gate]\nmode = "warn"\nwarn_days = 1\n'
    )
    space = Workspace(load(home, gate={"mode": "warn", "warn_days": 1}))
    space.store.put_meta(GATE_ACTIVATED, {"at": at.isoformat()})
    space.close()


@pytest.mark.slow
def test_notes_that_the_gate_only_warned_about_are_asked_apart(settings, home, monkeypatch):
    """In one run over the first enforced day what was let in before is a warning."""
    monkeypatch.delenv("SLOWWAVE_GATE__MODE")
    activate(settings, home, FIRST)  # so the notes of 2026-03-02 12:00 are the first that it may refuse
    success, made, found = run(home, "2026-03-01", "2026-03-02")
    assert success
    assert "search_index" in made
    short = found["content_is_long_enough"]
    assert (short.passed, short.severity) == (False, dg.AssetCheckSeverity.WARN)
    assert (short.metadata["notes"].value, short.metadata["unexpected"].value) == (3, 1)
    assert found["title_is_given"].severity == dg.AssetCheckSeverity.ERROR
    assert found["title_is_given"].metadata["notes"].value == 1


@pytest.mark.slow
def test_a_note_that_a_person_released_is_a_warning_of_the_contract(settings, home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_GATE__MODE", "enforce")
    assert run(home, "2026-03-01", "2026-03-02")[0]
    with Memory(load(home), namespace="ada") as memory:
        (held,) = memory.quarantine()
        assert memory.release(held["quarantine_id"]).status == "live"
    today = datetime.now(UTC).date().isoformat()
    success, made, found = run(home, today, today)
    assert success
    assert "search_index" in made
    short = found["content_is_long_enough"]
    assert (short.passed, short.severity) == (False, dg.AssetCheckSeverity.WARN)


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "passed"), [("enforce", True), ("off", False)])
def test_exact_duplicates_are_a_warning_that_stops_nothing(settings, home, act, monkeypatch, mode, passed):
    monkeypatch.setenv("SLOWWAVE_GATE__MODE", mode)
    with Journal.open_path(settings.journal_file) as journal:
        journal.append([act("copy", FACTS[1], at=FIRST)])
    job = definitions(SlowwaveResource(home=str(home))).resolve_job_def("night")
    with dg.DagsterInstance.ephemeral() as instance:
        done = job.execute_in_process(instance=instance, partition_key="2026-03-01", run_config=QUIET)
        (found,) = [
            one for one in done.get_asset_check_evaluations() if one.check_name == "no_exact_duplicates"
        ]
    assert done.success
    assert (found.passed, found.severity) == (passed, dg.AssetCheckSeverity.WARN)


@pytest.mark.slow
def test_a_gate_that_lets_a_bad_note_in_stops_the_night(settings, home, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_GATE__MODE", "enforce")
    monkeypatch.setattr("slowwave.quality.gate.faults_of", lambda note, **_: [])
    success, made, found = run(home, "2026-03-01", "2026-03-01")
    assert not success
    # What people said of memories rests on no note: that part of the night goes on.
    assert [name for name in made if name in NOTES] == ["staged_notes", "gate_verdicts"]
    assert [name for name, one in found.items() if not one.passed] == ["content_is_long_enough"]
    assert found["content_is_long_enough"].severity == dg.AssetCheckSeverity.ERROR
