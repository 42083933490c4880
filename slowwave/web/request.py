"""Requests, answers and routes of the pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from markupsafe import Markup

from slowwave.common.quoting import printable
from slowwave.serving.request import MemoryRequest

if TYPE_CHECKING:
    from datetime import datetime

    from slowwave.web.pending_counts import PendingCounts
    from slowwave.web.sessions import PageSession

PAGE: Final = 20
"""Rows of a long list on a page (count)."""
_LISTS: Final = ("memories", "decisions", "quarantine", "learning", "trend")


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest(MemoryRequest):
    """Request of a signed-in user.

    Attributes:
        session: of the user; `caller` is fixed for this request.
        waits: counts of pending items.
        path: parameters of the path.
        query: parameters of the query string.
        form: fields of a form, if one was sent.
    """

    session: PageSession
    waits: PendingCounts
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]

    @property
    def now(self) -> datetime:
        """Current time."""
        return self.memory.home.now()

    def number(self, name: str) -> int:
        """Return a number of the query string; 0 for none or an invalid one."""
        text = self.query.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


@dataclass(frozen=True, slots=True)
class ShownPage:
    """Page to render.

    Attributes:
        template: its file, without the endings.
        title: plain text.
        data: variables of the template.
        place: its entry in the navigation.
        status: of HTTP.
    """

    template: str
    title: str
    data: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""
    status: int = 200


class Redirect(NamedTuple):
    """Redirect after an action, with a notice for the next page.

    Attributes:
        notice: plain text, or safe HTML as `Markup`.
        failed: whether the action was not done.
    """

    to: str
    notice: str = ""
    failed: bool = False


class Image(NamedTuple):
    """A picture."""

    body: bytes
    media_type: str


class Download(NamedTuple):
    """A file for the reader's disk."""

    body: bytes
    name: str
    media_type: str


PageAnswer = ShownPage | Redirect | Image | Download


class PageRoute(NamedTuple):
    """Route with its access rules.

    Attributes:
        path: with parameters in braces.
        call: the handler.
        post: whether it changes something.
        person: whether it is only for persons.
        changes: whether it writes tables, which have one writer at a time.
    """

    path: str
    call: Callable[[PageRequest], PageAnswer]
    post: bool = False
    person: bool = True
    changes: bool = False


def together(*calls: Callable[[], Any]) -> list[Any]:
    """Run read-only calls in parallel, and return their results in order."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [future.result() for future in [pool.submit(copy_context().run, call) for call in calls]]


def beyond(skip: int, total: int, address: str, more: str = "", page: int = PAGE) -> Redirect | None:
    """Return a redirect to the last page of a list; None if there is something at `skip`."""
    if not skip or skip < total:
        return None
    last = max(0, total - 1) // page * page
    return Redirect(f"{address}?skip={last}{more}")


def to(*parts: str) -> str:
    """Return the address of a page of this site, with quoted parts."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


def linked(memory_id: str, title: str) -> Markup:
    """Return a link to a memory, for a notice."""
    return Markup('<a href="{}">{}</a>').format(to("memory", memory_id), printable(title) or memory_id)


def back_of(path: str, form: Mapping[str, str]) -> str:
    """Return the page before a failed request: that of its form, else the list or memory it is part of."""
    first, *rest = path.strip("/").split("/")
    if first == "memory":
        listing = f"/memory/{rest[0]}" if len(rest) > 1 else "/memories"
    else:
        listing = f"/{first}" if rest and first in _LISTS else ""
    return local(form.get("back", ""), local(listing, ""))


def local(path: str, otherwise: str) -> str:
    """Return an address of this site from a form, else `otherwise`."""
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else otherwise
