"""Passwords in addresses are never shown."""

from __future__ import annotations

import pytest

from slowwave.common.passwords import without_passwords


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://ada:s3c@ret@host/db", "postgresql://ada:***@host/db"),
        ("postgresql://host/db?user=ada&password=s3c%40ret&x=1", "postgresql://host/db?user=ada&password=***&x=1"),
        ("postgresql://host/db?sslpassword=s3cret", "postgresql://host/db?sslpassword=***"),
        ("at postgresql://ada:s3cret@host/db it fails", "at postgresql://ada:***@host/db it fails"),
        ("postgresql://ada@host/db", "postgresql://ada@host/db"),
        ("sqlite:///home/ada/journal.db", "sqlite:///home/ada/journal.db"),
    ],
)  # fmt: skip
def test_an_address_is_shown_without_its_password(address: str, shown: str) -> None:
    assert without_passwords(address) == shown
