"""Server of the web page alone, with sign-in links for its owner."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from ipaddress import ip_address
from typing import TYPE_CHECKING

from slowwave.common.addresses import host_and_port
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.serving.server import is_loopback, require_names, run_until_stopped
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
    """Return an unstarted server of the page, its memories, and a sign-in link maker.

    Args:
        settings: of the home.
        host: address to listen on.
        port: to listen on.
        principal: user of the owner's actions.
        space: the open workspace, if there is one.
        details: states of other parts in readiness; see :mod:`slowwave.serving.health`.

    Raises:
        SettingsError: other machines can reach it, and mcp.allowed_hosts is empty.
    """
    require_names(settings, host)
    entrances = OneTimeLinks()
    memories = MemoryPool(settings, lambda: Caller(settings.namespace, principal), space=space)
    app = application(memories, settings, entrances, principal=principal, details=details)
    where = address(settings, host, port)
    return http_server(app, settings, host, port), memories, lambda: f"{where}/enter?key={entrances.make()}"


def serve(serving: Server, end: socket, memories: MemoryPool, namespaces: Sequence[str]) -> None:
    """Serve until the process is stopped.

    Args:
        serving: the server.
        end: its socket.
        memories: closed at the end.
        namespaces: loaded in advance, the likeliest first.
    """
    memories.begin(namespaces)
    try:
        run_until_stopped(serving, end)
    finally:
        memories.close()


def address(settings: Settings, host: str, port: int) -> str:
    """Return the URL of the page for its owner; with TLS that of its proxy."""
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
