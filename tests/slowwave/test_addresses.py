"""Addresses in words."""

import pytest

from slowwave.common.addresses import host_and_port


@pytest.mark.parametrize(
    ("host", "told"),
    [
        ("127.0.0.1", "127.0.0.1:8760"),
        ("localhost", "localhost:8760"),
        ("::1", "[::1]:8760"),
        ("fe80::1%eth0", "[fe80::1%eth0]:8760"),
    ],
)
def test_an_address_of_ipv6_is_in_brackets(host, told):
    assert host_and_port(host, 8760) == told
