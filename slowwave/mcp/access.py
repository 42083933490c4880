"""Who calls: tokens of the home, and access tokens of an OpenID provider, as the settings know them now.

One object serves one server. What is made, taken out or changed in the settings counts from the next request
on; nothing is kept that another process would have to know.
"""

from __future__ import annotations

import logging
from collections.abc import Callable
from datetime import UTC, datetime
from typing import NamedTuple, Protocol

from slowwave.errors import SettingsError
from slowwave.mcp.callers import Caller
from slowwave.mcp.tokens import known_token
from slowwave.settings import McpToken, Settings
from slowwave.settings.watching import Watched

LOG = logging.getLogger("slowwave.mcp")


class Answer(NamedTuple):
    """Who calls, or why nobody does.

    Attributes:
        caller: who it is; None: nobody that may come in.
        why: what its client is told then.
        status: of HTTP: 401, or 403 where another token of the same person would not help.
        error: the word of RFC 6750 for it.
        guessed: whether the token may have been guessed: then answers come slower and slower.
    """

    caller: Caller | None
    why: str = ""
    status: int = 401
    error: str = "invalid_token"
    guessed: bool = False


class Foreign(Protocol):
    """Knows tokens that others have made."""

    async def answer(self, bearer: str) -> Answer:
        """Who calls with it."""


UNKNOWN = Answer(None, "This token is not known here, or not any more.", guessed=True)


class Access:
    """Says who calls.

    Args:
        settings: of the home. What they say of tokens is read again where the file has changed.
        now: the present moment; for tests.

    Raises:
        SettingsError: the settings cannot be read.
    """

    def __init__(self, settings: Settings, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._watched, self._now = Watched(settings.home), now

    async def caller(self, bearer: str) -> Caller | None:
        """Who calls with a token; None: nobody that may come in.

        Args:
            bearer: the token, as a request brings it.
        """
        return (await self.answer(bearer)).caller

    async def answer(self, bearer: str) -> Answer:
        """Who calls with a token, or why nobody does.

        It takes as long for any token of the home, known or not.
        """
        known = known_token(bearer, self.tokens)
        return UNKNOWN if known is None else self._of(known)

    @property
    def tokens(self) -> tuple[McpToken, ...]:
        """Tokens of the home as they are now, expired ones with them."""
        return self._watched.settings().mcp.tokens

    def holder(self, token_sha256: str) -> Caller | None:
        """Who holds the token with this hash now; None where it was taken out, or has expired.

        Args:
            token_sha256: what `slowwave.mcp.tokens.digest` made of it.
        """
        for known in self.tokens:
            if known.token_sha256 == token_sha256:
                return self._of(known).caller
        return None

    def _of(self, known: McpToken) -> Answer:
        if known.expires is not None and known.expired(self._now()):
            when = known.expires.astimezone(UTC)
            return Answer(None, f"This token expired at {when:%Y-%m-%d %H:%M} UTC. Ask for a new one.")
        return Answer(Caller(known.namespace, known.principal, known.rights))


def require_anybody(settings: Settings) -> None:
    """See that there is somebody who could come in.

    Raises:
        SettingsError: there is no token, and no provider whose tokens are taken.
    """
    if not is_anybody(settings):
        raise SettingsError(
            "No client could use the server: there is no token. "
            "Make one with `slowwave mcp token --namespace NAMESPACE --principal NAME`."
        )


def is_anybody(settings: Settings) -> bool:
    """Whether there is somebody who could come in."""
    return bool(settings.mcp.tokens or settings.mcp.oauth.issuer)
