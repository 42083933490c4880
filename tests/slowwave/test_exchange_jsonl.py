"""JSON lines of our own become entries of the journal, or say what is wrong with them."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from exchange_helpers import log, memory_of, of_kind, query, take_jsonl, take_ubi, written

from slowwave.common import ids
from slowwave.evaluation.exchange import forms
from slowwave.evaluation.exchange.forms import read_act
from slowwave.evaluation.exchange.ubi import ACTIONS
from slowwave.evaluation.exchange.values import ExchangeError, Malformed
from slowwave.journal import Journal
from slowwave.memory import Memory

AT = "2026-03-01T12:00:00Z"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "import-and-export-feedback.md"
OWN = "0123456789abcdef" * 2


def search(search_id: str = "s1", **fields: Any) -> dict[str, Any]:
    shown = [{"source": "a.md", "chunk": 1, "score": 0.5}, {"source": "b.md"}]
    line = {"type": "search", "search_id": search_id, "at": AT, "principal": "ann", "query": "gauge"}
    return {**line, "shown": shown, **fields}


def feedback(search_id: str = "s1", source: str = "a.md", **fields: Any) -> dict[str, Any]:
    line = {"type": "feedback", "search_id": search_id, "at": AT, "principal": "bob", "source": source}
    return {**line, "rating": "helpful", **fields}


def observation(search_id: str = "s1", **fields: Any) -> dict[str, Any]:
    verdicts = [{"source": "a.md", "verdict": "used", "evidence": "words", "keywords": 4, "ratio": 0.5}]
    line = {"type": "observation", "search_id": search_id, "at": AT, "principal": "bob"}
    return {**line, "verdicts": verdicts, **fields}


def outcome(**fields: Any) -> dict[str, Any]:
    line = {"type": "outcome", "at": AT, "principal": "ann", "project": "noust", "outcome": "success"}
    return {**line, **fields}


def test_each_type_of_line_becomes_an_entry(journal: Journal, tmp_path: Path) -> None:
    file = log(
        tmp_path,
        outcome(),
        feedback("s1", "b.md", chunk=3),
        observation("s1", response="r1"),
        search("s1", project="noust"),
    )
    report = take_jsonl(journal, file)
    by_kind = {row["kind"]: row for row in written(journal)}
    asked, rated, observed, ended = (
        by_kind[kind] for kind in ("search", "feedback", "observation", "outcome")
    )
    a, b = memory_of("a.md"), memory_of("b.md")
    assert asked["payload"] == {
        "query": "gauge",
        "limit": 2,
        "shown": [
            {"memory_id": a, "best": f"{a}:00001", "rank": 1, "score": 0.5},
            {"memory_id": b, "best": None, "rank": 2},
        ],
        "client": {"search_id": "s1"},
        "imported_from": "jsonl",
    }
    assert (asked["origin"], asked["principal"]) == ("noust", "ann")
    assert asked["occurred_at"] == datetime(2026, 3, 1, 12, tzinfo=UTC)
    assert asked["event_id"] == asked["subject"] == rated["subject"] == observed["subject"]
    assert rated["payload"] == {
        "memory_id": b,
        "chunk_id": f"{b}:00003",
        "rating": "helpful",
        "imported_from": "jsonl",
    }
    assert observed["payload"] == {
        "response": "r1",
        "verdicts": [
            {
                "memory_id": a,
                "chunk_id": f"{a}:00001",  # the one that was shown
                "verdict": "used",
                "evidence": "words",
                "keywords": 4,
                "ratio": 0.5,
                "ratio_beyond_query": None,
                "similarity": None,
            }
        ],
        "imported_from": "jsonl",
    }
    assert (ended["subject"], ended["payload"]) == ("noust", {"outcome": "success", "imported_from": "jsonl"})
    assert report.verdicts == {"success": 1, "helpful": 1, "used": 1}
    assert (report.searches, report.shown, report.new, report.not_shown) == (1, 2, 4, 0)


def test_importing_again_adds_nothing_however_the_lines_are_written(journal: Journal, tmp_path: Path) -> None:
    acts = [search(), feedback(), feedback(rating="neutral", event_id="mine"), observation(), feedback()]
    first = take_jsonl(journal, log(tmp_path, *acts))
    turned = [dict(reversed(one.items())) for one in acts]
    again = take_jsonl(journal, log(tmp_path, *turned))
    assert (first.new, first.repeated) == (4, 1)
    assert (again.new, again.already, again.repeated) == (0, 4, 1)


def test_an_id_of_ours_stays_and_any_other_belongs_to_the_namespace(journal: Journal, tmp_path: Path) -> None:
    file = log(tmp_path, search(OWN), search("1"), feedback("1", event_id=OWN[::-1]))
    take_jsonl(journal, file)
    report = take_jsonl(journal, log(tmp_path, search("1"), feedback("1")), namespace="bob")
    assert report.new == 2
    assert journal.get(OWN).namespace == "ada"
    assert journal.get(OWN[::-1]).kind == "feedback"
    assert "client" not in journal.get(OWN).payload


def test_feedback_on_a_search_that_the_memory_made(memory: Memory, tmp_path: Path) -> None:
    memory.save("The northern gauge lost its battery in the storm of January.", key="gauge")
    response = memory.search("gauge battery")
    [result] = response.results
    line = feedback(response.search_id)
    del line["source"]
    file = log(tmp_path, {**line, "memory_id": result.memory_id})
    report = take_jsonl(memory.journal, file, is_memory=lambda _: {result.memory_id})
    assert (report.new, report.malformed, report.not_shown, report.unknown) == (1, 0, 0, 0)
    [payload] = of_kind(memory.journal, "feedback")
    assert payload["memory_id"] == result.memory_id


def test_feedback_on_a_search_of_a_ubi_log(journal: Journal, tmp_path: Path) -> None:
    take_ubi(journal, log(tmp_path, query("q1", hits=["a.md"])))
    report = take_jsonl(journal, log(tmp_path, feedback("q1"), feedback("q1", "z.md", rating="neutral")))
    assert (report.new, report.malformed, report.not_shown) == (2, 0, 1)


def test_what_is_about_nothing_known_is_refused(journal: Journal, tmp_path: Path) -> None:
    file = log(
        tmp_path, feedback("s9"), observation("s9"), outcome(), search("s1"), outcome(project="orkney")
    )
    report = take_jsonl(journal, file)
    assert sorted(str(one).removeprefix(f"{file}, ") for one in report.problems) == [
        "line 1: no search has the id 's9'",
        "line 2: no search has the id 's9'",
        "line 3: no search was made for the project 'noust'",
        "line 5: no search was made for the project 'orkney'",
    ]
    assert (report.new, report.malformed) == (1, 4)
    report = take_jsonl(journal, log(tmp_path, search("s2", project="orkney")))
    report = take_jsonl(journal, log(tmp_path, outcome(project="orkney")))
    assert (report.new, report.malformed) == (1, 0)


def test_one_id_for_two_acts_is_refused(journal: Journal, tmp_path: Path) -> None:
    file = log(
        tmp_path,
        search("s1"),
        search("s1", query="something else"),
        feedback(event_id="e1"),
        feedback(event_id="e1", rating="unhelpful"),
    )
    report = take_jsonl(journal, file)
    assert (report.new, report.repeated, report.malformed) == (2, 0, 2)
    assert report.problems[0].reason == f"line 1 of {file} is the same event with other content, which stays"
    assert (report.problems[1].line, of_kind(journal, "feedback")[0]["rating"]) == (4, "helpful")
    report = take_jsonl(journal, log(tmp_path, feedback(event_id="e1", rating="unhelpful")))
    assert "other content, as feedback (helpful), which stays" in report.problems[0].reason


def test_an_act_of_another_kind_is_no_search(journal: Journal, tmp_path: Path) -> None:
    take_jsonl(journal, log(tmp_path, search("s1"), feedback("s1", event_id=OWN)))
    report = take_jsonl(journal, log(tmp_path, feedback(OWN)))
    assert report.problems[0].reason == f"the id {OWN} is not of a search, but of a feedback"


def test_a_project_that_the_journal_cannot_keep(journal: Journal, tmp_path: Path) -> None:
    report = take_jsonl(journal, log(tmp_path, search(project="ж" * 600), search("s2")))
    assert (report.new, report.malformed) == (1, 1)
    assert "of 1200 bytes; shorten it to 1024 bytes" in report.problems[0].reason


def test_a_ubi_log_is_no_jsonl_log(journal: Journal, tmp_path: Path) -> None:
    file = log(tmp_path, query())
    expected = (
        r"is no JSONL log; nothing was written. Expected: one event per line.*But line 1 of .*: type is none"
    )
    with pytest.raises(ExchangeError, match=expected):
        take_jsonl(journal, file)


def _without(line: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in line.items() if key != name}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ('{"type": "search"', "not JSON (EOF while parsing"),
        ("[]", "Input should be an object"),
        ({"type": "clik"}, "type is none of search, feedback, observation, outcome"),
        (feedback(rating="good"), "rating: Input should be 'helpful', 'neutral' or 'unhelpful', not 'good'"),
        (_without(feedback(), "rating"), "rating: missing"),
        (_without(feedback(), "source"), "give either source or memory_id"),
        (feedback(memory_id=memory_of("a")), "give either source or memory_id"),
        (
            _without(feedback(memory_id="a.md"), "source"),
            "memory_id: is not the id of a memory; a path or a key",
        ),
        (feedback(raiting="x"), "raiting: no such field"),
        (feedback(chunk=-1), "chunk: Input should be greater than or equal to 0, not -1"),
        (feedback(chunk="1"), "chunk: Input should be a valid integer, not '1'"),
        (search(at="2026-03-01T12:00:00"), "at: Input should have timezone info, not '2026-03-01T12:00:00'"),
        (search(at=1772366400), "at: Input should be a valid datetime, not 1772366400"),
        (
            search(shown=[{"source": "a", "rank": 0}]),
            "shown.0.rank: Input should be greater than or equal to 1",
        ),
        (search(shown=[{"source": "a"}, {"score": 1}]), "shown.1: give either source or memory_id"),
        (search(""), "search_id: String should have at least 1 character, not ''"),
        (search(query="x" * 200, project=5), "project: Input should be a valid string, not 5"),
        (observation(verdicts=[{"source": "a", "verdict": "used"}]), "verdicts.0.evidence: missing"),
        (outcome(outcome="done"), "outcome: Input should be 'success' or 'failure', not 'done'"),
        (outcome(project=""), "project: String should have at least 1 character"),
        (feedback(source="x" * 100 + "\ud800"), "not JSON ("),
    ],
)
def test_a_bad_line_names_its_field_and_value(line: Any, reason: str) -> None:
    text = line.encode() if isinstance(line, str) else json.dumps(line).encode()
    with pytest.raises(Malformed) as raised:
        read_act(text)
    assert str(raised.value).startswith(reason)


def test_a_score_is_a_number() -> None:
    for score in ("NaN", "Infinity", "true", '"1"'):
        line = json.dumps(search(shown=[{"source": "a", "score": "SCORE"}])).replace('"SCORE"', score)
        with pytest.raises(Malformed, match=r"shown\.0\.score"):
            read_act(line.encode())


def test_a_value_shown_in_a_reason_is_short() -> None:
    with pytest.raises(Malformed) as raised:
        read_act(b'{"type":"outcome","at":"' + b"x" * 5_000 + b'","project":"p","outcome":"success"}')
    assert len(str(raised.value)) < 200


def test_memories_that_are_not_there_are_counted(journal: Journal, tmp_path: Path) -> None:
    there = {memory_of("b.md")}
    file = log(tmp_path, search(), feedback())
    report = take_jsonl(journal, file, is_memory=lambda memories: there & {*memories})
    assert (report.objects, report.unknown) == (2, 1)
    assert ids.memory_of(of_kind(journal, "feedback")[0]["chunk_id"]) == memory_of("a.md")


def test_the_documentation_of_the_forms_is_true(journal: Journal, tmp_path: Path) -> None:
    page = PAGE.read_text()
    [block] = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    report = take_jsonl(journal, log(tmp_path, *block.splitlines()))
    assert (report.new, report.malformed, report.not_shown) == (4, 0, 0)
    lines = (forms.SearchLine, forms.FeedbackLine, forms.ObservationLine, forms.OutcomeLine)
    names = {
        name for form in (*lines, forms.ShownResultLine, forms.ResultVerdict) for name in form.model_fields
    }
    shown_by_example = {"type", "query", "shown", "verdicts"}
    assert {name for name in names - shown_by_example if f"`{name}`" not in page} == set()
    assert {action for action in ACTIONS if f"`{action}`" not in page} == set()
