"""ASGI application of the web page: sessions, routes and error pages.

It has to be at the root of its host, because of its links and its cookie.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from hmac import compare_digest
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

import anyio
import anyio.to_thread
import polars as pl
from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from slowwave.common import ids
from slowwave.common.error_translation import boundary
from slowwave.errors import SlowwaveError
from slowwave.serving.access import Access
from slowwave.serving.caller import Caller
from slowwave.serving.fair_limiter import Turns
from slowwave.serving.health import Detail, health_routes
from slowwave.serving.host_guard import HostGuard
from slowwave.serving.limits import RETRY_S, Delays
from slowwave.serving.memory_pool import MemoryPool
from slowwave.serving.statuses import StatusError, status_of
from slowwave.serving.tokens import digest
from slowwave.settings import Settings
from slowwave.store.reading import distinct
from slowwave.web import browsing, erasures, learning, memories, review_queue, search, timeline, trends
from slowwave.web import settings as settings_page
from slowwave.web.middleware import PageGuard
from slowwave.web.pending_counts import Counts, PendingCounts
from slowwave.web.rendering import rendered
from slowwave.web.request import (
    Download,
    Image,
    PageAnswer,
    PageRequest,
    PageRoute,
    Redirect,
    ShownPage,
    back_of,
)
from slowwave.web.sessions import OneTimeLinks, PageNotice, PageSession, Sessions

if TYPE_CHECKING:
    from starlette.requests import Request

LOG = logging.getLogger("slowwave.web")
WAYS: Final = (
    *search.WAYS, *browsing.WAYS, *memories.WAYS, *erasures.WAYS, *review_queue.WAYS, *learning.WAYS,
    *trends.WAYS, *timeline.WAYS, *settings_page.WAYS,
)  # fmt: skip
FIELDS: Final = 50  # of a form (count)
_UNKNOWN_NAME: Final = "Unknown host name. Add it to mcp.allowed_hosts, or use one that is listed there."
_SEE_OTHER: Final = 303
_A: Final = {"reader": "a reader", "assistant": "an assistant"}
_OF_A_PICTURE: Final = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
"""SVG needs inline styles; scripts and loading are forbidden."""
Endpoint = Callable[["Request"], Awaitable[Response]]


def application(
    memories: MemoryPool,
    settings: Settings,
    entrances: OneTimeLinks,
    *,
    principal: str = "page",
    details: Mapping[str, Detail] | None = None,
) -> Starlette:
    """Return the web page of a home.

    Args:
        memories: of the home; the caller closes them.
        settings: of the home.
        entrances: sign-in links for the owner.
        principal: user of the owner's actions.
        details: states of other parts in readiness; see :mod:`slowwave.serving.health`.
    """
    site = PageSite(memories, settings, entrances, principal)
    routes: list[Route | Mount] = [
        Route("/health", _health),
        *health_routes(memories.space, opening=memories.opening, details=details),
        Mount("/static", StaticFiles(directory=Path(__file__).parent / "static")),
        Route("/sign-in", site.sign_in, methods=["GET", "POST"]),
        Route("/enter", site.enter),
        Route("/sign-out", site.sign_out, methods=["POST"]),
        Route("/namespaces", site.namespaces, methods=["GET", "POST"]),
    ]
    routes += [
        Route(way.path, site.answering(way), methods=["POST"] if way.post else ["GET"]) for way in WAYS
    ]
    guards = [
        Middleware(PageGuard, https=settings.page.https),
        Middleware(HostGuard, settings=settings, refusal=PlainTextResponse(_UNKNOWN_NAME, 421)),
    ]
    failing = {404: site.nowhere, 405: site.nowhere, StatusError: site.no_form}
    starlette = Starlette(routes=routes, middleware=guards, exception_handlers=failing)
    starlette.router.redirect_slashes = False  # it would redirect to the host of the request
    return starlette


async def _health(_: Request) -> Response:
    return PlainTextResponse("ok\n")


class PageSite:
    """Handlers and state that all pages share.

    Args:
        memories: of the home.
        settings: of the home.
        entrances: sign-in links.
        principal: user of the owner's actions.
    """

    def __init__(
        self, memories: MemoryPool, settings: Settings, entrances: OneTimeLinks, principal: str
    ) -> None:
        self._memories, self._settings, self._entrances = memories, settings, entrances
        self._principal = principal
        # Cookies ignore ports: the name keeps pages of several homes on one machine apart.
        self.cookie = f"slowwave_{ids.digest('page', str(settings.home))[:12]}"
        self._access = Access(settings)
        self.sessions = Sessions(settings.page.session_hours * 3_600)
        self._waits = PendingCounts()
        self._delays = Delays()
        self._turns = Turns()
        self._working: Counter[Caller] = Counter()

    # -- pages -----------------------------------------------------------------------------------

    def answering(self, way: PageRoute) -> Endpoint:
        """Return the endpoint of a route."""

        async def answer(request: Request) -> Response:
            session = self._session(request)
            if session is None:
                return self._first_sign_in(request)
            form = await self._form(request) if way.post else {}
            if way.post and not _is_own(form, session):
                return _stale(session)
            caller = session.caller  # another tab may switch the namespace meanwhile
            if self._working[caller] >= self._settings.mcp.max_concurrent_requests:
                return _busy()
            self._working[caller] += 1
            try:
                async with self._turns.of(caller, writes=way.changes):
                    work = partial(self._answer, way, request, session, caller, form)
                    return await anyio.to_thread.run_sync(work)
            finally:
                self._working[caller] -= 1

        return answer

    def _answer(
        self, way: PageRoute, request: Request, session: PageSession, caller: Caller, form: Mapping[str, str]
    ) -> Response:
        """Run the handler of a route in a thread, and return its response."""
        try:
            with boundary(own=True):
                _require_rights(way, caller)
                page_request = PageRequest(
                    session=session, caller=caller, memory=self._memories.of(caller), waits=self._waits,
                    path=request.path_params, query=request.query_params, form=form,
                )  # fmt: skip
                answer = way.call(page_request)
                if way.post:
                    self._waits.forget(caller.namespace)
                return self._response(answer, session, page_request)
        except SlowwaveError as error:
            if way.post:
                self._waits.forget(caller.namespace)
            back = back_of(request.url.path, form)
            status = status_of(error, invalid=400)
            return _failed(session, str(error), status, counts=self._counts(session), back=back)
        except Exception:
            LOG.exception("%s %s failed", request.method, way.path)
            message = "Internal error. See the server's log."
            return _failed(session, message, 500, back=back_of(request.url.path, form))

    def _response(self, answer: PageAnswer, session: PageSession, request: PageRequest) -> Response:
        if isinstance(answer, Image):
            return Response(answer.body, media_type=answer.media_type, headers=_OF_A_PICTURE)
        if isinstance(answer, Download):
            headers = {"Content-Disposition": f'attachment; filename="{answer.name}"'}
            return Response(answer.body, media_type=answer.media_type, headers=headers)
        if isinstance(answer, Redirect):
            session.notices += [PageNotice(answer.notice, answer.failed)] if answer.notice else []
            return RedirectResponse(answer.to, _SEE_OTHER)
        return _page(answer, session, counts=self._counts(session), now=request.now)

    def _counts(self, session: PageSession) -> Counts | None:
        """Return the pending items for the header; None for an assistant."""
        return self._waits.counts(self._memories.of(session.caller)) if session.person else None

    # -- signing in ------------------------------------------------------------------------------

    async def sign_in(self, request: Request) -> Response:
        """Show the sign-in form, or check its token."""
        if request.method != "POST":
            if self._session(request) is not None:
                return RedirectResponse("/", _SEE_OTHER)
            return _alone("sign-in", "Sign in")
        token = (await self._form(request)).get("token", "").strip()
        answer = self._access.of_home(token)
        if answer.caller is None and answer.guessed:
            return await self._refuse_slowly(request, "Unknown token.")
        if answer.caller is None:
            return _alone("sign-in", "Sign in", status=403, problem=answer.why)
        return self._enter(request, answer.caller, digest(token))

    async def enter(self, request: Request) -> Response:
        """Sign in with a one-time link; a HEAD request does not consume it."""
        if request.method == "HEAD":
            return Response()
        if not self._entrances.use(request.query_params.get("key", "")):
            message = "This link was used, or is older than ten minutes. Run the command again for a new one."
            return await self._refuse_slowly(request, message)
        return self._enter(request, Caller(self._settings.namespace, self._principal, "person"))

    def _enter(self, request: Request, caller: Caller, token: str = "") -> Response:
        self.sessions.end(request.cookies.get(self.cookie, ""))
        name = self.sessions.begin(caller, token)
        response = RedirectResponse("/", _SEE_OTHER)
        response.set_cookie(
            self.cookie, name, path="/", httponly=True, samesite="strict", secure=self._settings.page.https
        )
        return response

    async def _refuse_slowly(self, request: Request, message: str) -> Response:
        if self._delays.full:
            return _busy()
        with self._delays.holding():
            await anyio.sleep(self._delays.after(request.client.host if request.client else ""))
        return _alone("sign-in", "Sign in", status=403, problem=message)

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        session = self._session(request)
        if session is not None:
            if not _is_own(await self._form(request), session):
                return _stale(session)
            self.sessions.end(request.cookies.get(self.cookie, ""))
        response = RedirectResponse("/sign-in", _SEE_OTHER)
        response.delete_cookie(self.cookie, path="/", httponly=True, samesite="strict")
        return response

    async def namespaces(self, request: Request) -> Response:
        """List the namespaces of the home for its owner, or switch to one."""
        session = self._session(request)
        if session is None:
            return self._first_sign_in(request)
        form = await self._form(request) if request.method == "POST" else {}
        if request.method == "POST" and not _is_own(form, session):
            return _stale(session)
        if not session.at_home:
            return _failed(
                session, "A token gives access to one namespace. For all, use the link of slowwave page.", 403
            )
        names = await anyio.to_thread.run_sync(self._names, session)
        if request.method == "POST":
            wanted = form.get("namespace", "")
            if wanted not in names:
                return _failed(session, f"This home has no namespace {wanted!r}.", 404)
            session.go_to(session.caller._replace(namespace=wanted))
            session.notices.append(PageNotice(f"Switched to namespace {wanted}."))
            return RedirectResponse("/", _SEE_OTHER)
        counts = await anyio.to_thread.run_sync(self._counts, session)
        return _page(ShownPage("namespaces", "Namespaces", {"names": names}), session, counts=counts)

    def _names(self, session: PageSession) -> list[str]:
        store = self._memories.of(session.caller).store
        rows = pl.concat(distinct(store, name, columns=["namespace"]) for name in ("memories", "quarantine"))
        names = set(rows["namespace"])
        return sorted(names | {self._settings.namespace})

    # -- parts -----------------------------------------------------------------------------------

    def _session(self, request: Request) -> PageSession | None:
        """Return the session of a request. It ends with its token, and has that token's current rights."""
        name = request.cookies.get(self.cookie, "")
        session = self.sessions.find(name)
        if session is None or session.at_home:
            return session
        holder = self._access.holder(session.token)
        if holder is None:
            self.sessions.end(name)
            return None
        if holder != session.caller:
            session.go_to(holder)
        return session

    def _first_sign_in(self, request: Request) -> Response:
        if request.method in ("GET", "HEAD"):
            return RedirectResponse("/sign-in", _SEE_OTHER)
        message = "You are not signed in, or the session has ended. Nothing was done."
        return _alone("sign-in", "Sign in", status=403, problem=message)

    async def _form(self, request: Request) -> dict[str, str]:
        """Read a form; the first value of each name.

        Raises:
            StatusError: it is no form, or too large.
        """
        most = self._settings.mcp.max_request_bytes
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            raise StatusError(415, "The request is no form of this page.")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > most:
                raise StatusError(413, f"The form has more than {most:,} bytes (mcp.max_request_bytes).")
        try:
            fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS, errors="strict")
        except ValueError:
            raise StatusError(400, "The request is no form of this page.") from None
        return dict(reversed(fields))

    async def no_form(self, request: Request, error: Exception) -> Response:
        """Answer a request that is no form of the page."""
        assert isinstance(error, StatusError)
        return _alone("error", "That did not work", status=error.status, problem=str(error))

    async def nowhere(self, request: Request, _: Exception) -> Response:
        """Answer a request to an unknown address."""
        session = self._session(request)
        message = f"Unknown page {request.url.path[:200]}."
        if session is None:
            return _alone("error", "Not found", status=404, problem=message)
        counts = await anyio.to_thread.run_sync(self._counts, session)
        return _failed(session, message, 404, counts=counts, back=back_of(request.url.path, {}))


