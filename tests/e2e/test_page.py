"""What a person does on the web page: look at the assets, materialise a day by clicks, then search."""

from __future__ import annotations

import json
import os
import re
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
from datetime import UTC, datetime, timedelta
from datetime import time as clock
from pathlib import Path
from typing import Any

import feedback_days as march
import pytest
from evaluation_nights import asked, fold, journal, label, make_home

from orchestration.night import run_night
from slowwave import ids

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
    "--disable-component-update", "--disable-sync",
)  # fmt: skip
ASSETS = ("staged_notes", "gate_verdicts", "embedded_chunks", "memories", "search_index")
FEEDBACK = (
    "searches", "events", "usage_signals", "effectiveness", "strength", "promotions", "memory_state",
)  # fmt: skip
EVALUATION = (
    "judgments", "evaluation_scores", "shadow_scores", "channel_attribution", "interleavings",
    "evaluation_cycles", "warehouse",
)  # fmt: skip
PATIENCE_S = 180
SCREENSHOTS = os.environ.get("SLOWWAVE_TEST_SCREENSHOTS")  # a folder to keep them in
RUNS = """{ runsOrError(limit: 20) { ... on Runs { results {
    runId status jobName tags { key value } assetSelection { path }
} } } }"""

needs_chromium = pytest.mark.skipif(
    not Path(CHROMIUM).exists(), reason="no Chromium here: install Debian's package `chromium`"
)


def environment(home: Path) -> dict[str, str]:
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE_", "DAGSTER_"))
    }
    clean |= {"SLOWWAVE_GATE__MODE": "enforce", "SLOWWAVE_GATE__MIN_QUALITY": "0"}  # as for every test
    model = "wordllama-256"
    return {**clean, "PYTHONPATH": str(ROOT), "SLOWWAVE_HOME": str(home), "SLOWWAVE_EMBEDDING__MODEL": model}


def slowwave(*arguments: object) -> list[str]:
    return [sys.executable, "-c", "from slowwave.cli import main; main()", *map(str, arguments)]


