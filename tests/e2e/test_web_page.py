"""The memory's own page in a real browser, by clicks and keys, as people use it."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from memory_page import MODEL, NOTES, Served, make_home, serving
from web_page import AS_FOR_EVERY_TEST, CHROMIUM, FLAGS, SCREENSHOTS, needs_chromium

from slowwave.embedding import load_embedder
from slowwave.memory import Memory
from slowwave.settings import EmbeddingSettings, load
from slowwave.web.app import WAYS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), needs_chromium]

DESK = {"width": 1100, "height": 800}
PHONE = {"width": 360, "height": 740}
PAGES = [
    "/",
    "/?q=what+colour+is+the+lamp%3F",
    "/memories",
    "/decisions",
    "/quarantine",
    "/learning",
    "/trend",
    "/judge",
]
WIDE = {"width": 1280, "height": 900}
NARROW = {"width": 390, "height": 844}
LONG = "document.querySelectorAll('.quote').forEach((one) => one.append(' and more words'.repeat(600)))"
"""Texts so long that they are scrolled."""
AXE = """() => axe.run({ preload: false, resultTypes: ["violations"] }).then((found) => found.violations
  .flatMap((one) => one.nodes.map((node) => `${one.id}: ${one.help}: ${node.html.slice(0, 160)}`)))"""
CUT_TABLES = """() => [...document.querySelectorAll(".scroll")]
  .filter((one) => one.checkVisibility() && one.scrollWidth > one.clientWidth + 1)
  .map((one) => one.getAttribute("aria-label"))"""
TIMES = """() => [...document.querySelectorAll("main time")]
  .filter((one) => !one.dateTime || !/\\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d UTC/.test(one.title))
  .map((one) => one.outerHTML)"""
CONTRAST = """() => {
  const parse = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const light = ([r, g, b]) => [r, g, b].map((one) => one / 255)
    .map((one) => one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4)
    .reduce((sum, one, at) => sum + one * [0.2126, 0.7152, 0.0722][at], 0);
  const ground = (element) => {
    for (let one = element; one; one = one.parentElement) {
      const colour = parse(getComputedStyle(one).backgroundColor);
      if (colour.length === 3 || colour[3] > 0.99) return colour;
    }
    return [255, 255, 255];
  };
  const bad = [];
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((one) => one.nodeType === 3 && one.textContent.trim());
    if (!own || !element.checkVisibility({ visibilityProperty: true })) continue;
    if (element.closest(".unseen, .skip, svg, option")) continue;
    const [a, b] = [light(parse(getComputedStyle(element).color)), light(ground(element))];
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
    const told = `${element.tagName}.${element.className} ${ratio.toFixed(2)}`;
    if (ratio < 4.5) bad.push(`${told}: ${element.textContent.trim().slice(0, 40)}`);
  }
  return bad;
}"""
OPEN = """() => document.querySelectorAll("details:not(.filters)").forEach((one) => { one.open = true; })"""
CUT_OFF = """() => [...document.querySelectorAll("blockquote, p, h1, h2, h3, li, button, .button")]
  .filter((one) => one.checkVisibility() && !one.closest(".unseen") && one.scrollWidth > one.clientWidth + 1)
  .filter((one) => getComputedStyle(one).display !== "inline")
  .map((one) => one.outerHTML.slice(0, 120))"""
UNNAMED = """() => [...document.querySelectorAll(
    "input:not([type=hidden]), select, textarea, button, a, summary, img")]
  .filter((one) => one.checkVisibility() && !one.labels?.length)
  .filter((one) => !(one.getAttribute("aria-label") || one.textContent.trim() || one.alt))
  .map((one) => one.outerHTML)"""


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page, served by its command."""
    import os

    folder = tmp_path_factory.mktemp("page")
    before = dict(os.environ)
    os.environ |= AS_FOR_EVERY_TEST
    try:
        made = make_home(folder / "home", load_embedder(EmbeddingSettings(model=MODEL)))
    finally:
        os.environ.clear()
        os.environ.update(before)
    with serving(made, folder / "page.log") as found:
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
    """Opens a window in which somebody is signed in with a token; nothing is loaded from elsewhere."""
    opened, told = [], []

    def open_(name: str = "ida", **how: Any) -> Any:
        context = chromium.new_context(**{"viewport": DESK, **how})
        opened.append(context)
        page = context.new_page()
        page.set_default_timeout(30_000)
        page.on(
            "request",
            lambda one: told.append(one.url) if not one.url.startswith((served.url, "data:")) else None,
        )
        page.on("console", lambda one: told.append(one.text) if "Content Security" in one.text else None)
        page.on("pageerror", lambda one: told.append(str(one)))
        page.goto(f"{served.url}/sign-in")
        page.get_by_label("Token").fill(served.tokens[name])
        page.get_by_role("button", name="Sign in").click()
        page.get_by_role("heading", name="Search", level=1).wait_for()
        return page

    yield open_
    for context in opened:
        context.close()
    assert told == []


