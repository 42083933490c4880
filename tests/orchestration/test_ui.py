"""The command that opens Dagster's page, before it does and after it ended."""

from __future__ import annotations

import json
import socket
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
import servers
import typer
from click.testing import Result
from typer.testing import CliRunner

from slowwave.errors import SlowwaveError
from slowwave.home.embedding_model import RESTORING
from slowwave.orchestration.cli import ui
from slowwave.serving.server import reserved
from slowwave.telemetry.nightly_figures import note_night

RUNS = "slowwave.orchestration.process_groups.run_group"


@pytest.fixture
def opens(home: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Runs the command in this process."""
    home.mkdir(exist_ok=True)
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))
    program = typer.Typer()
    program.command("ui")(ui)
    return lambda *words: CliRunner().invoke(program, list(words))


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[tuple[list[str], dict[str, Any]]]:
    """What was started, in the place of Dagster, which ends as it was asked to."""
    seen: list[tuple[list[str], dict[str, Any]]] = []

    def run(command: list[str], environment: dict[str, str], **options: Any) -> int:
        seen.append((command, options))
        return 0

    monkeypatch.setattr(RUNS, run)
    return seen


def test_a_port_that_is_taken_is_told_before_anything_starts(opens, started, home):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = opens("--port", str(taken.getsockname()[1]))
    assert done.exit_code == 1
    assert "Cannot listen on" in done.stderr
    assert "Set another port with --port" in done.stderr
    assert done.stdout == ""
    assert not started
    assert not (home / "dagster").exists()


def test_dagster_says_warnings_alone_and_no_colours_into_a_file(opens, started):
    port = str(servers.free_port())
    assert opens("--port", port).exit_code == 0
    ((command, options),) = started
    assert command[-6:] == ["-h", "127.0.0.1", "-p", port, "--log-level", "warning"]
    assert callable(options.pop("before_end"))
    assert options == {"with_input": False, "plain": True, "json": False}


def test_with_log_lines_as_json_those_of_dagster_are_too(opens, started, monkeypatch):
    monkeypatch.setenv("SLOWWAVE_TELEMETRY__LOGS", "json")
    begun: list[str] = []
    monkeypatch.setattr("slowwave.telemetry.logs.begin_logs", begun.append)
    opens("--port", str(servers.free_port()))
    assert started[0][0][-2:] == ["--log-format", "json"]
    assert started[0][1]["json"]
    assert begun == ["json"]


def test_that_it_ended_by_itself_is_an_error(opens, monkeypatch):
    monkeypatch.setattr(RUNS, lambda *_, **__: 1)
    done = opens("--port", str(servers.free_port()))
    assert done.exit_code == 1
    assert "exited unexpectedly" in done.stderr


def test_a_home_that_is_half_restored_is_refused(opens, started, home):
    (home / RESTORING).write_text(json.dumps({"backup": "one"}))
    done = opens("--port", str(servers.free_port()))
    assert done.exit_code == 1
    assert "run the same `slowwave restore` again" in done.stderr
    assert not started


def test_it_serves_what_the_nights_came_to_where_a_port_is_set(opens, home, monkeypatch):
    pytest.importorskip("prometheus_client")
    home.mkdir(exist_ok=True)
    note_night(home, "night", 2.0, 1e9, failed=False)
    metrics = servers.free_port()
    monkeypatch.setenv("SLOWWAVE_TELEMETRY__METRICS_PORT", str(metrics))
    answers: list[str] = []

    def run(*_: Any, **__: Any) -> int:
        with urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=60) as answer:
            answers.append(answer.read().decode())
        return 0

    monkeypatch.setattr(RUNS, run)
    done = opens("--port", str(servers.free_port()))
    assert done.exit_code == 0, done.stderr
    assert f"http://127.0.0.1:{metrics}/metrics" in done.stdout.replace("\n", "")
    assert 'slowwave_night_runs_total{slowwave_job="night"} 1.0' in answers[0]
    assert "slowwave_ready" not in answers[0]
    assert not (home / "lance").exists(), "no table is opened for it"
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(f"http://127.0.0.1:{metrics}/metrics", timeout=60)


def test_beside_a_running_memory_metrics_are_left_to_it(opens, started, monkeypatch):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        monkeypatch.setenv("SLOWWAVE_TELEMETRY__METRICS_PORT", str(taken.getsockname()[1]))
        done = opens("--port", str(servers.free_port()), "--with-input")
    assert done.exit_code == 0, done.stderr
    assert started[0][1]["with_input"]
    assert done.stdout == "", "`slowwave up` says where the page is"


def test_a_port_that_somebody_will_listen_on_is_reserved_once():
    """Two that start at the same moment: the page of the first listens only seconds later."""
    with ExitStack() as parts:
        first = parts.enter_context(reserved("127.0.0.1", servers.free_port()))
        with socket.create_server(("127.0.0.1", first)):  # whom it is reserved for may have it
            pass
        with pytest.raises(SlowwaveError, match="Set another port with --ui-port"):
            parts.enter_context(reserved("127.0.0.1", first, "--ui-port"))
        other = parts.enter_context(reserved("127.0.0.1", first, or_any=True))
        assert other not in (0, first)
    with reserved("127.0.0.1", first) as again:
        assert again == first


@pytest.mark.parametrize("host", ["203.0.113.7", "no.such.host.invalid", "☃" * 300])
def test_an_address_that_is_none_is_told(opens, started, host):
    done = opens("--host", host, "--port", str(servers.free_port()))
    assert done.exit_code == 1
    assert "Cannot listen on" in done.stderr
    assert not started
