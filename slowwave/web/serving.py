"""Serving the page alone, and the link by which the person at the machine comes in."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from slowwave.common.addresses import host_and_port
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.serving.server import is_loopback, require_names, run_until_told
from slowwave.serving.server import server as http_server
from slowwave.web.app import application
from slowwave.web.sessions import OneTimeLinks

if TYPE_CHECKING:
    from socket import socket

    from uvicorn import Server

    from slowwave.home.workspace import Workspace
    from slowwave.serving.health import Detail
    from slowwave.settings import Settings


def server(
    settings: Settings,
    host: str,
    port: int,
    principal: str,
    space: Workspace | None = None,
    details: Mapping[str, Detail] | None = None,
) -> tuple[Server, MemoryPool, Callable[[], str]]:
    """A server of the page, not yet started, the memories that it shows, and what makes links to come in by.

    Args:
        settings: of the home.
        host: address to listen on.
        port: to listen on.
        principal: in whose name the person at the machine acts.
        space: the parts of that home where they are open already.
        details: that readiness tells of other parts; see :mod:`slowwave.serving.health`.

    Raises:
        SettingsError: other machines can reach it, and it is not said by which names.
    """
    require_names(settings, host)
    entrances = OneTimeLinks()
    memories = MemoryPool(settings, lambda: Caller(settings.namespace, principal), space=space)
    app = application(memories, settings, entrances, principal=principal, details=details)
    where = address(settings, host, port)
    return http_server(app, settings, host, port), memories, lambda: f"{where}/enter?key={entrances.make()}"


def serve(serving: Server, end: socket, memories: MemoryPool, namespaces: Sequence[str]) -> None:
    """Serve until the process is told to stop.

    Args:
        serving: the server.
        end: where it listens.
        memories: that it shows, which are closed in the end.
        namespaces: that are made ready before anybody asks, the likeliest first.
    """
    memories.begin(namespaces)
    try:
        run_until_told(serving, end)
    finally:
        memories.close()


def address(settings: Settings, host: str, port: int) -> str:
    """Where the person at the machine finds a page that listens there: over TLS only through its proxy."""
    allowed = settings.mcp.allowed_hosts
    if settings.page.https and allowed:
        return f"https://{allowed[0]}"
    if _is_everywhere(host):
        host = "::1" if ":" in host else "127.0.0.1"
    elif not is_loopback(host):
        host = allowed[0]
    return f"http://{host_and_port(host, port)}"


def _is_everywhere(host: str) -> bool:
    try:
        return ip_address(host).is_unspecified
    except ValueError:
        return False
