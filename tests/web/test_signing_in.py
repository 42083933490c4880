"""Who comes in, and what every answer carries."""

from __future__ import annotations

import re
from threading import Event, Thread

import pytest
from page_home import tokens_of, words
from starlette.testclient import TestClient

from slowwave.memory import Memory
from slowwave.serving.caller import Caller
from slowwave.serving.host_guard import host_name
from slowwave.serving.limits import FREE
from slowwave.serving.memory_pool import MemoryPool
from slowwave.settings import load
from slowwave.web.app import application
from slowwave.web.middleware import HEADERS
from slowwave.web.sessions import KEY_S, MAX_SESSIONS, OneTimeLinks, Sessions

PAGES = ["/", "/memories", "/decisions", "/quarantine", "/learning", "/trend", "/judge", "/memory/x"]


class Clock:
    """Seconds that a test sets."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


# -- sessions and links ----------------------------------------------------------------------------


def test_a_session_ends_when_it_is_idle_and_an_id_is_of_one_alone():
    clock = Clock()
    sessions = Sessions(100, clock)
    ada, bob = (sessions.begin(Caller(name, "p")) for name in ("ada", "bob"))
    assert ada != bob
    assert len(ada) >= 43  # 256 bits
    clock.now = 90
    found = sessions.find(ada)
    assert found is not None
    assert found.caller.namespace == "ada"
    clock.now = 180  # 90 s after the last request
    assert sessions.find(ada) is found
    assert sessions.find(bob) is None
    sessions.end(ada)
    assert sessions.find(ada) is None
    assert sessions.find("") is None


def test_what_is_kept_does_not_let_anybody_in():
    sessions = Sessions(100)
    name = sessions.begin(Caller("ada", "p"))
    (kept,) = sessions._open
    assert name not in repr(sessions._open)
    assert sessions.find(kept) is None


def test_sessions_are_so_many_at_most_and_the_idle_one_goes():
    sessions = Sessions(100)
    names = [sessions.begin(Caller("ada", str(at))) for at in range(MAX_SESSIONS)]
    assert sessions.find(names[0])
    sessions.begin(Caller("ada", "one more"))
    assert sessions.find(names[0])
    assert sessions.find(names[1]) is None


def test_a_link_opens_once_and_for_ten_minutes():
    clock = Clock()
    entrances = OneTimeLinks(clock)
    first, second = entrances.make(), entrances.make()
    assert entrances.use(first)
    assert not entrances.use(first)
    clock.now = KEY_S + 1
    assert not entrances.use(second)
    assert not entrances.use("")


# -- signing in ------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", PAGES)
def test_who_is_not_signed_in_is_sent_to_the_form_and_reads_nothing(site, saved, path):
    saved("The lamp on the pier is red since the storm.")
    visitor = site.visitor()
    answer = visitor.get(path)
    assert (answer.status_code, answer.headers["location"]) == (303, "/sign-in")
    assert "lamp" not in answer.text


def test_the_link_lets_a_person_in_and_is_gone_from_the_address(site):
    visitor = site.visitor()
    key = site.entrances.make()
    assert visitor.client.head(f"/enter?key={key}").status_code == 200
    answer = visitor.get(f"/enter?key={key}")
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    for part in ("HttpOnly", "SameSite=strict", "Path=/"):
        assert part in cookie
    assert "Secure" not in cookie
    assert "Search" in visitor.words("/")
    other = site.visitor().get(f"/enter?key={key}")
    assert other.status_code == 403
    assert "set-cookie" not in other.headers
    assert "was used" in words(other.text)


def test_over_tls_the_cookie_says_so(make_site):
    site = make_site(page={"https": True})
    answer = site.visitor().get(f"/enter?key={site.entrances.make()}", headers={"X-Forwarded-Proto": "http"})
    assert "Secure" in answer.headers["set-cookie"]


def test_what_a_header_says_of_tls_is_not_believed(site):
    answer = site.visitor().get(f"/enter?key={site.entrances.make()}", headers={"X-Forwarded-Proto": "https"})
    assert "Secure" not in answer.headers["set-cookie"]


def test_a_token_opens_its_namespace_in_the_name_of_its_principal(site, saved):
    saved("The lamp on the pier is red since the storm.", title="Lamp")
    assert "ada · claude" in site.with_token("claude").words("/")
    assert "Lamp" in site.with_token("ida").words("/memories")
    assert "Lamp" not in site.with_token("bob").words("/memories")


def test_signing_in_again_ends_the_session_before(site):
    person = site.person()
    ((name, before),) = person.client.cookies.items()
    person.client.post("/sign-in", data={"token": site.tokens["claude"]})
    assert person.client.cookies[name] != before
    assert site.visitor().get("/", cookies={name: before}).status_code == 303


def test_who_signs_out_is_out(site, person):
    ((name, cookie),) = person.client.cookies.items()
    assert person.post("/sign-out").headers["location"] == "/sign-in"
    person.client.cookies.set(name, cookie)
    assert person.get("/").headers["location"] == "/sign-in"


def test_wrong_tokens_are_answered_slower_and_slower(site, monkeypatch):
    waited = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("slowwave.web.app.anyio.sleep", sleep)
    visitor = site.visitor()
    for _ in range(FREE + 3):
        answer = visitor.client.post("/sign-in", data={"token": "slowwave_wrong<script>"})
        assert answer.status_code == 403
        assert "<script>" not in answer.text.replace('<script src="/static/keys.js" defer></script>', "")
    assert waited[:FREE] == [0.0] * FREE
    assert waited[FREE:] == [0.1, 0.2, 0.4]


# -- what a request has to be ----------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/sign-in", "/health", "/static/style.css", "/nowhere", "/memories"])
@pytest.mark.parametrize("host", ["127.0.0.1", "evil.example.org"])
def test_every_answer_has_the_headers(site, path, host):
    answer = site.visitor().get(path, headers={"Host": host})
    for name, value in HEADERS.items():
        assert answer.headers[name] == value
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_another_name_reaches_nothing(site, person):
    for host in ("evil.example.org", "127.0.0.1.evil.example.org", "", "localhost.evil.example.org:8770"):
        answer = person.get("/", headers={"Host": host})
        assert answer.status_code == 421
        assert "Slowwave" not in answer.text
    for host in ("localhost:8770", "[::1]:8770", "127.0.0.1", "LOCALHOST"):
        assert site.visitor().get("/health", headers={"Host": host}).status_code == 200


def test_a_name_that_the_settings_allow_reaches_it(make_site):
    named = {"Host": "memory.example.org:443"}
    assert make_site().visitor().get("/health", headers=named).status_code == 421
    tokens = [{"token_sha256": "0" * 64, "namespace": "ada", "principal": "p"}]
    allowed = make_site(mcp={"allowed_hosts": ["memory.example.org"], "tokens": tokens})
    assert allowed.visitor().get("/health", headers=named).status_code == 200


@pytest.mark.parametrize(
    ("host", "name"),
    [
        ("a.b:80", "a.b"),
        ("[::1]:80", "[::1]"),
        ("[::1]", "[::1]"),
        ("A", "a"),
        ("", ""),
        ("[::1]a.b", ""),
        ("127.0.0.1:80@a.b", ""),
        ("a.b:x", ""),
    ],
)
def test_the_name_in_a_host_header(host, name):
    assert host_name(host) == name


FOREIGN = [
    {"Origin": "http://evil.example.org"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Origin": "ftp://127.0.0.1"},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site", "Origin": "http://127.0.0.1"},
]


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
def test_what_another_page_sends_does_nothing(site, person, memory, headers):
    key = person.key()
    form = {"csrf": key, "content": "Nobody wanted this to be saved in here, not at all."}
    answer = person.client.post("/save", data=form, headers=headers)
    assert answer.status_code == 403
    assert "The request came from another site" in answer.text
    assert memory.count() == 0
    sign_in = site.visitor().client.post("/sign-in", data={"token": site.tokens["ida"]}, headers=headers)
    assert sign_in.status_code == 403


@pytest.mark.parametrize("headers", [{}, {"Origin": "http://127.0.0.1"}, {"Sec-Fetch-Site": "same-origin"}])
def test_what_this_page_sends_is_done(person, memory, headers):
    form = {"csrf": person.key(), "content": "The lamp on the pier is red since the storm."}
    assert person.client.post("/save", data=form, headers=headers).status_code == 303
    assert memory.count() == 1


def test_over_tls_a_plain_page_of_the_same_name_is_another_one(make_site):
    site = make_site(page={"https": True})
    form = {"token": site.tokens["ida"]}
    for scheme, status in (("http", 403), ("https", 303)):
        answer = site.visitor().client.post(
            "/sign-in", data=form, headers={"Origin": f"{scheme}://127.0.0.1"}
        )
        assert answer.status_code == status


@pytest.mark.parametrize("key", [None, "", "wrong", "other"])
def test_a_form_without_the_key_of_its_session_does_nothing(site, person, memory, key):
    form = {"content": "The lamp on the pier is red since the storm."}
    if key is not None:
        form["csrf"] = site.person().key() if key == "other" else key
    answer = person.client.post("/save", data=form)
    assert answer.status_code == 403
    assert "another session" in words(answer.text)
    assert memory.count() == 0
    assert person.client.post("/sign-out", data=form).status_code == 403
    assert person.client.post("/namespaces", data=form | {"namespace": "ada"}).status_code == 403
    assert person.get("/").status_code == 200


def test_every_form_that_posts_has_the_key(site, person, saved):
    one = saved("The lamp on the pier is red since the storm.", title="Lamp")
    pages = [*PAGES[:-1], "/?q=lamp", f"/memory/{one}", f"/memory/{one}/erase", "/namespaces"]
    forms = [
        form
        for path in pages
        for form in re.findall(r'<form method="post".*?</form>', person.text(path), re.S)
    ]
    assert len(forms) > 15
    assert all(f'name="csrf" value="{person.key()}"' in form for form in forms)


@pytest.mark.parametrize(
    ("sent", "status"),
    [
        ({"data": b"{}", "headers": {"Content-Type": "application/json"}}, 415),
        ({"files": {"content": ("a.txt", b"text")}}, 415),
        (
            {
                "content": b"a=" + b"x" * 20_000,
                "headers": {"Content-Type": "application/x-www-form-urlencoded"},
            },
            413,
        ),
        ({"content": b"a=1&" * 60, "headers": {"Content-Type": "application/x-www-form-urlencoded"}}, 400),
        ({"content": b"a=%ff", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}, 400),
        ({"content": b"a=\xff", "headers": {"Content-Type": "application/x-www-form-urlencoded"}}, 400),
    ],
)
def test_what_is_no_form_is_refused(make_site, sent, status):
    person = make_site(mcp={"max_request_bytes": 10_000}).person()
    if "data" in sent:
        sent = {**sent, "content": sent["data"]}
        del sent["data"]
    assert person.client.post("/save", **sent).status_code == status


def test_who_asks_too_much_at_once_is_told_to_come_back(site, person):
    pages = next(one for one in site.app.routes if getattr(one, "path", "") == "/memories")
    place = pages.endpoint.__closure__
    shared = next(cell.cell_contents for cell in place if hasattr(cell.cell_contents, "_working"))
    shared._working[Caller("ada", "page", "person")] = 16
    assert person.get("/memories").status_code == 429
    shared._working.clear()
    assert person.get("/memories").status_code == 200


# -- namespaces ------------------------------------------------------------------------------------


def test_the_person_at_the_machine_looks_into_any_namespace_and_nobody_else(site, open_memory, saved):
    saved("The lamp on the pier is red since the storm.", title="Lamp")
    other = open_memory("bob").save("The kettle in the kitchen whistles at noon.", title="Kettle").memory_id
    person = site.person()
    assert person.get(f"/memory/{other}").status_code == 404
    assert "bob" in person.words("/namespaces")
    assert "Switched to namespace bob." in person.done("/namespaces", namespace="bob")
    assert "Kettle" in person.words(f"/memory/{other}")
    assert "Lamp" not in person.words("/memories")
    person.refused("/namespaces", 404, namespace="<b>nowhere</b>")
    for name in ("claude", "ida"):
        visitor = site.with_token(name)
        assert visitor.get("/namespaces").status_code == 403
        visitor.refused("/namespaces", 403, namespace="bob")
        assert visitor.get(f"/memory/{other}").status_code == 404


def test_a_form_of_the_namespace_before_does_nothing_in_the_next_one(site, open_memory, saved):
    bob = open_memory("bob")
    bob.save("The kettle in the kitchen whistles at noon.", title="Kettle")
    person = site.person()
    before = person.key()
    person.done("/namespaces", namespace="bob")
    sent = person.client.post("/save", data={"csrf": before, "content": "The lamp on the pier is red."})
    assert sent.status_code == 403
    assert bob.count() == 1
    assert "Saved." in person.done("/save", content="The lamp on the pier is red since the storm.")
    assert bob.count() == 2


def test_who_changes_the_namespace_while_a_page_is_made_can_go_on(site, open_memory, saved, monkeypatch):
    """Requests in work are counted by who asked, whatever becomes of the session meanwhile."""
    open_memory("bob").save("The kettle in the kitchen whistles at noon.", title="Kettle")
    person = site.person()
    begun, go_on = Event(), Event()

    def slow(*_: object, **__: object) -> object:
        begun.set()
        assert go_on.wait(60)
        return original(*_, **__)

    original = Memory.search
    monkeypatch.setattr(Memory, "search", slow)
    for at in range(9):  # mcp.max_concurrent_requests is 8
        begun.clear(), go_on.clear()
        asked = Thread(target=person.get, args=("/?q=lamp",))
        asked.start()
        assert begun.wait(60)
        person.post("/namespaces", namespace="bob" if at % 2 == 0 else "ada")
        go_on.set()
        asked.join()
    for name in ("ada", "bob"):
        person.post("/namespaces", namespace=name)
        assert person.get("/memories").status_code == 200


def test_a_namespace_of_which_all_was_refused_can_be_looked_into(site, open_memory, memory):
    open_memory("new").save("ok thanks", title="Nothing")
    person = site.person()
    assert "Switched to namespace new." in person.done("/namespaces", namespace="new")
    assert "ok thanks" in person.words("/quarantine")


def test_pages_of_two_homes_do_not_sign_one_another_out(site, tmp_path, fast_embedder):
    other = tmp_path / "other"
    tokens_of(other, fast_embedder.name)
    names = {next(iter(site.person().client.cookies))}
    memories = MemoryPool(load(other), lambda: Caller("ada", "page"))
    entrances = OneTimeLinks()
    client = TestClient(application(memories, load(other), entrances), base_url="http://127.0.0.1")
    client.get(f"/enter?key={entrances.make()}")
    names |= set(client.cookies)
    memories.close()
    assert len(names) == 2


def test_anybody_may_ask_whether_it_is_there(site):
    assert site.visitor().get("/health").text == "ok\n"
