"""The server over streamable HTTP: a bearer token opens one namespace, in the name of one principal."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import TYPE_CHECKING, Any

from mcp.server.auth.middleware.auth_context import get_access_token
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import create_protected_resource_routes
from mcp.server.auth.settings import AuthSettings
from mcp.server.transport_security import TransportSecurityMiddleware, TransportSecuritySettings
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from slowwave.errors import SlowwaveError
from slowwave.mcp.server import build
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
    from starlette.types import ASGIApp

    from slowwave.home.workspace import Workspace

PATH = "/mcp"
WELL_KNOWN = "/.well-known/oauth-protected-resource"


class KnownToken(AccessToken):
    """What the SDK keeps of a request's token: who calls. The token itself is handed on to nobody."""

    caller: Caller


class Verifier:
    """Knows whose a bearer token is, in the SDK's words.

    Args:
        access: knows who calls.
    """

    def __init__(self, access: Access) -> None:
        self._access = access

    async def verify_token(self, token: str) -> AccessToken | None:
        """Who is calling; None for a token that opens nothing."""
        caller = (await self._access.answer(token)).caller
        if caller is None:
            return None
        return KnownToken(
            token="", client_id=caller.principal, subject=caller.namespace, scopes=[], caller=caller
        )


def caller() -> Caller:
    """Who made the request that is being answered.

    Raises:
        SlowwaveError: nobody that is known; no request comes so far without a token.
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
    """The server as an ASGI application.

    Args:
        settings: of the home.
        host: address that it listens on.
        space: the parts of that home where they are open already.
        details: that readiness tells of other parts; see :mod:`slowwave.serving.health`.

    Raises:
        SettingsError: nobody could use it, or it would not be said who may reach it.
    """
    require_anybody(settings)
    require_names(settings, host)
    access = Access(settings)
    memories = MemoryPool(settings, caller, space=space)
    built = build(memories, verifier=Verifier(access), auth=_authorization(settings.mcp.oauth))
    names = _names(settings)
    # Every request stands for itself: nothing outlives its token, and any of several servers can answer.
    made = built.streamable_http_app(
        streamable_http_path=PATH,
        stateless_http=True,
        json_response=True,
        max_request_body_size=settings.mcp.max_request_bytes,
        transport_security=names,
    )
    made.router.routes[:0] = [Route(PATH, _no_stream, methods=["GET"]), *_metadata(settings.mcp.oauth, names)]
    made.router.routes += health_routes(memories.space, opening=memories.opening, details=details)
    made.router.redirect_slashes = False  # it would send clients to whatever host a request names
    opened = [one.namespace for one in settings.mcp.tokens]
    opened += [one.namespace for one in settings.mcp.oauth.grants]
    made.router.lifespan_context = _ready_from_the_start(made.router.lifespan_context, memories, opened)
    made.add_middleware(Limits, access=access, requests=settings.mcp.max_concurrent_requests)
    return made


async def _no_stream(_: Request) -> Response:
    """Nothing is ever sent unasked, so there is no stream to wait at, which would outlive its token."""
    return Response("This server has no stream: send requests with POST.\n", 405, headers={"Allow": "POST"})


def _authorization(oauth: OAuthSettings) -> AuthSettings:
    """What the SDK has to know of the provider."""
    if not oauth.issuer:
        # The SDK asks for an issuer; nobody is sent there, as no resource metadata is published.
        return AuthSettings(issuer_url=AnyHttpUrl("http://localhost"), resource_server_url=None)
    return AuthSettings.model_validate(
        {
            "issuer_url": oauth.issuer,
            "resource_server_url": oauth.resource,
            "validate_token_resource": False,  # the verifier does: tokens of the home have no audience
        }
    )


def _metadata(oauth: OAuthSettings, names: TransportSecuritySettings) -> list[Route]:
    """Where clients learn which provider to ask (RFC 9728), by both addresses that they try.

    Its addresses are those of the settings, whatever host a request names; where that is an unknown one the
    request is refused as any other is. It is public, and clients in a browser read it from pages of
    elsewhere: which page asks does not count here, and the SDK's route lets all of them read it (CORS).

    The SDK has a route of its own for the one; it would say which scopes every token needs, and ours are what
    a client may ask for.
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
    known = TransportSecurityMiddleware(names)

    async def told(request: Request) -> ASGIApp:
        headers = [one for one in request.scope["headers"] if one[0] != b"origin"]
        of_any_page = Request({**request.scope, "headers": headers})
        return await known.validate_request(of_any_page) or route.endpoint

    return [Route(path, told, methods=["GET", "OPTIONS"]) for path in dict.fromkeys((route.path, WELL_KNOWN))]


def _ready_from_the_start(
    serving: Callable[[Any], AbstractAsyncContextManager[Any]],
    memories: MemoryPool,
    namespaces: Sequence[str],
) -> Callable[[Any], AbstractAsyncContextManager[Any]]:
    """The time in which the server serves, which begins with loading what calls will need."""

    @asynccontextmanager
    async def from_the_start(app: Starlette) -> AsyncIterator[Any]:
        memories.begin(namespaces)
        async with serving(app) as state:
            yield state

    return from_the_start


def _names(settings: Settings) -> TransportSecuritySettings:
    """Hosts that a request may name, so that no web page can reach this one through a name of its own."""
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
