"""What can be wrong with a log."""

from __future__ import annotations

from slowwave.errors import SlowwaveError


class ExchangeError(SlowwaveError):
    """A log cannot be read, is of another form, or is about days that the night does not have."""


class Malformed(Exception):  # noqa: N818 - not an error of the import: the line is counted and passed over
    """A line that cannot be taken; the message is the reason."""