def run(home: Path, *arguments: object) -> dict[str, Any]:
    done = subprocess.run(
        slowwave(*arguments, "--json"), env=environment(home), cwd=home.parent,
        capture_output=True, text=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
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
    server = Server(url, home)
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
    import psutil

    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.NoSuchProcess:
        return []


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


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A home that has looked at a vault and has had no night yet."""
    # The vault's acts belong to the day of `ingest`, and the click is for today's partition.
    now = datetime.now(UTC)
    before_midnight = (datetime.combine(now.date() + timedelta(days=1), clock(), UTC) - now).total_seconds()
    if before_midnight < 300:
        time.sleep(before_midnight + 1)
    vault = tmp_path / "vault"
    shutil.copytree(ROOT / "examples" / "vault", vault)
    run(tmp_path / "home", "ingest", vault)
    run(
        tmp_path / "home",
        "save",
        "We deploy on Thursday since 2 March; Friday is for repairs only.",
        "--key",
        "k",
    )
    found = run(tmp_path / "home", "search", "when do we deploy?")
    run(tmp_path / "home", "feedback", found["search_id"], "1", "helpful")
    run(tmp_path / "home", "observe", found["search_id"], "You deploy on Thursday, since March.")
    return tmp_path / "home"


@pytest.fixture
def page_server(home: Path, tmp_path: Path) -> Iterator[Server]:
    """`slowwave ui`."""
    port = free_port()
    log = tmp_path / "ui.log"
    yield from serve(slowwave("ui", "--port", port), f"http://127.0.0.1:{port}", home, tmp_path, log)


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Any]:
    """A page of headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        opened = browser.new_page(viewport={"width": 1600, "height": 1000})
        opened.set_default_timeout(60_000)
        # Dagster's invitation to its newsletter lies over the first page.
        skip = opened.get_by_role("button", name="Skip", exact=True)
        opened.add_locator_handler(skip, lambda button: button.dispatch_event("click"))
        try:
            yield opened
        finally:
            browser.close()


@pytest.fixture
def picture(page: Any, tmp_path: Path) -> Callable[[str], None]:
    """Keeps a screenshot under a name."""
    folder = Path(SCREENSHOTS or tmp_path / "screenshots")
    folder.mkdir(parents=True, exist_ok=True)

    def keep(name: str) -> None:
        if SCREENSHOTS:  # a person will look at them
            page.wait_for_timeout(2_500)  # the graph moves into its place
        page.screenshot(path=folder / f"{name}.png")

    return keep


@needs_chromium
def test_a_day_is_materialised_by_clicks_and_the_memory_answers(
    page_server: Server, page: Any, picture: Callable[[str], None]
) -> None:
    for group, names in {"ingest": ASSETS, "feedback": FEEDBACK, "evaluation": EVALUATION}.items():
        page.goto(f"{page_server.url}/locations/slowwave/asset-groups/{group}")
        for name in names:
            page.get_by_text(name, exact=True).first.wait_for()
        picture(f"1 assets of {group}")

    page.goto(f"{page_server.url}/assets/staged_notes")
    page.get_by_text("What each day brought").first.wait_for()
    picture("2 asset staged_notes before")

    page.goto(f"{page_server.url}/asset-groups")
    page.get_by_text("feedback", exact=True).first.wait_for()
    page.get_by_role("button", name="Materialize all").click()
    dialog = page.get_by_role("dialog").filter(has_text="Launch runs to materialize 19 assets")
    dialog.get_by_role("button", name="Latest", exact=True).click()
    dialog.get_by_text("1 partition", exact=True).first.wait_for()
    picture("3 choosing the partition")
    dialog.get_by_role("button", name=re.compile("^Launch ")).click()

    def succeeded() -> dict[str, Any] | None:
        mine = [one for one in page_server.runs() if one["assetSelection"]]
        assert not any(one["status"] in ("FAILURE", "CANCELED") for one in mine), mine
        return next((one for one in mine if one["status"] == "SUCCESS"), None)

    done = eventually("the run that was clicked for", succeeded)
    assert {asset["path"][-1] for asset in done["assetSelection"]} == {*ASSETS, *FEEDBACK, *EVALUATION}
    tags = {tag["key"]: tag["value"] for tag in done["tags"]}
    today = datetime.now(UTC).date()
    chosen = tags.get("dagster/partition") or tags["dagster/asset_partition_range_end"]
    assert abs((today - datetime.fromisoformat(chosen).date()).days) <= 1

    page.goto(f"{page_server.url}/runs/{done['runId']}")
    page.get_by_text("search_index").first.wait_for()
    picture("4 run")
    page.goto(f"{page_server.url}/locations/slowwave/asset-groups/feedback")
    page.get_by_text("memory_state", exact=True).first.wait_for()
    picture("5 assets of feedback after")
    for number, name in enumerate(ASSETS, start=6):
        page.goto(f"{page_server.url}/assets/{name}?view=overview")
        page.get_by_text(name, exact=True).first.wait_for()
        picture(f"{number} asset {name}")
    for name in ("events", "usage_signals", "effectiveness", "strength", "promotions"):
        page.goto(f"{page_server.url}/assets/{name}?view=overview")
        page.get_by_text("[Show Markdown]").first.click()
        drawn = page.get_by_role("dialog").locator("img").first
        drawn.wait_for()
        assert drawn.evaluate("image => image.naturalWidth") > 0  # the picture is there, not its address
        picture(f"12 {name}")
    page.goto(f"{page_server.url}/assets/gate_verdicts?view=checks")
    page.get_by_text("unique_key").first.wait_for()
    picture("11 checks of gate_verdicts")

    found = run(page_server.home, "search", "who is on call this week?")
    assert found["results"]
    assert found["results"][0]["source"].startswith("vault/")


def test_dagster_dev_with_the_workspace_file_serves_the_assets(home: Path, tmp_path: Path) -> None:
    port = free_port()
    command = [
        sys.executable,
        "-m",
        "dagster",
        "dev",
        "-w",
        "workspace.yaml",
        "-h",
        "127.0.0.1",
        "-p",
        str(port),
    ]
    for server in serve(command, f"http://127.0.0.1:{port}", home, ROOT, tmp_path / "dagster.log"):

        def assets(server: Server = server) -> set[str]:
            return {
                node["assetKey"]["path"][-1]
                for node in server.ask("{ assetNodes { assetKey { path } } }")["assetNodes"]
            }

        assert eventually("the assets", assets) == {*ASSETS, *FEEDBACK, *EVALUATION}


def test_dg_checks_the_definitions(home: Path) -> None:
    pytest.importorskip("dagster_dg_cli", reason="dagster-dg-cli is not installed")
    command = [sys.executable, "-c", "from dagster_dg_cli.cli import main; main()", "check", "defs"]
    done = subprocess.run(
        command,
        env=environment(home),
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "All definitions loaded successfully" in done.stdout + done.stderr


@needs_chromium
def test_the_page_of_the_cycles_shows_them_and_where_their_reports_are(
    tmp_path: Path, fast_embedder: Any, page: Any, picture: Callable[[str], None]
) -> None:
    settings = make_home(tmp_path / "home")
    asked_on = [(number, 1 + number % 14) for number in range(100)]
    journal(settings, [asked(number, day) for number, day in asked_on])
    deploy = ids.memory_id("ada", "deploy")
    label(settings, [(f"question {number}", deploy, 3, march.at(day)) for number, day in asked_on])
    fold(settings, 1, 14, fast_embedder)
    done = run_night(settings, march.name(1), march.name(14), job="evaluation")
    assert done["success"], done["errors"]
    port = free_port()
    log = tmp_path / "ui.log"
    command = slowwave("ui", "--port", port)
    for server in serve(command, f"http://127.0.0.1:{port}", settings.home, tmp_path, log):
        page.goto(f"{server.url}/assets/evaluation_cycles?view=overview")
        page.get_by_text("report of ada#1").first.wait_for()
        assert page.get_by_text(str(settings.home / "reports" / "cycle-ada-1.html")).first.is_visible()
        picture("13 evaluation_cycles")
        assert (
            page.get_by_role("row")
            .filter(has_text="ada#1")
            .filter(has_text=march.name(14))
            .first.is_visible()
        )
