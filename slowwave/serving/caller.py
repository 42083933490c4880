"""Caller of a request: namespace, principal and rights, as the token says them."""

from __future__ import annotations

from typing import NamedTuple

from slowwave.settings import Rights


class Caller(NamedTuple):
    """Who acts, in which namespace, and with what rights; nothing else that a client sends decides any."""

    namespace: str
    principal: str
    rights: Rights = "assistant"

    @property
    def reads_only(self) -> bool:
        """Whether nothing that it does may change anything, not even what searches are known of."""
        return self.rights == "reader"

    @property
    def is_person(self) -> bool:
        """Whether a person acts."""
        return self.rights == "person"

    @property
    def as_assistant(self) -> Caller:
        """Caller whose assistant acts: whatever a person may, their assistant may what assistants may."""
        return self._replace(rights="assistant") if self.is_person else self


class Authentication(NamedTuple):
    """Result of checking a token: who calls, or why nobody does.

    Attributes:
        caller: who it is; None: nobody that may come in.
        why: what its client is told then.
        status: of HTTP: 401, or 403 where a token like it would not help.
        error: the word of RFC 6750 for it.
        scope: what a token would have to have, where that is what is missing.
        guessed: whether the token may have been guessed: then answers come slower and slower.
    """

    caller: Caller | None
    why: str = ""
    status: int = 401
    error: str = "invalid_token"
    scope: str = ""
    guessed: bool = False
