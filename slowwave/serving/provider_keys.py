"""Cached signing keys of an OpenID provider.

They are refreshed rarely, and requests with a known key never wait.
"""

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
from slowwave.settings.addresses import is_safe

if TYPE_CHECKING:
    from jwt import PyJWK

LOG = logging.getLogger("slowwave.mcp")
FRESH_S: Final = 300.0  # age at which keys are refreshed in the background
COOLDOWN_S: Final = 30.0  # minimum time between two requests to the provider
TRUSTED_S: Final = 86_400.0  # lifetime of keys if the provider does not answer
TIMEOUT_S: Final = 5.0  # of a request to the provider
PATIENCE_S: Final = 10.0  # maximum wait of a token with an unknown key


class ProviderKeys:
    """Keys of the provider by name, for any thread and event loop.

    A new key is fetched as soon as a token names it, at most twice a minute. A removed key is refused after
    five minutes and a request. If the provider does not answer, known keys stay valid for a day.

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
        """Whether there are keys that are not too old."""
        return bool(self._keys) and not self._older_than(TRUSTED_S)

    async def key(self, name: str) -> PyJWK | None:
        """Return the key of this name; None if unknown or unavailable.

        Args:
            name: of a token's header (kid).
        """
        cached = self._known(name)
        if cached is not None:
            if self._older_than(FRESH_S):
                self._ask()
            return cached
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
        """Return the pending request to the provider, starting one if allowed; None during the cooldown."""
        with self._lock:
            if self._answer is not None and not self._answer.done():
                return self._answer
            if self._asked is not None and self._clock() - self._asked < COOLDOWN_S:
                return None
            self._asked = self._clock()
            self._answer = self._worker.submit(self._fetch)
            return self._answer

    def _fetch(self) -> None:
        """Fetch the keys in a thread. Errors are logged, and known keys stay."""
        from httpx2 import HTTPError
        from jwt import PyJWKClient
        from jwt.exceptions import PyJWTError

        try:
            url = self._jwks_url or self._discovered()
            client = PyJWKClient(url, cache_jwk_set=False, timeout=TIMEOUT_S)
            self._keys = {key.key_id: key for key in client.get_signing_keys() if key.key_id}
            self._heard, self._jwks_url = self._clock(), url
        except (HTTPError, PyJWTError, SlowwaveError, OSError, ValueError) as error:
            self._jwks_url = self._settings.jwks_url  # discover it again
            LOG.warning("Cannot fetch the keys of %s: %s", self._settings.issuer, error)

    def _discovered(self) -> str:
        """Return the URL of the keys from the provider's metadata (RFC 8414, OpenID Connect Discovery).

        Raises:
            SlowwaveError: it has no metadata, or those of another issuer.
        """
        import httpx2
        from mcp.client.auth.utils import build_oauth_authorization_server_metadata_discovery_urls as places

        issuer = self._settings.issuer
        for place in places(issuer, issuer):
            answer = httpx2.get(place, timeout=TIMEOUT_S, follow_redirects=False)
            if answer.status_code != 200:
                continue
            metadata: Any = answer.json()
            if not isinstance(metadata, dict) or metadata.get("issuer") != issuer:
                raise SlowwaveError(f"{place} is for another issuer. Compare mcp.oauth.issuer with it.")
            url = metadata.get("jwks_uri")
            if not isinstance(url, str) or not is_safe(url):
                raise SlowwaveError(f"{place} has no https URL of the keys (jwks_uri).")
            return url
        raise SlowwaveError("It has no metadata. Set mcp.oauth.jwks_url to the URL of its keys.")
