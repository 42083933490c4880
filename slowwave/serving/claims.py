"""What the claims of an access token open: one namespace, and no more than its scopes let it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from slowwave.settings import OAuthGrant, Rights

READ: Final = "memory:read"
WRITE: Final = "memory:write"


def granted(claims: Mapping[str, Any], grants: Iterable[OAuthGrant]) -> OAuthGrant | None:
    """The first grant whose claim a token has; None where it has none of them.

    Args:
        claims: of the token.
        grants: in the order of the settings.
    """
    return next((one for one in grants if _has(claims, one)), None)


def _has(claims: Mapping[str, Any], grant: OAuthGrant) -> bool:
    """Whether the claim is this text, or a list with it. What is neither is not read as either."""
    found = _claim(claims, grant.claim)
    return (
        found == grant.value if isinstance(found, str) else isinstance(found, list) and grant.value in found
    )


def _claim(claims: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - whatever the provider says
    """A claim by its name, which may have dots itself, or by the way to it."""
    if name in claims:
        return claims[name]
    node: Any = claims
    for part in name.split("."):
        node = node.get(part) if isinstance(node, dict) else None
    return node


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """The scopes of a token, which providers say as a text (RFC 9068) or as a list, and under two names."""
    found: set[str] = set()
    for name in ("scope", "scp"):
        said = claims.get(name)
        parts = said.split(" ") if isinstance(said, str) else said if isinstance(said, list) else ()
        found |= {part for part in parts if isinstance(part, str)}
    return frozenset(found)


def narrowed(rights: Rights, scopes: frozenset[str], *, needed: bool) -> Rights | None:
    """What a token may do of what its holder may.

    Args:
        rights: of its holder.
        scopes: of the token.
        needed: whether it has to have one of ours.

    Returns:
        The rights; None: none at all.
    """
    if WRITE in scopes:
        return rights
    if READ in scopes:
        return "reader"
    return None if needed else rights
