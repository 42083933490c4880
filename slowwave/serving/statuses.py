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
    """Error with an HTTP status, for refusals specific to HTTP.

    Args:
        status: of HTTP.
        detail: what was wrong, and what to do.
        headers: of the response.
    """

    def __init__(self, status: int, detail: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(detail)
        self.status, self.headers = status, headers


def status_of(error: SlowwaveError, *, invalid: int = 422) -> int:
    """Return the HTTP status of an error; 409 is a conflict with the current state.

    Args:
        error: as it was raised.
        invalid: status of an invalid value.
    """
    if isinstance(error, StatusError):
        return error.status
    if isinstance(error, _INVALID):
        return invalid
    return next((status for kinds, status in _STATUS if isinstance(error, kinds)), CONFLICT)
