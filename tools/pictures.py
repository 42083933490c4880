"""Pictures of every page of the web UI, at two widths, light and dark.

    python -m tools.pictures [--home HOME] [--out FOLDER] [--docs]

Chromium opens the pages of a home, by default the demo's (`slowwave page --demo` makes it). With ``--docs``
the folder is `docs/pictures/pages`, and gets each page twice: wide and light, narrow and dark.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs" / "pictures" / "pages"
QUESTION = "What weekday and hour do new backend versions go live?"
WIDTHS = {"wide": (1280, 900), "narrow": (390, 844)}
SCHEMES = ("light", "dark")
IN_DOCS = {("wide", "light"), ("narrow", "dark")}
OF_A_MONTH = ("learning", "trend")
"""Pages that are drawn from the demo's second home."""
MOST = {"wide": 1200, "narrow": 1100}
"""Height at which a picture for the documentation ends (pixels)."""
COLOURS = 48
WITHOUT_PATH = "document.querySelectorAll('#home').forEach((one) => { one.textContent = '~/memory'; })"
"""Replaces the folder of the home: a picture tells nothing of the machine that it was drawn on."""


def main() -> None:
    """Draw all pages of a home."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--home", type=Path, help="a home; default: the demo's")
    parser.add_argument("--out", type=Path, default=ROOT / ".demo-pictures", help="folder of the pictures")
    parser.add_argument("--docs", action="store_true", help="write those of the documentation")
    arguments = parser.parse_args()
    folder = DOCS if arguments.docs else arguments.out
    folder.mkdir(parents=True, exist_ok=True)
    home = arguments.home or ROOT / ".demo"
    month = home.with_name(f"{home.name}-month")  # the demo leaves it: it has something to learn from
    for place in [home, month] if arguments.home is None or month.exists() else [home]:
        only = () if place is home else OF_A_MONTH
        with serving(arguments.home if place is home else month) as link:
            for name, picture in draw(link, only, docs=arguments.docs):
                (folder / f"{name}.png").write_bytes(picture)
                print(f"{name}.png: {len(picture) / 1e3:.0f} kB")


@contextmanager
def serving(home: Path | None) -> Iterator[str]:
    """Serve a home by the command; yields the link that signs its owner in."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
    words = ["--home", str(home), "page"] if home else ["page", "--demo"]
    process = subprocess.Popen(
        [Path(sys.executable).with_name("slowwave"), *words, "--json"],
        env=clean | {"PYTHONUNBUFFERED": "1"}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert process.stdout is not None
        told = ""
        for line in process.stdout:
            told += line
            if line.startswith("}"):
                break
        yield str(json.loads(told)["link"])
    finally:
        process.terminate()
        process.wait(30)


def draw(link: str, only: Collection[str] = (), *, docs: bool) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the PNG of every page, in every form or in those of the documentation."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or "/usr/bin/chromium"
    url = link.partition("/enter")[0]
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(link)
        for name, path in paths(page, url).items():
            if only and name not in only:
                continue
            if name == "sign-in":
                page.context.clear_cookies()
            page.goto(url + path)
            page.wait_for_load_state("networkidle")
            page.evaluate(WITHOUT_PATH)
            for width, (across, down) in WIDTHS.items():
                page.set_viewport_size({"width": across, "height": down})
                for scheme in SCHEMES:
                    if docs and (width, scheme) not in IN_DOCS:
                        continue
                    page.emulate_media(color_scheme=scheme)
                    height = int(page.evaluate("document.documentElement.scrollHeight"))
                    clip = {"x": 0, "y": 0, "width": across, "height": min(height, MOST[width])}
                    png = page.screenshot(full_page=True, **({"clip": clip} if docs else {}))
                    yield f"{name}-{width}-{scheme}", compact(png) if docs else png
        browser.close()


def paths(page: Page, url: str) -> dict[str, str]:
    """Return a path of each page; what the home has nothing for is left out."""
    found: dict[str, str] = {"search": "/", "results": f"/?q={QUESTION.replace(' ', '+')}"}
    page.goto(url + found["results"])
    memory = _first(page, r"/memory/[^/]+")
    page.goto(f"{url}/quarantine")
    note = _first(page, r"/quarantine/[^/]+")
    page.goto(f"{url}/learning")
    kinds = _first(page, r"/learning/\w+/approve")
    page.goto(f"{url}/memories")
    saved = _first(page, r"/memory/[^/]+")  # the newest, which is of no file
    found |= {"memories": "/memories", "timeline": "/timeline"} | ({"memory": memory} if memory else {})
    found |= {"erase": f"{saved}/erase"} if saved else {}
    found |= {"quarantine": "/quarantine"} | ({"refused": note} if note else {})
    found |= {"decisions": "/decisions", "learning": "/learning"} | ({"approve": kinds} if kinds else {})
    found |= {"rollback": "/learning/roll-back", "trend": "/trend", "judge": "/judge"}
    return found | {"namespaces": "/namespaces", "settings": "/settings", "sign-in": "/sign-in"}


def _first(page: Page, shape: str) -> str:
    links: list[Any] = page.locator("main a[href]").evaluate_all(
        "all => all.map((one) => one.getAttribute('href'))"
    )
    return next((str(link) for link in links if re.fullmatch(shape, link)), "")


def compact(png: bytes) -> bytes:
    """Return a PNG with few colours, a third of its size."""
    from PIL import Image

    packed = io.BytesIO()
    image = Image.open(io.BytesIO(png)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE)
    image.save(packed, "PNG", optimize=True)
    return packed.getvalue()


if __name__ == "__main__":
    main()
