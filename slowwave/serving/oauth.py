"""Verification of access tokens of an OpenID provider (RFC 9068, RFC 8725)."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any, Final

import jwt
from jwt.exceptions import (
    ExpiredSignatureError,
    ImmatureSignatureError,
    InvalidAudienceError,
    InvalidIssuerError,
    InvalidSubjectError,
    MissingRequiredClaimError,
    PyJWTError,
)

from slowwave.serving.caller import Authentication, Caller
from slowwave.serving.claims import READ, granted, narrowed, scopes_of
from slowwave.serving.provider_keys import ProviderKeys
from slowwave.settings import OAuthSettings

LOG = logging.getLogger("slowwave.mcp")
MAX_CHARACTERS: Final = 16_384  # of a token; one with 200 groups has 12,000
PRINCIPAL_CHARACTERS: Final = 200
NAME_CHARACTERS: Final = 256  # of a key
TYPES: Final = ("", "jwt", "at+jwt", "application/at+jwt")
_OF_ID_TOKENS: Final = ("at_hash", "c_hash")
NO_KEYS: Final = "cannot be checked: the keys of its issuer are not available. Retry later"
NOT_VALID: Final = Authentication(None, "This token is not valid.", guessed=True)


class OAuth:
    """Verifier of access tokens.

    Args:
        settings: of the provider; with an issuer.
        before: the verifier of previous settings; its keys are reused if their source is the same.
    """

    def __init__(self, settings: OAuthSettings, before: OAuth | None = None) -> None:
        self.settings = settings
        same = before is not None and _place(before.settings) == _place(settings)
        self.keys: ProviderKeys = before.keys if before is not None and same else ProviderKeys(settings)

    async def answer(self, bearer: str) -> Authentication:
        """Authenticate a token.

        Args:
            bearer: the token of a request.
        """
        head = _head(bearer)
        if why := self._wrong_head(bearer, head):
            return NOT_VALID._replace(why=why)
        key = await self.keys.key(head["kid"])
        if key is None:
            why = "is signed with an unknown key" if self.keys.known else NO_KEYS
            return NOT_VALID._replace(why=f"This token {why}.")
        try:
            claims = jwt.decode(
                bearer,
                key,
                algorithms=self.settings.algorithms,
                audience=self.settings.audience or self.settings.resource,
                issuer=self.settings.issuer,
                leeway=self.settings.leeway_seconds,
                options={"require": ["exp", "iss", "aud"], "enforce_minimum_key_length": True},
            )
        except PyJWTError as error:
            return self._refused(error)
        except (ValueError, TypeError, RecursionError):  # malformed headers or claims
            return NOT_VALID
        return self._holder(claims)

    def _wrong_head(self, bearer: str, head: Mapping[str, Any]) -> str:
        """Return what is wrong with a token's header, or ""."""
        if len(bearer) > MAX_CHARACTERS:
            return f"This token has {len(bearer):,} characters; the maximum is {MAX_CHARACTERS:,}."
        if not head:
            return "This token is not valid."
        if head.get("alg") not in self.settings.algorithms:
            return (
                f"This token's signature algorithm (alg) is not one of {', '.join(self.settings.algorithms)}."
            )
        name = head.get("kid")
        if not isinstance(name, str) or len(name) > NAME_CHARACTERS:
            return "This token does not name its key (kid)."
        if str(head.get("typ", "")).lower() not in TYPES:
            return "This is no access token (typ)."
        return ""

    def _refused(self, error: PyJWTError) -> Authentication:
        """Return the reason of a token that the library refuses."""
        audience = self.settings.audience or self.settings.resource
        messages: dict[type[PyJWTError], str] = {
            ExpiredSignatureError: "This token has expired.",
            ImmatureSignatureError: "This token is not valid yet. Check the clocks of both machines.",
            InvalidAudienceError: f"This token is for another resource; its audience has to be {audience}.",
            InvalidIssuerError: "This token is from another issuer.",
            InvalidSubjectError: "This token's subject is no text (sub).",
        }
        if isinstance(error, MissingRequiredClaimError):
            return Authentication(None, f"This token has no claim {error.claim}.")
        return Authentication(None, messages[type(error)]) if type(error) in messages else NOT_VALID

    def _holder(self, claims: Mapping[str, Any]) -> Authentication:
        """Return the caller of a verified token."""
        if any(name in claims for name in _OF_ID_TOKENS) or claims.get("typ") == "ID":
            return Authentication(None, "This is an ID token. Send the access token.")
        if "cnf" in claims:
            return Authentication(None, "This token is bound to a client key (cnf). Send one that is not.")
        name = claims.get(self.settings.principal)
        if (
            not isinstance(name, str)
            or not name.isprintable()
            or not 0 < len(name.strip()) <= PRINCIPAL_CHARACTERS
        ):
            return Authentication(None, f"This token does not name the user ({self.settings.principal}).")
        grant = granted(claims, self.settings.grants)
        if grant is None:
            LOG.info("Refused a user without a grant.")
            return Authentication(
                None, "You have no grant here. Ask the operator of the server.", 403, "access_denied"
            )
        rights = narrowed(grant.rights, scopes_of(claims), needed=self.settings.scopes)
        if rights is None:
            return Authentication(
                None, f"This token is missing the scope {READ}.", 403, "insufficient_scope", READ
            )
        return Authentication(Caller(grant.namespace, name, rights))


def _place(settings: OAuthSettings) -> tuple[str, str]:
    """Return the source of the keys."""
    return settings.issuer, settings.jwks_url


def _head(bearer: str) -> Mapping[str, Any]:
    """Return the unverified header of a token, empty if malformed."""
    if len(bearer) > MAX_CHARACTERS:
        return {}
    try:
        return jwt.get_unverified_header(bearer)
    except (PyJWTError, ValueError, TypeError, RecursionError):
        return {}
