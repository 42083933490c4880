"""A click on what is behind the learning gate: refused, and the page shows why."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from evaluation_nights import make_home
from learning_rows import put_ready
from web_page import Server, eventually, needs_chromium, ui

from slowwave.home.processing_watermarks import NOTES
from slowwave.home.workspace import Workspace
from slowwave.journal import Entry
from slowwave.journal.kinds.learning import APPROVE
from slowwave.learning.events import learning_events
from slowwave.quality.learning_gate import CONDITIONS
from slowwave.store import Store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), needs_chromium]

TABLES = ("learned_triggers", "learned_proposals", "learning_log", "learning_gate")
DAYS_AGO = 12


@pytest.fixture
def space(tmp_path: Path, fast_embedder: Any, act: Callable[..., Entry]) -> Iterator[Workspace]:
    """A home whose gate lacks nothing but a person's word; of some days ago it lacked nearly all."""
    opened = Workspace(make_home(tmp_path / "home"))
    opened.__dict__["embedder"] = fast_embedder
    put_ready(opened.store, datetime.now(UTC))
    began = datetime.now(UTC) - timedelta(days=2 * DAYS_AGO)  # the page has days from the first act on
    opened.journal.append([act("lamp", "The lamp on the pier is red since the storm.", at=began)])
    NOTES.finish(opened.store, {f"{began:%F}": {"seq": 1_000}})  # no sensor runs its night
    yield opened
    opened.close()


@pytest.fixture
def server(space: Workspace, tmp_path: Path) -> Iterator[Server]:
    """`slowwave ui`."""
    yield from ui(space.settings.home, tmp_path)


def rows(store: Store) -> dict[str, list[str]]:
    """Keys of the rows of learning, but for the canary's."""
    keys = {name: store.read(name)[store.specs[name].key].sort().to_list() for name in TABLES}
    return {name: [key for key in found if not key.startswith("~")] for name, found in keys.items()}


def shown(page: Any, picture: Callable[[str], None], name: str) -> list[list[str]]:
    """The rows of the table of evidence, of which the page first shows a link."""
    page.get_by_text("[Show Markdown]").first.click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_role("cell", name="shadow week").first.wait_for()
    picture(name)
    found = [row.get_by_role("cell").all_inner_texts() for row in dialog.get_by_role("row").all()[1:]]
    dialog.get_by_role("button", name="Close").click()
    return found


@pytest.mark.soak
def test_a_click_on_the_gated_asset_is_refused_and_the_page_says_why(
    server: Server, space: Workspace, page: Any, picture: Callable[[str], None]
) -> None:
    before = rows(space.store)
    day = (datetime.now(UTC) - timedelta(days=DAYS_AGO)).date().isoformat()
    page.goto(f"{server.url}/assets/learned_triggers?view=overview")
    page.get_by_text("Refused before anything is written").wait_for()
    picture("20 learned_triggers before")
    page.get_by_role("button", name=re.compile("Materialize")).first.click()
    page.get_by_role("button", name="Confirm").click()  # nothing above it was ever made
    dialog = page.get_by_role("dialog").filter(has_text="Launch runs to materialize learned_triggers")
    chosen = dialog.get_by_role("textbox").first
    chosen.fill(day)
    chosen.press("Enter")
    dialog.get_by_text("1 partition", exact=True).first.wait_for()
    picture("21 choosing a past day")
    dialog.get_by_role("button", name="Launch 1 run").click()

    (refused,) = eventually("the run that was clicked for", server.ended)
    assert refused["status"] == "SUCCESS"  # so that no check counts as failed, and nobody is alerted
    (step,) = [one for one in refused["stepStats"] if one["stepKey"] == "learned_triggers"]
    assert (step["status"], len(step["attempts"])) == ("SUCCESS", 1)
    tags = {one["key"]: one["value"] for one in refused["tags"]}
    assert tags["dagster/partition"] == day
    assert tags["slowwave/refused"] == "the learning gate is closed"
    assert server.red_checks() == []
    assert "learned_triggers" not in server.materialized()
    # A sensor evaluates the days meanwhile, which is what `learning_gate` gets rows from.
    assert rows(space.store) | {"learning_gate": []} == before | {"learning_gate": []}

    page.goto(f"{server.url}/runs/{refused['runId']}")
    page.get_by_text(f"The learning gate is closed at the end of {day}").first.wait_for()
    page.get_by_text("- approval: not given (needs a person's approval)").first.wait_for()
    picture("22 the refused run")
    evidence = {name: state for _, name, state, *_ in shown(page, picture, "23 why it was refused")}
    assert tuple(evidence) == CONDITIONS
    assert evidence["cycles"] == evidence["shadow week"] == evidence["approval"] == "insufficient"
    assert evidence["isolation"] == "open"
    page.goto(f"{server.url}/assets/learned_triggers?view=overview")
    page.get_by_text("Materialized", exact=True).first.wait_for(state="detached")
    picture("24 learned_triggers after")


