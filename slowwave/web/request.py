"""Requests, answers and routes of the pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, NamedTuple
from urllib.parse import quote

from slowwave.serving.request import MemoryRequest

if TYPE_CHECKING:
    from datetime import datetime

    from slowwave.web.pending_counts import PendingCounts
    from slowwave.web.sessions import PageSession

PAGE: Final = 20
"""Rows of a long list on a page (count)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageRequest(MemoryRequest):
    """Request of somebody who is signed in.

    Attributes:
        session: Of who asks; `caller` is who that is for all of this request.
        waits: What waits for a person.
        path: Parts of the address.
        query: What stands behind it.
        form: What was sent, where something was.
    """

    session: PageSession
    waits: PendingCounts
    path: Mapping[str, str]
    query: Mapping[str, str]
    form: Mapping[str, str]

    @property
    def now(self) -> datetime:
        """The present moment."""
        return self.memory.home.now()

    def number(self, name: str) -> int:
        """A number from the address; 0 where there is none that makes sense."""
        text = self.query.get(name, "")
        return int(text) if text.isascii() and text.isdigit() and len(text) < 7 else 0


@dataclass(frozen=True, slots=True)
class ShownPage:
    """A page.

    Attributes:
        template: its file, without the endings.
        title: plain text.
        data: what the template is about.
        place: the entry of the navigation that it belongs to.
        status: of HTTP.
    """

    template: str
    title: str
    data: Mapping[str, Any] = field(default_factory=dict)
    place: str = ""
    status: int = 200


class Redirect(NamedTuple):
    """Something was done; go to a page, which says so first."""

    to: str
    notice: str = ""


class Image(NamedTuple):
    """A picture."""

    body: bytes
    media_type: str


PageAnswer = ShownPage | Redirect | Image


class PageRoute(NamedTuple):
    """An address, and who may ask for it.

    Attributes:
        path: with names in braces.
        call: answers.
        post: whether it changes something; else it is only looked at.
        person: whether only people may.
        changes: whether it writes tables, which have one writer at a time.
    """

    path: str
    call: Callable[[PageRequest], PageAnswer]
    post: bool = False
    person: bool = True
    changes: bool = False


def together(*calls: Callable[[], Any]) -> list[Any]:
    """What calls that only read give, made at the same time: they wait for the disk more than they think."""
    with ThreadPoolExecutor(len(calls)) as pool:
        return [one.result() for one in [pool.submit(copy_context().run, call) for call in calls]]


def to(*parts: str) -> str:
    """The address of a page of this site, whatever its parts say."""
    return "/" + "/".join(quote(part, safe="") for part in parts)


def local(path: str, otherwise: str) -> str:
    """An address that a form names, where it is one of this site."""
    plain = path.isascii() and path.isprintable() and "\\" not in path
    return path if plain and path.startswith("/") and not path.startswith("//") else otherwise
