"""Errors, ids and times of log import and export."""

from __future__ import annotations

import re
from datetime import UTC, datetime

from slowwave.common import ids
from slowwave.common.arguments import parsed_day
from slowwave.errors import ArgumentError, SlowwaveError

_OURS = re.compile(r"[0-9a-f]{32}")
_MEMORY = re.compile(r"[a-z2-7]{26}")


class ExchangeError(SlowwaveError):
    """Log that cannot be read, has another form, or precedes the first day."""


class Malformed(Exception):  # noqa: N818 - not an error of the import: the line is counted and passed over
    """Line that cannot be imported; the message is the reason."""


def own_id(kind: str, namespace: str, foreign_id: str) -> str:
    """Return the local id of an imported search or event: the same log gives the same on every machine.

    A Slowwave id (32 hex digits) stays, so an export is the same event in another home. Any other id is
    hashed with the namespace, because two tenants may both have a search ``1``.
    """
    return foreign_id if _OURS.fullmatch(foreign_id) else ids.digest(kind, namespace, foreign_id)


def is_memory_id(text: str) -> bool:
    """Return whether the text has the form of a memory id."""
    return _MEMORY.fullmatch(text) is not None


def parse_day(text: str) -> str:
    """Parse a day (YYYY-MM-DD); empty stays empty.

    Raises:
        ExchangeError: not a day.
    """
    try:
        return parsed_day("", text).isoformat() if text else ""
    except ArgumentError:
        raise ExchangeError(f"{text!r} is not a day. Write it as YYYY-MM-DD.") from None


def written_moment(at: datetime) -> str:
    """Format the moment in UTC, as ISO 8601 with a Z."""
    return at.astimezone(UTC).isoformat().replace("+00:00", "Z")
