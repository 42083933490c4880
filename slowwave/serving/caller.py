"""Caller of a request: namespace, principal and rights of its token."""

from __future__ import annotations

from typing import NamedTuple

from slowwave.settings import Rights


class Caller(NamedTuple):
    """User, namespace and rights of a request; only the token decides them."""

    namespace: str
    principal: str
    rights: Rights = "assistant"

    @property
    def reads_only(self) -> bool:
        """Whether it has no write access, not even to log searches."""
        return self.rights == "reader"

    @property
    def is_person(self) -> bool:
        """Whether it has a person's rights."""
        return self.rights == "person"

    @property
    def as_assistant(self) -> Caller:
        """The caller's assistant: a person's assistant has the rights of an assistant."""
        return self._replace(rights="assistant") if self.is_person else self


class Authentication(NamedTuple):
    """Result of checking a token.

    Attributes:
        caller: None if it was refused.
        why: reason of a refusal, for the client.
        status: of HTTP: 401, or 403 if another token of the same kind would not help.
        error: error code of RFC 6750.
        scope: the missing scope, if that is the reason.
        guessed: whether the token may be guessed; such answers are delayed.
    """

    caller: Caller | None
    why: str = ""
    status: int = 401
    error: str = "invalid_token"
    scope: str = ""
    guessed: bool = False
