"""The page as an application (ASGI): who may come in, which page answers, and what errors look like.

It has to stand at the root of its address: its links and its cookie say so.
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
from slowwave.web import learning, memories, review_queue, search, trends
from slowwave.web.middleware import PageGuard
from slowwave.web.pending_counts import PendingCounts
from slowwave.web.rendering import rendered
from slowwave.web.request import Image, PageAnswer, PageRequest, PageRoute, Redirect, ShownPage
from slowwave.web.sessions import OneTimeLinks, PageSession, Sessions

if TYPE_CHECKING:
    from starlette.requests import Request

LOG = logging.getLogger("slowwave.web")
WAYS: Final = (*search.WAYS, *memories.WAYS, *review_queue.WAYS, *learning.WAYS, *trends.WAYS)
FIELDS: Final = 50  # of a form (count)
_UNKNOWN_NAME: Final = (
    "This page is not known by that name. mcp.allowed_hosts has the names that it is known by."
)
_SEE_OTHER: Final = 303
_A: Final = {"reader": "a reader", "assistant": "an assistant"}
_OF_A_PICTURE: Final = {"Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox"}
"""A drawing says with each line how that looks; nothing in it acts, and nothing is loaded for it."""
Endpoint = Callable[["Request"], Awaitable[Response]]


def application(
    memories: MemoryPool,
    settings: Settings,
    entrances: OneTimeLinks,
    *,
    principal: str = "page",
    details: Mapping[str, Detail] | None = None,
) -> Starlette:
    """The page of a home.

    Args:
        memories: of the home; whoever made them closes them.
        settings: of the home.
        entrances: keys of the links by which the person at the machine comes in.
        principal: in whose name that person acts.
        details: that readiness tells of other parts; see :mod:`slowwave.serving.health`.
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
    made = Starlette(routes=routes, middleware=guards, exception_handlers=failing)
    made.router.redirect_slashes = False  # it would send people to whatever host a request names
    return made


async def _health(_: Request) -> Response:
    return PlainTextResponse("ok\n")


