"""Bearer tokens of HTTP servers. Only their SHA-256 is stored: 256 random bits need no slower hash."""

from __future__ import annotations

import hmac
import os
import secrets
from collections.abc import Iterable
from datetime import datetime
from hashlib import sha256
from typing import TYPE_CHECKING, Final

from slowwave.errors import NotFoundError, SettingsError
from slowwave.settings import McpToken, Settings, load
from slowwave.settings.display import variable_of
from slowwave.settings.file import editing

if TYPE_CHECKING:
    from tomlkit import TOMLDocument

PREFIX = "slowwave_"  # recognisable for secret scanners
VARIABLE: Final = variable_of(("mcp", "tokens"))
"""Environment variable of tokens; if set, those of the settings file are ignored."""
_ID: Final = 8  # hex digits of a hash that identify a token


def digest(token: str) -> str:
    """Return the hash of a token that is stored."""
    return sha256(token.encode()).hexdigest()


def known_token(token: str, tokens: Iterable[McpToken]) -> McpToken | None:
    """Return the entry of a token, even if expired; in constant time."""
    token_hash, match = digest(token), None
    for entry in tokens:
        if hmac.compare_digest(token_hash, entry.token_sha256):
            match = entry
    return match


def id_of(token: McpToken) -> str:
    """Return an id that tells tokens of the same name apart; it gives no access."""
    return token.token_sha256[:_ID]


def in_the_variable() -> bool:
    """Whether the tokens are those of the environment variable."""
    return any(name.upper() == VARIABLE for name in os.environ)


def add_token(
    settings: Settings,
    namespace: str,
    principal: str,
    *,
    rights: str = "assistant",
    name: str = "",
    expires: datetime | None = None,
) -> str:
    """Create a token and store its hash in the settings file of the home.

    Args:
        settings: of the home.
        namespace: the only one that it gives access to.
        principal: user of its events.
        rights: reader, assistant or person.
        name: unique name in lists; empty: its principal.
        expires: time from which it is refused.

    Raises:
        SettingsError: a value is invalid; nothing was written.
    """
    token = PREFIX + secrets.token_urlsafe(32)
    entry: dict[str, object] = {
        "token_sha256": digest(token),
        "namespace": namespace,
        "principal": principal,
    }
    more = {"rights": rights if rights != "assistant" else "", "name": name, "expires": expires}
    entry |= {key: value for key, value in more.items() if value}
    load(settings.home, mcp={"tokens": [entry]})  # validates the entry
    if name and any(token_.label == name for token_ in settings.mcp.tokens):
        raise SettingsError(
            f"A token named {name!r} exists already. Give another --name, or revoke that token."
        )
    with editing(settings.home) as document:
        existing = document.setdefault("mcp", {}).get("tokens", [])
        document["mcp"]["tokens"] = [*existing, entry]
    return token


def revoke(settings: Settings, name: str) -> McpToken:
    """Remove a token from the settings file of the home.

    Args:
        settings: of the home.
        name: its name or id.

    Returns:
        The removed entry.

    Raises:
        NotFoundError: there is none, or it is not in the settings file.
        SettingsError: several have this name.
    """
    tokens = settings.mcp.tokens
    matches = [token for token in tokens if id_of(token) == name] or [
        token for token in tokens if token.label == name
    ]
    if not matches:
        raise NotFoundError(f"Unknown token {name!r}. `slowwave mcp tokens` lists the tokens.")
    if len(matches) > 1:
        several = ", ".join(f"{id_of(token)} ({token.namespace})" for token in matches)
        raise SettingsError(f"{len(matches)} tokens are named {name!r}. Give the id of one: {several}.")
    (removed,) = matches
    with editing(settings.home) as document:
        if not _remove_entry(document, removed):
            raise NotFoundError(
                f"The token {name!r} is not in the settings file but in {VARIABLE}. Remove it there, and "
                f"restart the servers that use it."
            )
    return removed


def _remove_entry(document: TOMLDocument, removed: McpToken) -> bool:
    """Remove a token from the document; return whether it was in it."""
    entries = document.get("mcp", {}).get("tokens", [])
    kept = [entry for entry in entries if entry.get("token_sha256") != removed.token_sha256]
    if len(kept) == len(entries):
        return False
    document["mcp"]["tokens"] = kept
    return True