def keep(page: Any, name: str) -> None:
    """A screenshot, where a person will look at it."""
    if SCREENSHOTS:
        folder = Path(SCREENSHOTS)
        folder.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=folder / f"{name}.png", full_page=True)


@pytest.fixture
def memory(served: Served, fast_embedder: Any) -> Iterator[Memory]:
    """The same memory, beside the server."""
    with Memory(load(served.home), namespace="ada") as opened:
        opened.home.__dict__["embedder"] = fast_embedder
        yield opened


def fits(page: Any) -> bool:
    """Whether nothing stands out to the side, once the page has its styles."""
    page.wait_for_load_state()
    return bool(page.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def every_page(served: Served) -> list[str]:
    """A path of each page that somebody who is signed in can open."""
    names = [*PAGES, f"/memory/{served.ids['Battery']}", f"/quarantine/{served.ids['refused']}"]
    return [
        *names,
        f"/memory/{served.ids['Lamp']}/erase",
        "/learning/words/approve",
        "/learning/roll-back",
        "/timeline",
        "/settings",
        "/nowhere",
    ]


# These go first: they look at all pages before anything is settled.


@pytest.mark.parametrize(
    ("size", "scheme"),
    [
        pytest.param(DESK, "light", id="desk-light"),
        pytest.param(PHONE, "dark", id="phone-dark"),  # each size and each scheme is looked at
        pytest.param(DESK, "dark", id="desk-dark", marks=pytest.mark.soak),
        pytest.param(PHONE, "light", id="phone-light", marks=pytest.mark.soak),
    ],
)
def test_every_page_can_be_read(visitor, served, scheme, size):
    page = visitor(viewport=size, color_scheme=scheme)
    for path in every_page(served):
        page.goto(served.url + path)
        page.evaluate(OPEN)
        label = re.sub(r"\W+", "-", path)[:24].strip("-") or "search"
        page.wait_for_load_state("networkidle")
        assert page.evaluate("[...document.images].every((one) => one.naturalWidth > 0)"), path
        keep(page, f"{label}-{'desk' if size is DESK else 'phone'}-{scheme}")
        assert fits(page), path
        assert page.evaluate(CUT_OFF) == [], path
        assert page.evaluate(CONTRAST) == [], path
        assert len(page.content().encode()) < 100_000


def test_axe_finds_nothing_on_any_page(visitor, served):
    from axe_playwright_python import base as axe

    page = visitor(viewport=WIDE)
    page.goto(f"{served.url}/?q=who+signs+the+book+in+the+porch%3F")
    page.get_by_role("button", name="it helped").first.click()
    page.wait_for_url("**/found/*")
    paths = [*every_page(served), page.url.removeprefix(served.url)]
    page.goto(f"{served.url}/decisions")
    paths.append(page.locator("a[href^='/decisions/']").first.get_attribute("href"))
    for route in WAYS:  # a new page is looked at, too
        shape = re.sub(r"\{\w+\}", "[^/?]+", route.path)
        looked_at = any(re.fullmatch(shape, path.partition("?")[0]) for path in paths)
        assert route.post or looked_at or route.path.endswith(".svg"), route.path
    for path in [*paths, "/sign-in"]:
        if path == "/sign-in":
            page.context.clear_cookies()
        page.goto(served.url + path)
        page.evaluate(OPEN)
        page.evaluate(LONG)
        page.evaluate(axe.AXE_SCRIPT)
        assert page.evaluate(TIMES) == [], path
        for size in (WIDE, NARROW):
            page.set_viewport_size(size)
            assert size is NARROW or page.evaluate(CUT_TABLES) == [], path
            for scheme in ("light", "dark"):
                page.emulate_media(color_scheme=scheme)
                assert page.evaluate(AXE) == [], f"{path} at {size['width']} px, {scheme}"
    page.evaluate("document.querySelector('main').append(document.createElement('input'))")
    assert any(told.startswith("label: ") for told in page.evaluate(AXE))  # it would have been found


def test_a_screen_reader_finds_its_way(visitor, served):
    page = visitor()
    for path in [*PAGES, f"/memory/{served.ids['Battery']}"]:
        page.goto(served.url + path)
        assert page.get_by_role("banner").count() == 1
        assert page.get_by_role("main").count() == 1
        pages = page.get_by_role("navigation", name="Pages")
        assert pages.get_by_role("link").count() == 7
        assert page.get_by_role("heading", level=1).count() == 1
        if not path.startswith("/memory"):
            assert pages.locator("[aria-current=page]").count() == 1
        assert page.evaluate(UNNAMED) == [], path
        assert page.locator("table:not(:has(caption))").count() == 0
        assert page.locator("th:not([scope])").count() == 0
    page.goto(f"{served.url}{PAGES[1]}")
    assert page.get_by_role("search").get_by_role("searchbox", name="Search the memory").count() == 1
    assert page.get_by_role("img", name=re.compile(r"^Score \d\.\d+: .*meaning")).count() >= 1
    assert page.get_by_role("group", name="Rate result 1", exact=True).get_by_role("button").count() == 3
    page.goto(f"{served.url}/decisions")
    assert page.get_by_role("button", name="Accept the supersede of Deploy day").count() == 1
    assert page.get_by_role("link", name="Decisions 1 waiting").count() == 1
    page.goto(f"{served.url}/memories")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "Skip to the content"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_keys_are_comfort(visitor, served):
    page = visitor()
    page.goto(f"{served.url}/memories")
    at = "document.activeElement.querySelector('h2')?.textContent"
    page.keyboard.press("j")
    first = page.evaluate(at)
    page.keyboard.press("j")
    second = page.evaluate(at)
    page.keyboard.press("k")
    assert first != second
    assert page.evaluate(at) == first
    page.keyboard.press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("/")
    page.wait_for_url(f"{served.url}/")
    page.get_by_role("searchbox").fill("a/b")
    page.keyboard.type("j?/0")
    assert page.get_by_role("searchbox").input_value() == "a/bj?/0"


def test_find_see_why_say_what_it_was_worth_and_correct(visitor, served, memory):
    page = visitor()
    page.get_by_role("searchbox").fill("what colour is the lamp on the pier?")
    page.keyboard.press("Enter")
    first = page.get_by_role("listitem").filter(has=page.get_by_role("heading", level=3)).first
    assert NOTES["Lamp"] in first.inner_text()
    first.get_by_text("Explanation of the score").click()
    assert first.get_by_role("row", name=re.compile("meaning")).first.is_visible()
    assert first.get_by_text("sum = score").is_visible()
    first.get_by_role("button", name="it helped").click()
    page.get_by_role("status").filter(has_text="Recorded: it helped").wait_for()
    assert "/found/" in page.url
    page.reload()
    assert memory.stats(served.ids["Lamp"]).helpful == 1
    page.get_by_role("link", name="Lamp", exact=True).click()
    page.get_by_text("Edit", exact=True).click()
    page.get_by_role("textbox", name="Text").fill(
        "The lamp on the pier is green since May; before that it was red."
    )
    page.get_by_role("button", name="Save the changes").click()
    page.get_by_role("status").filter(has_text="Saved.").wait_for()
    assert memory.get(served.ids["Lamp"]).content.startswith("The lamp on the pier is green")
    assert page.get_by_role("heading", name="Lamp", level=1).is_visible()


def test_two_people_decide_the_same_at_once(visitor, served, memory):
    ida, claude = visitor(), visitor("claude")
    second = visitor()
    for page in (ida, second):
        page.goto(f"{served.url}/decisions")
        assert page.locator("del, ins").first.is_visible()
    ida.get_by_role("button", name="Decline the supersede").click()
    ida.get_by_role("status").filter(has_text="Declined").wait_for()
    second.get_by_role("button", name="Accept the supersede").click()
    second.get_by_role("alert").wait_for()
    assert memory.decisions(waiting=True) == []
    assert {one.status for one in map(memory.get, _deploy_days(memory))} == {"live"}
    claude.reload()
    assert claude.get_by_role("status").count() == 0  # what is said to one is not said to another
    assert claude.get_by_role("navigation").get_by_role("link").count() == 2


def _deploy_days(memory: Memory) -> list[str]:
    rows = memory.store.read("memories", "title = 'Deploy day'")
    return rows["memory_id"].to_list()


def test_without_scripts_all_of_it_works(visitor, served, memory):
    page = visitor(java_script_enabled=False)
    page.get_by_role("searchbox").fill("when is the kiln fired?")
    page.get_by_role("button", name="Search").click()
    page.get_by_role("button", name="beside the point").first.click()
    assert "Recorded: beside the point" in page.get_by_role("status").inner_text()
    page.get_by_role("status").get_by_role("link", name="Kiln", exact=True).click()
    page.get_by_role("button", name="Forget").click()
    page.get_by_role("button", name="Unforget").click()
    assert "No longer forgotten" in page.get_by_role("status").inner_text()
    page.get_by_text("Edit", exact=True).click()
    page.get_by_role("textbox", name="Text").fill(
        "The kiln is fired on Saturdays only, as the mains are weak."
    )
    page.get_by_role("button", name="Save the changes").click()
    assert "Saturdays" in memory.get(served.ids["Kiln"]).content
    page.goto(f"{served.url}/judge")
    page.get_by_role("button", name="answers in part").click()
    assert "Saved: answers in part" in page.get_by_role("status").first.inner_text()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("heading", name="Sign in").wait_for()


def test_the_link_lets_the_person_at_the_machine_in_once(chromium, served):
    for place, heading in enumerate(("Search", "Sign in")):
        context = chromium.new_context()
        page = context.new_page()
        page.goto(served.link)
        assert page.get_by_role("heading", name=heading, level=1).is_visible()
        assert (page.url == f"{served.url}/") == (place == 0)
        if place == 0:
            page.get_by_role("link", name="change the namespace").click()
            assert page.get_by_label("ada").is_checked()
        context.close()


def test_a_foreign_page_does_nothing(chromium, served, memory):
    before = memory.store.count("memories")

    class Evil(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            form = "".join(
                f'<input name="{name}" value="Nobody wanted this.">' for name in ("content", "csrf")
            )
            body = f'<form method="post" action="{served.url}/save">{form}<button>Win</button></form>'
            frame = f'<iframe src="{served.url}/"></iframe>'
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.end_headers()
            self.wfile.write((body + frame).encode())

        def log_message(self, *_: object) -> None:
            pass

    evil = ThreadingHTTPServer(("127.0.0.1", 0), Evil)
    threading.Thread(target=evil.serve_forever, daemon=True).start()
    try:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(f"{served.url}/sign-in")
        page.get_by_label("Token").fill(served.tokens["ida"])
        page.get_by_role("button", name="Sign in").click()
        for host in ("localhost", "127.0.0.1"):  # another site, and only another port
            page.goto(f"http://{host}:{evil.server_address[1]}/")
            assert all("Slowwave" not in frame.content() for frame in page.frames)
            page.get_by_role("button", name="Win").click()
            assert "The request came from another site" in page.content()
        context.close()
    finally:
        evil.shutdown()
        evil.server_close()
    assert memory.store.count("memories") == before
