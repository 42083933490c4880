"""Who may ask for what over HTTP, and that nobody sees what is not theirs."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from api_site import DEPLOY, SECRET, UNKNOWN, problem

from slowwave.journal import FEEDBACK_KINDS, KINDS
from slowwave.serving.tokens import digest
from slowwave.settings.file import editing

LOOKS, WRITES, PEOPLE = "reader assistant person", "assistant person", "person"
MAY = {
    "GET /v1/me": LOOKS,
    "POST /v1/search": LOOKS,
    "POST /v1/explain": LOOKS,
    "POST /v1/wakeup": LOOKS,
    "GET /v1/memories": LOOKS,
    "GET /v1/memories/{memory_id}": LOOKS,
    "GET /v1/memories/{memory_id}/history": LOOKS,
    "POST /v1/observe": WRITES,
    "POST /v1/feedback": WRITES,
    "POST /v1/outcome": WRITES,
    "POST /v1/memories": WRITES,
    "PUT /v1/memories/{memory_id}": WRITES,
    "DELETE /v1/memories/{memory_id}": WRITES,
    "POST /v1/decisions/{decision_id}/undo": WRITES,
    "POST /v1/memories/{memory_id}/unforget": PEOPLE,
    "GET /v1/decisions": PEOPLE,
    "POST /v1/decisions/{decision_id}/accept": PEOPLE,
    "POST /v1/decisions/{decision_id}/decline": PEOPLE,
    "GET /v1/quarantine": PEOPLE,
    "POST /v1/quarantine/{quarantine_id}/release": PEOPLE,
}


def example(schema, operation):
    """The body that the schema shows, if the operation takes one."""
    body = operation.get("requestBody", {}).get("content", {}).get("application/json", {}).get("schema")
    return body and schema["components"]["schemas"][body["$ref"].rpartition("/")[2]]["examples"][0]


def filled(path: str, name: str) -> str:
    for part in ("memory_id", "decision_id", "quarantine_id"):
        path = path.replace(f"{{{part}}}", name)
    return path


def test_every_way_asks_for_a_token_and_for_its_rights(api):
    """An id that is not there tells who may ask (404, 409 and the like) from who may not (403)."""
    schema = api.schema
    ways = {
        f"{method.upper()} {path}": operation
        for path, methods in schema["paths"].items()
        for method, operation in methods.items()
    }
    assert set(ways) == set(MAY)
    before = api.memory.journal.count("ada", "save")
    for way, operation in ways.items():
        method, path = way.split(" ")
        body = example(schema, operation)
        assert operation["security"] == [{"token": []}], way
        problem(api.ask(method, filled(path, UNKNOWN), body, by=""), 401)
        for by in ("reader", "assistant", "person"):
            answer = api.ask(method, filled(path, UNKNOWN), body, by=by, If_Match="*")
            refused = answer.status_code == 403
            assert refused is (by not in MAY[way].split()), (way, by, answer.text)
            assert str(answer.status_code) in operation["responses"], (way, answer.status_code)
            if refused:
                assert problem(answer, 403)
    assert api.memory.journal.count("ada", "save") == before + 2  # of those two who may save


def test_a_reader_leaves_nothing_behind(api):
    found = api.of("POST", "/v1/search", {"query": "when is the deploy day?"}, by="reader")
    assert found["results"][0]["memory_id"] == api.ids["deploy"]
    api.of("POST", "/v1/explain", {"query": "when is the deploy day?"}, by="reader")
    assert api.memory.journal.count("ada", "search") == 0
    body = {"search_id": found["search_id"], "result": 1, "rating": "helpful"}
    problem(api.ask("POST", "/v1/feedback", body), 404)


def test_only_a_person_searches_a_past_day(api):
    """A memory that was open then may be secret or forgotten now."""
    body = {"query": "when is the deploy day?", "as_of": str(datetime.now(UTC).date())}
    for way in ("/v1/search", "/v1/explain"):
        for by in ("reader", "assistant"):
            problem(api.ask("POST", way, body, by=by), 403)
        assert api.of("POST", way, body, by="person")["results"]


def test_ids_of_others_secrets_and_what_is_not_there_have_one_answer(api):
    search = api.of("POST", "/v1/search", {"query": "the canary"}, by="bob")["search_id"]
    before = api.memory.journal.read(kinds=KINDS, namespace="bob")
    calls = [
        ("GET", "/v1/memories/ID", None),
        ("GET", "/v1/memories/ID/history", None),
        ("PUT", "/v1/memories/ID", {"content": DEPLOY}),
        ("DELETE", "/v1/memories/ID", None),
        ("POST", "/v1/decisions/ID/undo", None),
        ("POST", "/v1/observe", {"search_id": "ID", "response": "zyx"}),
        ("POST", "/v1/feedback", {"search_id": "ID", "result": 1, "rating": "helpful"}),
    ]
    for method, path, body in calls:
        told = set()
        for name in (api.ids["foreign"], api.ids["secret"], api.ids["refused"], search, UNKNOWN):
            given = body and {key: name if one == "ID" else one for key, one in body.items()}
            answer = api.ask(method, path.replace("ID", name), given, If_Match="*")
            told.add(problem(answer, 404).replace(name, "ID"))
        assert len(told) == 1, (method, path)
    for path in ("/v1/memories/ID", "/v1/memories/ID/history", "/v1/memories/ID/unforget"):
        method = "POST" if path.endswith("unforget") else "GET"
        problem(api.ask(method, path.replace("ID", api.ids["foreign"]), by="person"), 404)
    problem(api.ask("POST", f"/v1/quarantine/{api.ids['foreign']}/release", by="person"), 404)
    assert api.memory.journal.read(kinds=KINDS, namespace="bob").equals(before)
    assert api.memory.journal.read(kinds=FEEDBACK_KINDS).is_empty()


def test_what_is_secret_only_a_person_sees_who_names_it(api):
    path = f"/v1/memories/{api.ids['secret']}"
    assert api.of("GET", path, by="person")["content"] == SECRET
    listed = api.of("GET", "/v1/memories", by="person")["memories"]
    assert {one["title"] for one in listed if one["memory_id"] == api.ids["secret"]} == {"(secret)"}
    for by in ("reader", "assistant"):
        seen = [
            api.ask("GET", "/v1/memories", by=by),
            api.ask("POST", "/v1/search", {"query": "the code of the gate", "limit": 50}, by=by),
            api.ask("POST", "/v1/explain", {"query": "the code of the gate"}, by=by),
            api.ask("POST", "/v1/wakeup", {}, by=by),
            api.ask("GET", path, by=by),
        ]
        assert not [one.text for one in seen if "quuxzyx" in one.text or "zyxwabb" in one.text]
    assert "quuxzyx" not in api.ask("POST", "/v1/search", {"query": "the code of the gate"}, by="person").text


def test_a_list_names_the_newer_value_of_an_outdated_memory_to_everybody(api):
    march, april = (datetime(2026, month, 2, tzinfo=UTC) for month in (3, 4))
    old = api.memory.save("The rate limit is 100 requests a minute.", created_at=march).memory_id
    text = "The rate limit was raised to 200 requests a minute."
    new = api.memory.save(text, title="Raised", created_at=april).memory_id
    secret = "The rate limit was raised to 300 requests a minute."
    api.memory.save(secret, created_at=datetime(2026, 5, 2, tzinfo=UTC), sensitivity="secret")
    for by in ("reader", "assistant", "person"):
        rows = api.of("GET", "/v1/memories", by=by)["memories"]
        marks = {row["memory_id"]: (row["outdated_by"], row["newer_title"]) for row in rows}
        assert {name: mark for name, mark in marks.items() if mark[0]} == {old: (new, "Raised")}
        records = [api.of("GET", f"/v1/memories/{name}", by=by) for name in (old, new)]
        assert [one["outdated_by"] for one in records] == [new, ""]


def test_what_was_forgotten_only_a_person_reads_and_lists(api):
    name = api.ids["battery"]
    api.of("DELETE", f"/v1/memories/{name}")
    for by in ("reader", "assistant"):
        for path in (f"/v1/memories/{name}", f"/v1/memories/{name}/history"):
            problem(api.ask("GET", path, by=by), 404)
        page = api.of("GET", "/v1/memories", by=by)
        assert (name not in str(page), page["total"]) == (True, len(page["memories"]))
    assert api.of("GET", f"/v1/memories/{name}", by="person")["status"] == "retired"
    assert name in str(api.of("GET", "/v1/memories", by="person"))


def test_an_assistant_gives_no_labels_and_replaces_nothing_that_a_person_keeps(api):
    body = {"content": f"{DEPLOY} So it is.", "labels": {"importance_tier": "critical"}, "key": "rule"}
    assert "importance_tier" in problem(api.ask("POST", "/v1/memories", body), 403)
    kept = api.of("POST", "/v1/memories", body, by="person")["memory_id"]
    again = {"content": f"{DEPLOY} It is not.", "key": "rule"}
    assert "only a person" in problem(api.ask("POST", "/v1/memories", again), 403)
    assert "only a person" in problem(
        api.ask("PUT", f"/v1/memories/{kept}", {"content": DEPLOY}, If_Match="*"), 403
    )
    assert "only a person" in problem(api.ask("DELETE", f"/v1/memories/{kept}"), 403)
    assert api.of("DELETE", f"/v1/memories/{kept}", by="person")["new"]
    assert "'content'" in problem(
        api.ask("POST", "/v1/memories", {"content": DEPLOY, "labels": {"content": "x"}}, by="person"), 422
    )


def test_a_token_that_is_taken_out_opens_nothing_from_the_next_request_on(api):
    assert api.of("GET", "/v1/me") == {"namespace": "ada", "principal": "assistant-1", "rights": "assistant"}
    with editing(api.memory.settings.home) as document:
        rest = [
            one for one in document["mcp"]["tokens"] if one["token_sha256"] != digest(api.tokens["assistant"])
        ]
        document["mcp"]["tokens"] = rest
    answer = api.ask("GET", "/v1/me")
    problem(answer, 401)
    assert answer.headers["www-authenticate"].startswith("Bearer ")
    assert api.of("GET", "/v1/me", by="reader")["rights"] == "reader"


@pytest.mark.parametrize("header", ["", "Bearer", "Bearer x", "Basic eDp5", "x"])
def test_what_is_no_token_is_refused(api, header):
    problem(api.ask("GET", "/v1/me", by="", Authorization=header), 401)
