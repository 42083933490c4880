"""HTTP status of each kind of error, for every server."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from slowwave.errors import (
    ArgumentError,
    JournalConflictError,
    JournalError,
    ModelError,
    NotFoundError,
    SettingsError,
    SlowwaveError,
    StoreError,
)
from slowwave.evaluation.judging import JudgmentError
from slowwave.feedback import FeedbackError
from slowwave.lifecycle.forgetting import ProtectedError

CONFLICT: Final = 409
_STATUS: Final[Sequence[tuple[tuple[type[SlowwaveError], ...], int]]] = (
    ((NotFoundError,), 404),
    ((ProtectedError,), 403),
    ((JournalConflictError,), CONFLICT),
    ((StoreError, JournalError, ModelError, SettingsError), 503),
)
_INVALID: Final = (ArgumentError, FeedbackError, JudgmentError)


class StatusError(SlowwaveError):
    """A request is refused for what only HTTP knows of.

    Args:
        status: Of HTTP.
        detail: What was wrong, and what to do.
        headers: Of the answer.
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.headers = status, headers


def status_of(error: SlowwaveError, *, invalid: int = 422) -> int:
    """Return the status for an error: 409 where the request does not go with the present state.

    Args:
        error: As it was raised.
        invalid: Status for a value that is not allowed.
    """
    if isinstance(error, StatusError):
        return error.status
    if isinstance(error, _INVALID):
        return invalid
    return next((status for kinds, status in _STATUS if isinstance(error, kinds)), CONFLICT)
