"""Who is signed in, and the link by which the person at the machine comes in.

All of it is in memory: who starts the page again signs in again. Of ids and keys only hashes are kept.
"""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from hashlib import sha256
from time import monotonic
from typing import TYPE_CHECKING, Final

from slowwave.serving.caller import Caller

if TYPE_CHECKING:
    from slowwave.search import SearchResponse

BYTES: Final = 32  # of an id: 256 bits
MOST: Final = 1_000  # sessions; the one that was idle longest makes room (count)
KEY_S: Final = 600.0  # that a link is good for
SEARCHES: Final = 8  # of a session that are kept to be shown again (count)


@dataclass(slots=True)
class ConsumedLink:
    """A search that can be shown again as it was, and what was said of its results since."""

    response: SearchResponse
    asked: dict[str, str]
    said: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class PageSession:
    """Somebody who is signed in.

    Attributes:
        caller: who acts, in which namespace, with what rights.
        token: hash of the token that it rests on; empty: it came in by the link, and any namespace of the
            home is open.
        csrf: is in every form, and known to nobody else.
        last: moment of the last request (seconds of a clock).
        notices: what the next page says first.
        searches: the last ones, by id.
    """

    caller: Caller
    token: str
    csrf: str
    last: float
    notices: list[str] = field(default_factory=list)
    searches: OrderedDict[str, ConsumedLink] = field(default_factory=OrderedDict)

    @property
    def at_home(self) -> bool:
        """Whether the person at the machine is it."""
        return not self.token

    @property
    def person(self) -> bool:
        """Whether it may do what only people do; else what an assistant's tools can."""
        return self.caller.rights == "person"

    @property
    def writes(self) -> bool:
        """Whether it may change anything."""
        return not self.caller.reads_only

    def go_to(self, caller: Caller) -> None:
        """Look into another namespace; forms that are open of the former one are not taken any more."""
        self.caller, self.csrf = caller, secrets.token_urlsafe(BYTES)
        self.searches.clear()

    def keep(self, found: ConsumedLink) -> None:
        """Remember a search, so that it can be shown again."""
        self.searches[found.response.search_id] = found
        while len(self.searches) > SEARCHES:
            self.searches.popitem(last=False)


class Sessions:
    """All who are signed in.

    Args:
        idle: seconds without a request after which one has to sign in again.
        clock: seconds; for tests.
    """

    def __init__(self, idle: float, clock: Callable[[], float] = monotonic) -> None:
        self._idle, self._clock = idle, clock
        self._open: OrderedDict[str, PageSession] = OrderedDict()

    def begin(self, caller: Caller, token: str = "") -> str:
        """Sign somebody in; the id that a cookie carries.

        Args:
            caller: who it is.
            token: hash of their token; empty: the person at the machine.
        """
        name = secrets.token_urlsafe(BYTES)
        csrf = secrets.token_urlsafe(BYTES)
        self._open[_hashed(name)] = PageSession(caller, token, csrf, self._clock())
        while len(self._open) > MOST:
            self._open.popitem(last=False)
        return name

    def find(self, name: str) -> PageSession | None:
        """Whose id this is; None where nobody's, or the session is over."""
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
        """Sign out."""
        self._open.pop(_hashed(name), None)


class OneTimeLinks:
    """Keys of links that are good once, and for ten minutes.

    Args:
        clock: seconds; for tests.
    """

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._keys: dict[str, float] = {}

    def make(self) -> str:
        """A new key."""
        key = secrets.token_urlsafe(BYTES)
        self._keys[_hashed(key)] = self._clock() + KEY_S
        return key

    def use(self, key: str) -> bool:
        """Whether the key opens; it does not do so again."""
        until = self._keys.pop(_hashed(key), None)
        return until is not None and self._clock() <= until


def _hashed(name: str) -> str:
    return sha256(name.encode()).hexdigest()
