"""What an assistant gets, by the SDK's client and server in this process, over a real memory."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
from mcp_helpers import BATTERY, DEPLOY, ORDER, TOOLS, Assistant, connected, whole_day

from slowwave.journal import FEEDBACK_KINDS, KINDS
from slowwave.journal.entry import RECORD
from slowwave.journal.maintenance_ops import EVERYBODY
from slowwave.mcp.server import build
from slowwave.memory import Memory
from slowwave.quality.structure import KNOWN_WORDS
from slowwave.serving.caller import Caller
from slowwave.serving.memory_pool import MemoryPool
from slowwave.serving.tools import EVENT_CHARACTERS, MemoryType
from slowwave.settings import load
from slowwave.views.gate_text import words_of
from slowwave.views.mcp_text import INSTRUCTIONS

SECRET = "The code of the harbour gate is quuxzyx, and it is changed in the first week of May."
UNKNOWN = "0" * 32


@pytest.fixture
def serve(home: Path, fast_embedder: Any, open_memory: Callable[..., Memory]) -> Callable[..., Any]:
    """Connects a client to the memory of a namespace."""

    @contextmanager
    def serve_(namespace: str = "ada", principal: str = "assistant", **groups: Any) -> Iterator[Assistant]:
        open_memory(namespace)  # so that there is a home
        groups = {"embedding": {"model": "wordllama-256"}, "reconsolidation": {"policy": "guarded"}} | groups
        memories = MemoryPool(load(home, **groups), lambda: Caller(namespace, principal))
        memories._space.__dict__["embedder"] = fast_embedder
        with connected(build(memories)) as assistant:
            yield assistant

    return serve_


@pytest.fixture
def assistant(serve) -> Iterator[Assistant]:
    with serve() as connected_:
        yield connected_


# -- what a client is told -------------------------------------------------------------------------


def test_the_tools_are_these_and_every_argument_is_described(assistant):
    tools = assistant.tools()
    assert [tool.name for tool in tools] == TOOLS
    for tool in tools:
        assert tool.title
        assert len(tool.description.split()) > 10
        assert tool.output_schema is None
        for name, argument in tool.input_schema["properties"].items():
            assert argument.get("description"), f"{tool.name}: {name}"


def test_the_list_of_tools_is_short(assistant):
    listed = assistant.portal.call(assistant.client.list_tools).model_dump(
        mode="json", by_alias=True, exclude_none=True
    )
    assert len(json.dumps(listed)) <= 8_000


def test_what_each_tool_answers_is_a_schema_that_its_answers_keep(assistant):
    schemas = json.loads(assistant.read("slowwave://answers"))
    assert sorted(schemas) == TOOLS
    saved = assistant.call("memory_save", content=DEPLOY)
    woken = assistant.call("memory_wakeup", budget=500)
    for tool, answer in (("memory_save", saved), ("memory_wakeup", woken)):
        assert set(schemas[tool]["required"]) <= set(answer) <= set(schemas[tool]["properties"])
    assert (
        "never an instruction"
        in schemas["memory_wakeup"]["$defs"]["WokenItem"]["properties"]["text"]["description"]
    )


def test_no_argument_names_a_namespace_or_a_principal(assistant):
    names = {name for tool in assistant.tools() for name in tool.input_schema["properties"]}
    assert not names & {"namespace", "tenant", "principal", "user", "sensitivity"}


def test_an_argument_that_a_tool_does_not_know_is_refused_and_nothing_is_saved(assistant):
    told = assistant.fail(
        "memory_save", content="My passport expires in May next year.", sensitivity="secret"
    )
    assert "memory_save has no argument 'sensitivity'. Nothing was done" in told
    assert assistant.call("memory_search", query="when does my passport expire?")["results"] == []
    told = assistant.fail("memory_search", query="x", limit="many")
    assert told.startswith("memory_search: limit = 'many': ")
    assert told.endswith(" Nothing was done.")
    assert "\n" not in told
    assert "has no argument 'namespace'" in assistant.fail("memory_search", query="x", namespace="bob")


def test_an_empty_memory_says_so_and_nothing_of_what_is_closed(assistant, open_memory):
    """A namespace with a secret alone, beside another namespace, is as one with nothing."""
    open_memory("kvxother").save("The ferry to the island leaves at seven in the morning.", key="f")
    for text in ("", "The code of the door is kvx4711 and it changes in June."):
        if text:
            open_memory().save(text, key="s", sensitivity="secret")
        told = assistant.call("memory_search", query="when does the ferry leave?")
        assert told["results"] == []
        assert told["next_step"].startswith("This memory is empty. Save")
        assert "kvx" not in str(told)


def test_the_kinds_of_memory_are_those_of_the_gate(assistant):
    assert set(get_args(MemoryType)) == KNOWN_WORDS["memory_type"]


def test_a_client_can_tell_what_only_reads_and_what_to_ask_about(assistant):
    hints = {tool.name: tool.annotations for tool in assistant.tools()}
    assert {name for name, hint in hints.items() if hint.read_only_hint} == {
        "memory_search",
        "memory_history",
        "memory_wakeup",
    }
    assert {name for name, hint in hints.items() if hint.destructive_hint} == {"memory_undo", "memory_forget"}


def test_an_assistant_is_told_to_give_feedback_wherever_it_looks(assistant):
    instructions = assistant.client.instructions
    descriptions = {tool.name: tool.description for tool in assistant.tools()}
    assistant.call("memory_save", content=DEPLOY)
    found = assistant.call("memory_search", query="deploy day")
    for text in (instructions, descriptions["memory_search"], found["next_step"]):
        assert "memory_observe" in text
    for text in (instructions, found["next_step"]):
        assert "knowledge_feedback" in text
    assert found["search_id"] in found["next_step"]
    assert "never instructions" in instructions
    assert all(name in instructions for name in set(TOOLS) - {"memory_history", "memory_undo"})


# -- what the tools do -----------------------------------------------------------------------------


def test_a_whole_day_of_an_assistant(assistant):
    whole_day(assistant)


def test_words_and_data_say_the_same(assistant):
    saved = assistant.ask("memory_save", content=DEPLOY, title="Deploy day", tags=["ops"])
    memory_id = saved.structured_content["memory_id"]
    assert memory_id in saved.content[0].text
    found = assistant.ask("memory_search", query="deploy day")
    (result,) = found.structured_content["results"]
    text = found.content[0].text
    assert (result["title"], result["text"], result["tags"]) == ("Deploy day", DEPLOY, ["ops"])
    assert f"[1] memory_id: {memory_id}" in text
    assert f"> {DEPLOY}" in text
    assert f"search_id: {found.structured_content['search_id']}" in text
    assert "confidence" in text


def test_an_older_note_is_saved_with_its_day(assistant):
    assistant.call("memory_save", content=DEPLOY, created_at="2025-03-02")
    found = assistant.call("memory_search", query="deploy day", until="2025-03-03")
    assert found["results"][0]["created_at"].startswith("2025-03-02")
    refusal = assistant.fail("memory_save", content=BATTERY, created_at="yesterday")
    assert "give a day as YYYY-MM-DD" in refusal
    assert len(assistant.call("memory_search", query="the deploy day and the battery")["results"]) == 1


def test_labels_of_a_note_are_kept_and_can_be_asked_for(assistant):
    assistant.call("memory_save", content=DEPLOY, key="deploy", memory_type="decision", tags=["ops"])
    assistant.call("memory_save", content=BATTERY, follows="deploy")
    query = {"query": "the deploy day and the battery of the gauge"}
    assert len(assistant.call("memory_search", **query)["results"]) == 2
    for narrowed in ({"memory_type": ["decision"]}, {"tags": ["ops"]}, {"limit": 1}):
        assert len(assistant.call("memory_search", **query, **narrowed)["results"]) == 1
    changed = DEPLOY.replace("Thursday", "Wednesday")
    saved = assistant.call("memory_save", content=changed, key="deploy", memory_type="decision")
    assert changed in assistant.read(f"memory://{saved['memory_id']}")


def test_the_account_of_a_score_is_shown_with_debug_and_hidden_without(assistant):
    assistant.call("memory_save", content=DEPLOY, title="Deploy day")
    hidden = assistant.ask("memory_search", query="deploy day")
    for word in ("explanation", "contribution", "signal", "policy", "formula", "timings"):
        assert word not in str(hidden.structured_content)
        assert word not in hidden.content[0].text
    shown = assistant.ask("memory_search", query="deploy day", debug=True)
    (result,) = shown.structured_content["results"]
    account = result["explanation"]
    assert sum(row["value"] for row in account["contributions"]) == pytest.approx(result["score"], abs=1e-9)
    assert {
        "semantic_score", "effectiveness_score", "combined_score", "feedback_count", "formula",
        "recent_feedback",
    } <= set(account)  # fmt: skip
    assert account["formula"] in shown.content[0].text
    assert shown.structured_content["debug"]["policy"]


def test_when_nothing_is_near_enough_it_says_so(serve):
    with serve(ranking={"abstention_floor": 0.9}) as assistant:
        assistant.call("memory_save", content=DEPLOY)
        found = assistant.call("memory_search", query="who painted the ceiling of the chapel?")
        assert (found["abstained"], found["results"]) == (True, [])
        assert "No memory is near enough" in assistant.say(
            "memory_search", query="who painted the ceiling of the chapel?"
        )


def test_an_identifier_that_nothing_mentions_is_said_before_what_is_near(assistant):
    assistant.call("memory_save", content="The outage INC-4821 began with a certificate that had expired.")
    query = "what caused the outage INC-4822?"
    found = assistant.call("memory_search", query=query)
    message = "Nothing here mentions INC-4822. The results are only near it."
    assert (found["unknown"], found["unknown_message"]) == (["INC-4822"], message)
    assert [result["flags"] for result in found["results"]] == [["only_near"]]
    lines = assistant.say("memory_search", query=query).splitlines()
    assert lines[1] == message
    assert "only_near" in lines[5]
    assert assistant.call("memory_search", query=query.replace("2?", "1?"))["unknown"] == []


def test_a_note_that_is_not_let_in_says_why(assistant):
    saved = assistant.call("memory_save", content="ok")
    assert saved["status"] == "quarantined"
    assert saved["reasons"]
    said = assistant.say("memory_save", content="ok")
    assert said.startswith("NOT saved")
    for reason in saved["reasons"]:
        for told in (said, saved["next_step"]):
            assert f"{reason}: {words_of(reason).why}" in told
            assert words_of(reason).fix in told
    assert f"slowwave quarantine release {saved['memory_id']}" in saved["next_step"]


def test_a_note_that_a_gate_only_warns_of_is_saved_and_says_from_when_it_would_not_be(serve):
    with serve(gate={"mode": "warn"}) as assistant:
        saved = assistant.call("memory_save", content="ok")
        begins = assistant.gates()["save"]["enforces_from"]
    assert saved["status"] == "live"
    assert f"from {begins[:10]} on" in saved["next_step"]
    assert "quarantine release" not in saved["next_step"]


@pytest.mark.parametrize("mode", ["off", "warn", "enforce"])
@pytest.mark.parametrize("content", ["", " \n\t\u3000", "\ufeff\u200b\n\u2060"])
def test_a_note_without_a_text_is_an_error_and_nothing_is_written(serve, open_memory, mode, content):
    with serve(gate={"mode": mode}) as assistant:
        assert "no text in it, so nothing was saved" in assistant.fail(
            "memory_save", content=content, title="T"
        )
    memory = open_memory()
    with pytest.raises(ValueError, match="no text in it"):
        memory.save(content)
    with pytest.raises(ValueError, match="Note 2"):
        memory.save_many([{"content": DEPLOY}, {"content": content}])
    assert memory.journal.read(kinds=["save"]).is_empty()


def test_cited_takes_numbers_and_ids(assistant):
    assistant.call("memory_save", content=DEPLOY)
    assistant.call("memory_save", content=BATTERY)
    found = assistant.call("memory_search", query="the deploy day and the battery of the gauge")
    first, second = (result["memory_id"] for result in found["results"])
    for number, cited in enumerate(([1, 2], ["1", "2"], [first, 2], [first, second])):
        seen = assistant.call(
            "memory_observe", search_id=found["search_id"], response=f"Answer {number}.", cited=cited
        )
        assert {one["memory_id"] for one in seen["verdicts"] if one["evidence"] == "citation"} == {
            first,
            second,
        }


def test_what_an_assistant_forgets_is_not_found_and_a_person_brings_it_back(assistant, open_memory):
    saved = assistant.call("memory_save", content=DEPLOY)
    name = saved["memory_id"]
    said = assistant.say("memory_forget", memory_id=name)
    assert f"slowwave unforget {name}" in said
    assert assistant.call("memory_search", query="when is the deploy day?")["results"] == []
    assert assistant.call("memory_forget", memory_id=name)["new"] is False
    for told in (assistant.fail("memory_history", memory_id=name), assistant.missing(f"memory://{name}")):
        assert "that may be shown here" in told
        assert "Thursday" not in told
    memory = open_memory()
    assert memory.unforget(name) is True
    assert memory.unforget(name) is False
    assert memory.get(name).content == DEPLOY
    (found,) = assistant.call("memory_search", query="when is the deploy day?")["results"]
    assert found["memory_id"] == name
    events = assistant.call("memory_history", memory_id=name)["events"]
    assert [event["event"] for event in events if event["event"] != "complement"] == [
        "saved", "forgotten", "remembered",
    ]  # fmt: skip


PROTECTED = [{"importance_tier": "critical"}, {"source_of_truth": True}, {"state": "canonical"}]


@pytest.mark.parametrize("labels", PROTECTED)
def test_what_is_protected_only_a_person_forgets(assistant, open_memory, labels):
    memory = open_memory()
    name = memory.save(DEPLOY, **labels).memory_id
    told = assistant.fail("memory_forget", memory_id=name)
    assert "only a person may forget it" in told
    assert f"slowwave forget {name}" in told
    assert memory.get(name).status == "live"
    assert memory.forget(name)


@pytest.mark.parametrize("labels", PROTECTED)
def test_what_is_protected_only_a_person_overwrites(assistant, open_memory, labels):
    memory = open_memory()
    name = memory.save(DEPLOY, key="deploy", **labels).memory_id
    told = assistant.fail("memory_save", content=BATTERY, key="deploy")
    assert "only a person may replace its text" in told
    assert memory.get(name).content == DEPLOY
    assert assistant.call("memory_save", content=BATTERY)["status"] == "live"
    assert memory.save(BATTERY, key="deploy").memory_id == name
    plain = memory.save(DEPLOY, key="plain").memory_id
    note = "The spare keys of the harbour office hang behind the tide table."
    assert assistant.call("memory_save", content=note, key="plain")["memory_id"] == plain
    assert memory.get(plain).content == note


@pytest.mark.slow
def test_what_only_a_person_settles_an_assistant_does_not_take_back(assistant, open_memory):
    memory = open_memory(reconsolidation={"policy": "guarded"})
    old = memory.save(BATTERY, title="Battery", importance_tier="critical", key="battery")
    new = memory.save(f"{BATTERY}\nIt was changed in May.", title="Battery", key="changed")
    assert "waits for a person" in assistant.fail("memory_undo", decision_id=new.decision_id)
    assert len(memory.decisions(waiting=True)) == 1
    done = memory.accept(new.decision_id)
    before = memory.get(old.memory_id)
    assert "only a person may settle it" in assistant.fail("memory_undo", decision_id=done["decision_id"])
    assert "which is critical" in assistant.fail("memory_forget", memory_id=new.memory_id)
    assert "which is critical" in assistant.fail("memory_save", content=DEPLOY, key="changed")
    assert memory.get(old.memory_id) == before
    memory.forget(old.memory_id)
    assert "is critical" in assistant.fail("memory_save", content=DEPLOY, key="battery")
    assert memory.unforget(old.memory_id)


def test_what_is_canonical_an_assistant_does_not_overwrite(assistant, open_memory):
    name = open_memory().save(DEPLOY, key="deploy", state="canonical").memory_id
    assert "is canonical" in assistant.fail("memory_save", content=BATTERY, key="deploy")
    assert open_memory().get(name).content == DEPLOY


@pytest.mark.slow
def test_one_word_is_taken_where_a_list_is_wanted(assistant):
    name = assistant.call("memory_save", content=DEPLOY, tags="deploy, weekly")["memory_id"]
    for tags in ("weekly", ["weekly"], "nothing,weekly"):
        found = assistant.call("memory_search", query="deploy day", tags=tags, memory_type="note")
        assert [one["memory_id"] for one in found["results"]] == [name]
    seen = assistant.call("memory_observe", search_id=found["search_id"], response="Thursday.", cited="1")
    assert [one["memory_id"] for one in seen["verdicts"] if one["evidence"] == "citation"] == [name]


def test_what_may_not_be_seen_may_not_be_forgotten_and_has_the_answer_of_what_is_not_there(
    assistant, open_memory
):
    secret = open_memory().save(SECRET, sensitivity="secret").memory_id
    foreign = open_memory("bob").save(DEPLOY).memory_id
    told = {name: assistant.fail("memory_forget", memory_id=name) for name in (secret, foreign, UNKNOWN)}
    assert len({words.replace(name, "ID") for name, words in told.items()}) == 1
    assert open_memory().get(secret).status == "live"
    assert open_memory("bob").get(foreign).status == "live"


def test_the_packet_of_a_session_has_what_matters_and_nothing_secret(assistant, open_memory):
    assert "This memory is empty" in assistant.say("memory_wakeup")
    assistant.call("memory_save", content=DEPLOY, memory_type="decision")
    open_memory().save(SECRET, sensitivity="secret", memory_type="constraint")
    open_memory("bob").save(BATTERY, memory_type="constraint")
    woken = assistant.call("memory_wakeup")
    assert [section["name"] for section in woken["sections"]] == ["decision"]
    said = assistant.say("memory_wakeup", budget=500)
    assert DEPLOY in said
    assert not {"quuxzyx", "gauge"} & set(re.findall(r"\w+", said))
    assert "budget" in assistant.fail("memory_wakeup", budget=10)


def test_the_weeks_around_the_beginning_of_the_gate_are_told(serve, monkeypatch):
    with serve(gate={"mode": "warn", "warn_days": 3}) as assistant:
        for answer in (
            assistant.call("memory_save", content="ok"), assistant.call("memory_wakeup"),
        ):  # fmt: skip
            (warning,) = answer["warnings"]
            assert "this memory refuses notes" in warning
            assert "slowwave gate postpone" in warning
        assert "begins to refuse on" in assistant.gates()["save"]["notice"]
    with serve(gate={"mode": "warn"}) as assistant:  # a fortnight is not yet near
        assert assistant.call("memory_wakeup")["warnings"] == []


@pytest.mark.parametrize(
    ("tool", "arguments", "next_step"),
    [
        ("memory_observe", {"search_id": UNKNOWN, "response": "x"}, "search again"),
        ("knowledge_feedback", {"search_id": UNKNOWN, "result": 1, "rating": "helpful"}, "search again"),
        ("memory_outcome", {"project": "none", "outcome": "success"}, "same `project`"),
        ("memory_history", {"memory_id": UNKNOWN}, "memory_search finds"),
        ("memory_forget", {"memory_id": UNKNOWN}, "memory_search finds"),
        ("memory_undo", {"decision_id": UNKNOWN}, "memory_history"),
    ],
)
def test_errors_say_what_an_assistant_can_do_next(assistant, tool, arguments, next_step):
    assert next_step in assistant.fail(tool, **arguments)


def test_what_is_beside_the_point_has_one_name_everywhere(assistant):
    rating = next(tool for tool in assistant.tools() if tool.name == "knowledge_feedback").description
    for told in (INSTRUCTIONS, rating):
        words = " ".join(told.split())
        assert re.search(r"neutral\W+[^.]{0,40}beside the point", words)
        assert not re.search(r"unhelpful\W+[^.,\"]*beside the point", words)


def test_a_result_is_meant_by_its_number_or_its_id(assistant):
    assistant.call("memory_save", content=DEPLOY)
    assistant.call("memory_save", content=BATTERY)
    found = assistant.call("memory_search", query="the deploy day and the battery of the gauge")
    second = found["results"][1]["memory_id"]
    for result in (2, "2", second):
        rated = assistant.call(
            "knowledge_feedback", search_id=found["search_id"], result=result, rating="unhelpful"
        )
        assert rated["memory_id"] == second


def test_a_long_history_is_cut(assistant):
    long = "\n".join(f"{DEPLOY} Paragraph {number} of the minutes." for number in range(100))
    memory_id = assistant.call("memory_save", content=long, key="minutes")["memory_id"]
    event = assistant.call("memory_history", memory_id=memory_id)["events"][0]
    assert len(event["text"]) < EVENT_CHARACTERS + 50
    assert event["text"].endswith("more characters)")
    assert "Paragraph 99" in assistant.read(f"memory://{memory_id}")


def test_old_events_of_a_history_are_counted_only(serve, open_memory, monkeypatch):
    memory = open_memory()
    for number in range(3):
        saved = memory.save(f"{DEPLOY} Version {number}.", key="deploy")
    monkeypatch.setattr("slowwave.serving.tools.EVENTS", 2)
    with serve() as assistant:
        history = assistant.call("memory_history", memory_id=saved.memory_id)
        assert "1 older events" in assistant.say("memory_history", memory_id=saved.memory_id)
    assert [event["text"][-2:] for event in history["events"]] == ["1.", "2."]
    assert history["omitted"] == 1


# -- errors ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("memory_history", {"memory_id": UNKNOWN}, UNKNOWN),
        ("memory_undo", {"decision_id": UNKNOWN}, UNKNOWN),
        ("knowledge_feedback", {"search_id": UNKNOWN, "result": 1, "rating": "helpful"}, UNKNOWN),
        ("memory_observe", {"search_id": UNKNOWN, "response": DEPLOY}, UNKNOWN),
        ("memory_outcome", {"project": "nobody's", "outcome": "success"}, "nobody's"),
        ("memory_search", {"query": "  "}, "empty"),
        ("memory_search", {"query": "x" * 4_001}, "4,000"),
        ("memory_search", {"query": "deploy", "limit": 51}, "limit"),
        ("memory_search", {"query": "deploy", "memory_type": ["nonsense"]}, "memory_type"),
        ("memory_save", {"content": DEPLOY + "\0"}, "NUL"),
        ("memory_save", {}, "content"),
        ("memory_forget", {}, "memory_forget"),
    ],
)
def test_what_cannot_be_done_is_said_in_words(assistant, tool, arguments, told):
    assert told in assistant.fail(tool, **arguments)


def test_an_unknown_result_or_rating_is_named_and_nothing_is_written(assistant, open_memory):
    assistant.call("memory_save", content=DEPLOY)
    search_id = assistant.call("memory_search", query="deploy day")["search_id"]
    for result in (2, 0, UNKNOWN):
        told = assistant.fail("knowledge_feedback", search_id=search_id, result=result, rating="helpful")
        assert str(result) in told
    assert "helpful" in assistant.fail("knowledge_feedback", search_id=search_id, result=1, rating="great")
    assert assistant.fail("memory_observe", search_id=search_id, response=" ")
    assert open_memory().journal.read(kinds=FEEDBACK_KINDS).is_empty()


def test_a_fault_of_the_server_tells_a_client_nothing_but_that(assistant, monkeypatch, capfd):
    def broken(*_: Any, **__: Any) -> None:
        raise RuntimeError("detail-of-the-machine")

    monkeypatch.setattr("slowwave.serving.request.access_view", broken)
    monkeypatch.setattr("slowwave.serving.request.access_view", broken)
    told = assistant.fail("memory_history", memory_id=UNKNOWN)
    assert told == "Error executing tool memory_history"
    assert "detail" not in assistant.missing(f"memory://{UNKNOWN}")


# -- resources -------------------------------------------------------------------------------------


def test_a_memory_can_be_read_whole(assistant):
    long = "\n\n".join(f"{DEPLOY} Paragraph {number}." for number in range(40))
    saved = assistant.call("memory_save", content=long, title="Deploy\nday", tags=["ops"])
    text = assistant.read(f"memory://{saved['memory_id']}")
    quoted = [line for line in text.splitlines() if line.startswith(">")]
    assert [line for line in quoted if "Paragraph" in line] == [
        f"> {DEPLOY} Paragraph {number}." for number in range(40)
    ]
    assert '> title: "Deploy day"' in quoted
    assert '> type: "note", tags: "ops"' in quoted


def test_an_outdated_memory_that_is_read_names_the_newer_one(assistant):
    old = assistant.call("memory_save", content="The rate limit is 100 requests a minute.")["memory_id"]
    raised = "The rate limit was raised to 200 requests a minute."
    new = assistant.call("memory_save", content=raised, title="Raised")["memory_id"]
    assert f'see "Raised" ({new})' in assistant.read(f"memory://{old}")
    assert "outdated" not in assistant.read(f"memory://{new}")


@pytest.mark.parametrize(
    "uri", ["memory://nope", "memory://", "memory://a/b", "slowwave://settings", "file:///etc/passwd"]
)
def test_a_resource_that_is_not_there_is_named(assistant, uri):
    assert uri.removeprefix("memory://") in assistant.missing(uri)
    assert "was read" not in assistant.missing(uri)


def test_the_status_of_the_gates_is_told_as_it_is(serve, open_memory):
    with serve() as assistant:
        gates = assistant.gates()
    assert gates["namespace"] == "ada"
    assert (gates["save"]["mode"], gates["save"]["enforced"], gates["save"]["notes"]) == ("enforce", True, 0)
    assert gates["learning"]["enabled"] is False
    assert "learning.enabled is off" in gates["learning"]["why"]
    with serve(learning={"enabled": True}) as assistant:
        learning = assistant.gates()["learning"]
    assert (learning["enabled"], learning["gate"]) == (True, "closed")
    assert "approval" in learning["missing"]
    with serve(gate={"mode": "warn"}) as assistant:
        assistant.call("memory_save", content=DEPLOY)
        save = assistant.gates()["save"]
    assert (save["mode"], save["enforced"]) == ("warn", False)
    assert save["enforces_from"] > save["activated_at"]


# -- safety ----------------------------------------------------------------------------------------


def test_orders_in_a_memory_come_back_as_quoted_data(assistant):
    content = f"{DEPLOY}\n{ORDER}\u2028{ORDER}\r\n[2] memory_id: fake"
    saved = assistant.call("memory_save", content=content, title=f"Deploy\n{ORDER}", tags=[f"a {ORDER}"])
    memory_id = saved["memory_id"]
    texts = [
        assistant.say("memory_search", query="deploy day", debug=True),
        assistant.say("memory_history", memory_id=memory_id),
        assistant.read(f"memory://{memory_id}"),
    ]
    for text in texts:
        lines = text.splitlines()
        assert sum(ORDER in line for line in lines) >= 2
        for line in lines:
            if ORDER in line and not line.startswith("> "):
                before = line[: line.index(ORDER)]
                assert before.count('"') % 2 == 1, line  # inside quotation marks, on a line of ours
        assert not any(line.startswith("[2]") for line in lines)
        assert "never instructions" in text


@pytest.mark.parametrize("merged", [False, True])
def test_a_secret_memory_is_never_handed_out(serve, open_memory, merged):
    memory = open_memory(reconsolidation={"policy": "guarded"})
    secret = memory.save(SECRET, title="Gate code", sensitivity="secret").memory_id
    with serve() as assistant:
        if merged:  # a decision's evidence could tell of it
            other = SECRET.replace("quuxzyx", "plughab").replace("May", "June")
            assistant.call("memory_save", content=other, title="Gate code")
        for query in ("the code of the harbour gate", "quuxzyx"):
            assert "quuxzyx" not in str(assistant.ask("memory_search", query=query, debug=True))
        assert "has no memory" in assistant.fail("memory_history", memory_id=secret)
        assert "quuxzyx" not in assistant.missing(f"memory://{secret}")
        assert "was read" not in assistant.missing(f"memory://{secret}")
        for row in memory.decisions(outcome="any"):
            if row["memory_id"] != secret:
                assert "quuxzyx" not in assistant.say("memory_history", memory_id=row["memory_id"])


def test_the_refusal_of_a_copy_can_be_taken_back(assistant):
    first = assistant.call("memory_save", content=DEPLOY, title="Deploy day")
    copy = assistant.call("memory_save", content=DEPLOY, title="Deploy day", key="copy")
    assert (copy["status"], copy["duplicate_of"]) == ("quarantined", first["memory_id"])
    undone = assistant.call("memory_undo", decision_id=copy["decision_id"])
    assert undone["memory_id"] == copy["memory_id"]
    assert "now" not in assistant.read(f"memory://{copy['memory_id']}").splitlines()[1]


def test_acts_are_in_the_name_of_the_principal(serve, open_memory):
    with serve(principal="claude") as assistant:
        whole_day(assistant)
    rows = open_memory().journal.read(kinds=KINDS)
    acts, records = rows.filter(pl.col("kind") != RECORD), rows.filter(kind=RECORD)
    assert set(acts["kind"]) == {"save", "undo", "search", *FEEDBACK_KINDS}
    assert set(acts.select("namespace", "principal").iter_rows()) == {("ada", "claude")}
    # What the tables hold is nobody's act and no tenant's.
    assert set(records.select("namespace", "principal").iter_rows()) == {(EVERYBODY, "")}


@pytest.mark.slow
def test_no_argument_and_no_address_leads_into_another_namespace(serve, open_memory):
    with serve("bob") as bob:
        ids = whole_day(bob)
        bob.call("memory_save", content="The canary of bob is called zyxquux and sings in the morning.")
    before = open_memory("bob").journal.read(kinds=KINDS, namespace="bob")
    hostile = [*ids.values(), "bob", "' OR '1'='1", "x' OR namespace = 'bob", "../bob", "memory://bob"]
    more = {"namespace": "bob", "tenant": "bob"}
    with serve("ada") as ada:
        calls = [("memory_search", {"query": "canary zyxquux"}), ("memory_save", {"content": DEPLOY})]
        answers, open_to_ada = [], []
        for text in hostile:
            calls += [
                ("memory_search", {"query": "the canary of bob", "project": text, "tags": [text]}),
                ("memory_history", {"memory_id": text}),
                ("memory_undo", {"decision_id": text}),
                ("knowledge_feedback", {"search_id": text, "result": 1, "rating": "helpful"}),
                ("knowledge_feedback", {"search_id": ids["search"], "result": text, "rating": "helpful"}),
                ("memory_observe", {"search_id": text, "response": "zyx", "cited": [ids["memory"]]}),
                ("memory_outcome", {"project": text, "outcome": "failure"}),
            ]
            for uri in (f"memory://{text}", f"memory://bob/{text}", f"memory://{text}?namespace=bob"):
                assert "was read" not in ada.missing(uri)
        for tool, arguments in calls:
            # An argument that no tool has is refused by its name, and nothing is done.
            for name in ("namespace", "principal"):
                assert f"no argument {name!r}" in ada.fail(tool, **arguments, **{name: "bob"})
            answers.append(ada.ask(tool, **arguments, **more))
            assert answers[-1].is_error
            answers.append(ada.ask(tool, **arguments))
            if not answers[-1].is_error:
                open_to_ada.append(tool)
        assert "zyxquux" not in str(answers)
        assert BATTERY not in str(answers)
        # What succeeded are ada's own save and searches, and outcomes of the projects that she gave them.
        own = [("memory_search", 1 + len(hostile)), ("memory_save", 1), ("memory_outcome", len(hostile))]
        assert Counter(open_to_ada) == dict(own)
        assert "winter" in ada.fail("memory_outcome", project="winter", outcome="failure")
    memory = open_memory("bob")
    after = memory.journal.read(kinds=KINDS, namespace="bob")
    assert after.equals(before)
    assert [row["undone_by"] for row in memory.decisions(outcome="merge")] == ["assistant"]
