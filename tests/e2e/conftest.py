"""A browser for the tests of the page, and the packages that are made of this folder."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import packages as made
import pytest
from web_page import CHROMIUM, FLAGS, SCREENSHOTS


@pytest.fixture
def page(tmp_path: Path) -> Iterator[Any]:
    """A page of headless Chromium."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        opened = browser.new_page(viewport={"width": 1600, "height": 1000})
        opened.set_default_timeout(60_000)
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


@pytest.fixture(scope="session")
def packages(tmp_path_factory: pytest.TempPathFactory) -> made.Packages:
    """What people install, built once."""
    return made.build(tmp_path_factory.mktemp("packages"))
