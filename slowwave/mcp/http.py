"""The server over streamable HTTP: a bearer token opens one namespace, in the name of one principal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecuritySettings
from pydantic import AnyHttpUrl

from slowwave.errors import SettingsError, SlowwaveError
from slowwave.mcp.callers import Caller, Memories
from slowwave.mcp.health import Detail, health_routes
from slowwave.mcp.limits import Limits
from slowwave.mcp.server import build
from slowwave.mcp.serving import LOOPBACK, listening, require_names, serving
from slowwave.mcp.tokens import caller_of
from slowwave.settings import McpToken, Settings

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from uvicorn import Server

    from slowwave.home.workspace import Workspace

PATH = "/mcp"


class Verifier:
    """Knows whose a bearer token is; in the SDK's words the principal is a client, the namespace its subject.

    Args:
        tokens: that are known.
    """

    def __init__(self, tokens: Sequence[McpToken]) -> None:
        self._tokens = tokens

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who is calling; None for a token that is not known."""
        caller = caller_of(token, self._tokens)
        if caller is None:
            return None
        return AccessToken(token="", client_id=caller.principal, subject=caller.namespace, scopes=[])


def caller() -> Caller:
    """Who made the request that is being answered.

    Raises:
        SlowwaveError: nobody that is known; no request comes so far without a token.
    """
    access = get_access_token()
    if access is None or not access.subject:
        raise SlowwaveError("This request has no valid bearer token.")
    return Caller(access.subject, access.client_id)


def application(
    settings: Settings,
    host: str,
    space: Workspace | None = None,
    details: Mapping[str, Detail] | None = None,
) -> Starlette:
    """The server as an ASGI application.

    Args:
        settings: of the home.
        host: address that it listens on.
        space: the parts of that home where they are open already.
        details: that readiness tells of other parts; see :mod:`slowwave.mcp.health`.

    Raises:
        SettingsError: nobody could use it, or it would not be said who may reach it.
    """
    if not settings.mcp.tokens:
        raise SettingsError(
            "No client could use the server: there is no token. "
            "Make one with `slowwave mcp token --namespace NAMESPACE --principal NAME`."
        )
    require_names(settings, host)
    memories = Memories(settings, caller, space=space)
    built = build(
        memories,
        verifier=Verifier(settings.mcp.tokens),
        # The SDK asks for an issuer; nobody is sent there, as no resource metadata is published.
        auth=AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None),
    )
    # Every request stands for itself: nothing outlives its token, and any of several servers can answer.
    made = built.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=settings.mcp.max_request_bytes,
        transport_security=_names(settings.mcp.allowed_hosts),
    )
    made.router.routes += health_routes(memories.space, opening=memories.opening, details=details)
    made.router.redirect_slashes = False  # it would send clients to whatever host a request names
    made.router.lifespan_context = _ready_from_the_start(
        made.router.lifespan_context, memories, [one.namespace for one in settings.mcp.tokens]
    )
    made.add_middleware(Limits, tokens=settings.mcp.tokens, requests=settings.mcp.requests)
    return made


def _ready_from_the_start(
    serving: Callable[[Any], AbstractAsyncContextManager[Any]], memories: Memories, namespaces: Sequence[str]
) -> Callable[[Any], AbstractAsyncContextManager[Any]]:
    """The time in which the server serves, which begins with loading what calls will need."""

    @asynccontextmanager
    async def from_the_start(app: Starlette) -> AsyncIterator[Any]:
        memories.begin(namespaces)
        async with serving(app) as state:
            yield state

    return from_the_start


def serve(settings: Settings, host: str, port: int) -> None:
    """Serve until the process is told to stop.

    Raises:
        SettingsError: as of :func:`application`.
        SlowwaveError: the address cannot be listened on.
    """
    from slowwave.home.workspace import Workspace
    from slowwave.mcp.metrics import metrics_served

    space = Workspace(settings)
    made = server(settings, host, port, space)
    with listening(host, port) as end, metrics_served(space):
        made.run([end])


def server(
    settings: Settings,
    host: str,
    port: int,
    space: Workspace | None = None,
    details: Mapping[str, Detail] | None = None,
) -> Server:
    """The server, not yet started.

    Args:
        settings: of the home.
        host: address to listen on.
        port: to listen on.
        space: the parts of that home where they are open already.
        details: as of :func:`application`.

    Raises:
        SettingsError: as of :func:`application`.
    """
    return serving(application(settings, host, space, details), settings, host, port)


def _names(allowed: Sequence[str]) -> TransportSecuritySettings:
    """Hosts that a request may name, so that no web page can reach this one through a name of its own."""
    names = [*LOOPBACK, *allowed]
    return TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            form
            for name in names
            for scheme in ("http", "https")
            for form in (f"{scheme}://{name}", f"{scheme}://{name}:*")
        ],
    )
