"""Authentication by tokens of the home and access tokens of an OpenID provider.

One object serves one server. Changes of the settings apply from the next request. No state of a caller is
kept that other processes would need.
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

UNKNOWN: Final = Authentication(None, "Unknown or revoked token.", guessed=True)


class Access:
    """Authentication of callers.

    Args:
        settings: of the home. Their tokens are read again when the file changes.
        now: current time; for tests.

    Raises:
        SettingsError: the settings cannot be read.
    """

    def __init__(self, settings: Settings, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._watched, self._now = WatchedSettings(settings.home), now
        self._oauth: OAuth | None = None

    async def answer(self, bearer: str) -> Authentication:
        """Authenticate a token of the home or of the provider.

        Args:
            bearer: the token of a request.
        """
        answer = self.of_home(bearer)
        if answer is UNKNOWN and bearer.count(".") == 2:  # a JWT: header, claims, signature
            provider = self._provider(self._watched.settings().mcp.oauth)
            return answer if provider is None else await provider.answer(bearer)
        return answer

    def of_home(self, bearer: str) -> Authentication:
        """Authenticate a token of the home, in constant time."""
        token = known_token(bearer, self.tokens)
        return UNKNOWN if token is None else self._of(token)

    @property
    def tokens(self) -> tuple[McpToken, ...]:
        """Current tokens of the home, including expired ones."""
        return self._watched.settings().mcp.tokens

    def holder(self, token_sha256: str) -> Caller | None:
        """Return the caller of the token with this hash; None if revoked or expired.

        Args:
            token_sha256: as of `slowwave.serving.tokens.digest`.
        """
        for token in self.tokens:
            if token.token_sha256 == token_sha256:
                return self._of(token).caller
        return None

    def _of(self, token: McpToken) -> Authentication:
        if token.expires is not None and token.expired(self._now()):
            when = token.expires.astimezone(UTC)
            return Authentication(
                None, f"This token expired at {when:%Y-%m-%d %H:%M} UTC. Ask for a new one."
            )
        return Authentication(Caller(token.namespace, token.principal, token.rights))

    def _provider(self, settings: OAuthSettings) -> OAuth | None:
        """Return the verifier of the provider's tokens for the current settings."""
        if not settings.issuer:
            self._oauth = None
        elif self._oauth is None or self._oauth.settings != settings:
            from slowwave.serving.oauth import OAuth

            self._oauth = OAuth(settings, self._oauth)
        return self._oauth


def require_anybody(settings: Settings) -> None:
    """Require a token or a provider.

    Raises:
        SettingsError: there is neither.
    """
    if not is_anybody(settings):
        raise SettingsError(f"There is no token, so no client could use the server. {how_to_let_in()}")


def how_to_let_in() -> str:
    """Return how to create a token, in the environment variable if that is set."""
    if in_the_variable():
        return (
            f"{VARIABLE} is set and names none; tokens of the settings file are ignored. Set it to "
            f'[{{"token_sha256": "…", "namespace": "NAMESPACE", "principal": "NAME"}}] with the SHA-256 of a '
            f"token (`slowwave mcp token --namespace NAMESPACE --principal NAME` creates one and prints its "
            f"entry), or unset it."
        )
    return "Create one with `slowwave mcp token --namespace NAMESPACE --principal NAME`."


def is_anybody(settings: Settings) -> bool:
    """Whether there is a token or a provider."""
    return bool(settings.mcp.tokens or settings.mcp.oauth.issuer)
