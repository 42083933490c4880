"""Errors of log import and export."""

from __future__ import annotations

from slowwave.errors import SlowwaveError


class ExchangeError(SlowwaveError):
    """Log that cannot be read, has another form, or precedes the first day."""


class Malformed(Exception):  # noqa: N818 - not an error of the import: the line is counted and passed over
    """Line that cannot be imported; the message is the reason."""
