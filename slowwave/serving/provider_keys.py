"""The keys of an OpenID provider, asked for rarely and never waited for by those whose key is known."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any, Final

from slowwave.errors import SlowwaveError
from slowwave.settings import OAuthSettings
from slowwave.settings.groups import is_safe

if TYPE_CHECKING:
    from jwt import PyJWK

LOG = logging.getLogger("slowwave.mcp")
FRESH_S: Final = 300.0  # after which keys are asked for again, beside the requests that use them
COOLDOWN_S: Final = 30.0  # between two questions to the provider, whatever tokens come
TRUSTED_S: Final = 86_400.0  # that keys are good for without a word of the provider
TIMEOUT_S: Final = 5.0  # of a question
PATIENCE_S: Final = 10.0  # that a token of an unknown key waits at most


class ProviderKeys:
    """The provider's keys by their names. It may be used from any thread and any event loop.

    A new key is known as soon as a token names it, if the provider was not asked within the last half minute.
    A key that the provider took out is refused after five minutes and a request. While it does not answer,
    the known keys are good for a day.

    Args:
        settings: of the provider.
        clock: seconds; for tests.
    """

    def __init__(self, settings: OAuthSettings, clock: Callable[[], float] = monotonic) -> None:
        self._settings, self._clock, self._lock = settings, clock, Lock()
        self._keys: Mapping[str, PyJWK] = {}
        self._heard: float | None = None
        self._asked: float | None = None
        self._answer: Future[None] | None = None
        self._jwks_url = settings.jwks_url
        self._worker = ThreadPoolExecutor(1, thread_name_prefix="slowwave-keys")

    @property
    def known(self) -> bool:
        """Whether there are keys that may be trusted."""
        return bool(self._keys) and not self._older_than(TRUSTED_S)

    async def key(self, name: str) -> PyJWK | None:
        """The key of this name; None where the provider has none, or cannot be asked.

        Args:
            name: as a token's head says it (kid).
        """
        known = self._known(name)
        if known is not None:
            if self._older_than(FRESH_S):
                self._ask()
            return known
        answer = self._ask()
        if answer is not None:
            try:
                await asyncio.wait_for(asyncio.shield(asyncio.wrap_future(answer)), PATIENCE_S)
            except TimeoutError:
                LOG.warning("%s does not answer in %s s.", self._settings.issuer, PATIENCE_S)
        return self._known(name)

    def _known(self, name: str) -> PyJWK | None:
        return None if self._older_than(TRUSTED_S) else self._keys.get(name)

    def _older_than(self, seconds: float) -> bool:
        return self._heard is None or self._clock() - self._heard > seconds

    def _ask(self) -> Future[None] | None:
        """What the provider will have said, asked now or already; None where it was asked a moment ago."""
        with self._lock:
            if self._answer is not None and not self._answer.done():
                return self._answer
            if self._asked is not None and self._clock() - self._asked < COOLDOWN_S:
                return None
            self._asked = self._clock()
            self._answer = self._worker.submit(self._fetch)
            return self._answer

    def _fetch(self) -> None:
        """Ask, in a thread; what goes wrong is in the log, and the known keys stay."""
        from httpx2 import HTTPError
        from jwt import PyJWKClient
        from jwt.exceptions import PyJWTError

        try:
            url = self._jwks_url or self._discovered()
            client = PyJWKClient(url, cache_jwk_set=False, timeout=TIMEOUT_S)
            self._keys = {key.key_id: key for key in client.get_signing_keys() if key.key_id}
            self._heard, self._jwks_url = self._clock(), url
        except (HTTPError, PyJWTError, SlowwaveError, OSError, ValueError) as error:
            self._jwks_url = self._settings.jwks_url  # it may have moved
            LOG.warning("The keys of %s cannot be had: %s", self._settings.issuer, error)

    def _discovered(self) -> str:
        """Where the keys are, as the provider's metadata says (RFC 8414, OpenID Connect Discovery).

        Raises:
            SlowwaveError: it says nothing, or is about somebody else.
        """
        import httpx2
        from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls as places

        issuer = self._settings.issuer
        for place in places(issuer, issuer):
            answer = httpx2.get(place, timeout=TIMEOUT_S, follow_redirects=False)
            if answer.status_code != 200:
                continue
            said: Any = answer.json()
            if not isinstance(said, dict) or said.get("issuer") != issuer:
                raise SlowwaveError(f"{place} is about another issuer. Is mcp.oauth.issuer written as there?")
            url = said.get("jwks_uri")
            if not isinstance(url, str) or not is_safe(url):
                raise SlowwaveError(f"{place} does not say where the keys are (jwks_uri, https).")
            return url
        raise SlowwaveError("It has no metadata. Set mcp.oauth.jwks_url to where its keys are.")
