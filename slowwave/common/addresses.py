"""Addresses of this machine's servers in words."""

from __future__ import annotations


def host_and_port(host: str, port: int) -> str:
    """A host and a port as addresses of the web have them: one of IPv6 in brackets (RFC 3986, 3.2.2).

    Args:
        host: a name or an address, without brackets.
        port: of the server.
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
