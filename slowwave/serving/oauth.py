"""Access tokens of an OpenID provider: signed by it, for this server, in time (RFC 9068, RFC 8725)."""

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
MOST_CHARACTERS: Final = 16_384  # of a token; one with two hundred groups has 12,000
PRINCIPAL_CHARACTERS: Final = 200
NAME_CHARACTERS: Final = 256  # of a key
TYPES: Final = ("", "jwt", "at+jwt", "application/at+jwt")
_OF_ID_TOKENS: Final = ("at_hash", "c_hash")
NO_KEYS: Final = "cannot be checked, as the keys of its issuer cannot be had. Try again later"
NOT_VALID: Final = Authentication(None, "This token is not valid.", guessed=True)


class OAuth:
    """Knows whose an access token is.

    Args:
        settings: of the provider; with an issuer.
        before: what knew its tokens under former settings; its keys are kept where they are the same.
    """

    def __init__(self, settings: OAuthSettings, before: OAuth | None = None) -> None:
        self.settings = settings
        same = before is not None and _place(before.settings) == _place(settings)
        self.keys: ProviderKeys = before.keys if before is not None and same else ProviderKeys(settings)

    async def answer(self, bearer: str) -> Authentication:
        """Who calls with a token, or why nobody does.

        Args:
            bearer: the token, as a request brings it.
        """
        head = _head(bearer)
        if why := self._wrong_head(bearer, head):
            return NOT_VALID._replace(why=why)
        key = await self.keys.key(head["kid"])
        if key is None:
            why = "is signed with a key that is not known" if self.keys.known else NO_KEYS
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
        except (ValueError, TypeError, RecursionError):  # what a head or claims of odd kinds come to
            return NOT_VALID
        return self._holder(claims)

    def _wrong_head(self, bearer: str, head: Mapping[str, Any]) -> str:
        """What is wrong with what a token says of itself; empty: nothing."""
        if len(bearer) > MOST_CHARACTERS:
            return f"This token has {len(bearer):,} characters; at most {MOST_CHARACTERS:,} are taken."
        if not head:
            return "This token is not valid."
        if head.get("alg") not in self.settings.algorithms:
            return f"This token is signed in a way (alg) other than {', '.join(self.settings.algorithms)}."
        name = head.get("kid")
        if not isinstance(name, str) or len(name) > NAME_CHARACTERS:
            return "This token does not say with which key it is signed (kid)."
        if str(head.get("typ", "")).lower() not in TYPES:
            return "This token says that it is no access token (typ)."
        return ""

    def _refused(self, error: PyJWTError) -> Authentication:
        """What is told of a token that the library does not take."""
        ours = self.settings.audience or self.settings.resource
        told: dict[type[PyJWTError], str] = {
            ExpiredSignatureError: "This token has expired.",
            ImmatureSignatureError: "This token is not valid yet. Do the clocks of both machines agree?",
            InvalidAudienceError: f"This token is for another resource; its audience has to be {ours}.",
            InvalidIssuerError: "This token is of another issuer.",
            InvalidSubjectError: "This token says of nobody that is a text (sub).",
        }
        if isinstance(error, MissingRequiredClaimError):
            return Authentication(None, f"This token does not say {error.claim}.")
        return Authentication(None, told[type(error)]) if type(error) in told else NOT_VALID

    def _holder(self, claims: Mapping[str, Any]) -> Authentication:
        """Who holds a token that the provider has made for this server, and what it opens."""
        if any(name in claims for name in _OF_ID_TOKENS) or claims.get("typ") == "ID":
            return Authentication(
                None, "This is an ID token, which is for the client. Send the access token."
            )
        if "cnf" in claims:
            return Authentication(
                None, "This token is bound to a key of its client (cnf); send one that is not."
            )
        name = claims.get(self.settings.principal)
        if (
            not isinstance(name, str)
            or not name.isprintable()
            or not 0 < len(name.strip()) <= PRINCIPAL_CHARACTERS
        ):
            return Authentication(None, f"This token does not say who acts ({self.settings.principal}).")
        found = granted(claims, self.settings.grants)
        if found is None:
            LOG.info("Somebody to whom nothing is granted was refused.")
            return Authentication(
                None, "Nothing is granted to you here. Ask who runs it.", 403, "access_denied"
            )
        rights = narrowed(found.rights, scopes_of(claims), needed=self.settings.scopes)
        if rights is None:
            return Authentication(
                None, f"This token lacks the scope {READ}.", 403, "insufficient_scope", READ
            )
        return Authentication(Caller(found.namespace, name, rights))


def _place(settings: OAuthSettings) -> tuple[str, str]:
    """Where keys come from."""
    return settings.issuer, settings.jwks_url


def _head(bearer: str) -> Mapping[str, Any]:
    """What a token says of itself before it is believed; nothing where it is none."""
    if len(bearer) > MOST_CHARACTERS:
        return {}
    try:
        return jwt.get_unverified_header(bearer)
    except (PyJWTError, ValueError, TypeError, RecursionError):
        return {}
