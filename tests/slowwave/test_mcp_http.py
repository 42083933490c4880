"""The server over HTTP: a process of its own, with a token for each of two namespaces."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import prepared
import pytest
from mcp_helpers import (
    DEPLOY,
    TOOLS,
    command,
    environment,
    free_port,
    over_http,
    whole_day,
)

from slowwave.journal import Journal
from slowwave.journal.entry import OF_TENANTS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

CANARY = "The canary of bob is called zyxquux, and it sings at seven in the morning."
LIST = {"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": {}}
PATIENCE_S = 120


@dataclass(frozen=True)
class Server:
    """A running server, and its tokens by namespace."""

    url: str
    home: Path
    tokens: dict[str, str]

    def post(self, body: object = LIST, **headers: str) -> tuple[int, dict[str, str], str]:
        """Status, headers and body that a bare request gets; a header's underscores are hyphens."""
        common = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        given = {name.replace("_", "-"): value for name, value in headers.items()}
        request = urllib.request.Request(self.url, json.dumps(body).encode(), common | given)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return answer.status, dict(answer.headers), answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, dict(error.headers), error.read().decode()


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("mcp") / "home"
    shutil.copytree(prepared.empty("wordllama-256") / "lance", home / "lance")
    tokens = {}
    for namespace, principal in (("ada", "claude"), ("bob", "cursor")):
        words = ("mcp", "token", "--namespace", namespace, "--principal", principal, "--json")
        done = subprocess.run(
            command(*words), env=environment(home), capture_output=True, check=True, timeout=PATIENCE_S
        )
        tokens[namespace] = json.loads(done.stdout)["token"]
    port, log = free_port(), home.parent / "log"
    with log.open("w") as output:
        process = subprocess.Popen(
            command("mcp", "--http", "--port", port),
            env=environment(home),
            cwd=home.parent,
            stdout=output,
            stderr=subprocess.STDOUT,
        )
    try:
        limit = time.monotonic() + PATIENCE_S
        while not _listens(port):
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < limit, log.read_text()
            time.sleep(0.1)
        yield Server(f"http://127.0.0.1:{port}/mcp", home, tokens)
    finally:
        process.terminate()
        assert process.wait(30) in (0, -15), log.read_text()
    assert "Traceback" not in log.read_text()
    assert not any(token in log.read_text() for token in tokens.values())


def _listens(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def test_there_is_no_stream_to_wait_at(server):
    request = urllib.request.Request(
        server.url,
        headers={"Accept": "text/event-stream", "Authorization": f"Bearer {server.tokens['ada']}"},
    )
    with pytest.raises(urllib.error.HTTPError) as told:
        urllib.request.urlopen(request, timeout=60)
    assert told.value.code == 405
    assert told.value.headers["Allow"] == "POST"


def test_what_is_no_request_is_refused_in_json(server):
    port = int(server.url.rpartition(":")[2].partition("/")[0])
    with socket.create_connection(("127.0.0.1", port), timeout=60) as end:
        end.sendall(b"\0no request\r\n\r\n")
        head, _, body = b"".join(iter(lambda: end.recv(4_096), b"")).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert b"content-type: application/problem+json" in head.lower()
    assert json.loads(body)["detail"] == "Invalid HTTP request received."


# -- who is let in ---------------------------------------------------------------------------------


def test_without_a_known_token_there_is_no_answer(server):
    token = server.tokens["ada"]
    wrong = [
        "",
        "Bearer",
        "Bearer ",
        "Bearer x",
        f"Bearer {token}x",
        f"Bearer {token[:-1]}",
        f"Basic {token}",
        token,
    ]
    for headers in [{}, *({"Authorization": value} for value in wrong)]:
        status, answer, body = server.post(**headers)
        assert status == 401, headers
        assert answer["www-authenticate"].startswith("Bearer ")
        assert "memory" not in body
        assert token not in body
    assert server.post(Authorization=f"Bearer {token}")[0] == 200


def test_a_token_in_the_address_or_the_body_is_none(server):
    token = server.tokens["ada"]
    assert Server(f"{server.url}?access_token={token}", server.home, {}).post()[0] == 401
    assert server.post(LIST | {"params": {"token": token, "_meta": {"authorization": token}}})[0] == 401


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"Host": "evil.example.com"}, 421),
        ({"Host": "127.0.0.1.evil.example.com:80"}, 421),
        ({"Origin": "https://evil.example.com"}, 403),
        ({"Origin": "null"}, 403),
        ({"Origin": "http://localhost:3000"}, 200),
    ],
)
def test_a_web_page_of_elsewhere_is_not_answered(server, headers, status):
    assert server.post(Authorization=f"Bearer {server.tokens['ada']}", **headers)[0] == status


