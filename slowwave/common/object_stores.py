"""Advice for errors of object stores."""

from __future__ import annotations

from typing import Final

_ADVICE: Final = (
    (
        ("no space left", "storagefull", "quota exceeded"),
        "it is full: free some space, then run the command again",
    ),
    (
        ("169.254.169.254", "metadata.google"),  # a cloud machine's address for credentials
        "there are no credentials for it: set them in its storage options or the environment",
    ),
    (
        ("builder error",),  # the only hint at an endpoint that begins with http:
        "an endpoint without TLS has to be allowed: AWS_ALLOW_HTTP=true, or allow_http among its options",
    ),
    (("nosuchbucket",), "the bucket does not exist: create it, or correct the name"),
    (
        ("permission denied", "accessdenied", "403 forbidden", "read-only file system", "permissiondenied"),
        "access is denied: check the rights of this account",
    ),
    (
        ("invalidaccesskeyid", "signaturedoesnotmatch", "unauthenticated", "401 unauthorized", "credential"),
        "the credentials are rejected: check the keys in its storage options or the environment",
    ),
    (
        ("error sending request", "dns error", "connection refused", "connecterror", "timed out"),
        "it cannot be reached: check the endpoint and the network",
    ),
    (
        ("not a directory", "is a directory", "file exists"),
        "a file is in place of a folder, or the reverse: give another place",
    ),
)


def advice_of(words: str) -> str:
    """Return advice for an error of an object store or folder; empty: unknown.

    Args:
        words: The client's whole message; the cause is often at the end.
    """
    message = words.lower()
    return next((advice for marks, advice in _ADVICE if any(mark in message for mark in marks)), "")
