"""MCP over streamable HTTP: a bearer token gives access to one namespace as one user."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import create_protected_resource_routes
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.datastructures import Headers
from starlette.middleware import Middleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from slowwave.errors import SlowwaveError
from slowwave.mcp.lenient_body import LenientBody
from slowwave.mcp.server import build
from slowwave.search.deliveries import MAX_SESSION_CHARACTERS
from slowwave.serving.access import Access, require_anybody
from slowwave.serving.caller import Caller
from slowwave.serving.claims import READ, WRITE
from slowwave.serving.health import Detail, health_routes
from slowwave.serving.host_guard import own_names
from slowwave.serving.limits import Limits
from slowwave.serving.memory_pool import MemoryPool
from slowwave.serving.server import require_names
from slowwave.settings import OAuthSettings, Settings

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.types import ASGIApp, Receive, Scope, Send

    from slowwave.home.workspace import Workspace

PATH = "/mcp"
_SESSION: ContextVar[str] = ContextVar("session", default="")
WELL_KNOWN = "/.well-known/oauth-protected-resource"


class SessionHeader:
    """Middleware that keeps the session that a client names: its header Mcp-Session-Id."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with its session for the calls of the memory."""
        name = Headers(scope=scope).get("mcp-session-id", "") if scope["type"] == "http" else ""
        before = _SESSION.set(name[:MAX_SESSION_CHARACTERS])
        try:
            await self._app(scope, receive, send)
        finally:
            _SESSION.reset(before)


class KnownToken(AccessToken):
    """Caller of a request, as the SDK's access token. The token itself is not passed on."""

    caller: Caller


class Verifier:
    """Token verifier for the SDK.

    Args:
        access: authenticates callers.
    """

    def __init__(self, access: Access) -> None:
        self._access = access

    async def verify_token(self, token: str) -> AccessToken | None:
        """Return the caller of a token; None if it is invalid."""
        caller = (await self._access.answer(token)).caller
        if caller is None:
            return None
        return KnownToken(
            token="", client_id=caller.principal, subject=caller.namespace, scopes=[], caller=caller
        )


def caller() -> Caller:
    """Return the caller of the current request.

    Raises:
        SlowwaveError: there is none; a request without a token does not get this far.
    """
    access = get_access_token()
    if not isinstance(access, KnownToken):
        raise SlowwaveError("This request has no valid bearer token.")
    return access.caller


def application(
    settings: Settings,
    host: str,
    space: Workspace | None = None,
    details: Mapping[str, Detail] | None = None,
) -> Starlette:
    """Return the server as an ASGI application.

    Args:
        settings: of the home.
        host: address that it listens on.
        space: the open workspace, if there is one.
        details: states of other parts in readiness; see :mod:`slowwave.serving.health`.

    Raises:
        SettingsError: there is no token, or mcp.allowed_hosts is empty for an address that others can reach.
    """
    require_anybody(settings)
    require_names(settings, host)
    access = Access(settings)
    memories = MemoryPool(settings, caller, space=space, session=_SESSION.get)
    built = build(memories, verifier=Verifier(access), auth=_authorization(settings.mcp.oauth))
    names = _names(settings)
    # Stateless: nothing outlives its token, and any of several servers can answer.
    starlette = built.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=settings.mcp.max_request_bytes,
        transport_security=names,
    )
    starlette.router.routes[:0] = [
        Route(PATH, _no_stream, methods=["GET"]),
        *_metadata(settings.mcp.oauth, names),
    ]
    starlette.router.routes += health_routes(memories.space, opening=memories.opening, details=details)
    starlette.router.redirect_slashes = False  # it would redirect to the host of the request
    namespaces = [entry.namespace for entry in settings.mcp.tokens]
    namespaces += [entry.namespace for entry in settings.mcp.oauth.grants]
    starlette.router.lifespan_context = _preloading(starlette.router.lifespan_context, memories, namespaces)
    lenient = Middleware(LenientBody, path=PATH, max_bytes=settings.mcp.max_request_bytes)
    starlette.user_middleware.append(Middleware(SessionHeader))
    starlette.user_middleware.append(lenient)  # innermost: no body of an unknown client is read
    starlette.add_middleware(Limits, access=access, requests=settings.mcp.max_concurrent_requests)
    return starlette


async def _no_stream(_: Request) -> Response:
    """Refuse GET: the server never sends on its own, and a stream would outlive its token."""
    return Response("This server has no stream: send requests with POST.\n", 405, headers={"Allow": "POST"})


def _authorization(oauth: OAuthSettings) -> AuthSettings:
    """Return the SDK's settings of the provider."""
    if not oauth.issuer:
        # The SDK requires an issuer. No client sees it: no resource metadata is published.
        return AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None)
    return AuthSettings.model_validate(
        {
            "issuer_url": oauth.issuer,
            "resource_server_url": oauth.resource,
            "validate_token_resource": False,  # the verifier does: tokens of the home have no audience
        }
    )


def _metadata(oauth: OAuthSettings, names: TransportSecuritySettings) -> list[Route]:
    """Return the routes of the resource metadata (RFC 9728), at both addresses that clients try.

    The metadata names the addresses of the settings, whatever host a request names; an unknown host is
    refused as in any request. It is public, and browsers read it from any origin, which the SDK's route
    allows (CORS).

    The SDK's own route would publish the scopes that every token needs; ours are those that a client may
    request.
    """
    if not oauth.issuer:
        return []
    adapter = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
    (route,) = create_protected_resource_routes(
        resource_url=adapter.validate_python(oauth.resource),
        authorization_servers=[adapter.validate_python(oauth.issuer)],
        scopes_supported=[READ, WRITE] if oauth.scopes else None,
        resource_name="Slowwave memory",
    )
    guard = TransportSecurityMiddleware(names)

    async def answer(request: Request) -> ASGIApp:
        headers = [header for header in request.scope["headers"] if header[0] != b"origin"]
        of_any_page = Request({**request.scope, "headers": headers})
        return await guard.validate_request(of_any_page) or route.endpoint

    return [
        Route(path, answer, methods=["GET", "OPTIONS"]) for path in dict.fromkeys((route.path, WELL_KNOWN))
    ]


def _preloading(
    serving: Callable[[Any], AbstractAsyncContextManager[Any]],
    memories: MemoryPool,
    namespaces: Sequence[str],
) -> Callable[[Any], AbstractAsyncContextManager[Any]]:
    """Return the lifespan, which begins with loading what calls will need."""

    @asynccontextmanager
    async def from_the_start(app: Starlette) -> AsyncIterator[Any]:
        memories.begin(namespaces)
        async with serving(app) as state:
            yield state

    return from_the_start


def _names(settings: Settings) -> TransportSecuritySettings:
    """Return the accepted hosts and origins, against DNS rebinding."""
    names = own_names(settings)
    return TransportSecuritySettings(
        allowed_hosts=[form for name in names for form in (name, f"{name}:*")],
        allowed_origins=[
            form
            for name in names
            for scheme in ("http", "https")
            for form in (f"{scheme}://{name}", f"{scheme}://{name}:*")
        ],
    )