@pytest.mark.soak  # what the checks and the job say is tested without a browser
def test_its_checks_show_every_condition_as_it_is_now_and_a_person_approves(
    server: Server, space: Workspace, page: Any, picture: Callable[[str], None]
) -> None:
    page.goto(f"{server.url}/assets/learned_triggers?view=checks")
    page.get_by_role("button", name="Execute all").click()
    (done,) = eventually("the checks", server.ended)
    assert done["status"] == "SUCCESS"
    assert {one["name"] for one in done["assetCheckSelection"]} == {
        "isolation", "learning_gate", "unique_key",
    }  # fmt: skip
    page.goto(f"{server.url}/assets/learned_triggers?view=checks&checkDetail=isolation")
    page.get_by_text("Verified: full-text search cannot reach learned terms.").wait_for()
    picture("25 isolation")
    page.goto(f"{server.url}/assets/learned_triggers?view=checks&checkDetail=learning_gate")
    page.get_by_text("ada: approval not given (needs a person's approval)").wait_for()
    page.get_by_text("slowwave learning approve -n ada --who NAME").wait_for()
    picture("26 learning_gate")
    told = shown(page, picture, "27 the conditions")
    evidence = {name: state for _, name, state, *_, kind in told if kind == "words"}
    assert evidence == dict.fromkeys(CONDITIONS, "open") | {"approval": "insufficient"}
    a_person_approves_in_a_form(server, space, page, picture)


def a_person_approves_in_a_form(
    server: Server, space: Workspace, page: Any, picture: Callable[[str], None]
) -> None:
    """The form asks who decides; left empty it decides nothing and says what it lacks."""
    form = f"{server.url}/locations/slowwave/jobs/approve_learning/playground"
    page.goto(form)
    page.get_by_text("No errors").wait_for()
    editor = page.locator(".CodeMirror").first
    assert [line.partition(":")[0] for line in editor.inner_text().split("\n") if ":" in line] == [
        "kind", "namespace", "who", "why",
    ]  # fmt: skip
    page.get_by_text("Your name. Required and recorded.").first.wait_for()
    picture("28 the form of an approval")
    page.get_by_role("button", name="Launch Run").click()

    def decided(number: int) -> list[dict[str, Any]]:
        found = [one for one in server.ended() if one["jobName"] == "approve_learning"]
        return found if len(found) == number else []

    (empty,) = eventually("the empty form", lambda: decided(1))
    assert empty["status"] == "FAILURE"
    page.goto(f"{server.url}/runs/{empty['runId']}")
    page.get_by_text("`who` is empty").first.wait_for()
    picture("29 nothing was decided")
    assert learning_events(space.journal) == []

    page.goto(form)
    page.get_by_text("No errors").wait_for()
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.insert_text("{namespace: ada, who: Ann, why: looked at it}")
    page.get_by_text("No errors").wait_for()
    picture("30 filled in")
    page.get_by_role("button", name="Launch Run").click()
    given, _ = eventually("the form", lambda: decided(2))
    assert given["status"] == "SUCCESS"
    (act,) = learning_events(space.journal)
    assert (act.action, act.namespace, act.who, act.why) == (APPROVE, "ada", "Ann", "looked at it")
