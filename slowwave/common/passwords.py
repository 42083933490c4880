"""Masking of passwords in addresses."""

from __future__ import annotations

import re

_BEFORE_THE_HOST = re.compile(r"(://[^:/@]*:).*@")
_AMONG_OPTIONS = re.compile(r"([?&](?:ssl)?password=)[^&\s]*", re.IGNORECASE)
"""Pattern of a password among the options of a PostgreSQL address."""


def without_passwords(text: str) -> str:
    """Return a text with ``***`` for the passwords of its addresses.

    Args:
        text: An address, or a text with some.
    """
    return _AMONG_OPTIONS.sub(r"\1***", _BEFORE_THE_HOST.sub(r"\1***@", text))