def _require_rights(way: PageRoute, caller: Caller) -> None:
    """Require the rights that a route needs.

    Raises:
        StatusError: the caller's rights are lower.
    """
    if way.post and caller.reads_only:
        raise StatusError(403, "This token has read access only (rights: reader). Nothing was done.")
    if way.person and caller.rights != "person":
        raise StatusError(
            403,
            f"Only a person may do that. This token has the rights of {_A[caller.rights]}. Nothing was done.",
        )


def _is_own(form: Mapping[str, str], session: PageSession) -> bool:
    """Whether a form was given to this session (CSRF)."""
    return compare_digest(form.get("csrf", "").encode(), session.csrf.encode())


def _page(page: ShownPage, session: PageSession, **more: Any) -> Response:  # noqa: ANN401 - for templates
    notices, session.notices = session.notices, []
    data = {**page.data, "title": page.title, "place": page.place, "notices": notices, **more}
    text = rendered(page.template, session=session, **data)
    return HTMLResponse(text, page.status)


def _failed(
    session: PageSession, message: str, status: int, *, counts: Counts | None = None, back: str = ""
) -> Response:
    title = {403: "Not allowed", 404: "Not found"}.get(status, "That did not work")
    return _page(
        ShownPage("error", title, {"problem": message, "back": back}, status=status), session, counts=counts
    )


def _stale(session: PageSession) -> Response:
    message = (
        "This form belongs to another session. Nothing was done. Reload the page and send its form again."
    )
    return _failed(session, message, 403)


def _alone(template: str, title: str, *, status: int = 200, problem: str = "") -> Response:
    """Return a page for a visitor who is not signed in."""
    return HTMLResponse(rendered(template, title=title, problem=problem), status)


def _busy() -> Response:
    message = "Too many requests at a time. Retry in a moment."
    return PlainTextResponse(message, 429, headers={"Retry-After": str(RETRY_S)})
