"""Addresses as they may be shown: without the password that is in them."""

from __future__ import annotations

import re

_BEFORE_THE_HOST = re.compile(r"(://[^:/@]*:).*@")
_AMONG_OPTIONS = re.compile(r"([?&](?:ssl)?password=)[^&\s]*", re.IGNORECASE)
"""PostgreSQL's driver takes it there, too."""


def without_passwords(text: str) -> str:
    """A text whose addresses have ``***`` for passwords.

    Args:
        text: an address, or a text with some.
    """
    return _AMONG_OPTIONS.sub(r"\1***", _BEFORE_THE_HOST.sub(r"\1***@", text))
