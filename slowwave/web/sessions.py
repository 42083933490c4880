"""Sessions of signed-in users, and one-time sign-in links.

All of it is in memory: a restart signs everyone out. Only hashes of ids and keys are kept.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

from slowwave.serving.caller import Caller

if TYPE_CHECKING:
    from slowwave.search import SearchResponse

Kept = TypeVar("Kept")
BYTES: Final = 32  # of an id: 256 bits
MAX_SESSIONS: Final = 1_000  # the one idle longest is dropped (count)
KEY_S: Final = 600.0  # lifetime of a link (seconds)
KEPT: Final = 8  # searches, reversals and answers that a session keeps, each (count)


class PageNotice(NamedTuple):
    """Message for the next page.

    Attributes:
        text: plain text, or safe HTML as `Markup`.
        failed: whether it says that something was not done.
    """

    text: str
    failed: bool = False


@dataclass(slots=True)
class KeptSearch:
    """Search that can be shown again, with the ratings given since."""

    response: SearchResponse
    filters: dict[str, str]
    ratings: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reversal:
    """Action that takes back the last one of this session.

    Attributes:
        action: name of the bulk action.
        memory_ids: of the memories.
        words: label of its button.
        tag: tag to add or remove.
        key: names it in a form.
    """

    action: str
    memory_ids: tuple[str, ...]
    words: str
    tag: str = ""
    key: str = field(default_factory=lambda: secrets.token_urlsafe(8))


@dataclass(slots=True)
class PageSession:
    """Session of a signed-in user.

    Attributes:
        caller: user, namespace and rights.
        token: hash of its token; empty: signed in by the link, with access to every namespace of the home.
        csrf: secret of this session's forms.
        last: time of the last request (seconds of a clock).
        notices: messages for the next page.
        searches: the last ones, by id.
        reversals: actions that take back the last bulk actions, by key; each is applied once.
        offered: key of the one that the next page offers.
        saves: answers to the last save forms, by the key of the form, so that a second click saves nothing.
    """

    caller: Caller
    token: str
    csrf: str
    last: float
    notices: list[PageNotice] = field(default_factory=list)
    searches: OrderedDict[str, KeptSearch] = field(default_factory=OrderedDict)
    reversals: OrderedDict[str, Reversal] = field(default_factory=OrderedDict)
    offered: str = ""
    saves: OrderedDict[str, tuple[str, str, bool]] = field(default_factory=OrderedDict)

    @property
    def at_home(self) -> bool:
        """Whether the owner signed in by a link."""
        return not self.token

    @property
    def person(self) -> bool:
        """Whether it has a person's rights; else those of the tools."""
        return self.caller.rights == "person"

    @property
    def writes(self) -> bool:
        """Whether it has write access."""
        return not self.caller.reads_only

    def go_to(self, caller: Caller) -> None:
        """Switch to another namespace; open forms of the previous one become invalid."""
        self.caller, self.csrf = caller, secrets.token_urlsafe(BYTES)
        for kept in (self.searches, self.reversals, self.saves):
            kept.clear()
        self.offered = ""

    def keep(self, kept: KeptSearch) -> None:
        """Keep a search, so that it can be shown again."""
        _keep(self.searches, kept.response.search_id, kept)

    def keep_save(self, key: str, answer: tuple[str, str, bool]) -> None:
        """Keep the answer to a save form (address, notice, whether it failed)."""
        _keep(self.saves, key, answer)

    def offer(self, reversal: Reversal) -> None:
        """Offer to take back an action on the next page."""
        _keep(self.reversals, reversal.key, reversal)
        self.offered = reversal.key

    def offered_reversal(self) -> Reversal | None:
        """Return the reversal to offer; None if the last page has offered it."""
        key, self.offered = self.offered, ""
        return self.reversals.get(key)

    @property
    def form_key(self) -> str:
        """A new key for a form that must not be applied twice."""
        return secrets.token_urlsafe(8)


def _keep(kept: OrderedDict[str, Kept], key: str, value: Kept) -> None:
    """Keep a value; the oldest beyond `KEPT` are dropped."""
    kept[key] = value
    while len(kept) > KEPT:
        kept.popitem(last=False)


class Sessions:
    """All sessions.

    Args:
        idle: seconds without a request until a session ends.
        clock: seconds; for tests.
    """

    def __init__(self, idle: float, clock: Callable[[], float] = monotonic) -> None:
        self._idle, self._clock = idle, clock
        self._open: OrderedDict[str, PageSession] = OrderedDict()

    def begin(self, caller: Caller, token: str = "") -> str:
        """Begin a session; return the id for its cookie.

        Args:
            caller: the user.
            token: hash of their token; empty: the owner.
        """
        name = secrets.token_urlsafe(BYTES)
        csrf = secrets.token_urlsafe(BYTES)
        self._open[_hashed(name)] = PageSession(caller, token, csrf, self._clock())
        while len(self._open) > MAX_SESSIONS:
            self._open.popitem(last=False)
        return name

    def find(self, name: str) -> PageSession | None:
        """Return the session of an id; None if unknown or over."""
        session = self._open.get(_hashed(name)) if name else None
        if session is None:
            return None
        now = self._clock()
        if now - session.last > self._idle:
            self.end(name)
            return None
        session.last = now
        self._open.move_to_end(_hashed(name))
        return session

    def end(self, name: str) -> None:
        """End a session."""
        self._open.pop(_hashed(name), None)


class OneTimeLinks:
    """Keys of one-time links, valid for ten minutes.

    Args:
        clock: seconds; for tests.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._keys: dict[str, float] = {}

    def make(self) -> str:
        """Return a new key."""
        key = secrets.token_urlsafe(BYTES)
        self._keys[_hashed(key)] = self._clock() + KEY_S
        return key

    def use(self, key: str) -> bool:
        """Whether a key is valid; it is consumed."""
        until = self._keys.pop(_hashed(key), None)
        return until is not None and self._clock() <= until


def _hashed(name: str) -> str:
    return sha256(name.encode()).hexdigest()
