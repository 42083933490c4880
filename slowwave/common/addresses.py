"""Formatting of server addresses."""

from __future__ import annotations


def host_and_port(host: str, port: int) -> str:
    """Format host and port as in URLs: IPv6 in brackets (RFC 3986, 3.2.2).

    Args:
        host: A name or an address, without brackets.
        port: Of the server.
    """
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
