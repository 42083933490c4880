"""Each act of a person on the web page, by clicks and keys in a browser, on a desk's and a phone's width."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import memory_acts  # noqa: F401 - its acts are listed first
import pytest
import review_acts
from memory_page import MODEL, Served, make_home, serving
from web_acts import Act, Visit, all_words, controls_on, route_of
from web_page import AS_FOR_EVERY_TEST, CHROMIUM, FLAGS, needs_chromium

from slowwave.embedding import load_embedder
from slowwave.lifecycle.trusted_sources import trust, untrust
from slowwave.memory import Memory
from slowwave.settings import EmbeddingSettings, load
from slowwave.web.app import WAYS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600), needs_chromium]

ALL = review_acts.ALL
SIZES = {"desk": {"width": 1280, "height": 800}, "phone": {"width": 390, "height": 844}}
COUNTS = """() => {
  document.querySelectorAll("nav .count").forEach((one) => one.remove());
  for (const page of ["decisions", "quarantine"]) {
    const one = document.querySelector(`nav a[href="/${page}"]`).appendChild(document.createElement("span"));
    one.className = "count";
    one.textContent = "12";
  }
}"""
MEMORIES = 24  # beside those of the common home: a list has two pages


def on_sizes() -> Iterator[Any]:
    """Each act on one width in turn, and on the other one among the long tests."""
    for number, act in enumerate(ALL):
        for place, size in enumerate(SIZES):
            often = number % len(SIZES) == place
            yield pytest.param(act, size, marks=() if often else pytest.mark.soak, id=f"{act.name}-{size}")


@pytest.fixture(scope="module")
def environment() -> Iterator[None]:
    """Settings of the server, also for the memory beside it."""
    before = dict(os.environ)
    os.environ |= AS_FOR_EVERY_TEST
    yield
    os.environ.clear()
    os.environ.update(before)


@pytest.fixture(scope="module")
def embedder() -> Any:
    return load_embedder(EmbeddingSettings(model=MODEL))


@pytest.fixture(scope="module")
def served(environment: None, embedder: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """The page, served by its command."""
    folder = tmp_path_factory.mktemp("acts")
    with serving(make_home(folder / "home", embedder), folder / "page.log") as found:
        yield found


@pytest.fixture(scope="module")
def memory(served: Served, embedder: Any) -> Iterator[Memory]:
    """The same memory, beside the server."""
    with Memory(load(served.home), namespace="ada", principal="beside") as opened:
        opened.home.__dict__["embedder"] = embedder
        Memory(opened.settings, namespace="bob", space=opened.home).save("The kettle whistles at noon.")
        for at in range(MEMORIES):
            opened.save(
                f"Locker {at} of the hall has the coat of guest {MEMORIES - at}.", title=f"Locker {at}"
            )
        yield opened


@pytest.fixture(scope="module")
def visits(served: Served, memory: Memory) -> Iterator[dict[tuple[str, str], Visit]]:
    """A window of each size for ida, who has a token, for the owner of the home, and for nobody yet."""
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    words = all_words()
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=list(FLAGS))
        states: dict[str, Any] = {"nobody": None}
        for who in ("ida", "owner"):
            context = browser.new_context()
            page = context.new_page()
            page.goto(served.link if who == "owner" else f"{served.url}/sign-in")
            if who == "ida":
                page.locator("input[name='token']").fill(served.tokens[who])
                page.keyboard.press("Enter")
            page.locator("form.search").wait_for()
            states[who] = context.storage_state()
            context.close()
        opened = {}
        for (who, state), (name, size) in ((a, b) for a in states.items() for b in SIZES.items()):
            page = browser.new_context(viewport=size, storage_state=state).new_page()
            page.set_default_timeout(8_000)
            opened[who, name] = Visit(page, served, memory, words, size["width"])
        yield opened
        browser.close()


def test_every_form_of_every_page_is_an_act(visits: dict[tuple[str, str], Visit]) -> None:
    """A form of a page needs an act that uses it there; this one goes first, before all is settled."""
    visit, found, seen = visits["ida", "desk"], set[str](), set[str]()

    def look(path: str, who: str = "ida") -> None:
        visits[who, "desk"].go(path)
        found.update(controls_on(visits[who, "desk"].page))
        seen.add(route_of(path.partition("?")[0]))

    memory = visit.memory
    waits, (merge, merged, _) = visit.waiting()[0], visit.merged()
    held, discarded, forgotten = visit.held(), visit.held(), visit.save()
    memory.discard(discarded)
    memory.forget(forgotten)
    trust(memory.tenant, "user:claude", why="short remarks")
    own = memory.store.read("quarantine", f"quarantine_id = '{held}'", columns=["memory_id"])["memory_id"][0]
    for path in (
        "/", "/memories", "/memories?state=forgotten", "/memories?state=quarantined", f"/memory/{merged}",
        f"/memory/{forgotten}", f"/memory/{forgotten}/erase", "/quarantine", "/quarantine?status=discarded",
        f"/quarantine/{held}", f"/quarantine/{discarded}", "/decisions", f"/decisions/{merge}",
        f"/decisions/{waits}", "/learning", "/learning/words/approve", "/learning/roll-back?principal=ann",
        "/trend", "/judge", "/timeline",
    ):  # fmt: skip
        look(path)
    look("/namespaces", "owner")
    look("/settings", "owner")
    look("/sign-in", "nobody")
    look("/?q=who+signs+the+book+in+the+porch%3F")
    visit.press(visit.page.locator("form.rate button").first)
    visit.page.wait_for_url("**/found/*")
    look(visit.page.url.removeprefix(visit.served.url).partition("#")[0])
    visit.go("/memories?state=quarantined")
    visit.mark(own)
    visit.press(visit.page.locator("#bulk button[value='discard']"))
    visit.page.locator("form.notice").wait_for()
    found |= controls_on(visit.page)
    for _ in range(2):
        visit.held()
    visit.go("/quarantine")
    visit.send("/quarantine/reason/no_statement/discard")
    visit.page.locator("form.notice").wait_for()
    found |= controls_on(visit.page)
    memory.learning.approve(who="Ida", kind="words")
    look("/learning")
    memory.learning.withdraw(who="Ida", kind="words")
    untrust(memory.tenant, "user:claude")

    tested = {name for act in ALL for name in act.sends}
    assert sorted(found - tested) == []
    posts = {way.path for way in WAYS if way.post} | {"/sign-in", "/sign-out", "/namespaces"}
    sent = [name.partition(": ")[2].split() for name in found]
    assert {route for method, route, *_ in sent if method == "POST"} == posts
    assert {way.path for way in WAYS if not way.post and not way.path.endswith(".svg")} <= seen


def test_the_header_is_one_line_from_700_pixels_and_fits_below(visits: dict[tuple[str, str], Visit]) -> None:
    """With two counts of two digits; a narrow window has the navigation on lines of its own."""
    visit = visits["owner", "desk"]
    visit.go("/memories")
    page = visit.page
    page.evaluate(COUNTS)
    assert page.locator("nav .count").all_inner_texts() == ["12", "12"]
    heights = (
        "[...document.querySelectorAll('header, nav ul')].map((one) => one.getBoundingClientRect().height)"
    )
    try:
        for width in (320, 390, 620, 699, 700, 740, 820, 821, 900, 1000, 1280):
            page.set_viewport_size({"width": width, "height": 600})
            header, pages = page.evaluate(heights)
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            line = page.locator("nav li").first.bounding_box()["height"]
            assert pages < 1.5 * line if width >= 620 else pages < 3.5 * line, (width, pages)
            assert header < 60 if width >= 700 else header > pages, (width, header)
    finally:
        page.set_viewport_size(SIZES["desk"])


@pytest.mark.parametrize(("act", "size"), on_sizes())
def test_a_person_does(visits: dict[tuple[str, str], Visit], act: Act, size: str) -> None:
    visit = visits[act.who, size]
    visit.sent.clear()
    act.do(visit)
    assert set(act.sends) <= visit.sent
    visit.page.wait_for_load_state()  # with its styles
    assert visit.page.evaluate("document.documentElement.scrollWidth <= innerWidth")
