"""A running web server of Dagster for the tests of its page, and what they ask of it."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from command_runner import run_command

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium-headless-shell") or shutil.which("chromium") or "/usr/bin/chromium"
"""Without windows it takes half of the CPU."""
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
PATIENCE_S = 180
SCREENSHOTS = os.environ.get("SLOWWAVE_TEST_SCREENSHOTS")  # a folder to keep them in
RUNS = """{ runsOrError(limit: 20) { ... on Runs { results {
    runId status jobName tags { key value } assetSelection { path } assetCheckSelection { name }
    stepStats { stepKey status attempts { startTime } }
} } } }"""

needs_chromium = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason="no Chromium here: install Debian's package `chromium-headless-shell`"
)


AS_FOR_EVERY_TEST = {
    "SLOWWAVE_GATE__MODE": "enforce", "SLOWWAVE_GATE__MIN_QUALITY": "0", "SLOWWAVE_RANKING__CUT_SHARE": "0",
    "SLOWWAVE_RANKING__FIT_FLOOR": "0",
}  # fmt: skip


def environment(home: Path) -> dict[str, str]:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE_", "DAGSTER_"))
    }
    clean |= AS_FOR_EVERY_TEST
    model = "wordllama-256"
    return {**clean, "PYTHONPATH": str(ROOT), "SLOWWAVE_HOME": str(home), "SLOWWAVE_EMBEDDING__MODEL": model}


def slowwave(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from slowwave.cli import main; main()", *map(str, arguments)]


def run(home: Path, *arguments: object) -> dict[str, Any]:
    done = run_command(*arguments, "--json", environment=environment(home), cwd=home.parent)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout)


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def eventually(what: str, look: Callable[[], Any]) -> Any:
    """The first result of `look` that is something."""
    limit = time.monotonic() + PATIENCE_S
    while time.monotonic() < limit:
        if found := look():
            return found
        time.sleep(0.5)
    raise AssertionError(f"{what}: not within {PATIENCE_S} s")


@dataclass(frozen=True)
class Server:
    """A running web server of Dagster."""

    url: str
    home: Path
    process: int = 0

    def ask(self, query: str) -> dict[str, Any]:
        """Answer of its GraphQL interface."""
        body = json.dumps({"query": query}).encode()
        request = urllib.request.Request(f"{self.url}/graphql", body, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=30) as answer:
            return json.load(answer)["data"]

    def runs(self) -> list[dict[str, Any]]:
        """Runs that were not asked for by a sensor or the schedule."""
        found = self.ask(RUNS)["runsOrError"]["results"]
        automatic = {"dagster/sensor_name", "dagster/schedule_name"}
        return [one for one in found if not automatic & {tag["key"] for tag in one["tags"]}]

    def ended(self) -> list[dict[str, Any]]:
        """These runs, once they are all over."""
        found = self.runs()
        over = {"SUCCESS", "FAILURE", "CANCELED"}
        return found if all(one["status"] in over for one in found) else []

    def materialized(self) -> set[str]:
        """Assets that were ever made."""
        query = "{ assetNodes { assetKey { path } assetMaterializations(limit: 1) { runId } } }"
        nodes = self.ask(query)["assetNodes"]
        return {one["assetKey"]["path"][-1] for one in nodes if one["assetMaterializations"]}

    def red_checks(self) -> list[str]:
        """Checks that the page shows as failed; a warning is shown in another colour."""
        query = """{ assetNodes { assetChecksOrError { ... on AssetChecks { checks {
            name executionForLatestMaterialization { status evaluation { severity } } } } } } }"""
        found = [
            one
            for node in self.ask(query)["assetNodes"]
            for one in node["assetChecksOrError"].get("checks", [])
        ]
        last = [(one["name"], one["executionForLatestMaterialization"]) for one in found]
        return [
            name
            for name, run in last
            if run
            and run["status"] in ("FAILED", "EXECUTION_FAILED")
            and (run["evaluation"] or {}).get("severity") != "WARN"
        ]

    def answers(self) -> bool:
        try:
            with urllib.request.urlopen(f"{self.url}/server_info", timeout=5) as answer:
                return answer.status == 200
        except (urllib.error.URLError, OSError):
            return False


def serve(command: list[str], url: str, home: Path, folder: Path, log: Path) -> Iterator[Server]:
    """Run a server until the test is done, then end it and all that it started."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command,
            env=environment(home),
            cwd=folder,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    server = Server(url, home, process.pid)
    children: list[Any] = []
    try:

        def up() -> bool:
            assert process.poll() is None, log.read_text()
            return server.answers()

        eventually(f"{url} answers", up)
        yield server
        children = descendants(process.pid)
    finally:
        children = children or descendants(process.pid)
        end(process, children)


def descendants(pid: int) -> list[Any]:
    """All that a process has started."""
    import psutil

    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


def alive(process: Any) -> bool:
    """Whether a process does anything: a zombie has ended."""
    import psutil

    try:
        return process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def end(process: subprocess.Popen[bytes], children: list[Any]) -> None:
    """Ctrl-C, as a person would; what has not ended 30 s later is killed."""
    import psutil

    if process.poll() is None:
        os.killpg(process.pid, signal.SIGINT)
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    for child in psutil.wait_procs(children, timeout=15)[1]:
        child.kill()


def ui(home: Path, folder: Path) -> Iterator[Server]:
    """`slowwave ui` of a home, until the test is done."""
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    yield from serve(slowwave("ui", "--port", port), url, home, folder, folder / "ui.log")
