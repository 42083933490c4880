"""Bearer tokens of the HTTP server. Only their SHA-256 is kept: 256 random bits need no slower hash."""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Iterable
from hashlib import sha256

from slowwave.mcp.callers import Caller
from slowwave.settings import McpToken, Settings, load
from slowwave.settings.file import editing

PREFIX = "slowwave_"  # so that scanners for leaked secrets can know one


def digest(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode()).hexdigest()


def caller_of(token: str, tokens: Iterable[McpToken]) -> Caller | None:
    """Whose token this is. It takes as long for any token, known or not."""
    found = known_token(token, tokens)
    return None if found is None else Caller(found.namespace, found.principal)


def known_token(token: str, tokens: Iterable[McpToken]) -> McpToken | None:
    """What is known of a token. It takes as long for any token, known or not."""
    given, found = digest(token), None
    for known in tokens:
        if hmac.compare_digest(given, known.token_sha256):
            found = known
    return found


def add_token(settings: Settings, namespace: str, principal: str, *, rights: str = "assistant") -> str:
    """A new token, whose hash is in the settings file of the home from now on.

    Args:
        settings: of the home.
        namespace: the one that it opens.
        principal: who acts with it.
        rights: assistant or person: what it may do on the memory's page.

    Raises:
        SettingsError: namespace, principal or rights are not allowed; nothing was written.
    """
    token = PREFIX + secrets.token_urlsafe(32)
    entry = {"token_sha256": digest(token), "namespace": namespace, "principal": principal}
    entry |= {} if rights == "assistant" else {"rights": rights}
    load(settings.home, mcp={"tokens": [entry]})  # is it allowed?
    with editing(settings.home) as document:
        known = document.setdefault("mcp", {}).get("tokens", [])
        document["mcp"]["tokens"] = [*known, entry]
    return token