def test_there_is_nothing_else_to_ask_for(server):
    root = server.url.removesuffix("/mcp")
    for path in (
        "/",
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-authorization-server",
        "/docs",
    ):
        status, _, body = Server(root + path, server.home, {}).post()
        assert status == 404, path
        assert "slowwave" not in body.lower()


def test_probes_by_any_address_are_told_of_health_and_of_nothing_else(server):
    root = server.url.removesuffix("/mcp")

    def told(path: str) -> str:
        request = urllib.request.Request(root + path, headers={"Host": "10.1.2.3:8765"})
        limit = time.monotonic() + 120
        while True:
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return answer.read().decode()
            except urllib.error.HTTPError as error:  # it has just begun, and loads its model
                if (path, error.code) != ("/readyz", 503) or time.monotonic() > limit:
                    raise
                time.sleep(0.5)

    assert told("/healthz") == "ok\n"
    assert json.loads(told("/readyz")) == {
        "ready": True, "parts": {"journal": "ok", "tables": "ok", "model": "ok"},
    }  # fmt: skip
    status = server.post(Authorization=f"Bearer {server.tokens['ada']}", Host="10.1.2.3:8765")[0]
    assert status == 421


# -- what they get ---------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_tools_are_there_in_both_protocols(server, mode):
    with over_http(server.url, server.tokens["ada"], mode=mode) as assistant:
        assert [tool.name for tool in assistant.tools()] == TOOLS


def test_two_tokens_see_only_their_own_and_act_in_their_own_name(server):
    with over_http(server.url, server.tokens["bob"]) as bob:
        ids = whole_day(bob)
        canary = bob.call("memory_save", content=CANARY)["memory_id"]
        assert "zyxquux" in bob.say("memory_search", query="what is the canary called?")
    with over_http(server.url, server.tokens["ada"], mode="legacy") as ada:
        whole_day(ada)
        assert ada.gates()["namespace"] == "ada"
        refused = {
            canary: ("memory_history", {"memory_id": canary}),
            ids["decision"]: ("memory_undo", {"decision_id": ids["decision"]}),
            ids["search"]: ("memory_observe", {"search_id": ids["search"], "response": CANARY}),
            ids["search"] + " ": (
                "knowledge_feedback", {"search_id": ids["search"], "result": 1, "rating": "unhelpful"}
            ),
        }  # fmt: skip
        for name, (tool, arguments) in refused.items():
            assert name.strip() in ada.fail(tool, **arguments)
        search = "memory_search", {"query": "canary zyxquux", "debug": True}
        assert "zyxquux" not in ada.say(search[0], **search[1])
        for name, value in {"namespace": "bob", "principal": "cursor", "token": server.tokens["bob"]}.items():
            for tool, arguments in (search, *refused.values()):
                assert f"no argument {name!r}" in ada.fail(tool, **arguments, **{name: value})
        assert "was read" not in ada.missing(f"memory://{canary}")
        assert "was read" not in ada.missing(f"memory://bob/{canary}")
    with Journal.open_path(server.home / "journal.db") as journal:
        acts = journal.read(kinds=OF_TENANTS).filter(~(journal.read(kinds=OF_TENANTS)["kind"] == "scan"))
    who = set(acts.select("namespace", "principal").iter_rows())
    assert who == {("ada", "claude"), ("bob", "cursor")}
    for namespace in ("ada", "bob"):
        kinds = set(acts.filter(acts["namespace"] == namespace)["kind"])
        assert kinds == {"save", "undo", "search", "observation", "feedback", "outcome"}


