"""HTTP server of a home: its socket, the names it may be reached by, and uvicorn with our limits."""

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

CONNECTIONS_PER_HALF_SENT = 4  # open ones, of any sort, for each that may be half-sent
_TRIES = 8  # ports that the system gives, of which each may be reserved by another
GRACE_S = 5  # that an open connection is waited for at the end


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach an address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def require_names(settings: Settings, host: str) -> None:
    """See that it is said by which names others reach an address.

    Raises:
        SettingsError: other machines can reach it, and it is not.
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
    """A socket on an address, opened before anything is started.

    Args:
        host: address.
        port: to listen on.
        option: that names another port.
        or_any: where that one is taken, any other that is free.

    Raises:
        SlowwaveError: it cannot be had.
    """
    with socket.socket(_family(host), socket.SOCK_STREAM) as end:
        end.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            _bind(end, host, port, or_any)
        except (OSError, UnicodeError, TypeError) as error:  # the last: a name that is too long
            raise _cannot_be_had(host, port, option, error) from None
        yield end


@contextmanager
def reserved(host: str, port: int, option: str = "--port", *, or_any: bool = False) -> Iterator[int]:
    """A port that a program started later listens on itself: nobody does now, and no one else reserves it.

    The mark is UDP's port of the same number: it is in no one's way who listens, and goes with the process.

    Args:
        host: address.
        port: that is wanted.
        option: that names another port.
        or_any: where that one is taken, any other that is free.

    Raises:
        SlowwaveError: it cannot be had.
    """
    with socket.socket(_family(host), socket.SOCK_DGRAM) as mark:
        with listening(host, port, option, or_any=or_any) as end:
            found = end.getsockname()[1]
            try:
                mark.bind((host, found))
            except OSError as error:
                if not or_any:
                    raise _cannot_be_had(host, port, option, error) from None
                found = 0
        for _ in range(_TRIES if not found else 0):
            with listening(host, 0, option) as end, suppress(OSError):
                mark.bind(end.getsockname()[:2])
                found = end.getsockname()[1]
                break
        if not found:
            raise SlowwaveError(f"{host} has no port that is free. Name one with {option}.")
        yield found


def run_until_told(server: Server, end: socket.socket) -> None:
    """Serve on an open socket until Ctrl-C or TERM, which is how it is meant to end."""
    with suppress(KeyboardInterrupt):  # uvicorn raises the signal once more when it has ended in turn
        server.run([end])


def _family(host: str) -> socket.AddressFamily:
    return socket.AF_INET6 if ":" in host else socket.AF_INET


def _cannot_be_had(host: str, port: int, option: str, error: Exception) -> SlowwaveError:
    why = getattr(error, "strerror", None) or "no such address"
    return SlowwaveError(
        f"{host_and_port(host, port)} cannot be listened on ({why}). Name another port with {option}."
    )


def _bind(end: socket.socket, host: str, port: int, or_any: bool) -> None:
    try:
        end.bind((host, port))
    except OSError as error:
        if not or_any or error.errno != errno.EADDRINUSE:
            raise
        end.bind((host, 0))
    end.listen()  # or two that start at once would both have it


def server(application: Any, settings: Settings, host: str, port: int) -> Server:  # noqa: ANN401 - ASGI
    """A server, not yet started.

    Args:
        application: that answers (ASGI).
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
        """A server that lets the work of requests end in time before it cancels them."""

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            """End the work, then the connections."""
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
            proxy_headers=False,  # or whoever guesses tokens says where from, and is never slowed
            server_header=False,
            timeout_graceful_shutdown=GRACE_S,
        )
    )
