"""Validation of web addresses in settings."""

from __future__ import annotations

from typing import Annotated, Final
from urllib.parse import urlsplit

from pydantic import AfterValidator

_LOOPBACK: Final = ("127.0.0.1", "localhost", "::1")


def is_safe(url: str) -> bool:
    """Whether an address is authentic: over TLS, or on this machine."""
    parts = urlsplit(url)
    near = parts.scheme == "http" and parts.hostname in _LOOPBACK
    return bool(parts.hostname) and (parts.scheme == "https" or near)


def page_address(url: str) -> str:
    """Return the address of a web UI, without a slash at its end.

    Raises:
        ValueError: It is no http address, or has more than a host and a path.
    """
    parts = urlsplit(url)
    plain = parts.scheme in ("http", "https") and parts.hostname and url.isprintable() and " " not in url
    if url and (not plain or parts.query or parts.fragment or parts.username is not None):
        raise ValueError("it must be an http:// or https:// address without a user name, query or fragment")
    return url.rstrip("/")


PageAddress = Annotated[str, AfterValidator(page_address)]
"""Address of a web UI; empty: none is known."""
