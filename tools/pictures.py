"""Pictures of every page of the web UI, at two widths, light and dark.

    python -m tools.pictures [--home HOME] [--out FOLDER] [--docs]

Chromium opens the pages of a home, by default the demo's (`slowwave page --demo` makes it). With ``--docs``
the folder is `docs/pictures/pages`, and gets each page at both widths in both schemes. The few
pictures inside texts go to `docs/pictures`, with those of the Dagster UI over a copy of the home.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from playwright.sync_api import Page

ROOT = Path(__file__).parents[1]
SLOWWAVE = Path(sys.executable).with_name("slowwave")
DOCS = ROOT / "docs" / "pictures" / "pages"
QUESTION = "Where is the berth of our boat?"
"""Its first result is right, and outdates the second one."""
WIDTHS = {"wide": (1280, 900), "narrow": (390, 844)}
SCHEMES = ("light", "dark")
OF_A_MONTH = ("learning", "rollback", "trend")
"""Pages that are drawn from the demo's second home."""
MOST = {"wide": 1200, "narrow": 1100}
"""Height at which a picture for the documentation ends (pixels)."""
COLOURS = 112
EXACT = 16
"""Colours of a picture that stay as they are, the most frequent (count)."""
IN_TEXTS = {
    "page-first": ("search", 900, 720, "light"), "page-search": ("results", 900, 1030, "light"),
    "page-decisions": ("decisions", 900, 560, "light"), "page-memories": ("memories", 900, 720, "light"),
    "page-phone": ("memories", 360, 640, "dark"),
}  # fmt: skip
"""Pictures inside texts: page, width, height (pixels) and colours."""
START_S = 120
SETTLED_MS = 3_000  # until a page of the Dagster UI has drawn itself
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
            keep(folder, draw(link, only, docs=arguments.docs))
    if arguments.docs:
        with serving(arguments.home) as link:  # each link signs in once
            keep(DOCS.parent, draw_in_texts(link))
        keep(DOCS.parent, draw_dagster(home, month))


def keep(folder: Path, pictures: Iterator[tuple[str, bytes]]) -> None:
    """Write pictures into a folder."""
    for name, picture in pictures:
        (folder / f"{name}.png").write_bytes(picture)
        print(f"{name}.png: {len(picture) / 1e3:.0f} kB", flush=True)


@contextmanager
def serving(home: Path | None) -> Iterator[str]:
    """Serve a home by the command; yields the link that signs its owner in."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
    words = ["--home", str(home), "page"] if home else ["page", "--demo"]
    process = subprocess.Popen(
        [SLOWWAVE, *words, "--json"],
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
    url = link.partition("/enter")[0]
    with browsing(link) as page:
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
                    page.emulate_media(color_scheme=scheme)
                    height = int(page.evaluate("document.documentElement.scrollHeight"))
                    clip = {"x": 0, "y": 0, "width": across, "height": min(height, MOST[width])}
                    png = page.screenshot(full_page=True, **({"clip": clip} if docs else {}))
                    yield f"{name}-{width}-{scheme}", compact(png) if docs else png


@contextmanager
def browsing(address: str) -> Iterator[Page]:
    """Open an address in Chromium."""
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or "/usr/bin/chromium"
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page()
        page.goto(address)
        yield page
        browser.close()


def draw_in_texts(link: str) -> Iterator[tuple[str, bytes]]:
    """Yield the pictures inside texts; the results have the first explanation open."""
    url = link.partition("/enter")[0]
    with browsing(link) as page:
        found = paths(page, url)
        for name, (place, width, height, scheme) in IN_TEXTS.items():
            page.set_viewport_size({"width": width, "height": height})
            page.emulate_media(color_scheme=scheme)
            page.goto(url + found[place])
            if place == "results":
                page.locator(".results details summary").first.click()
                page.evaluate("document.activeElement.blur()")
            yield name, compact(page.screenshot())


def draw_dagster(home: Path, month: Path) -> Iterator[tuple[str, bytes]]:
    """Yield pictures of the asset at_a_glance in the Dagster UI, over copies of the homes.

    Args:
        home: Home of the overview.
        month: Home with a history, for the plots.
    """
    with dagster(home) as page:
        yield "control-room", compact(page.screenshot())
    with dagster(month, ("eval", "run")) as page:
        page.set_viewport_size({"width": 1280, "height": 1500})
        page.get_by_role("button", name="Plots").click()
        first = page.get_by_text("memories now", exact=True).first
        first.evaluate("(one) => one.scrollIntoView({ block: 'center' })")
        page.wait_for_timeout(SETTLED_MS)
        box = first.bounding_box()
        assert box is not None
        clip = {"x": box["x"] - 24, "y": box["y"] - 12, "width": 728, "height": 460}
        yield "control-room-plots", compact(page.screenshot(clip=clip))


@contextmanager
def dagster(home: Path, first: Sequence[str] = ()) -> Iterator[Page]:
    """Serve the Dagster UI over a copy of a home; yields its page of at_a_glance.

    Args:
        home: is only read.
        first: words of a command that is run on the copy.
    """
    with tempfile.TemporaryDirectory() as folder:
        copied = Path(folder) / "memory"
        shutil.copytree(home, copied)
        if first:
            subprocess.run([SLOWWAVE, "--home", copied, *first], check=True, stdout=subprocess.DEVNULL)
        with dagster_of(copied) as url, browsing(url) as page:
            page.set_viewport_size({"width": 1280, "height": 900})
            page.goto(f"{url}/assets/at_a_glance?view=overview")
            page.get_by_text("in a line").wait_for()
            page.wait_for_timeout(SETTLED_MS)
            yield page


@contextmanager
def dagster_of(home: Path) -> Iterator[str]:
    """Serve the Dagster UI of a home; yields its address."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [SLOWWAVE, "--home", home, "ui", "--port", str(port)],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip
    try:
        limit = time.monotonic() + START_S
        while True:
            try:
                with urllib.request.urlopen(f"{url}/server_info", timeout=5):  # noqa: S310 - own address
                    break
            except OSError:
                if process.poll() is not None or time.monotonic() > limit:
                    raise
                time.sleep(0.5)
        yield url
    finally:
        os.killpg(process.pid, signal.SIGINT)
        process.wait(60)


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
    """Return a PNG with a palette: the most frequent colours as they are, and near ones for the rare."""
    import numpy as np
    from PIL import Image

    image = Image.open(io.BytesIO(png)).convert("RGB")
    pixels = np.asarray(image).astype(np.int64)
    colours, places, counts = np.unique(
        pixels @ (65_536, 256, 1), return_inverse=True, return_counts=True
    )  # as one number each
    colours = np.stack([colours >> 16, colours >> 8 & 255, colours & 255], axis=1)
    spread = image.quantize(COLOURS, Image.Quantize.MAXCOVERAGE, dither=Image.Dither.NONE).getpalette() or []
    rare = np.array(spread[: 3 * COLOURS]).reshape(-1, 3)
    palette = np.concatenate([colours[np.argsort(-counts)[:EXACT]], rare])
    nearest = ((colours[:, None] - palette) ** 2).sum(axis=2).argmin(axis=1)
    packed = io.BytesIO()
    indexed = Image.fromarray(nearest[places].reshape(pixels.shape[:2]).astype(np.uint8))
    indexed.putpalette(palette.astype(np.uint8).tobytes())
    indexed.save(packed, "PNG", optimize=True)
    return packed.getvalue()


if __name__ == "__main__":
    main()
