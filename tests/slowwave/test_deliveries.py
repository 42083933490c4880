"""Results are given once per session unless it asks again."""

from __future__ import annotations

import os

import polars as pl
import pytest

from slowwave.errors import SlowwaveError
from slowwave.home.visibility import closed_queries
from slowwave.journal.projections import drain_searches
from slowwave.search import deliveries
from slowwave.search.log import replay
from slowwave.serving.caller import Caller
from slowwave.serving.request import MemoryRequest
from slowwave.serving.tools import TOOLS
from slowwave.views import mcp_text
from slowwave.views.answers import Found

FERRY = "The ferry to the island leaves at seven in the morning and comes back before the dark."
BOAT = "The ferry to the mainland leaves at nine in the evening and carries no cars at all."
QUESTION, OTHER = "when does the ferry leave?", "which ferry goes to the island?"


@pytest.fixture
def pier(memory):
    memory.save(FERRY, key="ferry", title="Island ferry")
    memory.save(BOAT, key="boat", title="Mainland ferry")
    return memory


def sources(response) -> set[str]:
    return {result.source for result in response}


def test_a_second_question_of_a_session_leaves_out_what_the_first_was_given(pier):
    first = pier.search(QUESTION, session="a", limit=1)
    (given,) = first
    second = pier.search(OTHER, session="a")
    assert sources(second) == {"ferry", "boat"} - {given.source}
    assert [result.rank for result in second] == [1]
    (left,) = second.left_out
    assert (left.memory_id, left.title) == (given.memory_id, given.title)
    # Another session, another user and nobody's session get everything.
    assert sources(pier.search(OTHER, session="b")) == {"ferry", "boat"}
    assert sources(pier.search(OTHER)) == {"ferry", "boat"}
    assert pier.search(OTHER).left_out == ()


def test_the_next_best_results_take_the_place_of_those_that_are_left_out(pier):
    pier.save(
        "The ferry to the sandbank sails at noon on summer days only.", key="bank", title="Sandbank ferry"
    )
    asked = "when does the ferry sail?"
    (first,) = pier.search(asked, session="a", limit=1)
    (second,) = pier.search(OTHER, session="a", limit=1)
    third = pier.search(QUESTION, session="a", limit=1)
    assert {first.source, second.source} | sources(third) == {"ferry", "boat", "bank"}
    assert len(third.left_out) <= 2
    payload = pier.journal.get(third.search_id).payload
    assert [result.memory_id for result in replay(payload).results] == [one.memory_id for one in third]
    # What would not have been returned anyway is not called left out.
    assert pier.search("where does the ferry go?", session="a", limit=0).left_out == ()


def test_an_id_with_a_line_break_at_its_end_is_the_same_session(pier):
    pier.search(QUESTION, session="a")
    assert sources(pier.search(OTHER, session="a\n")) == set()
    assert pier.wakeup(session=" a").text
    assert sources(pier.search(OTHER, session="\n")) == {"ferry", "boat"}  # blank: no session


def test_who_asks_for_it_or_asks_the_same_again_gets_everything(pier):
    pier.search(QUESTION, session="a")
    assert sources(pier.search(OTHER, session="a", repeat=True)) == {"ferry", "boat"}
    assert sources(pier.search(f" {QUESTION.upper()}", session="a")) == {"ferry", "boat"}
    assert sources(pier.search("ferry", session="a", explain=True)) == {"ferry", "boat"}


def test_nothing_new_is_no_abstention_and_says_so(pier):
    pier.search(QUESTION, session="a")
    nothing = pier.search(OTHER, session="a")
    assert not nothing.results
    assert not nothing.abstained
    assert nothing.nothing.kind == "given"
    step = mcp_text.next_step(nothing.search_id, nothing.nothing)
    text = mcp_text.found(Found.of(nothing, step, account=False))
    assert "2 results already given in this session are left out; to get them: repeat=true." in text
    for left in nothing.left_out:
        assert f'> {left.memory_id} "{left.title}"' in text


def test_a_changed_text_is_given_again(pier):
    pier.search(QUESTION, session="a")
    pier.save(FERRY.replace("seven", "eight"), key="ferry", title="Island ferry")
    assert sources(pier.search(OTHER, session="a")) == {"ferry"}


