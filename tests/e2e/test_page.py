"""What a person does on the web page: look at the assets, materialise a day by clicks, then search."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from datetime import time as clock
from pathlib import Path
from typing import Any

import feedback_days as march
import polars as pl
import pytest
from evaluation_nights import asked, fold, journal, label, make_home
from polars.testing import assert_frame_equal
from web_page import (
    PATIENCE_S,
    ROOT,
    Server,
    alive,
    descendants,
    environment,
    eventually,
    free_port,
    needs_chromium,
    run,
    serve,
    ui,
)

from slowwave.common import ids
from slowwave.home.workspace import Workspace
from slowwave.maintenance.stale_partitions import stale_partitions
from slowwave.orchestration.instance import dagster_home
from slowwave.orchestration.run_nightly import run_night
from slowwave.settings import Settings, load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

ASSETS = ("staged_notes", "gate_verdicts", "embedded_chunks", "memories", "search_index")
FEEDBACK = (
    "searches", "events", "usage_signals", "effectiveness", "strength", "promotions", "memory_state",
)  # fmt: skip
EVALUATION = (
    "judgments", "evaluation_scores", "shadow_scores", "channel_attribution", "interleavings",
    "evaluation_cycles",
)  # fmt: skip
PROPOSED = (
    "learned_proposals", "search_views", "learned_matches", "learned_effect", "learning_gate",
)  # fmt: skip
GATED = ("learned_triggers", "search_keys")
GLANCE = ("at_a_glance", "trend", "warehouse")
GROUPS = {
    "at_a_glance": GLANCE, "ingest": ASSETS, "feedback": FEEDBACK, "evaluation": EVALUATION,
    "learning": (*PROPOSED, *GATED),
}  # fmt: skip
EVERYTHING = {name for names in GROUPS.values() for name in names}


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
    yield from ui(home, tmp_path)


@needs_chromium
def test_a_day_is_materialised_by_clicks_and_the_memory_answers(
    page_server: Server, page: Any, picture: Callable[[str], None]
) -> None:
    for group, names in GROUPS.items():
        page.goto(f"{page_server.url}/locations/slowwave/asset-groups/{group}")
        for name in names:
            page.get_by_text(name, exact=True).first.wait_for()
        picture(f"1 assets of {group}")

    page.goto(f"{page_server.url}/assets/staged_notes")
    page.get_by_text("Notes saved, changed or deleted each day").first.wait_for()
    picture("2 asset staged_notes before")

    page.goto(f"{page_server.url}/asset-groups")
    page.get_by_text("feedback", exact=True).first.wait_for()
    page.get_by_role("button", name="Materialize all").click()
    dialog = page.get_by_role("dialog").filter(
        has_text=f"Launch runs to materialize {len(EVERYTHING)} assets"
    )
    dialog.get_by_role("button", name="Latest", exact=True).click()
    dialog.get_by_text("1 partition", exact=True).first.wait_for()
    picture("3 choosing the partition")
    dialog.get_by_role("button", name=re.compile("^Launch ")).click()

    # What is behind the learning gate is refused, and nothing fails.
    (done,) = eventually("the run that was clicked for", page_server.ended)
    assert {asset["path"][-1] for asset in done["assetSelection"]} == EVERYTHING
    assert done["status"] == "SUCCESS"
    assert page_server.materialized() == EVERYTHING.difference(GATED)
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

    the_control_room(page_server, page, picture)
    a_failed_run_is_mended(page_server, page, picture)


def the_control_room(server: Server, page: Any, picture: Callable[[str], None]) -> None:
    """What an operator sees at a glance: a line, what to do, and numbers with their history."""
    page.goto(f"{server.url}/assets")  # the first of the list
    page.get_by_role("link", name="at_a_glance").first.wait_for()
    picture("14 catalog")
    page.goto(f"{server.url}/assets/at_a_glance?view=overview")
    row = page.get_by_role("row").filter(has_text="in a line")
    row.get_by_text(re.compile(r"^\d+ memories; \d+ items for a person to decide; nothing to f")).wait_for()
    todo = page.get_by_role("row").filter(has_text="what to do")
    todo.get_by_text("slowwave quarantine list").wait_for()
    live = page.get_by_role("row").filter(has_text="memories now").get_by_role("cell").last.inner_text()
    assert int(live) > 10
    page.get_by_text("operators", exact=True).first.wait_for()  # who answers for it
    picture("15 at a glance")
    page.get_by_role("button", name="Plots").click()
    for name in ("memories now", "notes refused", "waits for a person"):
        page.get_by_text(name, exact=True).wait_for()
    assert page.locator("canvas").count() > 8
    picture("16 its plots")
    page.goto(f"{server.url}/assets/memory_state?view=overview")
    page.get_by_text("Warns if more than 26 hours since last materialization").wait_for()


def a_failed_run_is_mended(server: Server, page: Any, picture: Callable[[str], None]) -> None:
    """A form that asks only for the day; a run that fails; the cause mended; again from the failure."""
    warehouse = server.home / "warehouse.duckdb"
    warehouse.unlink()
    warehouse.mkdir()  # somebody made a folder where the file belongs
    known = {one["runId"] for one in server.runs()}

    def next_run() -> dict[str, Any] | None:
        """The one that was started last, once it is over; from then on it is known."""
        new = [one for one in server.ended() if one["runId"] not in known]
        known.update(one["runId"] for one in new)
        return new[0] if new else None

    page.goto(f"{server.url}/locations/slowwave/jobs/evaluation")
    page.get_by_role("button", name="Materialize all").click()
    dialog = page.get_by_role("dialog").filter(has_text="Launch runs to materialize")
    dialog.get_by_role("button", name="Latest", exact=True).click()
    dialog.get_by_text("1 partition", exact=True).first.wait_for()
    picture("17 the form of a job")
    dialog.get_by_role("button", name=re.compile("^Launch ")).click()

    failed = eventually("the run of the form", next_run)
    assert (failed["jobName"], failed["status"]) == ("evaluation", "FAILURE")
    steps = {one["stepKey"]: one["status"] for one in failed["stepStats"]}
    assert steps["warehouse"] == "FAILURE"
    assert steps["at_a_glance"] == "SUCCESS"
    page.goto(f"{server.url}/runs/{failed['runId']}")
    page.get_by_text("Failure", exact=True).first.wait_for()
    picture("18 the failed run")
    warehouse.rmdir()
    page.get_by_role("button", name="Re-execute all").locator("xpath=following::button[1]").click()
    picture("19 mending it")
    page.get_by_text("From failure", exact=True).click()
    mended = eventually("the second run", next_run)
    assert mended["status"] == "SUCCESS"
    assert [one["stepKey"] for one in mended["stepStats"]] == ["warehouse"]
    assert warehouse.is_file()


@pytest.mark.soak
def test_a_home_of_a_former_version_shows_no_invitation_and_term_leaves_no_process(
    home: Path, tmp_path: Path
) -> None:
    folder = home / "dagster"
    folder.mkdir()
    (folder / "dagster.yaml").write_text("telemetry: {enabled: false}")
    for server in ui(home, tmp_path):
        assert server.ask("{ shouldShowNux }") == {"shouldShowNux": False}
        started = descendants(server.process)
        assert len(started) >= 4  # the web server, the daemon, the code server and its own
        os.kill(server.process, signal.SIGTERM)
        eventually("the end of all", lambda started=started: not any(map(alive, started)))


def test_dagster_dev_with_the_workspace_file_serves_the_assets(home: Path, tmp_path: Path) -> None:
    dagster_home(load(home))  # the checkout's .env names it
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
                for node in server.ask("{ assetNodes { assetKey { path } isMaterializable } }")["assetNodes"]
                if node["isMaterializable"]
            }

        assert eventually("the assets", assets) == EVERYTHING


@pytest.mark.soak  # `make check`, which `make test` begins with, does the same
def test_dg_checks_the_definitions(home: Path) -> None:
    pytest.importorskip("dagster_dg_cli", reason="dagster-dg-cli is not installed")
    dagster_home(load(home))
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
@pytest.mark.soak
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
    for server in ui(settings.home, tmp_path):
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
        days_are_filled_in(server, page, picture)


def days_are_filled_in(server: Server, page: Any, picture: Callable[[str], None]) -> None:
    """A backfill of past days is one run, and each of its days has a point in the plots."""
    page.goto(f"{server.url}/assets/at_a_glance?view=overview")
    page.get_by_role("button", name=re.compile("Materialize")).first.click()
    page.get_by_role("button", name="Confirm").click()  # no night of Dagster made what it rests on
    dialog = page.get_by_role("dialog").filter(has_text="Launch runs to materialize at_a_glance")
    dialog.get_by_text("Show all partitions").click()  # it knows 90 days, and says so
    chosen = dialog.get_by_role("textbox").first
    chosen.fill(f"[{march.name(1)}...{march.name(14)}]")
    chosen.press("Enter")
    dialog.get_by_text("14 partitions", exact=True).first.wait_for()
    dialog.get_by_text("Backfills all partitions in a single run.").wait_for()
    picture("20 a backfill")
    dialog.get_by_role("button", name="Launch backfill").click()

    def filled_in() -> list[dict[str, Any]]:
        return [one for one in server.ended() if one["status"] != "QUEUED" and _is_backfill(one)]

    (done,) = eventually("the backfill", filled_in)
    assert done["status"] == "SUCCESS"
    tags = {one["key"]: one["value"] for one in done["tags"]}
    assert tags["dagster/asset_partition_range_start"] == march.name(1)
    assert tags["dagster/asset_partition_range_end"] == march.name(14)
    page.goto(f"{server.url}/assets/at_a_glance?view=overview")
    page.get_by_role("button", name="Plots").click()
    events = page.get_by_role("button").filter(has_text=re.compile("^Events$"))
    events.click()  # the button Partitions draws the latest ones alone
    page.get_by_text("nDCG@10", exact=True).wait_for()
    picture("21 its plots")


TABLES = ("memories", "usage_signals", "effectiveness", "strength", "promotions", "memory_state")


@needs_chromium
@pytest.mark.soak
def test_past_days_filled_in_by_clicks_in_any_order_are_those_of_daily_runs(
    tmp_path: Path, page: Any, picture: Callable[[str], None]
) -> None:
    """The later five days first. Self-dependent assets run apart, so each backfill is several runs."""
    daily, clicked = (lived(tmp_path / name) for name in ("daily", "clicked"))
    for day in range(1, 11):
        assert run_night(daily, march.name(day), march.name(day))["success"]
    for server in ui(clicked.home, tmp_path):
        for first, last in ((6, 10), (1, 5)):
            before = len(backfills(server))
            page.goto(f"{server.url}/jobs")
            page.goto(f"{server.url}/locations/slowwave/jobs/night")
            page.get_by_role("button", name=re.compile("Materialize all")).first.click()
            dialog = page.get_by_role("dialog").filter(has_text="Launch runs to materialize")
            dialog.get_by_text("Show all partitions").click()
            chosen = dialog.get_by_role("textbox").first
            chosen.fill(f"[{march.name(first)}...{march.name(last)}]")
            chosen.press("Enter")
            dialog.get_by_text("5 partitions", exact=True).first.wait_for()
            picture(f"22 backfill of {first} to {last}")
            dialog.get_by_role("button", name="Launch backfill").click()
            eventually(
                "the backfill",
                lambda before=before, server=server: len(backfills(server)) > before and all_done(server),
            )
        eventually("what is due", lambda: not due_days_of(clicked))
        page.goto(f"{server.url}/runs")
        page.get_by_text("night").first.wait_for()
        picture("23 runs")
    for name in TABLES:
        ours, theirs = (rows_of_table(one, name) for one in (clicked, daily))
        assert_frame_equal(ours, theirs, check_exact=True)


def lived(home: Path) -> Settings:
    """A home of ten past days of notes, searches and ratings, and no night."""
    settings = make_home(home)
    acts = []
    for day in range(1, 11):
        name = ids.memory_id("ada", "deploy")
        who = {"principal": f"p{day}"}
        acts += [
            march.search(f"s{day}", march.at(day, 1), [name], **who),
            march.rating(f"s{day}", march.at(day, 2), name, "unhelpful" if day == 3 else "helpful", **who),
        ]
    journal(settings, acts)
    return settings


def backfills(server: Server) -> list[str]:
    """States of the backfills."""
    found = server.ask("{ partitionBackfillsOrError { ... on PartitionBackfills { results { status } } } }")
    return [one["status"] for one in found["partitionBackfillsOrError"]["results"]]


def all_done(server: Server) -> bool:
    return all(one.startswith("COMPLETED") for one in backfills(server)) and bool(server.ended())


def due_days_of(settings: Settings) -> list[str]:
    space = Workspace(settings)
    try:
        found = stale_partitions(space.journal, space.store)
    finally:
        space.close()
    return [*found.notes, *found.feedback]


def rows_of_table(settings: Settings, name: str) -> pl.DataFrame:
    store = Workspace(settings).store
    return store.read(name).sort(store.specs[name].key)


def _is_backfill(run: dict[str, Any]) -> bool:
    return any(one["key"] == "dagster/backfill" for one in run["tags"])
