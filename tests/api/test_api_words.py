"""The words of the API are those of HTTP, and not those of the tools for assistants."""

from __future__ import annotations

import json
import re

from api_site import Api, problem

TOOL = re.compile(r"\b(memory_(save|search|wakeup|forget|observe|outcome|history|undo)|knowledge_feedback)\b")
RULE = "Nobody leaves the island by the eastern pier in a storm, said the harbour master in April."


def test_what_to_do_next_names_calls_of_http(api: Api):
    """Whoever calls over HTTP has no tools: neither answers nor errors nor the description name one."""
    found = api.of("POST", "/v1/search", {"query": "When do we deploy?"})["next_step"]
    assert "POST /v1/observe" in found
    assert "POST /v1/feedback" in found
    woken = api.of("POST", "/v1/wakeup", {})["next_step"]
    assert "POST /v1/search" in woken
    refused = api.ask("POST", "/v1/memories", {"content": "dark"}).json()
    assert "call POST /v1/memories again" in refused["next_step"]
    assert f"POST /v1/quarantine/{refused['memory_id']}/release" in refused["next_step"]
    rule = {"content": RULE, "labels": {"importance_tier": "critical"}}
    saved = api.of("POST", "/v1/memories", rule, by="person")
    guarded = problem(api.ask("DELETE", f"/v1/memories/{saved['memory_id']}"), 403)
    gone = api.of("DELETE", f"/v1/memories/{api.ids['battery']}")["next_step"]
    assert f"POST /v1/memories/{api.ids['battery']}/unforget" in gone
    said = [found, woken, refused["next_step"], guarded, gone]
    described = re.findall(r'"description": "([^"]*)"', json.dumps(api.schema))
    for text in [*said, *described]:
        assert not TOOL.search(text), text
