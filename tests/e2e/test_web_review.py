"""Lines in time, timeline, refused notes and bulk tags on the page, by real clicks at two widths."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from memory_page import MODEL, Served, make_home, serving
from web_page import AS_FOR_EVERY_TEST, CHROMIUM, FLAGS, SCREENSHOTS, needs_chromium

from slowwave.embedding import load_embedder
from slowwave.memory import Memory
from slowwave.settings import EmbeddingSettings, load

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), needs_chromium]

DESK, PHONE = {"width": 1280, "height": 800}, {"width": 390, "height": 844}
BOTH = pytest.mark.parametrize("size", [DESK, PHONE], ids=["desk", "phone"])
LIMITS = {
    3: "The rate limit of the station's API is 100 requests a minute.",
    4: "The rate limit of the station's API was raised to 200 requests a minute.",
    5: "The rate limit of the station's API was raised to 300 requests a minute.",
}
FERRY = "## Ferry\n\nThe **ferry** to Skerry leaves at ten past six, and on Sundays at half past eight."


def make_review_home(home: Path) -> Served:
    """Add to the common home a value that changed twice, and notes that the gate refused."""
    before = dict(os.environ)
    os.environ |= AS_FOR_EVERY_TEST
    try:
        embedder = load_embedder(EmbeddingSettings(model=MODEL))
        made = make_home(home, embedder)
        memory = Memory(load(home), namespace="ada", principal="ida")
        memory.home.__dict__["embedder"] = embedder
        with memory:
            for month, text in LIMITS.items():
                at = datetime(2026, month, 2, tzinfo=UTC)
                made.ids[str(month)] = memory.save(text, title=f"Limit {month}", created_at=at).memory_id
            made.ids["Timetable"] = memory.save(FERRY, title="Timetable", key="ferry").memory_id
            later = FERRY.replace("half past eight", "nine")
            memory.save(later, title="Timetable", key="ferry")
            memory.principal = "claude"
            made.ids["again"] = memory.save(LIMITS[5], title="Limit again").memory_id
    finally:
        os.environ.clear()
        os.environ.update(before)
    return made


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page, served by its command."""
    folder = tmp_path_factory.mktemp("review")
    with serving(make_review_home(folder / "home"), folder / "page.log") as found:
        yield found


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    """A browser."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def visitor(chromium: Any, served: Served) -> Iterator[Callable[..., Any]]:
    """Opens a window in which a person is signed in."""
    opened: list[Any] = []

    def open_(**how: Any) -> Any:
        context = chromium.new_context(**{"viewport": DESK, **how})
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.goto(f"{served.url}/sign-in")
        page.get_by_label("Token").fill(served.tokens["ida"])
        page.get_by_role("button", name="Sign in").click()
        return page

    yield open_
    for context in opened:
        context.close()


@pytest.fixture
def memory(served: Served, fast_embedder: Any) -> Iterator[Memory]:
    """The same memory, beside the server."""
    with Memory(load(served.home), namespace="ada") as opened:
        opened.home.__dict__["embedder"] = fast_embedder
        yield opened


def looked_at(page: Any, name: str) -> None:
    """Nothing stands out to the side; in a soak run every width and colour scheme is kept as a picture."""
    page.wait_for_load_state("networkidle")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
    if SCREENSHOTS:
        folder = Path(SCREENSHOTS)
        folder.mkdir(parents=True, exist_ok=True)
        width = page.viewport_size["width"]
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.screenshot(path=folder / f"{name}-{width}-{scheme}.png", full_page=True)


@BOTH
def test_the_line_in_time_leads_from_an_old_value_to_the_one_that_holds(visitor, served, size):
    page = visitor(viewport=size)
    page.goto(f"{served.url}/memory/{served.ids['3']}")
    line = page.locator("#line").get_by_role("listitem")
    assert line.count() == 3
    assert [line.nth(at).locator(".flag").inner_text() for at in range(3)] == [
        "current", "until 2 May 2026", "until 2 Apr 2026"
    ]  # fmt: skip
    looked_at(page, "line")
    line.nth(2).get_by_role("link", name="newer").click()
    page.get_by_role("heading", name="Limit 5", level=1).wait_for()
    page.locator("#line").get_by_role("link", name="Limit 4", exact=True).click()
    page.get_by_role("heading", name="Limit 4", level=1).wait_for()
    page.goto(f"{served.url}/memory/{served.ids['Timetable']}")
    page.get_by_role("link", name="earlier text of this memory").click()
    page.locator(":target", has_text="half past eight").wait_for()


def test_a_preview_is_plain_and_both_counts_are_one(visitor, served, memory):
    page = visitor()
    said = page.get_by_role("link", name=re.compile(r"^\d+ memories$")).inner_text()
    page.get_by_role("link", name="Memories", exact=True).click()
    heading = page.get_by_role("heading", name="Memories", level=1).inner_text()
    assert heading.split()[1] == said.split()[0] == str(memory.count())
    row = page.get_by_role("listitem").filter(has_text="Timetable")
    assert "The ferry to Skerry leaves" in row.inner_text()
    assert "**" not in row.inner_text()


def test_an_unforgotten_memory_keeps_its_author_and_place(visitor, served, memory):
    page = visitor()
    page.goto(f"{served.url}/memories")
    titles = page.locator(".list h2 a")
    before = titles.all_inner_texts()
    row = page.get_by_role("listitem").filter(has=page.get_by_role("link", name="Kiln", exact=True))
    assert "by command line" in row.inner_text()
    row.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Undo: unforget 1 memory").click()
    page.get_by_role("status").filter(has_text="No longer forgotten: 1 memory.").wait_for()
    assert titles.all_inner_texts() == before
    assert "by command line" in row.inner_text()
    row.get_by_role("link", name="Kiln", exact=True).click()
    history = page.locator("section", has=page.get_by_role("heading", name="History"))
    page.wait_for_load_state()
    assert history.get_by_role("listitem").filter(has_text="No longer forgotten").count() == 1


@BOTH
def test_a_decision_shows_both_texts_with_what_differs(visitor, served, size):
    page = visitor(viewport=size)
    page.get_by_role("link", name=re.compile("^Decisions")).click()
    waits = page.get_by_role("article").first
    assert waits.locator("del").first.inner_text() == "Tuesday"
    assert waits.locator("ins").first.inner_text() == "Thursday"
    looked_at(page, "decisions")
    page.get_by_role("link", name="Compare both texts").first.click()
    page.get_by_role("heading", name=re.compile("^(Merge|Duplicate)"), level=1).wait_for()
    page.wait_for_load_state()
    assert page.locator(".sides blockquote").count() == 2
    looked_at(page, "decision")


@BOTH
def test_refused_notes_stand_beside_what_they_repeat(visitor, served, size):
    page = visitor(viewport=size)
    page.get_by_role("link", name=re.compile("^Quarantine")).click()
    row = page.get_by_role("listitem").filter(has_text="Limit again")
    assert row.locator("blockquote").first.inner_text() == LIMITS[5]
    looked_at(page, "quarantine")
    row.get_by_role("link", name="Limit again").click()
    page.get_by_text("by claude").wait_for()
    page.get_by_text("Always let in notes of claude").click()
    looked_at(page, "refused")
