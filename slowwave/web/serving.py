"""Serving the page alone, and the link by which the person at the machine comes in."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from slowwave.mcp.callers import Caller, Memories
from slowwave.mcp.serving import require_names, serving
from slowwave.web.app import application
from slowwave.web.sessions import Entrances

if TYPE_CHECKING:
    from uvicorn import Server

    from slowwave.settings import Settings


def server(settings: Settings, host: str, port: int, principal: str) -> tuple[Server, Memories, Entrances]:
    """A server of the page, not yet started, the memories that it shows, and the keys to it.

    Args:
        settings: of the home.
        host: address to listen on.
        port: to listen on.
        principal: in whose name the person at the machine acts.

    Raises:
        SettingsError: other machines can reach it, and it is not said by which names.
    """
    require_names(settings, host)
    entrances = Entrances()
    memories = Memories(settings, lambda: Caller(settings.namespace, principal))
    app = application(memories, settings, entrances, principal=principal)
    return serving(app, settings, host, port), memories, entrances


def serve(serving: Server, memories: Memories, namespaces: Sequence[str]) -> None:
    """Serve until the process is told to stop.

    Args:
        serving: the server.
        memories: that it shows, which are closed in the end.
        namespaces: that are made ready before anybody asks, the likeliest first.
    """
    memories.begin(namespaces)
    try:
        serving.run()
    finally:
        memories.close()


def link(host: str, port: int, key: str, *, https: bool = False) -> str:
    """The address by which a person comes in once."""
    where = f"[{host}]" if ":" in host else host
    return f"http{'s' if https else ''}://{where}:{port}/enter?key={key}"
