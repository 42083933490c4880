"""What runs say on standard error, what a stopped night says, and that the night's database answers."""

import io
import json
import logging
import os
import tempfile
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest
import servers
from prepared import take_over

from slowwave.errors import SlowwaveError
from slowwave.orchestration import run_logging, run_nightly
from slowwave.orchestration.instance import PYTHON_LOGS, URL_VARIABLE, dagster_home
from slowwave.settings import load


@dg.op
def works(context: dg.OpExecutionContext) -> None:
    context.log.info("nobody needs this")
    context.log.warning("a judge is away\nand more")


@dg.op
def breaks() -> None:
    raise ValueError("the weir\nis closed")


@dg.op
def is_stopped() -> None:
    raise dg.DagsterExecutionInterruptedError


def told(op: Any, form: str, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What a run of one step says."""
    stream = io.StringIO()
    monkeypatch.setattr("sys.stderr", stream)
    monkeypatch.setattr(run_logging.RunLogHandler, "silent", False)
    monkeypatch.setenv("SLOWWAVE_TELEMETRY__LOGS", form)

    @dg.job
    def small() -> None:
        op()

    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "dagster.yaml").write_text(PYTHON_LOGS)
        with dg.DagsterInstance.from_config(folder) as instance:
            small.execute_in_process(
                instance=instance, raise_on_error=False, tags={"dagster/partition": "2026-03-02"},
                run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            )  # fmt: skip
    return [line for line in stream.getvalue().splitlines() if "slowwave.runs" in line or "small" in line]


def test_a_run_says_that_it_began_and_ended_and_what_is_a_warning(monkeypatch):
    begun, warned, ended = told(works, "plain", monkeypatch)
    assert begun.endswith("of small (2026-03-02) started")
    assert " WARNING slowwave.runs: run " in warned
    assert warned.endswith("(2026-03-02): a judge is away")
    assert ended.endswith("(2026-03-02) finished")


def test_a_run_that_failed_says_why_in_a_line(monkeypatch):
    _, step, run = told(breaks, "plain", monkeypatch)
    assert " ERROR slowwave.runs: " in step
    assert "failed at breaks: ValueError: the weir is closed" in step
    assert " ERROR slowwave.runs: " in run
    assert "(2026-03-02) failed" in run


def test_a_run_that_was_stopped_says_so_without_a_traceback(monkeypatch):
    _, step, run = told(is_stopped, "plain", monkeypatch)
    assert "was stopped at is_stopped; the next run repeats it" in step
    assert "ERROR" not in step + run


def test_in_json_the_words_of_errors_are_left_out(monkeypatch):
    lines = [json.loads(line) for line in told(breaks, "json", monkeypatch)]
    assert [one["level"] for one in lines] == ["info", "error", "error"]
    assert "weir" not in str(lines)
    assert "away" not in str(told(works, "json", monkeypatch))


def test_what_is_no_event_of_a_run_is_not_told():
    assert run_logging.format_event(logging.LogRecord("x", logging.INFO, "", 0, "said", (), None)) is None


def test_a_home_of_an_earlier_version_gets_the_present_log_handler(home):
    config = dagster_home(load(home)) / "dagster.yaml"
    config.write_text(config.read_text().replace(".run_logging.RunLogHandler", ".said.Handler"))
    dagster_home(load(home))
    with dg.DagsterInstance.from_config(str(config.parent)) as instance:
        assert [type(handler) for handler in instance.get_handlers()][-1] is run_logging.RunLogHandler


@pytest.mark.parametrize(
    "where", ["slowwave.assets.resources.SlowwaveResource.space", "slowwave.assets.ingest.staging.stage"]
)
def test_a_night_that_was_stopped_says_that_the_same_command_goes_on(home, monkeypatch, where):
    take_over(home)

    def stopped(*_: object, **__: object) -> None:
        raise dg.DagsterExecutionInterruptedError

    monkeypatch.setattr(where, property(stopped) if where.endswith("space") else stopped)
    day = datetime.now(UTC).date().isoformat()
    report = run_nightly.run_night(load(home, embedding={"model": "wordllama-256"}), day, day)
    assert not report["success"]
    (why,) = report["errors"]
    assert why.endswith("Finished steps are kept; run the same command to continue.")
    assert "Dagster" not in why


def test_of_a_chain_of_errors_any_may_be_the_interruption():
    root = SimpleNamespace(cls_name=run_logging.INTERRUPTED, cause=None)
    assert run_logging.is_interruption(SimpleNamespace(cls_name="Other", cause=root))
    assert not run_logging.is_interruption(SimpleNamespace(cls_name="Other", cause=None))
    assert run_logging.cause_of(SimpleNamespace(cause=root)) is root


# -- the night's database --------------------------------------------------------------------------


@pytest.fixture
def free_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is set for Dagster is taken back."""
    monkeypatch.setenv(URL_VARIABLE, "")


needs_a_driver = pytest.mark.skipif(
    find_spec("dagster_postgres") is None, reason="the extra server is not installed"
)


@pytest.mark.usefixtures("free_variable")
@needs_a_driver
def test_a_database_that_is_not_there_is_told_with_its_address_and_no_password(tmp_path):
    address = f"postgresql://ada:secretzyx@127.0.0.1:{servers.free_port()}/dagster"
    settings = load(tmp_path, night={"dagster_url": address})
    with pytest.raises(SlowwaveError) as caught:
        dagster_home(settings)
    words = str(caught.value)
    assert "night.dagster_url is postgresql://ada:***@127.0.0.1" in words
    assert "Connection refused" in words
    assert "PGPASSWORD" in words
    assert "secretzyx" not in words
    assert "\n" not in words


@pytest.mark.slow
@pytest.mark.usefixtures("free_variable")
@needs_a_driver
def test_a_database_without_the_night_s_own_is_told_and_one_with_it_serves(tmp_path):
    with servers.postgres() as address:
        missing = load(tmp_path, night={"dagster_url": address.replace("/postgres", "/nosuchdatabase")})
        with pytest.raises(SlowwaveError, match='"nosuchdatabase" does not exist'):
            dagster_home(missing)
        assert dagster_home(load(tmp_path, night={"dagster_url": address})).is_dir()
        assert os.environ[URL_VARIABLE].startswith("postgresql+psycopg2://")
