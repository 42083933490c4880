"""What is exported and imported again is what it was."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import orjson
import pytest
from exchange_helpers import (
    KINDS,
    NOON,
    event,
    log,
    memory_of,
    objects,
    of_kind,
    query,
    take_jsonl,
    take_ubi,
    written,
)
from hypothesis import given
from hypothesis import strategies as st

from slowwave.common import ids
from slowwave.evaluation.exchange import forms, payloads
from slowwave.evaluation.exchange.export import ExportReport, export
from slowwave.evaluation.exchange.values import ExchangeError
from slowwave.journal import Entry, Journal
from slowwave.memory import Memory

NOTES = {
    "gauge": "The northern gauge lost its battery in the storm of January, and Ruaridh changed it.",
    "ferry": "The ferry to Hoy leaves at nine, also on Sundays, as long as the wind is below force seven.",
}


@pytest.fixture
def empty(tmp_path: Path) -> Iterator[Journal]:
    """The journal of another home."""
    with Journal.open_path(tmp_path / "empty.db") as opened:
        yield opened


def out(journal: Journal, path: Path, **options: Any) -> tuple[str, ExportReport]:
    with path.open("wb") as file:
        report = export(journal, options.pop("namespace", "ada"), file.write, **options)
    return str(path), report


def documents(path: str) -> list[dict[str, Any]]:
    return [orjson.loads(line) for line in Path(path).read_bytes().splitlines()]


def bare(journal: Journal) -> list[tuple[Any, ...]]:
    """Every entry with its payload as bytes, but for where it came from; in the order of time.

    Its place among all others is of its journal (`seq`, `ordered_at`) and does not travel.
    """
    rows = journal.read(kinds=KINDS).drop("seq", "ordered_at").sort("occurred_at", "event_id")
    return [
        (*row[:-1], orjson.dumps({**orjson.loads(row[-1]), "imported_from": ""}, option=orjson.OPT_SORT_KEYS))
        for row in rows.iter_rows()
    ]


def act(kind: str, subject: str, payload: dict[str, Any], at: datetime = NOON, **fields: Any) -> Entry:
    return Entry(
        event_id=fields.pop("event_id", ids.digest(kind, subject, at.isoformat())),
        kind=kind,
        namespace=fields.pop("namespace", "ada"),
        subject=subject,
        occurred_at=at,
        principal=fields.pop("principal", "ann"),
        payload=payload,
        **fields,
    )


def verdict(memory: str, said: str = "used") -> dict[str, Any]:
    return {
        "memory_id": memory,
        "chunk_id": ids.chunk_id(memory, 0),
        "verdict": said,
        "evidence": "words",
        "keywords": 9,
        "ratio": 1 / 3,
        "ratio_beyond_query": 0.0,
        "similarity": None,
    }


@pytest.fixture
def lived(memory: Memory) -> Memory:
    """A memory that was searched and heard what came of it, on two days."""
    memory.save_many([{"content": text, "key": key} for key, text in NOTES.items()])
    searches = [memory.search("gauge battery"), memory.search("Fähre nach Hoy", limit=1)]
    now = datetime.now(UTC)
    acts = []
    for number, search in enumerate(searches):
        result = search.results[0].memory_id
        said = {"memory_id": result, "chunk_id": ids.chunk_id(result, 0), "rating": "helpful"}
        seen = {
            "response": ids.digest(str(number)),
            "verdicts": [verdict(result), verdict(memory_of("x"), "ignored")],
        }
        acts.append(act("feedback", search.search_id, said, at=now + timedelta(seconds=number)))
        acts.append(act("observation", search.search_id, seen, at=now + timedelta(microseconds=number)))
    acts.append(
        act("search", OLD, {"query": "tide", "limit": 1, "shown": []}, at=NOON, event_id=OLD, origin="noust")
    )
    acts.append(act("outcome", "noust", {"outcome": "success"}, at=now))
    acts.append(
        act("feedback", OLD, {"memory_id": memory_of("x"), "chunk_id": None, "rating": "neutral"}, at=now)
    )
    memory.journal.append(acts)
    return memory


OLD = "0123456789abcdef" * 2
TODAY = {"today": datetime.now(UTC).date() + timedelta(days=1)}


def test_an_export_in_an_empty_home_is_the_same_history(
    lived: Memory, empty: Journal, tmp_path: Path
) -> None:
    file, told = out(lived.journal, tmp_path / "all.jsonl")
    report = take_jsonl(empty, file, **TODAY)
    assert bare(empty) == bare(lived.journal)
    assert (told.searches, told.events, told.lines) == (3, 6, 9)
    assert (report.new, report.malformed, report.not_shown) == (9, 0, 3)
    again, _ = out(empty, tmp_path / "again.jsonl")
    assert sorted(documents(again), key=str) == sorted(documents(file), key=str)


def test_an_export_in_the_same_home_adds_nothing(lived: Memory, tmp_path: Path) -> None:
    file, told = out(lived.journal, tmp_path / "all.jsonl")
    before = written(lived.journal)
    report = take_jsonl(lived.journal, file, **TODAY)
    assert written(lived.journal) == before
    assert (report.new, report.already, report.kept, report.malformed) == (0, told.lines, 0, 0)


def test_only_the_namespace_is_exported(lived: Memory, tmp_path: Path) -> None:
    other = act("search", "s", {"query": "secret", "limit": 0, "shown": []}, namespace="bob", event_id="s")
    lived.journal.append([other])
    file, told = out(lived.journal, tmp_path / "bob.jsonl", namespace="bob")
    assert (told.lines, documents(file)[0]["query"]) == (1, "secret")
    file, _ = out(lived.journal, tmp_path / "ada.jsonl")
    assert "secret" not in Path(file).read_text()


def test_days_are_exported_with_the_searches_that_they_are_about(
    lived: Memory, empty: Journal, tmp_path: Path
) -> None:
    today = datetime.now(UTC).date().isoformat()
    file, told = out(lived.journal, tmp_path / "today.jsonl", first=today)
    assert (told.searches, told.earlier, told.lines) == (3, 1, 9)
    assert take_jsonl(empty, file, **TODAY).malformed == 0
    file, told = out(lived.journal, tmp_path / "march.jsonl", first="2026-03-01", last="2026-03-01")
    assert [line["type"] for line in documents(file)] == ["search"]
    assert told.earlier == 0
    assert out(lived.journal, tmp_path / "none.jsonl", last="2026-02-28")[1] == ExportReport()


def test_many_entries_of_one_day_are_each_written_once(empty: Journal, tmp_path: Path) -> None:
    shown = {"query": "tide", "limit": 0, "shown": []}
    moments = [NOON + timedelta(seconds=number) for number in range(1_234)]
    empty.append([act("search", f"s{at.timestamp()}", shown, at=at) for at in moments])
    file, told = out(empty, tmp_path / "many.jsonl")
    assert told.lines == 1_234
    assert [line["at"] for line in documents(file)] == [f"{at:%FT%TZ}" for at in moments]


@pytest.mark.parametrize("bad", [{"first": "march"}, {"last": "2026-13-01"}, {"form": "csv"}])
def test_what_cannot_be_exported(empty: Journal, bad: dict[str, str]) -> None:
    with pytest.raises(ExchangeError, match=next(iter(bad.values()))):
        export(empty, "ada", lambda _: None, **bad)


_JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(),
    lambda parts: st.lists(parts, max_size=3) | st.dictionaries(st.text(max_size=8), parts, max_size=3),
    max_leaves=6,
)
_MEMORY = st.sampled_from([memory_of("a"), memory_of("b")])
_CHUNKS = st.none() | st.sampled_from(
    [f"{memory_of('a')}:00007", f"{memory_of('b')}:123456", "odd", "odd:00001"]
)
_NUMBER = st.none() | st.floats(0, 1) | st.integers(0, 5)
_ROW = st.fixed_dictionaries(
    {"memory_id": _MEMORY, "rank": st.integers(1, 50), "channels": _JSON},
    optional={"best": _CHUNKS, "score": _NUMBER, "object": st.text(), "flags": _JSON},
)
_SEARCH = st.fixed_dictionaries(
    {"query": st.text(), "limit": st.integers(0, 9), "shown": st.lists(_ROW, max_size=3)},
    optional={"policy": _JSON, "candidates": _JSON, "client": _JSON},
)
_RATED = st.fixed_dictionaries(
    {
        "memory_id": _MEMORY,
        "chunk_id": _CHUNKS,
        "rating": st.sampled_from(["helpful", "neutral", "unhelpful"]),
    },
    optional={"object": st.text(), "client": _JSON},
)


_LAST = datetime(9000, 12, 31, tzinfo=UTC).replace(tzinfo=None)  # that the journal takes


@given(_SEARCH, _RATED, st.datetimes(max_value=_LAST, timezones=st.just(UTC)))
def test_any_payload_comes_back_from_its_line(
    searched: dict[str, Any], rated: dict[str, Any], at: datetime
) -> None:
    line = orjson.dumps(payloads.line_of(act("search", OLD, searched, at, event_id=OLD, origin="p")))
    read = forms.read_act(line)
    assert isinstance(read, forms.SearchLine)
    assert (read.at, read.search_id, read.project) == (at, OLD, "p")
    assert _plain(payloads.search_payload(read, "ada")) == _plain(searched)
    line = orjson.dumps(payloads.line_of(act("feedback", OLD, rated, at)))
    read = forms.read_act(line)
    assert isinstance(read, forms.FeedbackLine)
    assert _plain(payloads.feedback_payload(read, "ada", {})) == _plain(rated)


def _plain(payload: dict[str, Any]) -> bytes:
    return orjson.dumps(payload, option=orjson.OPT_SORT_KEYS)


# As User Behavior Insights


def test_our_own_searches_as_ubi(lived: Memory, tmp_path: Path) -> None:
    file, told = out(lived.journal, tmp_path / "log.ndjson", form="ubi")
    found = documents(file)
    by_action: dict[str, list[dict[str, Any]]] = {}
    for document in found:
        by_action.setdefault(document.get("action_name", "query"), []).append(document)
    assert {name: len(rows) for name, rows in by_action.items()} == {
        "query": 3,
        "impression": 3,
        "click": 2,
        "user_feedback": 3,
    }
    # The outcome has no form, and a result that was ignored is one that was seen and not clicked.
    assert (told.left_out, told.events) == (1, 6)
    first = next(row for row in by_action["query"] if row["user_query"] == "gauge battery")
    assert first.keys() == {
        "application", "query_id", "client_id", "timestamp", "user_query", "query_attributes",
        "object_id_field", "query_response_id", "query_response_hit_ids",
    }  # fmt: skip
    assert (first["application"], first["object_id_field"]) == ("slowwave", "memory_id")
    seen = [row for row in by_action["impression"] if row["query_id"] == first["query_id"]]
    assert [row["event_attributes"]["object"]["object_id"] for row in seen] == first["query_response_hit_ids"]
    assert [row["event_attributes"]["position"]["ordinal"] for row in seen] == [1, 2]
    [click] = [row for row in by_action["click"] if row["query_id"] == first["query_id"]]
    assert click["event_attributes"]["position"] == {"ordinal": 1}
    assert click["message_type"] == "CLICK_THROUGH"
    assert {row["event_attributes"]["helpful"] for row in by_action["user_feedback"]} == {"yes", "neutral"}


def test_our_own_ubi_log_adds_nothing_here_and_is_history_elsewhere(
    lived: Memory, empty: Journal, tmp_path: Path
) -> None:
    file, _ = out(lived.journal, tmp_path / "log.ndjson", form="ubi")
    before = written(lived.journal)
    report = take_ubi(lived.journal, file, **TODAY)
    assert written(lived.journal) == before
    assert (report.new, report.already, report.malformed) == (0, 8, 0)
    report = take_ubi(empty, file, **TODAY)
    assert report.verdicts == {"used": 2, "helpful": 2, "neutral": 1}
    assert {row["event_id"] for row in written(empty, "search")} == {
        row["event_id"] for row in written(lived.journal, "search")
    }
    ours, theirs = (of_kind(journal, "search") for journal in (lived.journal, empty))
    assert sorted(
        tuple(row["memory_id"] for row in payload["shown"] if row["memory_id"] != memory_of("x"))
        for payload in theirs
    ) == sorted(tuple(row["memory_id"] for row in payload["shown"]) for payload in ours)


def test_a_shop_that_logs_clicks_on_our_searches(lived: Memory, tmp_path: Path) -> None:
    """The application's own events name our search and our memory; they are new, and not what we exported."""
    search = lived.search("gauge battery")
    [result, *_] = search.results
    click = event("click", result.memory_id, search.search_id)
    click["event_attributes"]["object"]["object_id_field"] = "memory_id"
    report = take_ubi(lived.journal, log(tmp_path, click))
    assert (report.searches, report.new, report.not_shown) == (0, 1, 0)
    last = of_kind(lived.journal, "observation")[-1]
    assert last["verdicts"][0]["memory_id"] == result.memory_id
    assert "object" not in last["verdicts"][0]


