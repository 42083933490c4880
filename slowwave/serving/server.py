"""HTTP server of a home: socket, allowed names, and uvicorn with our limits."""

from __future__ import annotations

import errno
import ipaddress
import socket
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from slowwave.common.addresses import host_and_port
from slowwave.errors import SettingsError, SlowwaveError
from slowwave.settings import Settings

if TYPE_CHECKING:
    from uvicorn import Server

CONNECTIONS_PER_HALF_SENT = 4  # open connections for each incomplete request that is allowed
_TRIES = 8  # random ports to try
GRACE_S = 5  # seconds to wait for open connections at the end


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def require_names(settings: Settings, host: str) -> None:
    """Require allowed host names for an address that others can reach.

    Raises:
        SettingsError: mcp.allowed_hosts is empty.
    """
    if not is_loopback(host) and not settings.mcp.allowed_hosts:
        raise SettingsError(
            f"--host {host} can be reached from other machines. Set mcp.allowed_hosts to the names that "
            f'clients reach it by, for instance ["memory.example.org"], and put it behind TLS: every request '
            f"carries a token."
        )


@contextmanager
def listening(
    host: str, port: int, option: str = "--port", *, or_any: bool = False
) -> Iterator[socket.socket]:
    """Open a socket on an address before the server starts.

    Args:
        host: address.
        port: to listen on.
        option: command option of the port.
        or_any: use any free port if this one is in use.

    Raises:
        SlowwaveError: the address is not available.
    """
    with socket.socket(_family(host), socket.SOCK_STREAM) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            _bind(end, host, port, or_any)
        except (OSError, UnicodeError, TypeError) as error:  # the last: a name that is too long
            raise _unavailable(host, port, option, error) from None
        yield end


@contextmanager
def reserved(host: str, port: int, option: str = "--port", *, or_any: bool = False) -> Iterator[int]:
    """Reserve a port for a program that starts later.

    The port is free now, and no other process reserves it. The reservation is UDP's port of the same number:
    it does not disturb a listener, and ends with the process.

    Args:
        host: address.
        port: that is wanted.
        option: command option of the port.
        or_any: use any free port if this one is in use.

    Raises:
        SlowwaveError: the port is not available.
    """
    with socket.socket(_family(host), socket.SOCK_DGRAM) as mark:
        with listening(host, port, option, or_any=or_any) as end:
            number = end.getsockname()[1]
            try:
                mark.bind((host, number))
            except OSError as error:
                if not or_any:
                    raise _unavailable(host, port, option, error) from None
                number = 0
        for _ in range(_TRIES if not number else 0):
            with listening(host, 0, option) as end, suppress(OSError):
                mark.bind(end.getsockname()[:2])
                number = end.getsockname()[1]
                break
        if not number:
            raise SlowwaveError(f"{host} has no free port. Set one with {option}.")
        yield number


def run_until_stopped(server: Server, end: socket.socket) -> None:
    """Serve on an open socket until Ctrl-C or TERM."""
    with suppress(KeyboardInterrupt):  # uvicorn raises the signal again after a graceful end
        server.run([end])


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _unavailable(host: str, port: int, option: str, error: Exception) -> SlowwaveError:
    why = getattr(error, "strerror", None) or "no such address"
    return SlowwaveError(
        f"Cannot listen on {host_and_port(host, port)} ({why}). Set another port with {option}."
    )


def _bind(end: socket.socket, host: str, port: int, or_any: bool) -> None:
    try:
        end.bind((host, port))
    except OSError as error:
        if not or_any or error.errno != errno.EADDRINUSE:
            raise
        end.bind((host, 0))
    end.listen()  # detects a second server on the same port


def server(application: Any, settings: Settings, host: str, port: int) -> Server:  # noqa: ANN401 - ASGI
    """Return an unstarted server.

    Args:
        application: ASGI application.
        settings: of the home.
        host: address to listen on.
        port: to listen on.
    """
    import uvicorn

    from slowwave.serving.request_timeout import request_timeout
    from slowwave.serving.work_bounds import WorkBounds

    limits = settings.mcp
    bounds = WorkBounds(application, limits.work_seconds)

    class Ending(uvicorn.Server):
        """Server that gives running requests time to end before it cancels them."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """End running requests, then connections."""
            bounds.end(GRACE_S / 2)
            await super().shutdown(sockets)

    return Ending(
        uvicorn.Config(
            bounds,
            host=host,
            port=port,
            http=request_timeout(limits.request_timeout_seconds, limits.max_pending_connections),
            ws="none",
            limit_concurrency=CONNECTIONS_PER_HALF_SENT * limits.max_pending_connections,
            log_config=None,
            log_level="warning",
            access_log=False,
            proxy_headers=False,  # otherwise a client could forge its address and escape the delays
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
        )
    )
