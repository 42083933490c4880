"""User Behavior Insights becomes searches and what was said of their results."""

from __future__ import annotations

import random
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from exchange_helpers import (
    NOON,
    event,
    log,
    memory_of,
    objects,
    of_kind,
    query,
    take_ubi,
    written,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.evaluation.exchange import importing
from slowwave.evaluation.exchange.frame import FEW
from slowwave.evaluation.exchange.ubi import parse_actions
from slowwave.evaluation.exchange.values import ExchangeError
from slowwave.journal import Journal, JournalError

ACTED = [
    query(hits=["a", "b"]),
    event("click", "b", ordinal=2),
    event("add_to_cart", "b", timestamp="2026-03-01T12:00:09Z"),
    event("declined_product", "a", timestamp="2026-03-01T12:00:07Z", message_type="REJECT"),
    event("user_feedback", "b", timestamp="2026-03-01T12:00:08Z", helpful="yes", user_id="ann@shop"),
]


@pytest.fixture
def other(tmp_path: Path) -> Iterator[Journal]:
    """A second journal."""
    with Journal.open_path(tmp_path / "other.db") as opened:
        yield opened


# What becomes of it


def test_a_search_and_each_act_become_entries(journal: Journal, tmp_path: Path) -> None:
    report = take_ubi(journal, log(tmp_path, *ACTED))
    search, click, declined, vote, cart = written(journal)
    a, b = memory_of("a"), memory_of("b")
    assert search["payload"] == {
        "query": "gauge battery",
        "limit": 2,
        "shown": [
            {"memory_id": a, "best": None, "rank": 1, "object": "a"},
            {"memory_id": b, "best": None, "rank": 2, "object": "b"},
        ],
        "client": {"query_id": "q1", "application": "shop"},
        "imported_from": "ubi",
    }
    assert (search["event_id"], search["occurred_at"]) == (search["subject"], NOON)
    assert {row["subject"] for row in (click, declined, vote, cart)} == {search["event_id"]}
    verdict = {
        "memory_id": b,
        "chunk_id": None,
        "object": "b",
        "verdict": "used",
        "evidence": "citation",
        "keywords": None,
        "ratio": None,
        "ratio_beyond_query": None,
        "similarity": None,
    }
    assert (click["kind"], click["payload"]["verdicts"]) == ("observation", [verdict])
    assert click["payload"]["client"] == {"action": "click", "application": "shop"}
    assert click["payload"]["imported_from"] == "ubi"
    # Opening a result and buying it are one answer of one person.
    assert cart["payload"]["response"] == click["payload"]["response"]
    assert (declined["kind"], declined["payload"]["rating"]) == ("feedback", "unhelpful")
    assert (declined["payload"]["memory_id"], declined["payload"]["chunk_id"]) == (a, None)
    assert (vote["payload"]["rating"], vote["payload"]["object"]) == ("helpful", "b")
    assert [row["principal"] for row in (search, click, vote)] == ["ubi:ann", "ubi:ann", "ubi:ann@shop"]
    assert click["occurred_at"] == datetime(2026, 3, 1, 12, 0, 5, tzinfo=UTC)
    assert (report.searches, report.shown, report.new) == (1, 2, 5)
    assert report.verdicts == {"used": 2, "unhelpful": 1, "helpful": 1}
    assert (report.first_day, report.last_day) == ("2026-03-01", "2026-03-01")


def test_the_answers_of_two_people_are_two(journal: Journal, tmp_path: Path) -> None:
    take_ubi(journal, log(tmp_path, query(hits=["a"]), event("click"), event("click", client_id="bob")))
    one, two = of_kind(journal, "observation")
    assert one["response"] != two["response"]


def test_what_is_no_feedback_is_counted_by_its_name(journal: Journal, tmp_path: Path) -> None:
    report = take_ubi(
        journal,
        log(
            tmp_path,
            query(hits=["a"]),
            event("on_search", None, message_type="QUERY", message="gauge"),
            event("brand_filter", "OBJECT-1"),
            event("brand_filter", "OBJECT-2"),
            event("click", None),
            event("click", "a", query_id=None),
            event("user_feedback", "a"),
        ),
    )
    assert report.skipped == {
        "on_search": 1,
        "brand_filter": 2,
        "click (no result)": 1,
        "click (no search)": 1,
        "user_feedback (no opinion)": 1,
    }
    assert (report.verdicts, report.new, report.malformed) == ({}, 1, 0)


def test_actions_may_be_taken_for_something_else(journal: Journal, tmp_path: Path) -> None:
    actions = parse_actions(["download=used", "click=skip", "add_to_cart=helpful", "Seen=shown"])
    file = log(
        tmp_path,
        query(),
        event("Download", "a"),
        event("click", "b"),
        event("add to cart", "c"),
        event("seen", "d"),
    )
    report = take_ubi(journal, file, actions=actions)
    assert (report.verdicts, report.skipped) == ({"used": 1, "helpful": 1}, {"click": 1})
    assert objects(of_kind(journal, "search")[0]) == ["d", "a", "c"]


@pytest.mark.parametrize("given_", ["click", "click=clicked", "=used", " =used"])
def test_an_action_that_cannot_be_read(given_: str) -> None:
    with pytest.raises(ExchangeError, match="write NAME=VERDICT with one of used, helpful"):
        parse_actions([given_])


@pytest.mark.parametrize("first", [0, 1])
def test_what_was_shown_keeps_the_order_that_is_known(journal: Journal, tmp_path: Path, first: int) -> None:
    """Returned, then seen by place, then acted on all the same; a place from 0 or 1 gives the same ranks."""
    seen = [
        event("impression", thing, ordinal=place + first, timestamp=f"2026-03-01T12:00:0{9 - place}Z")
        for place, thing in enumerate("pqrs")
    ]
    random.Random(1).shuffle(seen)
    file = log(tmp_path, event("click", "z"), event("click", "y", ordinal=7), *seen, query(hits=["b", "q"]))
    take_ubi(journal, file)
    [payload] = of_kind(journal, "search")
    assert objects(payload) == ["b", "q", "p", "r", "s", "y", "z"]
    assert [row["rank"] for row in payload["shown"]] == [1, 2, 3, 4, 5, 6, 7]
    assert payload["limit"] == 7


def test_of_several_documents_of_a_query_the_one_with_results_is_the_search(
    journal: Journal, tmp_path: Path
) -> None:
    file = log(
        tmp_path,
        query(text="printer", timestamp="2026-03-01T12:00:00Z"),
        query(text="printer toner", hits=["a", "b"], timestamp="2026-03-01T12:00:01Z"),
        query(text="printer", hits=["b", "c"], timestamp="2026-03-01T12:00:02Z"),
    )
    report = take_ubi(journal, file)
    [row] = written(journal)
    assert (row["payload"]["query"], objects(row["payload"])) == ("printer toner", ["a", "b", "c"])
    assert row["occurred_at"].second == 1
    assert (report.searches, report.repeated) == (1, 0)


def test_a_search_is_made_of_its_events_alone(journal: Journal, tmp_path: Path) -> None:
    file = log(
        tmp_path,
        event("on_search", None, "typed", message_type="QUERY", message="tide tables"),
        event("impression", "a", "typed", ordinal=1),
        event("click", "b", "named", user_query="gauge"),
        event("click", "c", "mute"),
        event("search", None, "letters", message_type="QUERY", message="ga"),
    )
    report = take_ubi(journal, file)
    texts = {
        row["payload"]["client"]["query_id"]: row["payload"]["query"] for row in written(journal, "search")
    }
    # Letters typed, of which nothing was shown, are no search.
    assert texts == {"typed": "tide tables", "named": "gauge", "mute": ""}
    assert (report.searches, report.verdicts) == (3, {"used": 2})


def test_the_results_of_a_query_are_named_as_older_logs_do(journal: Journal, tmp_path: Path) -> None:
    old = query(query_attributes={"application": "old"}, query_response_object_ids=["a", 7])
    del old["application"], old["query_response_hit_ids"]
    take_ubi(journal, log(tmp_path, old, event("click", 7)), source_prefix="products/")
    [payload] = of_kind(journal, "search")
    assert objects(payload) == ["a", "7"]
    assert payload["client"] == {"query_id": "q1", "application": "old"}
    assert payload["shown"][1]["memory_id"] == memory_of("products/7")
    assert of_kind(journal, "observation")[0]["verdicts"][0]["memory_id"] == memory_of("products/7")


@pytest.mark.parametrize(
    ("timestamp", "moment"),
    [
        ("2026-03-01T12:00:00.123Z", NOON.replace(microsecond=123_000)),
        ("2026-03-01T14:00:00.123456789+0200", NOON.replace(microsecond=123_456)),
        ("2026-03-01T12:00:00", NOON),
        (1772366400123, NOON.replace(microsecond=123_000)),
        ("1772366400000", NOON),
    ],
)
def test_times_as_they_are_written(
    journal: Journal, tmp_path: Path, timestamp: Any, moment: datetime
) -> None:
    take_ubi(journal, log(tmp_path, query(timestamp=timestamp)))
    assert written(journal)[0]["occurred_at"] == moment


def test_ids_and_texts_of_any_length_and_script(journal: Journal, tmp_path: Path) -> None:
    long = "ж" * 2_000
    file = log(tmp_path, query(long, "潮位計 の 電池 🔋", [long]), event("click", long, long))
    report = take_ubi(journal, file)
    search, _ = written(journal)
    assert (report.malformed, report.new) == (0, 2)
    assert (search["payload"]["query"], objects(search["payload"])) == ("潮位計 の 電池 🔋", [long])
    assert search["payload"]["client"]["query_id"] == long
    assert len(search["event_id"]) == 32


# What cannot be taken


def test_a_bad_line_is_counted_with_its_reason_and_the_rest_is_imported(
    journal: Journal, tmp_path: Path
) -> None:
    file = log(
        tmp_path,
        query(hits=["a"]),
        '{"query_id": "q2", "user_query": "cut o',
        "",
        "[1]",
        "plain words",
        {"message": "neither"},
        query("q3", timestamp="yesterday"),
        query("q4", timestamp=1772366400),
        query("", text="no id"),
        event("click", ["a"]),
        event("click", "a", client_id="a\0b"),
        event("click", "a", timestamp=None),
        query("q5", query_response_hit_ids="a"),
        query("q6", timestamp="2026-03-11T00:00:00Z"),
        event("click"),
    )
    report = take_ubi(journal, file)
    assert (report.malformed, len(report.problems), report.new) == (12, FEW, 2)
    reasons = {problem.line: problem.reason for problem in report.problems}
    assert reasons.keys() == {2, 4, 5, 6, 7, 8, 9, 10, 12, 13}
    assert reasons[2].startswith("not JSON (")
    assert reasons[4] == "not a JSON object"
    assert reasons[5] == "not JSON (unexpected character, expected a JSON value, at character 1)"
    assert reasons[6] == "neither a query (no user_query) nor an event (no action_name)"
    assert "'yesterday'; write ISO 8601, or milliseconds" in reasons[7]
    assert "1772366400;" in reasons[8]
    assert reasons[9] == "a query without query_id"
    assert reasons[10] == "object_id is ['a'], neither text nor a whole number"
    assert str(report.problems[0]).startswith(f"{file}, line 2: not JSON")


def test_a_day_to_come_is_refused_and_today_is_not(journal: Journal, tmp_path: Path) -> None:
    file = log(
        tmp_path,
        query("q1", timestamp="2026-03-10T23:59:59Z"),
        query("q2", timestamp="2026-03-11T00:00:00Z"),
    )
    report = take_ubi(journal, file)
    assert (report.searches, report.malformed) == (1, 1)
    assert report.problems[0].reason == "2026-03-11 is in the future (days are UTC)"


@pytest.mark.parametrize(
    "content",
    [
        b"query;clicks\ngauge;4\n",
        b'{"index": {"_index": "products"}}\n{"title": "Gauge"}\n' * 3,
        "{}\n".encode("utf-16"),
        b"\x89PNG\r\n\x1a\n\0\0",
    ],
)
def test_a_file_of_something_else_is_an_error_that_says_what_was_expected(
    journal: Journal, tmp_path: Path, content: bytes
) -> None:
    good = log(tmp_path, query())
    bad = tmp_path / "else"
    bad.write_bytes(content)
    with pytest.raises(
        ExchangeError, match=r"else is no UBI log; nothing was written. Expected: one UBI doc"
    ):
        take_ubi(journal, good, str(bad))
    assert written(journal) == []


def test_a_huge_file_of_something_else_is_not_read_to_its_end(journal: Journal, tmp_path: Path) -> None:
    file = log(tmp_path, *["no"] * 5_000, query())
    with pytest.raises(ExchangeError, match="is no UBI log"):
        take_ubi(journal, file)
    assert importing.PATIENCE < 5_000


def test_an_empty_file_is_nothing(journal: Journal, tmp_path: Path) -> None:
    report = take_ubi(journal, log(tmp_path, "", "  "))
    assert (report.lines, report.new, report.first_day) == (0, 0, "")


def test_a_day_before_the_first_partition_is_an_error_before_anything_is_written(
    journal: Journal, tmp_path: Path
) -> None:
    new = log(tmp_path, query("q1"), name="new")
    old = log(tmp_path, query("q2"), query("q3", timestamp="2025-12-31T23:59:59Z"), name="old")
    advice = (
        r"old, line 2 is of 2025-12-31, before .* 2026-01-01; nothing was written. Set night.first_day = "
        r'"2025-12-31" in slowwave.toml, or leave out what is older with --from 2026-01-01'
    )
    with pytest.raises(ExchangeError, match=advice):
        take_ubi(journal, new, old)
    assert written(journal) == []


def test_what_is_older_is_left_out_with_all_about_it(journal: Journal, tmp_path: Path) -> None:
    file = log(
        tmp_path,
        query("q1", hits=["a"], timestamp="2025-12-31T23:59:59Z"),
        event("click", "a", "q1", timestamp="2026-01-01T00:00:01Z"),
        query("q2", timestamp="2026-01-01T00:00:00Z"),
    )
    report = take_ubi(journal, file, since="2026-01-01")
    assert (report.left_out, report.new) == (2, 1)
    assert of_kind(journal, "search")[0]["client"]["query_id"] == "q2"


# Again


def test_importing_again_adds_nothing(journal: Journal, tmp_path: Path) -> None:
    file = log(tmp_path, *ACTED, ACTED[1])
    first = take_ubi(journal, file)
    before = written(journal)
    again = take_ubi(journal, file)
    assert written(journal) == before
    assert (first.new, first.already, first.repeated) == (5, 0, 1)
    assert (again.new, again.already, again.repeated) == (0, 5, 1)
    assert again.verdicts == first.verdicts


def test_a_trial_counts_the_same_and_writes_nothing(journal: Journal, tmp_path: Path) -> None:
    file = log(tmp_path, *ACTED)
    trial = take_ubi(journal, file, dry_run=True)
    assert (written(journal), trial.new, trial.dry_run) == ([], 5, True)
    assert take_ubi(journal, file).verdicts == trial.verdicts


def test_a_later_part_of_the_log_adds_to_the_search(journal: Journal, tmp_path: Path) -> None:
    """A person clicks after midnight: the next day's log has the click, and at most the query again."""
    take_ubi(journal, log(tmp_path, query(hits=["a"])))
    before = written(journal, "search")
    late = [event("click", "a", timestamp="2026-03-02T00:00:01Z"), event("click", "z")]
    report = take_ubi(journal, log(tmp_path, *late))
    assert (report.searches, report.new, report.not_shown, report.kept) == (0, 2, 1, 0)
    report = take_ubi(journal, log(tmp_path, query(hits=["a", "b"]), *late))
    assert (report.searches, report.new, report.already, report.kept) == (1, 0, 3, 1)
    assert written(journal, "search") == before


def test_another_reading_of_the_same_act_is_refused(journal: Journal, tmp_path: Path) -> None:
    file = log(tmp_path, query(hits=["a"]), event("click"))
    take_ubi(journal, file)
    before = written(journal)
    report = take_ubi(journal, file, actions=parse_actions(["click=helpful"]))
    assert written(journal) == before
    assert (report.already, report.malformed, report.verdicts) == (1, 1, {})
    assert "this event with other content, as observation (used), which stays" in report.problems[0].reason


def test_two_namespaces_may_have_the_same_log(journal: Journal, tmp_path: Path) -> None:
    file = log(tmp_path, *ACTED)
    assert [take_ubi(journal, file, namespace=name).new for name in ("ada", "bob")] == [5, 5]
    ada, bob = (written(journal, namespace=name) for name in ("ada", "bob"))
    assert {row["event_id"] for row in ada}.isdisjoint({row["event_id"] for row in bob})
    assert bob[0]["payload"]["shown"][0]["memory_id"] == memory_of("a", "bob")


def test_the_search_of_another_namespace_cannot_be_spoken_of(journal: Journal, tmp_path: Path) -> None:
    own = "0123456789abcdef" * 2
    take_ubi(journal, log(tmp_path, query(own, hits=["a"])), namespace="bob")
    report = take_ubi(journal, log(tmp_path, query(own, hits=["a"]), event("click", "a", own)))
    assert (report.new, report.malformed) == (0, 2)
    assert "another namespace has a search with the id 0123" in report.problems[0].reason
    assert written(journal, namespace="ada") == []


def test_an_import_that_was_cut_off_is_completed_by_the_next(
    journal: Journal, other: Journal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = [part for at in range(6) for part in (query(f"q{at}", hits=["a"]), event("click", "a", f"q{at}"))]
    file = log(tmp_path, *parts)
    monkeypatch.setattr(importing, "BATCH", 4)
    append, calls = Journal.append, []

    def full_disk(self: Journal, entries: Any) -> Any:
        calls.append(entries)
        if len(calls) == 2:
            raise JournalError("the disk is full")
        return append(self, entries)

    monkeypatch.setattr(Journal, "append", full_disk)
    with pytest.raises(JournalError, match="disk is full"):
        take_ubi(journal, file)
    half = written(journal)
    # A search is there with all that was said of it, or not at all.
    assert [row["kind"] for row in half] == ["search", "observation"] * 2
    report = take_ubi(journal, file)
    assert (report.new, report.already) == (8, 4)
    take_ubi(other, file)
    assert written(journal) == written(other)


@settings(max_examples=25)
@given(st.randoms(use_true_random=False), st.integers(1, 4))
def test_the_order_of_the_lines_and_the_files_does_not_matter(chance: random.Random, files: int) -> None:
    """Events may stand before their query and in another file; the entries are the same."""
    documents = [
        *(query(f"q{at}", hits=["a", "b"], timestamp=1772366400000 + at) for at in range(3)),
        *(event("impression", f"x{at}", f"q{at % 3}", ordinal=at) for at in range(5)),
        *(event("click", f"x{at}", f"q{at % 4}", timestamp=1772366401000 + at) for at in range(6)),
        event("user_feedback", "a", "q2", helpful="no"),
    ]
    with (
        TemporaryDirectory() as folder,
        Journal.open_path(Path(folder) / "one.db", durability="normal") as one,
    ):
        take_ubi(one, log(Path(folder), *documents))
        expected = sorted(written(one), key=lambda row: row["event_id"])
        chance.shuffle(documents)
        parts = [log(Path(folder), *documents[at::files], name=f"part{at}") for at in range(files)]
        with Journal.open_path(Path(folder) / "two.db", durability="normal") as two:
            take_ubi(two, *parts)
            assert sorted(written(two), key=lambda row: row["event_id"]) == expected
