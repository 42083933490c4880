"""Acts of a person on the web page: what a window sends, and helpers to click, type and look."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from memory_page import Served

from slowwave.memory import Memory
from slowwave.web.app import WAYS

ROUTES = sorted(
    {*(way.path for way in WAYS), "/sign-in", "/sign-out", "/namespaces"}, key=lambda path: path.count("{")
)
WORDS = re.findall(
    r"\w+",
    """
    anchor basin candle dresser engine fiddle garden hammer island jacket kettle ladder magnet needle
    orchard pillow quarry ribbon saddle timber umbrella valley window yarrow zeppelin apron barrel cabin
    drawer easel fence gutter hedge inlet jetty kennel lantern mirror napkin oven pantry quilt rafter shovel
    tunnel urn violin wagon bridge cellar dairy elbow ferret glove harbour icicle jigsaw kayak loft meadow
    nettle oar parcel quiver radish sickle trellis usher vault willow yoke badger cobble dagger emblem
    falcon granite hatch iris juniper knot lichen mallet nozzle otter pebble raven sluice thistle velvet
    walnut beacon cradle
    """,
)
FORMS = """() => [...document.forms].filter((one) => one.getAttribute("method") !== "dialog").map((one) => [
  Boolean(one.closest("header")), one.getAttribute("method").toUpperCase(),
  new URL(one.getAttribute("action"), location).pathname,
  [...one.elements]
    .filter((each) => each.name && each.type !== "hidden" && !each.hidden)
    .map((each) => [each.name, each.type === "submit" ? each.value : ""])])"""
HEADER = "header"  # a form of it is the same one on all pages
MIN_TARGET = 24  # of a control on a phone (pixels)
FAULTS = """(one, least) => {
  const target = one.labels && one.labels.length && /checkbox|radio/.test(one.type) ? one.labels[0] : one;
  const box = target.getBoundingClientRect();
  const hit = document.elementFromPoint(box.x + box.width / 2, box.y + box.height / 2);
  const faults = [];
  if (box.width < least || box.height < least) faults.push(`is ${box.width} by ${box.height} px`);
  const isHit = hit && (target.contains(hit) || (hit.contains(target) && hit.tagName === "LABEL"));
  if (!isHit) faults.push(`is below ${hit && hit.outerHTML.slice(0, 120)}`);
  if (box.left < 0 || box.right > innerWidth) faults.push("is beside the window");
  if (document.documentElement.scrollWidth > innerWidth) faults.push("is on a page that scrolls sideways");
  return faults.map((each) => `${one.outerHTML.slice(0, 120)} ${each}`);
}"""


def all_words() -> Iterator[str]:
    """The words again and again, each time in another order."""
    order = random.Random(7)
    while True:
        yield from order.sample(WORDS, len(WORDS))


def route_of(path: str) -> str:
    """The route that a path is answered by."""
    for route in ROUTES:
        if re.fullmatch(re.sub(r"\{\w+\}", "[^/]+", route), path):
            return route
    return path


def page_of(url: str) -> str:
    """The page at an address: its route, and the results of a search apart from the first page."""
    address = urlsplit(url)
    return route_of(address.path) + ("?q" if "q" in dict(parse_qsl(address.query)) else "")


def on(page: str, *controls: str) -> tuple[str, ...]:
    """Names of controls of forms that stand on a page; a form on two pages has two names."""
    return tuple(f"{page}: {control}" for control in controls)


def controls_of(page: str, method: str, path: str, fields: list[tuple[str, str]]) -> set[str]:
    """Names of all that a request from a page sent."""
    name = f"{method} {route_of(path)}"
    named = {(re.sub("^m-.*", "m-*", key), value) for key, value in fields}
    sent = {name, *(part for key, value in named for part in (f"{name} {key}", f"{name} {key}={value}"))}
    return {*on(page, *sent), *on(HEADER, *sent)}


def controls_on(page: Any) -> set[str]:
    """Controls of the forms of a page: a button with its value, a field without one."""
    found: set[str] = set()
    for in_header, method, path, fields in page.evaluate(FORMS):
        (name,) = on(HEADER if in_header else page_of(page.url), f"{method} {route_of(path)}")
        keys = [(re.sub("^m-.*", "m-*", key), value) for key, value in fields]
        found |= {f"{name} {key}" + (f"={value}" if value else "") for key, value in keys} or {name}
    return found


@dataclass
class Visit:
    """A window of somebody who is signed in, and the memory beside the server.

    Attributes:
        width: of the window, in pixels; each width has memories of its own.
        sent: controls of all requests that forms and links of the window sent.
    """

    page: Any
    served: Served
    memory: Memory
    words: Iterator[str]
    width: int
    sent: set[str] = field(default_factory=set)
    opens_address: bool = False

    def __post_init__(self) -> None:
        self.page.on("request", self._note)

    def _note(self, request: Any) -> None:
        if not request.is_navigation_request() or request.redirected_from or self.opens_address:
            return
        address = urlsplit(request.url)
        fields = parse_qsl((request.post_data or "") if request.method == "POST" else address.query)
        self.sent |= controls_of(page_of(self.page.url), request.method, address.path, fields)

    # -- what a person does ---------------------------------------------------------------------

    def go(self, path: str) -> None:
        self.opens_address = True  # no form sends this request
        self.page.goto(self.served.url + path)
        self.opens_address = False

    def press(self, control: Any) -> None:
        """Click on what can be seen and hit; a page that it leads to is read only when it is whole."""
        self.reach(control)
        control.click()
        self.page.wait_for_load_state("domcontentloaded")

    def button(self, name: str, among: Any = None) -> None:
        self.press((among or self.page).locator(f"button:visible:has-text('{name}')").first)

    def send(self, action: str, value: str = "", among: Any = None) -> None:
        """Click on the button of the form with this address, and of this value where it has several."""
        forms = (among or self.page).locator(f"form[action='{quote(action)}']")
        button = f"button[value='{value}']" if value else "button"
        self.press(forms.locator(button).first)

    def fill(self, name: str, text: str, among: Any = None) -> None:
        """Type into a field instead of what it has."""
        box = (among or self.page.locator("main")).locator(f"[name='{name}']:visible").first
        self.press(box)
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)

    def choose(self, name: str, value: str, among: Any = None) -> None:
        """Select an option, or a date."""
        box = (among or self.page.locator("main")).locator(f"[name='{name}']:visible").first
        self.reach(box)
        if box.evaluate("one => one.tagName") == "SELECT":
            box.select_option(value)
        else:
            box.fill(value)

    def mark(self, *memory_ids: str) -> None:
        for memory_id in memory_ids:
            self.press(self.page.locator(f"input[name='m-{memory_id}']"))

    def reach(self, control: Any) -> None:
        """Bring a control into view; it is large enough, not covered, and not beside the window."""
        self.page.wait_for_load_state()
        control.scroll_into_view_if_needed()
        faults = control.evaluate(FAULTS, MIN_TARGET if self.width < 600 else 0)
        assert not faults, faults

    def told(self) -> str:
        """Notice of the page after an act."""
        self.page.get_by_role("status").first.wait_for()
        return str(self.page.get_by_role("status").first.inner_text())

    # -- what is there beforehand ---------------------------------------------------------------

    def text(self, day: str = "") -> str:
        """A statement that no other memory is like."""
        one, two, three, four = (next(self.words) for _ in range(4))
        if day:
            return f"The {one} {two} of the {three} is closed on {day} at nine in the morning, {four} too."
        return f"The {one} and the {two} are kept behind the {three}, beside two pairs of {four}s."

    def save(self, text: str = "", **labels: Any) -> str:
        """Save a memory, and return its id."""
        labels.setdefault("title", f"{next(self.words)} {next(self.words)}".capitalize())
        saved = self.memory.save(text or self.text(), **labels)
        assert saved.status == "live", saved
        return saved.memory_id

    def held(self) -> str:
        """Let the save gate refuse a note, and return its id in quarantine."""
        text = f"ok {next(self.words)}"
        assert self.memory.save(text, title=text.capitalize()).status == "quarantined"
        return next(row["quarantine_id"] for row in self.memory.quarantine() if row["content"] == text)

    def waiting(self, **labels: Any) -> tuple[str, str]:
        """Let a decision wait, and return its id and that of the older memory."""
        text = self.text("Tuesday")
        title = next(self.words)
        older = self.save(text, title=title, source_of_truth=True, **labels)
        newer = text.replace("Tuesday", "Thursday")
        decision = self.memory.save(newer, title=title, **labels).decision_id
        assert decision, text
        return decision, older

    def merged(self) -> tuple[str, str, str]:
        """Let two notes merge; the decision, the memory that is left, and its text before."""
        text, title = self.text(), next(self.words)
        older = self.save(text, title=title)
        saved = self.memory.save(f"{text}\nIshbel painted it.", title=title)
        assert saved.outcome == "merge", saved
        return saved.decision_id or "", older, text

    def discarded(self) -> set[str]:
        return {row["quarantine_id"] for row in self.memory.quarantine(status="discarded")}

    def held_now(self) -> set[str]:
        return {row["quarantine_id"] for row in self.memory.quarantine()}

    def status(self, memory_id: str) -> str:
        return self.memory.get(memory_id).status

    def record(self, memory_id: str) -> Any:
        return self.memory.get(memory_id)


@dataclass(frozen=True)
class Act:
    """Something that a person does on the page.

    Attributes:
        sends: Controls of forms that it uses, with their pages; the test checks that the browser sent them.
        who: Who does it: ida with a token, the owner with a link, or nobody yet.
    """

    name: str
    do: Callable[[Visit], None]
    sends: tuple[str, ...]
    who: str = "ida"


ACTS: list[Act] = []


def act(*sends: str, who: str = "ida") -> Callable[[Callable[[Visit], None]], Callable[[Visit], None]]:
    """List a function as an act."""

    def listed(do: Callable[[Visit], None]) -> Callable[[Visit], None]:
        ACTS.append(Act(do.__name__, do, sends, who))
        return do

    return listed
