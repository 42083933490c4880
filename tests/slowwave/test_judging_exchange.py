"""Judgments from elsewhere and back."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from slowwave.evaluation.exchange.judgments import (
    JudgmentOptions,
    JudgmentsReport,
    export_judgments,
    export_qrels,
    import_judgments,
    read_queries,
)
from slowwave.evaluation.exchange.values import ExchangeError
from slowwave.evaluation.judging.entries import drain_judgments
from slowwave.memory import Memory

NOW = datetime(2026, 3, 10, 12, tzinfo=UTC)
QUERY = "How long does the battery last?"
BATTERY = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."
ROTA = "Ishbel is on call in odd weeks, Ruaridh in even ones; both phones ring at night."


@pytest.fixture
def battery(memory: Memory) -> str:
    return memory.save(BATTERY, title="Battery", key="notes/battery").memory_id


@pytest.fixture
def rota(memory: Memory) -> str:
    return memory.save(ROTA, title="Rota", key="notes/rota").memory_id


@pytest.fixture
def take(tmp_path: Path) -> Callable[..., JudgmentsReport]:
    """Imports lines on the tenth of March."""

    def importing(memory: Memory, lines: Sequence[Any], form: str = "jsonl", **given: Any) -> JudgmentsReport:
        path = tmp_path / "judgments"
        path.write_text("\n".join(one if isinstance(one, str) else json.dumps(one) for one in lines))
        options = JudgmentOptions(memory.namespace, "ann", NOW, "2026-01-01", **given)
        return import_judgments(memory._space, [str(path)], form, options)

    return importing


def exported(memory: Memory, judge: str = "") -> list[dict[str, Any]]:
    lines: list[bytes] = []
    export_judgments(memory.journal, memory.namespace, lines.append, judge=judge)
    return [json.loads(line) for line in lines]


FULL = {
    "query": QUERY, "grade": 2.5, "state": "graded", "explanation": "says “weeks”", "principal": "eva",
    "at": "2026-03-01T08:00:00.000123Z",
}  # fmt: skip
BY_JUDGE = {
    "query": QUERY, "grade": 1, "state": "graded", "principal": "openai:m", "at": "2026-03-02T08:00:00Z",
    "judge": {"name": "openai:m", "model": "m", "version": "1", "prompt_hash": "ab" * 16},
    "text_hash": "cd" * 16,
}  # fmt: skip
LATER = {
    "query": "who is on call",
    "grade": None,
    "state": "later",
    "principal": "eva",
    "at": "2026-03-03T08:00:00Z",
}


def test_json_lines_go_round_exactly(memory, battery, rota, take, open_memory, tmp_path):
    lines = [one | {"memory_id": battery} for one in (FULL, BY_JUDGE)] + [LATER | {"memory_id": rota}]
    done = take(memory, lines)
    assert (done.lines, done.written, done.malformed, done.unknown) == (3, 3, 0, 0)
    out = exported(memory, "*")
    assert sorted(out, key=lambda one: one["at"]) == [
        {name: line[name] for name in out[0] | line if name in line} for line in lines
    ]
    other = open_memory(path=tmp_path / "other")
    for key, text in (("notes/battery", BATTERY), ("notes/rota", ROTA)):
        other.save(text, key=key)
    assert take(other, out).written == 3
    assert exported(other, "*") == out
    day = ["2026-03-01", "2026-03-02", "2026-03-03"]
    assert drain_judgments(other.journal, day).rows.equals(drain_judgments(memory.journal, day).rows)


def test_what_is_known_is_not_written_again(memory, battery, take):
    lines = [one | {"memory_id": battery} for one in (FULL, BY_JUDGE)]
    take(memory, lines)
    again = take(memory, lines)
    assert (again.written, again.already) == (0, 2)
    assert take(memory, exported(memory, "*")).written == 0
    memory.principal = "ann"
    memory.judge("another query", battery, 2)
    assert take(memory, [{"query": "Another  query", "memory_id": battery, "grade": 2}]).already == 1


def test_a_memory_is_named_by_source_and_the_rest_has_defaults(memory, battery, take):
    assert take(memory, [{"query": QUERY, "source": "notes/battery", "grade": 3}]).written == 1
    [line] = exported(memory)
    assert line == {
        "query": QUERY, "memory_id": battery, "grade": 3, "state": "graded", "principal": "ann",
        "at": "2026-03-10T12:00:00Z",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("no json", "Invalid JSON"),
        ({"source": "notes/battery", "grade": 1}, "query: Field required"),
        ({"query": QUERY, "grade": 1}, "either memory_id or source"),
        ({"query": QUERY, "source": "a", "memory_id": "b", "grade": 1}, "either memory_id or source"),
        ({"query": QUERY, "source": "notes/battery"}, "from 0 to 3"),
        ({"query": QUERY, "source": "notes/battery", "grade": 4}, "from 0 to 3"),
        ({"query": QUERY, "source": "notes/battery", "grade": "3"}, "grade"),
        ({"query": QUERY, "source": "notes/battery", "grade": True}, "grade"),
        ({"query": QUERY, "source": "notes/battery", "grade": 1, "state": "later"}, "has no grade"),
        ({"query": " ", "source": "notes/battery", "grade": 1}, "query is empty"),
        ({"query": QUERY, "source": "notes/battery", "grade": 1, "note": ""}, "note: Extra"),
        ({"query": QUERY, "source": "notes/battery", "grade": 1, "at": "2026-03-01T12:00"}, "at: "),
        (
            {"query": QUERY, "source": "notes/battery", "grade": 1, "at": "2025-03-01T12:00Z"},
            "night.first_day",
        ),
        ({"query": QUERY, "source": "notes/battery", "grade": 1, "at": "2026-03-11T12:00Z"}, "in the future"),
        ({"query": QUERY, "source": "notes/battery", "grade": 1, "text_hash": "x"}, "belong together"),
    ],
)
def test_a_bad_line_is_named_and_the_rest_is_taken(memory, battery, take, tmp_path, line, reason):
    good = {"query": QUERY, "source": "notes/battery", "grade": 2}
    done = take(memory, [good, "", line, {"query": QUERY, "source": "notes/gone", "grade": 1}])
    assert (done.lines, done.written, done.malformed, done.unknown) == (3, 1, 1, 1)
    assert str(done.problems[0]).startswith(f"{tmp_path}/judgments, line 3: ")
    assert reason in done.problems[0].reason
    assert done.unknown_names == ["notes/gone"]
    with pytest.raises(ExchangeError, match="No line is a judgment of form jsonl"):
        take(memory, [line])


def test_nothing_is_written_when_the_journal_cannot_take_all(memory, battery, take):
    sound = {"query": QUERY, "source": "notes/battery", "grade": 2}
    with pytest.raises(Exception, match="NUL"):
        take(memory, [sound, sound | {"query": "another", "principal": "a\0b"}])
    assert exported(memory) == []


def test_of_several_lines_on_a_pair_the_later_one_counts(memory, battery, take):
    lines = [{"query": QUERY, "source": "notes/battery", "grade": grade} for grade in (1, 3, 1, 1, 2)]
    done = take(memory, lines)
    assert (done.written, done.already) == (4, 1)
    assert [one["grade"] for one in exported(memory)] == [2]
    assert (take(memory, lines).written, exported(memory)[0]["grade"]) == (4, 2)


def test_qrels_go_round(memory, battery, rota, take, open_memory, tmp_path):
    queries = {"q1": QUERY, "q2": "who is on call"}
    lines = [f"q1 0 {battery} 3", "q1\t0\tnotes/rota\t0", "q2 0 notes/rota 2"]
    assert take(memory, lines, "qrels", queries=queries).written == 3
    qrels: list[bytes] = []
    texts: list[bytes] = []
    assert export_qrels(memory.journal, "ada", qrels.append, texts.append) == 3
    path = tmp_path / "queries.jsonl"
    path.write_bytes(b"".join(texts))
    assert set(read_queries(str(path)).values()) == set(queries.values())
    other = open_memory(path=tmp_path / "other")
    other.save(BATTERY, key="notes/battery")
    other.save(ROTA, key="notes/rota")
    given = b"".join(qrels).decode().splitlines()
    assert take(other, given, "qrels", queries=read_queries(str(path))).written == 3
    again: list[bytes] = []
    export_qrels(other.journal, "ada", again.append, len)
    assert again == qrels


def test_qrels_are_the_mean_of_people_without_what_has_no_grade(memory, battery, rota, take):
    lines = [
        {"query": QUERY, "memory_id": battery, "grade": grade, "principal": f"p{grade}"} for grade in (1, 2)
    ]
    take(memory, [*lines, {"query": QUERY, "memory_id": rota, "grade": None, "state": "unrateable"}])
    qrels: list[bytes] = []
    export_qrels(memory.journal, "ada", qrels.append, len)
    assert [line.split()[2:] for line in qrels] == [[battery.encode(), b"2"]]


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("q1 0 notes/battery", "is not query-id"), ("q1 0 notes/battery x", "is not query-id"),
        ("q9 0 notes/battery 1", "no query has the id 'q9'"), ("q1 0 notes/battery 4", "from 0 to 3"),
        ("q1 0 notes/battery -1", "from 0 to 3"),
    ],
)  # fmt: skip
def test_a_bad_line_of_qrels_is_named(memory, battery, take, line, reason):
    done = take(memory, ["q1 0 notes/battery 1", line], "qrels", queries={"q1": QUERY})
    assert (done.written, done.malformed) == (1, 1)
    assert (done.problems[0].line, reason in done.problems[0].reason) == (2, True)


def test_an_unknown_form_and_a_bad_file_of_queries_are_told(memory, take, tmp_path):
    with pytest.raises(ExchangeError, match="form 'csv' is unknown"):
        take(memory, ["x"], "csv")
    path = tmp_path / "queries"
    path.write_text("q1\tone\nq2 two")
    with pytest.raises(ExchangeError, match=r"queries, line 2: write"):
        read_queries(str(path))
