"""Bearer tokens of the HTTP server. Only their SHA-256 is kept: 256 random bits need no slower hash."""

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

PREFIX = "slowwave_"  # so that scanners for leaked secrets can know one
VARIABLE: Final = variable_of(("mcp", "tokens"))
"""Tokens that are named here are all that count; those of the settings file do not then."""
_ID: Final = 8  # hex digits of a hash by which a token can be named


def digest(token: str) -> str:
    """What is kept of a token."""
    return sha256(token.encode()).hexdigest()


def known_token(token: str, tokens: Iterable[McpToken]) -> McpToken | None:
    """What is known of a token, be it expired. It takes as long for any token, known or not."""
    given, found = digest(token), None
    for known in tokens:
        if hmac.compare_digest(given, known.token_sha256):
            found = known
    return found


def id_of(token: McpToken) -> str:
    """What tells a token from others of the same name, and is of no use to who has not got it."""
    return token.token_sha256[:_ID]


def in_the_variable() -> bool:
    """Whether the tokens that count are those of the environment."""
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
    """A new token, whose hash is in the settings file of the home from now on.

    Args:
        settings: of the home.
        namespace: the one that it opens.
        principal: who acts with it.
        rights: reader, assistant or person.
        name: what it is called where tokens are listed; no other may be called so. Empty: its principal.
        expires: moment from which it is refused.

    Raises:
        SettingsError: one of them is not allowed; nothing was written.
    """
    token = PREFIX + secrets.token_urlsafe(32)
    entry: dict[str, object] = {
        "token_sha256": digest(token),
        "namespace": namespace,
        "principal": principal,
    }
    more = {"rights": rights if rights != "assistant" else "", "name": name, "expires": expires}
    entry |= {key: value for key, value in more.items() if value}
    load(settings.home, mcp={"tokens": [entry]})  # is it allowed?
    if name and any(one.label == name for one in settings.mcp.tokens):
        raise SettingsError(
            f"There is a token called {name!r} already. Give another --name, or revoke that one."
        )
    with editing(settings.home) as document:
        known = document.setdefault("mcp", {}).get("tokens", [])
        document["mcp"]["tokens"] = [*known, entry]
    return token


def revoke(settings: Settings, name: str) -> McpToken:
    """Take a token out of the settings file of the home; it opens nothing from now on.

    Args:
        settings: of the home.
        name: what it is called, or its id.

    Returns:
        What was known of it.

    Raises:
        NotFoundError: there is none, or it is not in the settings file.
        SettingsError: several are called so.
    """
    known = settings.mcp.tokens
    found = [one for one in known if id_of(one) == name] or [one for one in known if one.label == name]
    if not found:
        raise NotFoundError(f"There is no token called {name!r}. `slowwave mcp tokens` lists them.")
    if len(found) > 1:
        several = ", ".join(f"{id_of(one)} ({one.namespace})" for one in found)
        raise SettingsError(f"{len(found)} tokens are called {name!r}. Name one by its id: {several}.")
    (gone,) = found
    with editing(settings.home) as document:
        if not _taken_out(document, gone):
            raise NotFoundError(
                f"The token {name!r} is not in the settings file but in {VARIABLE}: take it out there, and "
                f"start what runs with it again."
            )
    return gone


def _taken_out(document: TOMLDocument, gone: McpToken) -> bool:
    """Take a token out of the document; whether it was there."""
    known = document.get("mcp", {}).get("tokens", [])
    kept = [one for one in known if one.get("token_sha256") != gone.token_sha256]
    if len(kept) == len(known):
        return False
    document["mcp"]["tokens"] = kept
    return True
