"""What the words of an object store's client come to: what a person can do about it."""

from __future__ import annotations

from typing import Final

_ADVICE: Final = (
    (("no space left", "storagefull", "quota exceeded"), "it is full: free some space, then run it again"),
    (
        ("169.254.169.254", "metadata.google"),  # where a machine of a cloud would be asked for its own
        "there are no credentials for it: set them in its storage options or the environment",
    ),
    (
        ("builder error",),  # all that is said of an endpoint that begins with http:
        "an endpoint without TLS has to be allowed: AWS_ALLOW_HTTP=true, or allow_http among its options",
    ),
    (("nosuchbucket",), "there is no such bucket: make it, or mend the name"),
    (
        ("permission denied", "accessdenied", "403 forbidden", "read-only file system", "permissiondenied"),
        "it may not be read or written: check the rights of this account",
    ),
    (
        ("invalidaccesskeyid", "signaturedoesnotmatch", "unauthenticated", "401 unauthorized", "credential"),
        "the credentials are not taken: check the keys in its storage options or the environment",
    ),
    (
        ("error sending request", "dns error", "connection refused", "connecterror", "timed out"),
        "it cannot be reached: check the endpoint and the network",
    ),
    (
        ("not a directory", "is a directory", "file exists"),
        "something else is in its place: give another one",
    ),
)


def advice_of(words: str) -> str:
    """What to do about an error of an object store, or of a folder in its place; empty: nobody knows.

    Args:
        words: all that the client said; the cause often stands at the end.
    """
    said = words.lower()
    return next((advice for marks, advice in _ADVICE if any(mark in said for mark in marks)), "")