def test_the_packet_counts_and_begins_the_session_anew(pier):
    packet = pier.wakeup(session="a")
    assert "seven in the morning" in packet.text
    assert {left.title for left in pier.search(QUESTION, session="a").left_out} == {
        "Island ferry", "Mainland ferry"
    }  # fmt: skip
    pier.search(OTHER, session="a", repeat=True)
    pier.wakeup(session="a", budget=50)  # too small for a whole item
    assert sources(pier.search("ferry", session="a")) == {"ferry", "boat"}


def test_what_was_left_out_is_no_impression_and_is_replayed(pier):
    pier.search(QUESTION, session="a", limit=1)
    second = pier.search(OTHER, session="a")
    payload = pier.journal.get(second.search_id).payload
    assert [row["memory_id"] for row in payload["shown"]] == [result.memory_id for result in second]
    assert payload["left_out"] == [left.memory_id for left in second.left_out]
    assert [result.memory_id for result in replay(payload).results] == [one.memory_id for one in second]
    assert {result.memory_id for result in replay(payload, pier.policy).results} == {
        *payload["left_out"], second[0].memory_id
    }  # fmt: skip


def test_a_question_that_left_out_a_secret_is_as_closed_as_one_that_returned_it(pier):
    pier.search(QUESTION, session="a", limit=1)
    second = pier.search(OTHER, session="a")
    day = pier.journal.get(second.search_id).occurred_at.date().isoformat()
    rows = drain_searches(pier.journal, [day]).rows
    pier.store.upsert("searches", rows)
    assert closed_queries(pier.store, "ada") == set()
    row = pier.store.read("memories", f"memory_id = '{second.left_out[0].memory_id}'")
    pier.store.upsert("memories", row.with_columns(sensitivity=pl.lit("secret")))
    assert len(closed_queries(pier.store, "ada")) == 2


def test_other_processes_know_it_from_the_home_and_read_no_memory_there(pier, monkeypatch):
    pier.search(QUESTION, session="a")
    (file,) = (pier.settings.home / deliveries.FOLDER).iterdir()
    assert pier.home.part("sessions", deliveries.OpenSessions)._open.popitem()
    assert not pier.search(OTHER, session="a").results
    text = file.read_text()
    assert all(len(line) == 16 and line.isalnum() for line in text.split())
    assert "ferry" not in text
    # A reader leaves no file, and files of last week go.
    pier.search(QUESTION, session="reader", log=False)
    assert not pier.search(OTHER, session="reader", log=False).results
    os.utime(file, (0, 0))
    pier.search(QUESTION, session="new")
    assert file not in set((pier.settings.home / deliveries.FOLDER).iterdir())


def test_an_id_has_a_limit(pier):
    with pytest.raises(SlowwaveError, match="200 characters"):
        pier.search(QUESTION, session="x" * 201)


@pytest.mark.parametrize("rights", ["assistant", "reader"])
def test_a_tool_uses_the_session_of_its_client(pier, rights):
    caller = Caller(pier.namespace, pier.principal, rights)
    request = MemoryRequest(caller, pier, "process 1")

    def results(**arguments) -> list:
        return TOOLS["memory_search"].run(lambda: request, arguments).data.results

    assert len(results(query=QUESTION)) == 2
    assert results(query=OTHER) == []
    assert len(results(query="ferry", repeat=True)) == 2
    TOOLS["memory_wakeup"].run(lambda: request, {"budget": 50})
    assert (pier.settings.home / deliveries.FOLDER).exists() == (rights == "assistant")


def test_an_erasure_takes_the_sessions_and_the_questions_that_left_it_out(pier):
    pier.search(QUESTION, session="a", limit=1)
    second = pier.search(OTHER, session="a")
    pier.erase(second.left_out[0].memory_id)
    assert not (pier.settings.home / deliveries.FOLDER).exists()
    payload = pier.journal.get(second.search_id).payload
    assert not payload.get("left_out")
    assert not payload.get("query")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "The dose of the ferry's dog is 3.5 mg each morning.",
            "The dose of the ferry's dog is 35 mg each morning.",
        ),
        ("It is -5 degrees on the ferry in winter.", "It is 5 degrees on the ferry in winter."),
        ("# The ferry costs 5000\n\nIt sails at dawn.", "# The ferry costs 7000\n\nIt sails at dawn."),
    ],
)
def test_a_text_that_differs_in_a_sign_or_a_heading_is_given_again(memory, before, after):
    memory.save(before, key="d")
    assert sources(memory.search("ferry", session="a")) == {"d"}
    memory.save(after, key="d")
    assert sources(memory.search("what of the ferry", session="a")) == {"d"}
