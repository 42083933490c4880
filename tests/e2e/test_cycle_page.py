"""The pages of the reports in a browser: on a desk and on a phone, by day and by night."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from cycle_rows import put_cycle
from warehouse_rows import fill_day, noon_of

from slowwave.store import Store
from slowwave.views.cycle import cycle_report
from slowwave.views.cycle_sections import cycle_page
from slowwave.views.feedback import feedback_report
from slowwave.views.feedback_sections import feedback_page

pytestmark = pytest.mark.slow

CHROMIUM = shutil.which("chromium") or "/usr/bin/chromium"
WIDTHS = (400, 800, 1200)
OUTSIDE = """
[...document.images].flatMap(image => {
  const svg = new DOMParser().parseFromString(
    atob(image.src.split(",")[1]), "image/svg+xml").documentElement;
  document.querySelector("main").replaceChildren(svg);
  const whole = svg.getBoundingClientRect();
  return [...svg.querySelectorAll("text")].filter(text => {
    const own = text.getBoundingClientRect();
    return own.left < whole.left || own.right > whole.right
      || own.top < whole.top || own.bottom > whole.bottom;
  }).map(text => text.textContent.trim());
})
"""  # texts of the pictures that their edges cut
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


@pytest.fixture
def addresses(address: str, make_space: Callable[..., Any], tmp_path: Path) -> dict[str, str]:
    """The pages that have pictures."""
    space = make_space()
    for number in range(20):
        fill_day(space.store, number)
    report = feedback_report(space, "ada", days=20, as_of=noon_of(19) + timedelta(hours=6))
    file = tmp_path / "feedback.html"
    file.write_text(feedback_page(report), encoding="utf-8")
    return {"cycle": address, "feedback": file.as_uri()}


def test_pictures_are_whole_on_every_screen(browser: Any, addresses: dict[str, str]) -> None:
    for name, address in addresses.items():
        for width in WIDTHS:
            page = browser.new_page(viewport={"width": width, "height": 900})
            page.goto(address)
            if SCREENSHOTS:
                Path(SCREENSHOTS).mkdir(parents=True, exist_ok=True)
                page.screenshot(path=f"{SCREENSHOTS}/{name} {width}.png", full_page=True)
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), (name, width)
            # Where a box around a picture scrolls, a part of it is out of sight.
            boxes = page.evaluate(
                "[...document.images].map(image => { let box = image.getBoundingClientRect(),"
                " around = image.parentElement.getBoundingClientRect();"
                " return [box.left - around.left, around.right - box.right, box.width] })"
            )
            assert boxes
            for left, right, wide in boxes:
                assert min(left, right) >= 0, (name, width)
                assert wide > 0.9 * min(width, 840) - 20, (name, width)
            page.close()
        page = browser.new_page(viewport={"width": 1200, "height": 900})
        page.goto(address)
        assert page.evaluate(OUTSIDE) == []
        page.close()