def test_a_ubi_log_goes_back_as_it_came(empty: Journal, journal: Journal, tmp_path: Path) -> None:
    acts = [
        query("q1", hits=["a", "b"]),
        event("add_to_cart", "b", ordinal=2, user_id="bob"),
        event("impression", "c", ordinal=3),
        event("declined_product", "z"),
        event("user_feedback", "a", helpful="no", client_id=None),
    ]
    take_ubi(empty, log(tmp_path, *acts), source_prefix="products/")
    file, _ = out(empty, tmp_path / "back.ndjson", form="ubi")
    found = documents(file)
    assert {row.get("application") for row in found} == {"shop"}
    assert {row["query_id"] for row in found} == {"q1"}
    assert {row["client_id"] for row in found} == {"ann", "bob", "unknown"}
    assert found[0]["query_response_hit_ids"] == ["a", "b", "c", "z"]
    # The same acts: nothing is new where they are, all of it elsewhere.
    report = take_ubi(empty, file, source_prefix="products/")
    assert (report.new, report.already, report.kept, report.malformed) == (0, 4, 1, 0)
    take_ubi(journal, file, source_prefix="products/")
    assert {row["event_id"] for row in written(journal)} == {row["event_id"] for row in written(empty)}
    assert objects(of_kind(journal, "search")[0]) == ["a", "b", "c", "z"]


def test_a_ubi_log_as_jsonl_keeps_all(empty: Journal, journal: Journal, tmp_path: Path) -> None:
    take_ubi(
        empty, log(tmp_path, query(hits=["a"]), event("click", "b", ordinal=4), event("declined_product"))
    )
    file, _ = out(empty, tmp_path / "log.jsonl")
    report = take_jsonl(journal, file)
    assert bare(journal) == bare(empty)
    assert report.new == 3
    assert of_kind(journal, "search")[0]["imported_from"] == "jsonl"
