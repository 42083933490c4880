"""Who calls: tokens of the home, and access tokens of an OpenID provider, as the settings know them now.

One object serves one server. What is made, taken out or changed in the settings counts from the next request
on. Nothing of a caller is kept here that another process would have to know.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from slowwave.errors import SettingsError
from slowwave.serving.caller import Authentication, Caller
from slowwave.serving.tokens import VARIABLE, in_the_variable, known_token
from slowwave.settings import McpToken, OAuthSettings, Settings
from slowwave.settings.hot_reload import WatchedSettings

if TYPE_CHECKING:
    from slowwave.serving.oauth import OAuth

UNKNOWN: Final = Authentication(None, "This token is not known here, or not any more.", guessed=True)


class Access:
    """Says who calls.

    Args:
        settings: of the home. What they say of tokens is read again where the file has changed.
        now: the present moment; for tests.

    Raises:
        SettingsError: the settings cannot be read.
    """

    def __init__(self, settings: Settings, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._watched, self._now = WatchedSettings(settings.home), now
        self._oauth: OAuth | None = None

    async def answer(self, bearer: str) -> Authentication:
        """Who calls with a token of the home or of the provider, or why nobody does.

        Args:
            bearer: the token, as a request brings it.
        """
        answer = self.of_home(bearer)
        if answer is UNKNOWN and bearer.count(".") == 2:  # a signed one: head, claims, signature
            provider = self._provider(self._watched.settings().mcp.oauth)
            return answer if provider is None else await provider.answer(bearer)
        return answer

    def of_home(self, bearer: str) -> Authentication:
        """Who calls with a token of the home, or why nobody does.

        It takes as long for any token, known or not.
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
            token_sha256: what `slowwave.serving.tokens.digest` made of it.
        """
        for known in self.tokens:
            if known.token_sha256 == token_sha256:
                return self._of(known).caller
        return None

    def _of(self, known: McpToken) -> Authentication:
        if known.expires is not None and known.expired(self._now()):
            when = known.expires.astimezone(UTC)
            return Authentication(
                None, f"This token expired at {when:%Y-%m-%d %H:%M} UTC. Ask for a new one."
            )
        return Authentication(Caller(known.namespace, known.principal, known.rights))

    def _provider(self, settings: OAuthSettings) -> OAuth | None:
        """What knows the provider's tokens, as the settings are now."""
        if not settings.issuer:
            self._oauth = None
        elif self._oauth is None or self._oauth.settings != settings:
            from slowwave.serving.oauth import OAuth

            self._oauth = OAuth(settings, self._oauth)
        return self._oauth


def require_anybody(settings: Settings) -> None:
    """See that there is somebody who could come in.

    Raises:
        SettingsError: there is no token, and no provider whose tokens are taken.
    """
    if not is_anybody(settings):
        raise SettingsError(f"No client could use the server: there is no token. {how_to_let_in()}")


def how_to_let_in() -> str:
    """What to do where nobody could come in: make a token, or name one in the variable if it counts."""
    if in_the_variable():
        return (
            f"{VARIABLE} is set and names none, and only its tokens count. Put there "
            f'[{{"token_sha256": "…", "namespace": "NAMESPACE", "principal": "NAME"}}] with the SHA-256 of a '
            f"token (`slowwave mcp token --namespace NAMESPACE --principal NAME` makes one, and says what to "
            f"put there), or unset it."
        )
    return "Make one with `slowwave mcp token --namespace NAMESPACE --principal NAME`."


def is_anybody(settings: Settings) -> bool:
    """Whether there is somebody who could come in."""
    return bool(settings.mcp.tokens or settings.mcp.oauth.issuer)