class PageSite:
    """What all pages share.

    Args:
        memories: of the home.
        settings: of the home.
        entrances: keys of links.
        principal: in whose name the person at the machine acts.
    """

    def __init__(
        self, memories: MemoryPool, settings: Settings, entrances: OneTimeLinks, principal: str
    ) -> None:
        self._memories, self._settings, self._entrances = memories, settings, entrances
        self._principal = principal
        # Cookies know no ports: pages of several homes on this machine would sign one another out.
        self.cookie = f"slowwave_{ids.digest('page', str(settings.home))[:12]}"
        self._access = Access(settings)
        self.sessions = Sessions(settings.page.session_hours * 3_600)
        self._waits = PendingCounts()
        self._delays = Delays()
        self._turns = Turns()
        self._working: Counter[Caller] = Counter()

    # -- pages -----------------------------------------------------------------------------------

    def answering(self, way: PageRoute) -> Endpoint:
        """The endpoint of a way."""

        async def answer(request: Request) -> Response:
            session = self._session(request)
            if session is None:
                return self._first_sign_in(request)
            form = await self._form(request) if way.post else {}
            if way.post and not _is_own(form, session):
                return _stale(session)
            caller = session.caller  # another tab may go to another namespace meanwhile
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
        """Do what was asked, and say what came of it; in a thread."""
        try:
            with boundary(own=True):
                _require_rights(way, caller)
                asked = PageRequest(
                    session=session, caller=caller, memory=self._memories.of(caller), waits=self._waits,
                    path=request.path_params, query=request.query_params, form=form,
                )  # fmt: skip
                answer = way.call(asked)
                if way.post:
                    self._waits.forget(caller.namespace)
                return self._response(answer, session, asked)
        except SlowwaveError as error:
            if way.post:
                self._waits.forget(caller.namespace)
            return _failed(session, str(error), status_of(error, invalid=400))
        except Exception:
            LOG.exception("%s %s failed", request.method, way.path)
            told = "Something went wrong that should not have. The log of this server says what."
            return _failed(session, told, 500)

    def _response(self, answer: PageAnswer, session: PageSession, asked: PageRequest) -> Response:
        if isinstance(answer, Image):
            return Response(answer.body, media_type=answer.media_type, headers=_OF_A_PICTURE)
        if isinstance(answer, Redirect):
            session.notices += [answer.notice] if answer.notice else []
            return RedirectResponse(answer.to, _SEE_OTHER)
        counts = self._waits.counts(asked.memory) if session.person else None
        return _page(answer, session, counts=counts, now=asked.now)

    # -- signing in ------------------------------------------------------------------------------

    async def sign_in(self, request: Request) -> Response:
        """The form for a token, and what comes of it."""
        if request.method != "POST":
            if self._session(request) is not None:
                return RedirectResponse("/", _SEE_OTHER)
            return _alone("sign-in", "Sign in")
        token = (await self._form(request)).get("token", "").strip()
        answer = self._access.of_home(token)
        if answer.caller is None and answer.guessed:
            return await self._refuse_slowly(request, "No token that is known here.")
        if answer.caller is None:
            return _alone("sign-in", "Sign in", status=403, problem=answer.why)
        return self._enter(request, answer.caller, digest(token))

    async def enter(self, request: Request) -> Response:
        """Come in by a link that the command printed; a HEAD does not use it up."""
        if request.method == "HEAD":
            return Response()
        if not self._entrances.use(request.query_params.get("key", "")):
            told = "This link was used, or is older than ten minutes. Start the command again for a new one."
            return await self._refuse_slowly(request, told)
        return self._enter(request, Caller(self._settings.namespace, self._principal, "person"))

    def _enter(self, request: Request, caller: Caller, token: str = "") -> Response:
        self.sessions.end(request.cookies.get(self.cookie, ""))
        name = self.sessions.begin(caller, token)
        response = RedirectResponse("/", _SEE_OTHER)
        response.set_cookie(
            self.cookie, name, path="/", httponly=True, samesite="strict", secure=self._settings.page.https
        )
        return response

    async def _refuse_slowly(self, request: Request, told: str) -> Response:
        if self._delays.full:
            return _busy()
        with self._delays.holding():
            await anyio.sleep(self._delays.after(request.client.host if request.client else ""))
        return _alone("sign-in", "Sign in", status=403, problem=told)

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
        """The namespaces of the home, for who came in at the machine."""
        session = self._session(request)
        if session is None:
            return self._first_sign_in(request)
        form = await self._form(request) if request.method == "POST" else {}
        if request.method == "POST" and not _is_own(form, session):
            return _stale(session)
        if not session.at_home:
            return _failed(session, "A token opens one namespace. The link opens all: slowwave page.", 403)
        names = await anyio.to_thread.run_sync(self._names, session)
        if request.method == "POST":
            wanted = form.get("namespace", "")
            if wanted not in names:
                return _failed(session, f"This home has no namespace {wanted!r}.", 404)
            session.go_to(session.caller._replace(namespace=wanted))
            session.notices.append(f"This is namespace {wanted}.")
            return RedirectResponse("/", _SEE_OTHER)
        return _page(ShownPage("namespaces", "Namespaces", {"names": names}), session)

    def _names(self, session: PageSession) -> list[str]:
        store = self._memories.of(session.caller).store
        rows = pl.concat(distinct(store, name, columns=["namespace"]) for name in ("memories", "quarantine"))
        found = set(rows["namespace"])
        return sorted(found | {self._settings.namespace})

    # -- parts -----------------------------------------------------------------------------------

    def _session(self, request: Request) -> PageSession | None:
        """Whose request it is. A session ends with its token, and has the rights that it has now."""
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
        told = "You are not signed in, or not any more, so nothing was done."
        return _alone("sign-in", "Sign in", status=403, problem=told)

    async def _form(self, request: Request) -> dict[str, str]:
        """What a form sent; the first value of each name.

        Raises:
            StatusError: it is none, or too large.
        """
        most = self._settings.mcp.max_request_bytes
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/x-www-form-urlencoded":
            raise StatusError(415, "That is no form of this page.")
        body = bytearray()
        async for part in request.stream():
            body += part
            if len(body) > most:
                raise StatusError(413, f"That is more than {most:,} bytes (mcp.max_request_bytes).")
        try:
            fields = parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=FIELDS, errors="strict")
        except ValueError:
            raise StatusError(400, "That is no form of this page.") from None
        return dict(reversed(fields))

    async def no_form(self, request: Request, error: Exception) -> Response:
        """Something was sent that is no form of the page."""
        assert isinstance(error, StatusError)
        return _alone("error", "That did not work", status=error.status, problem=str(error))

    async def nowhere(self, request: Request, _: Exception) -> Response:
        """An address that there is not."""
        session = self._session(request)
        told = f"There is no page {request.url.path[:200]}."
        if session is None:
            return _alone("error", "Not found", status=404, problem=told)
        return _failed(session, told, 404)


def _require_rights(way: PageRoute, caller: Caller) -> None:
    """Raise where only people may, or only those who may change something.

    Raises:
        StatusError: somebody with lesser rights asks.
    """
    if way.post and caller.reads_only:
        raise StatusError(403, "This token may only read (its rights are reader), so nothing was done.")
    if way.person and caller.rights != "person":
        raise StatusError(
            403,
            f"Only a person may do that, and this token has the rights of {_A[caller.rights]}. "
            f"Nothing was done.",
        )


def _is_own(form: Mapping[str, str], session: PageSession) -> bool:
    """Whether a form is one that this session was given."""
    return compare_digest(form.get("csrf", "").encode(), session.csrf.encode())


def _page(page: ShownPage, session: PageSession, **more: Any) -> Response:  # noqa: ANN401 - for templates
    notices, session.notices = session.notices, []
    data = {**page.data, "title": page.title, "place": page.place, "notices": notices, **more}
    text = rendered(page.template, session=session, **data)
    return HTMLResponse(text, page.status)


def _failed(session: PageSession, told: str, status: int) -> Response:
    title = {403: "Not allowed", 404: "Not found"}.get(status, "That did not work")
    return _page(ShownPage("error", title, {"problem": told}, status=status), session)


def _stale(session: PageSession) -> Response:
    told = (
        "This form is of another session, so nothing was done. Open the page again and send its form "
        "from there."
    )
    return _failed(session, told, 403)


def _alone(template: str, title: str, *, status: int = 200, problem: str = "") -> Response:
    """A page for who is not signed in."""
    return HTMLResponse(rendered(template, title=title, problem=problem), status)


def _busy() -> Response:
    told = "Too many requests are in work already. Come back in a moment."
    return PlainTextResponse(told, 429, headers={"Retry-After": str(RETRY_S)})