def test_eight_searches_at_once_of_two_namespaces(server):
    for namespace in ("ada", "bob"):
        with over_http(server.url, server.tokens[namespace]) as assistant:
            assistant.call("memory_save", content=f"{DEPLOY} So says {namespace}.", key="deploy")

    def search(number: int) -> tuple[str, str]:
        namespace = ("ada", "bob")[number % 2]
        with over_http(server.url, server.tokens[namespace]) as assistant:
            found = assistant.call("memory_search", query=f"deploy day, as they say ({number})", limit=1)
        assert f"So says {namespace}." in found["results"][0]["text"]
        return namespace, found["search_id"]

    with ThreadPoolExecutor(8) as pool:
        done = list(pool.map(search, range(8)))
    assert len({search_id for _, search_id in done}) == 8
    with Journal.open_path(server.home / "journal.db") as journal:
        for namespace, search_id in done:
            entry = journal.get(search_id)
            assert (entry.namespace, entry.principal) == (
                namespace,
                {"ada": "claude", "bob": "cursor"}[namespace],
            )


def test_a_token_counts_at_once_and_a_revoked_or_expired_one_no_more(server):
    def run(*words: str) -> str:
        done = subprocess.run(
            command("mcp", *words), env=environment(server.home), capture_output=True, check=True,
            timeout=PATIENCE_S, text=True,
        )  # fmt: skip
        return done.stdout.strip()

    token = run("token", "-n", "ada", "--principal", "guest", "--name", "laptop", "--rights", "reader")
    assert server.post(Authorization=f"Bearer {token}")[0] == 200
    file = server.home / "slowwave.toml"
    text = file.read_text()
    file.write_text(text + "\n[broken")  # a slip of a person changes nothing
    assert server.post(Authorization=f"Bearer {token}")[0] == 200
    file.write_text(text.replace('name = "laptop"', 'name = "laptop"\nexpires = 2020-01-01T00:00:00Z'))
    status, headers, body = server.post(Authorization=f"Bearer {token}")
    assert (status, json.loads(body)["error"]) == (401, "invalid_token")
    assert "This token expired at 2020-01-01 00:00 UTC" in headers["www-authenticate"]
    file.write_text(text)
    assert server.post(Authorization=f"Bearer {token}")[0] == 200
    run("revoke", "laptop")
    assert server.post(Authorization=f"Bearer {token}")[0] == 401
    assert server.post(Authorization=f"Bearer {server.tokens['ada']}")[0] == 200


def test_a_session_that_a_client_names_is_given_a_text_once(server):
    def call(tool: str, session: str = "", **arguments: object) -> str:
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": tool, "arguments": arguments}}  # fmt: skip
        named = {"Mcp_Session_Id": session} if session else {}
        status, _, answer = server.post(body, Authorization=f"Bearer {server.tokens['bob']}", **named)
        assert status == 200, answer
        return json.loads(answer)["result"]["content"][0]["text"]

    text = "The lighthouse of Rubha Reidh flashes four times every fifteen seconds since 1912."
    call("memory_save", content=text, title="Lighthouse")
    assert "four times" in call("memory_search", "one", query="how does the lighthouse flash?")
    again = call("memory_search", "one", query="lighthouse of Rubha Reidh")
    assert "four times" not in again
    assert "left out; to get them: repeat=true." in again
    assert '"Lighthouse"' in again
    assert "four times" in call("memory_search", "one", query="lighthouse of Rubha Reidh", repeat=True)
    assert "four times" in call("memory_search", "two", query="lighthouse of Rubha Reidh")
    assert "four times" in call("memory_search", query="lighthouse of Rubha Reidh")
