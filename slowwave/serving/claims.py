"""Authorization by the claims of an access token: grant and scopes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from slowwave.settings import OAuthGrant, Rights

READ: Final = "memory:read"
WRITE: Final = "memory:write"


def granted(claims: Mapping[str, Any], grants: Iterable[OAuthGrant]) -> OAuthGrant | None:
    """Return the first grant whose claim a token has, or None.

    Args:
        claims: of the token.
        grants: in the order of the settings.
    """
    return next((grant for grant in grants if _has(claims, grant)), None)


def _has(claims: Mapping[str, Any], grant: OAuthGrant) -> bool:
    """Whether the claim is this text, or a list that contains it."""
    value = _claim(claims, grant.claim)
    return (
        value == grant.value if isinstance(value, str) else isinstance(value, list) and grant.value in value
    )


def _claim(claims: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - whatever the provider says
    """Return a claim by its name, which may contain dots, or by a dotted path."""
    if name in claims:
        return claims[name]
    node: Any = claims
    for part in name.split("."):
        node = node.get(part) if isinstance(node, dict) else None
    return node


def scopes_of(claims: Mapping[str, Any]) -> frozenset[str]:
    """Return the scopes of a token.

    Providers send them as text (RFC 9068) or as a list, under two names.
    """
    scopes: set[str] = set()
    for name in ("scope", "scp"):
        claim = claims.get(name)
        parts = claim.split(" ") if isinstance(claim, str) else claim if isinstance(claim, list) else ()
        scopes |= {part for part in parts if isinstance(part, str)}
    return frozenset(scopes)


def narrowed(rights: Rights, scopes: frozenset[str], *, needed: bool) -> Rights | None:
    """Limit rights by the scopes of a token.

    Args:
        rights: of its holder.
        scopes: of the token.
        needed: whether one of our scopes is required.

    Returns:
        The rights, or None without any.
    """
    if WRITE in scopes:
        return rights
    if READ in scopes:
        return "reader"
    return None if needed else rights
