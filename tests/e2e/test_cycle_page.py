"""The page of an evaluation cycle in a browser: on a desk and on a phone, by day and by night."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cycle_rows import put_cycle

from slowwave.reports.cycle import cycle_report
from slowwave.reports.cycle_page import cycle_page
from slowwave.store import Store

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
SCREENSHOTS = os.environ.get("SLOWWAVE_TEST_SCREENSHOTS")  # a folder to keep them in


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("page")
    store = Store(str(folder / "lance"), model="hash-8", dimension=8)
    put_cycle(store, 1)
    put_cycle(store, 2, first=60, queries=150)
    file = folder / "cycle.html"
    file.write_text(cycle_page(cycle_report(store, "ada#2")), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    if not Path(CHROMIUM).exists():
        pytest.skip("no Chromium here: install Debian's package `chromium`")
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        opened = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox", "--disable-gpu"])
        yield opened
        opened.close()


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_nothing_is_refused_cut_off_or_unreadable(
    browser: Any, address: str, width: int, scheme: str
) -> None:
    page = browser.new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.goto(address)
    assert said == []  # a policy that is broken is said here
    assert page.evaluate("document.documentElement.scrollWidth") == width  # tables scroll, the page does not
    assert page.evaluate("[...document.images].every(image => image.complete && image.naturalWidth > 0)")
    first = page.locator("details").first
    first.locator("summary").click()
    assert first.get_by_text("judged@10", exact=True).is_visible()
    verdict = page.locator("td.better").first
    assert verdict.bounding_box()["x"] + verdict.bounding_box()["width"] <= width  # seen without scrolling
    if width > 1_000:
        wide = page.evaluate(
            "[...document.querySelectorAll('main > .scroll')].map(e => e.scrollWidth - e.clientWidth)"
        )
        assert max(wide) <= 0
    if SCREENSHOTS:
        Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
        page.screenshot(path=f"{SCREENSHOTS}/cycle {width} {scheme}.png")
        first.scroll_into_view_if_needed()
        page.screenshot(path=f"{SCREENSHOTS}/cycle {width} {scheme} query.png")
    page.close()
