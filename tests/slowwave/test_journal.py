from __future__ import annotations

import os
import sqlite3
import sys
import threading
import uuid
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

import polars as pl
import pytest
import servers
from hypothesis import given, settings
from hypothesis import strategies as st
from sqlalchemy.dialects.sqlite.base import SQLiteDialect

from slowwave.errors import SlowwaveError
from slowwave.journal import (
    KINDS,
    AppendResult,
    Entry,
    Journal,
    JournalConflictError,
    JournalEntryError,
    JournalError,
    WatchedVault,
    codec,
    connection,
    engines,
    payload_of,
)
from slowwave.journal.entry import MAX_TEXT_BYTES

ROOT = Path(__file__).parents[2]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
POSTGRES = os.environ.get("SLOWWAVE_TEST_POSTGRES_URL")


def entry(event_id: str, **changes: object) -> Entry:
    fields = {
        "event_id": event_id,
        "kind": "save",
        "namespace": "default",
        "subject": "note.md",
        "occurred_at": NOON,
        "principal": "ann",
        "digest": "d1",
        "content_hash": "c1",
        "origin": "file:///vault",
        "payload": {"text": "hello"},
    }
    return Entry(**{**fields, **changes})


@pytest.fixture(scope="session")
def postgres() -> Iterator[str]:
    """A server of the tests' own, or the one that a variable names."""
    if POSTGRES:
        yield POSTGRES
        return
    with servers.postgres() as address:
        yield address.replace("+psycopg", "")


@pytest.fixture(params=["sqlite", "postgresql"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """An empty database of each kind; of PostgreSQL, a schema of its own."""
    if request.param == "sqlite":
        yield f"sqlite:///{tmp_path / 'journal.db'}"
        return
    import psycopg

    postgres: str = request.getfixturevalue("postgres")
    schema = f"journal_{uuid.uuid4().hex}"
    with psycopg.connect(postgres, autocommit=True) as server:
        server.execute(f"CREATE SCHEMA {schema}")
        yield f"{postgres}{'&' if '?' in postgres else '?'}options=-csearch_path%3D{schema}"
        server.execute(f"DROP SCHEMA {schema} CASCADE")


@pytest.fixture
def journal(url: str) -> Iterator[Journal]:
    with Journal(url, durability="normal") as opened:
        yield opened


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def ids(journal: Journal, **filters: object) -> list[str]:
    return journal.read(**{"kinds": KINDS, **filters})["event_id"].to_list()


# Appending


def test_an_entry_comes_back_as_it_was_appended(journal: Journal) -> None:
    kyiv = timezone(timedelta(hours=2))
    written = entry(
        "e1",
        subject="заметки/день.md",
        occurred_at=datetime(2026, 3, 1, 1, 30, 0, 123457, tzinfo=kyiv),
        payload={"text": "x" * 5000, "tags": ["a", "б"], "weight": 0.1, "deep": {"none": None}},
    )
    assert journal.append([written]) == AppendResult(appended=1, already=0)

    found = journal.get("e1")
    assert found is not None
    assert found.seq == 1
    assert found.occurred_at.tzinfo is UTC
    for name in Entry.__slots__:
        if name not in ("seq", "ordered_at"):
            assert getattr(found, name) == getattr(written, name), name
    assert journal.get("e2") is None


def test_appending_again_changes_nothing(journal: Journal) -> None:
    first = [entry("e1"), entry("e2", payload={"b": 1, "a": 2})]
    assert journal.append(first) == (2, 0)
    again = [
        # Neither a retry's clock, nor the order of keys, nor a seq read back makes another act of it.
        entry("e1", occurred_at=NOON + timedelta(days=1), seq=77),
        entry("e2", payload={"a": 2, "b": 1}),
        entry("e3"),
    ]
    assert journal.append(again) == (1, 2)
    assert journal.append([]) == (0, 0)
    frame = journal.read(kinds=KINDS)
    assert frame["event_id"].to_list() == ["e1", "e2", "e3"]
    assert frame["occurred_at"].to_list() == [NOON] * 3


def test_one_entry_at_a_time_is_the_same_as_a_batch(url: str) -> None:
    written = [entry(f"e{number}", payload={"text": "ж" * number}) for number in range(0, 900, 100)]
    with Journal(url) as journal:
        assert [journal.append([one]) for one in written] == [(1, 0)] * 9
        assert [journal.append([one]) for one in written] == [(0, 1)] * 9
        singly = journal.read(kinds=KINDS)
        with journal._connections.writing() as raw:
            raw.exec_driver_sql("DELETE FROM journal_entries")
        journal.append(written)
        assert journal.read(kinds=KINDS).drop("seq").equals(singly.drop("seq"))


@pytest.mark.parametrize("returning", [True, False])
def test_what_was_written_is_as_the_journal_has_it(
    url: str, returning: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SQLiteDialect, "insert_returning", returning)  # not known before SQLite 3.35
    first, later = entry("e1"), NOON + timedelta(hours=1)
    batch = [
        entry("e2", subject="b.md"),
        entry("e1", occurred_at=later),
        entry("e3"),
        entry("e2", subject="b.md"),
    ]
    with Journal(url) as journal:
        assert journal.append_next([first], {}) == [journal.get("e1")]
        assert journal.append_next([first], {}) == [journal.get("e1")]
        written = journal.append_next(batch, {"b.md": 0})
        assert written == [journal.get(one.event_id) for one in batch]
        assert written[1].occurred_at == NOON
        assert journal.append([entry("e4"), entry("e1")]) == (1, 1)


@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=9))])
def test_a_placed_entry_is_a_copy_with_its_place_in_utc(zone: timezone) -> None:
    bare = entry("a", occurred_at=NOON.astimezone(zone))
    later = NOON + timedelta(microseconds=1)
    assert bare.placed(7, later) == replace(bare, occurred_at=NOON, seq=7, ordered_at=later)
    assert bare.placed(7, later).occurred_at.tzinfo is UTC
    assert bare.seq is None


@pytest.mark.parametrize("name", ["event_id", "namespace", "subject", "origin"])
def test_a_text_of_an_entry_is_as_long_as_an_index_allows(name: str) -> None:
    longest = MAX_TEXT_BYTES[name]
    assert getattr(replace(entry("a"), **{name: "é" * (longest // 2)}), name)
    for text in ("x" * (longest + 1), "é" * (longest // 2 + 1), "\0", "\ud800"):
        with pytest.raises(JournalEntryError):
            replace(entry("a"), **{name: text})


def test_a_repetition_within_a_batch_counts_as_already_there(journal: Journal) -> None:
    assert journal.append([entry("e1"), entry("e2"), entry("e1")]) == (2, 1)
    assert ids(journal) == ["e1", "e2"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("kind", "forget"),
        ("namespace", "other"),
        ("subject", "else.md"),
        ("digest", "d2"),
        ("payload", {"text": "bye"}),
    ],
)
def test_the_same_id_with_other_content_is_refused_and_nothing_is_written(
    journal: Journal, field: str, value: object
) -> None:
    journal.append([entry("e1")])
    other = entry("e1", **{field: value})
    for batch in ([entry("new1"), other, entry("new2")], [other]):
        with pytest.raises(JournalConflictError, match=rf"'e1'.*another {field};") as raised:
            journal.append(batch)
        assert isinstance(raised.value, JournalError)
    assert ids(journal) == ["e1"]
    assert journal.get("e1").payload == {"text": "hello"}


def test_a_conflict_within_one_batch_is_refused(journal: Journal) -> None:
    with pytest.raises(
        JournalConflictError, match="'e7' was appended before with another digest and payload"
    ):
        journal.append([entry("e1"), entry("e7"), entry("e7", digest="d2", payload={})])
    assert ids(journal) == []


def test_a_conflict_far_into_a_large_batch_is_found(journal: Journal) -> None:
    batch = [entry(f"e{number}") for number in range(1300)]
    assert journal.append(batch) == (1300, 0)
    assert journal.append(batch) == (0, 1300)
    with pytest.raises(JournalConflictError, match="'e1299'"):
        journal.append([*batch[:-1], entry("e1299", digest="other")])


def test_payload_compressed_by_another_zlib_is_the_same_payload(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    long = entry("e1", payload={"text": "hello " * 1000})
    journal.append([long])
    monkeypatch.setattr(codec, "_LEVEL", 9)
    assert journal.append([long]) == (0, 1)


@settings(max_examples=25, deadline=None)
@given(data=st.data())
def test_any_split_with_any_repetition_gives_the_same_rows(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    entries = [
        entry(f"e{number}", kind=KINDS[number % 5], payload={"n": number * "long " * 100})
        for number in range(count)
    ]
    batches, start = [], 0
    while start < count:
        size = data.draw(st.integers(1, count - start))
        again = data.draw(st.lists(st.integers(0, start + size - 1), max_size=4))
        batches.append((entries[start : start + size], [entries[index] for index in again]))
        start += size

    with (
        TemporaryDirectory() as folder,
        Journal.open_path(Path(folder) / "j.db", durability="normal") as journal,
    ):
        appended = 0
        for new, repeated in batches:
            result = journal.append([*new, *repeated])
            assert result == (len(new), len(repeated))
            appended += result.appended
        frame = journal.read(kinds=KINDS)
        assert appended == count == frame.height
        assert frame["event_id"].to_list() == [one.event_id for one in entries]
        assert frame["kind"].to_list() == [one.kind for one in entries]
        assert [payload_of(raw) for raw in frame["payload"]] == [one.payload for one in entries]


# Reading


@pytest.fixture
def filled(journal: Journal) -> Journal:
    """Six entries over two days, two namespaces and three kinds, appended out of order of time."""
    journal.append(
        [
            entry("late", occurred_at=datetime(2026, 3, 2, 0, 0, tzinfo=UTC)),
            entry("early", occurred_at=datetime(2026, 3, 1, 23, 59, 59, 999999, tzinfo=UTC)),
            entry("search", kind="search", subject="s1"),
            entry("other", namespace="other"),
        ]
    )
    journal.append([entry("feedback", kind="feedback", subject="s1"), entry("forget", kind="forget")])
    return journal


def test_the_last_microsecond_of_a_day_and_the_first_of_the_next(filled: Journal) -> None:
    assert filled.days(["save"]).rows() == [
        ("2026-03-01", "default", 1, 2),
        ("2026-03-01", "other", 1, 4),
        ("2026-03-02", "default", 1, 1),
    ]
    assert ids(filled, kinds=["save"], days=["2026-03-01"]) == ["early", "other"]
    assert ids(filled, kinds=["save"], days=["2026-03-02"]) == ["late"]


def test_a_day_is_the_day_in_utc(journal: Journal) -> None:
    west = timezone(timedelta(hours=-11))
    journal.append([entry("e1", occurred_at=datetime(2026, 2, 28, 13, 0, tzinfo=west))])
    assert journal.read(kinds=KINDS)["day"].to_list() == ["2026-03-01"]


def test_days_count_every_kind_asked_for(filled: Journal) -> None:
    assert filled.days(["search", "feedback", "forget"]).rows() == [("2026-03-01", "default", 3, 6)]
    assert filled.days(["unreadable"]).rows() == []
    assert filled.days([]).rows() == []


def test_read_filters(filled: Journal) -> None:
    assert ids(filled) == ["late", "early", "search", "other", "feedback", "forget"]
    assert ids(filled, kinds=["search", "feedback"]) == ["search", "feedback"]
    assert ids(filled, namespace="other") == ["other"]
    assert ids(filled, namespace="nobody") == []
    assert ids(filled, after_seq=4) == ["feedback", "forget"]
    assert ids(filled, limit=2) == ["late", "early"]
    assert ids(filled, after_seq=1, limit=2, kinds=["save"]) == ["early", "other"]
    assert ids(filled, limit=0) == []
    assert ids(filled, days=[]) == []
    assert ids(filled, days=["2026-03-02", "2026-03-01"], kinds=["save"], namespace="default") == [
        "late",
        "early",
    ]


def test_an_empty_answer_has_the_columns_of_a_full_one(filled: Journal) -> None:
    full = filled.read(kinds=KINDS)
    assert filled.read(kinds=[]).schema == full.schema
    assert full.schema == {
        "seq": pl.Int64,
        "event_id": pl.String,
        "kind": pl.String,
        "namespace": pl.String,
        "subject": pl.String,
        "occurred_at": pl.Datetime("us", "UTC"),
        "ordered_at": pl.Datetime("us", "UTC"),
        "day": pl.String,
        "principal": pl.String,
        "digest": pl.String,
        "content_hash": pl.String,
        "origin": pl.String,
        "payload": pl.Binary,
    }


def test_more_rows_than_one_chunk_keep_their_order_and_payloads(journal: Journal) -> None:
    journal.append([entry(f"e{number}", payload={"n": number}) for number in range(2500)])
    frame = journal.read(kinds=["save"])
    assert frame["seq"].is_sorted()
    assert frame["seq"].n_unique() == 2500
    assert [payload_of(raw)["n"] for raw in frame["payload"]] == list(range(2500))


def test_a_resumed_read_neither_misses_nor_repeats(journal: Journal) -> None:
    seen: list[str] = []
    after = 0
    for round_ in range(3):
        journal.append([entry(f"e{round_}.{number}") for number in range(5)])
        while (part := journal.read(kinds=KINDS, after_seq=after, limit=2)).height:
            seen += part["event_id"].to_list()
            after = part["seq"].max()
    assert seen == [f"e{round_}.{number}" for round_ in range(3) for number in range(5)]


# Sources


def test_entries_are_found_by_their_ids(journal: Journal) -> None:
    journal.append([entry(f"e{number}", payload={"n": number}) for number in range(1_200)])
    found = journal.entries([*(f"e{number}" for number in range(0, 1_200, 2)), "e0", "missing"])
    assert {event_id: one.payload["n"] for event_id, one in found.items()} == {
        f"e{number}": number for number in range(0, 1_200, 2)
    }
    assert journal.entries([]) == {}


def test_latest_sources_is_the_newest_act_on_each_subject(journal: Journal) -> None:
    minute = timedelta(minutes=1)
    journal.append(
        [
            entry("a-new", subject="a.md", occurred_at=NOON + minute, digest="new"),
            # Written last, by a machine whose clock is behind: the last word counts, whatever its date.
            entry("a-last", subject="a.md", occurred_at=NOON, digest="last"),
            entry("b-first", subject="b.md", digest="first"),
            entry("b-second", subject="b.md", kind="forget", digest="", content_hash=""),
            entry("c", subject="c.md", kind="unreadable", digest="bytes", content_hash=""),
            entry("search", subject="a.md", kind="search", occurred_at=NOON + 5 * minute),
            entry("elsewhere", subject="a.md", namespace="other", occurred_at=NOON + 5 * minute),
            entry("by-hand", subject="a.md", origin="", occurred_at=NOON + 5 * minute),
        ]
    )
    frame = journal.latest_sources("default", "file:///vault")
    assert frame.rows() == [
        ("a.md", "save", "last", "c1", NOON, "a-last"),
        ("b.md", "forget", "", "", NOON, "b-second"),
        ("c.md", "unreadable", "bytes", "", NOON, "c"),
    ]
    assert journal.latest_sources("default", "")["event_id"].to_list() == ["by-hand"]
    empty = journal.latest_sources("default", "file:///unknown")
    assert empty.height == 0
    assert empty.schema == frame.schema


def test_the_order_of_acts_is_that_of_the_journal_whatever_the_clocks_say(url: str) -> None:
    minute, tick = timedelta(minutes=1), timedelta(microseconds=1)
    one = partial(entry, origin="vault", subject="vault/note.md")
    with Journal(url) as journal:
        journal.append([one("a", occurred_at=NOON), one("b", occurred_at=NOON - minute)])
        journal.append([one("c", occurred_at=NOON)])
        journal.append([one("a", occurred_at=NOON)])  # again: it keeps its place
        journal.append([one("d", occurred_at=NOON + minute)])
    with Journal(url) as journal:
        journal.append([one("e", occurred_at=NOON - timedelta(days=400))])
        found = journal.read(kinds=KINDS)
        assert found["event_id"].to_list() == list("abcde")
        later = [NOON, NOON + tick, NOON + 2 * tick, NOON + minute, NOON + minute + tick]
        assert found["ordered_at"].to_list() == later
        last = journal.get("e")
        assert last is not None
        assert last.ordered_at == later[-1]
        assert last.occurred_at == NOON - timedelta(days=400)
        assert [about.event_id for about in journal.about("default", last.subject)] == list("abcde")
        newest = journal.latest_sources("default", last.origin)
        assert newest["event_id"].to_list() == ["e"]


def test_sources_are_added_once_and_removed(journal: Journal) -> None:
    assert journal.sources() == []
    assert journal.add_source("default", "b", "file:///b", added_at=NOON, principal="ann")
    assert journal.add_source(
        "default", "a", "file:///a", added_at=NOON + timedelta(hours=1), principal="bob"
    )
    assert not journal.add_source(
        "default", "b", "file:///b", added_at=NOON + timedelta(hours=2), principal="eve"
    )
    assert journal.sources() == [
        WatchedVault("default", "b", "file:///b", NOON, "ann"),
        WatchedVault("default", "a", "file:///a", NOON + timedelta(hours=1), "bob"),
    ]
    assert journal.remove_source("default", "b")
    assert not journal.remove_source("default", "b")
    assert [source.uri for source in journal.sources()] == ["file:///a"]


def test_a_source_needs_an_aware_time_a_namespace_and_a_uri(journal: Journal) -> None:
    with pytest.raises(JournalEntryError, match=r"datetime\(2026, 3, 1, 12, 0\) has no time zone"):
        journal.add_source("default", "a", "file:///a", added_at=NOON.replace(tzinfo=None), principal="ann")
    with pytest.raises(JournalEntryError, match="namespace '', name 'a'"):
        journal.add_source("", "a", "file:///a", added_at=NOON, principal="ann")


# Values that are refused


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"event_id": ""}, "kind 'save' has an empty event id"),
        ({"namespace": ""}, "entry 'e1' has an empty namespace"),
        (
            {"kind": "saved"},
            "unknown kind 'saved'; use one of save, forget, unreadable, undo, accept, discard, search",
        ),
        ({"occurred_at": NOON.replace(tzinfo=None)}, r"datetime\(2026, 3, 1, 12, 0\) without a time zone"),
        ({"subject": "caf\udce9.md"}, r"subject 'caf\\udce9.md', which is not valid Unicode \(character 3\)"),
        ({"subject": "a\0b"}, r"subject 'a\\x00b' with a NUL"),
        ({"principal": "é\0"}, "principal 'é.*' with a NUL"),
        ({"subject": "é" * 513}, "subject 'é{80}'… of 1026 bytes; shorten it to 1024 bytes"),
        ({"event_id": "x" * 1025}, "event_id 'x{80}'… of 1025 bytes"),
    ],
)
def test_an_entry_with_a_bad_value_cannot_be_made(changes: dict[str, object], message: str) -> None:
    with pytest.raises(JournalEntryError, match=message) as raised:
        entry(**{"event_id": "e1", **changes})
    assert isinstance(raised.value, ValueError)


@pytest.mark.parametrize(
    "payload", [{"bytes": b"x"}, {"big": 2**70}, {"text": "\udce9"}, {1: "number as key"}]
)
def test_a_payload_that_is_not_json_is_refused_before_anything_is_written(
    journal: Journal, payload: dict[str, object]
) -> None:
    with pytest.raises(JournalEntryError, match="payload of entry 'bad' cannot be written as JSON"):
        journal.append([entry("good"), entry("bad", payload=payload)])
    assert ids(journal) == []


def test_a_query_with_a_bad_argument_is_refused(journal: Journal) -> None:
    with pytest.raises(JournalEntryError, match="unknown kind 'saves'"):
        journal.read(kinds=["saves"])
    with pytest.raises(JournalEntryError, match="unknown kind 's'"):
        journal.days("save")
    for day in ("20260301", "2026-02-30", "yesterday"):
        with pytest.raises(JournalEntryError, match=f"'{day}' is not a day"):
            journal.read(kinds=KINDS, days=[day])
    with pytest.raises(JournalEntryError, match="limit is -1"):
        journal.read(kinds=KINDS, limit=-1)


def test_errors_are_runtime_errors_of_slowwave() -> None:
    assert issubclass(JournalError, RuntimeError)
    assert issubclass(JournalError, SlowwaveError)


# Payload bytes


@pytest.mark.parametrize("size", [0, 1, 1000, 1024, 1025, 100_000])
def test_payload_bytes_round_trip_around_the_limit_of_compression(size: int) -> None:
    payload = {"text": "ж" * size}
    stored = codec.encode(payload, "e1")
    assert payload_of(codec.decode(stored)) == payload
    plain = len(codec.decode(stored))
    assert stored[0] == (1 if plain > codec.COMPRESS_ABOVE else 0)
    assert len(stored) <= plain + 1


def test_damaged_payload_bytes_are_told_apart() -> None:
    with pytest.raises(JournalError, match=r"unknown codec byte b'\\x07'"):
        codec.decode(b"\x07{}")
    with pytest.raises(JournalError, match="unknown codec byte b''"):
        codec.decode(b"")
    with pytest.raises(JournalError, match="5 bytes cannot be decompressed"):
        codec.decode(b"\x01oops")


# Opening, closing, sharing


def test_two_objects_and_a_reopening_see_the_same_entries(url: str) -> None:
    with Journal(url) as one, Journal(url, durability="normal") as two:
        one.append([entry("e1")])
        assert ids(two) == ["e1"]
        assert two.append([entry("e1"), entry("e2")]) == (1, 1)
        assert ids(one) == ["e1", "e2"]
        with pytest.raises(JournalConflictError):
            one.append([entry("e2", digest="other")])
    with Journal(url) as again:
        assert ids(again) == ["e1", "e2"]
        assert again.check() == []


def test_a_closed_journal_says_so(url: str) -> None:
    journal = Journal(url)
    journal.close()
    journal.close()
    with pytest.raises(JournalError, match="was closed; open it again"):
        journal.append([entry("e1")])


def test_a_reader_does_not_wait_for_a_writer(path: Path) -> None:
    with Journal.open_path(path) as journal:
        journal.append([entry("e1")])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        assert ids(journal) == ["e1"]
        other.close()


def test_threads_share_one_journal(journal: Journal) -> None:
    workers, each = 6, 30
    failures: list[BaseException] = []
    start = threading.Barrier(workers)

    def work(worker: int) -> None:
        try:
            start.wait()
            for number in range(each):
                # Every id is appended by two workers, the payload tells which.
                event_id = f"e{worker // 2}.{number}"
                journal.append([entry(event_id, kind="search", payload={"id": event_id})])
                assert journal.get(event_id).payload == {"id": event_id}
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(workers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    frame = journal.read(kinds=["search"])
    assert set(frame["event_id"]) == {f"e{group}.{number}" for group in range(3) for number in range(each)}
    assert frame.height == 3 * each


def test_seq_never_appears_behind_one_already_seen(url: str) -> None:
    """A writer that starts first cannot commit a smaller seq after a larger one was read."""
    with Journal(url, durability="normal") as reader, Journal(url, durability="normal") as writer:
        stop = threading.Event()

        def write(name: str) -> None:
            number = 0
            while not stop.is_set():
                # Batches and single entries take their turns in different ways.
                size = 20 if number % 5 == 0 else 1
                writer.append([entry(f"{name}{number}.{part}") for part in range(size)])
                number += 1

        threads = [threading.Thread(target=write, args=(name,)) for name in "abc"]
        for thread in threads:
            thread.start()
        seen: list[str] = []
        after = 0
        for _ in range(40):
            part = reader.read(kinds=KINDS, after_seq=after)
            seen += part["event_id"].to_list()
            after = part["seq"].max() or after
        stop.set()
        for thread in threads:
            thread.join()
        seen += ids(reader, after_seq=after)
        assert seen == ids(reader)
        assert len(seen) >= 60


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_connection_that_the_server_ended_is_replaced(url: str) -> None:
    import psycopg

    with Journal(f"{url}&application_name=ended") as journal, psycopg.connect(url, autocommit=True) as server:
        for number in range(3):
            assert journal.append([entry(f"e{number}")]) == (1, 0)
            server.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'ended'"
            )
        assert ids(journal) == ["e0", "e1", "e2"]


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_a_writer_that_waits_for_too_long_says_so(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    begin = connection._BEGIN["postgresql", True]
    monkeypatch.setitem(connection._BEGIN, ("postgresql", True), begin.replace("'30s'", "'100ms'"))
    with Journal(url) as journal:
        with (
            journal._connections.writing(),
            pytest.raises(JournalError, match="lock timeout; another"),
        ):
            journal.append([entry("e1")])
        assert journal.append([entry("e1")]) == (1, 0)


def test_who_wants_what_another_one_holds_says_so_and_waits_for_it(url: str) -> None:
    queued, done = threading.Event(), []

    @contextmanager
    def waiting() -> Iterator[None]:
        queued.set()
        yield

    with Journal(url) as journal, Journal(url) as other:

        def wait() -> None:
            with other.exclusive("night", waiting()):
                done.append("second")

        thread = threading.Thread(target=wait)
        with journal.exclusive("night"):
            thread.start()
            assert queued.wait(60)
            with other.exclusive("memories"):  # is another lock
                done.append("first")
        thread.join()
        queued.clear()
        with journal.exclusive("night", waiting()):
            assert not queued.is_set()
    assert done == ["first", "second"]


def test_a_wait_ends_without_the_lock_when_there_is_nothing_to_wait_for(url: str) -> None:
    asked = []

    def enough() -> bool:
        asked.append(True)
        return len(asked) == 3

    with Journal(url) as journal, Journal(url) as other:
        with journal.exclusive(), other.exclusive(until=enough) as held:
            assert not held
        assert len(asked) == 3
        with other.exclusive(until=enough) as held:  # it is free: nothing is asked
            assert held
        with journal.exclusive() as held:  # and was given back
            assert held
    assert len(asked) == 3


def test_who_waits_is_known_to_all_and_is_told_what_came_of_it(url: str) -> None:
    with Journal(url) as journal, Journal(url) as other:
        journal.queue.join(["e1", "e2"], "rules")
        other.queue.join(["e3"], "other rules")
        assert sorted(other.queue.waiting("rules", 10)) == ["e1", "e2"]
        assert len(other.queue.waiting("rules", 1)) == 1
        other.queue.answer({"e1": {"status": "live"}, "e2": None})
        assert journal.queue.answers(["e1", "e2", "e3"]) == {"e1": {"status": "live"}, "e2": None}
        assert journal.queue.waiting("rules", 10) == []
        journal.queue.join(["e1"], "rules")  # waits again
        assert journal.queue.answers(["e1"]) == {}
        journal.queue.leave(["e1", "e2"])
        assert other.queue.answers(["e1", "e2"]) == {}
        assert other.queue.waiting("other rules", 10) == ["e3"]


def test_a_path_may_hold_any_characters(tmp_path: Path) -> None:
    odd = tmp_path / "a folder?" / "50%20 #ж" / "journal.db"
    with Journal.open_path(odd) as journal:
        journal.append([entry("e1")])
    assert odd.is_file()
    with Journal.open_path(odd) as journal:
        assert ids(journal) == ["e1"]


@pytest.mark.parametrize(("durability", "synchronous"), [("full", 2), ("normal", 1)])
def test_durability_is_what_sqlite_runs_with(path: Path, durability: str, synchronous: int) -> None:
    with (
        Journal.open_path(path, durability=durability) as journal,
        journal._connections.writing() as inside,
    ):
        assert inside.exec_driver_sql("PRAGMA synchronous").scalar() == synchronous
        assert inside.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000
        assert inside.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"


@pytest.mark.parametrize(
    ("use", "index"),
    [
        (
            lambda journal: journal.read(kinds=KINDS, days=["2026-03-01"]),
            "journal_entries_by_day (kind=? AND day=?)",
        ),
        (lambda journal: journal.days(KINDS), "COVERING INDEX journal_entries_by_day"),
        (
            lambda journal: journal.latest_sources("default", "o"),
            "COVERING INDEX journal_entries_by_order (namespace=? AND origin",
        ),
        (lambda journal: journal.get("e1"), "(event_id=?)"),
    ],
)
def test_queries_use_their_index_and_sort_no_payloads(
    path: Path, use: Callable[[Journal], object], index: str
) -> None:
    from sqlalchemy import event

    with Journal.open_path(path) as journal:
        journal.append([entry(f"e{number}", subject=f"{number}") for number in range(100)])
        statements = []
        event.listen(
            journal._connections._engine,
            "before_cursor_execute",
            lambda _c, _cursor, statement, parameters, _context, _many: statements.append(
                (statement, parameters)
            ),
        )
        use(journal)
    statement, parameters = statements[-1]
    with sqlite3.connect(path) as raw:
        steps = [row[3] for row in raw.execute(f"EXPLAIN QUERY PLAN {statement}", parameters)]
    assert any(index in step for step in steps), steps
    assert not any(step.startswith("SCAN journal_entries") and "INDEX" not in step for step in steps), steps


# Errors a person can act on


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("journal.db", "cannot parse journal URL 'journal.db' .*sqlite:///journal.db"),
        ("postgresql://ann:secret@host:port/x", "cannot parse journal URL 'host:port/x'"),
        ("mysql://host/x", "begins with 'mysql'; use sqlite or postgresql"),
        ("sqlite://", "in memory would not outlive"),
        ("sqlite:///:memory:", "in memory would not outlive"),
    ],
)
def test_a_url_that_cannot_be_used(url: str, message: str) -> None:
    with pytest.raises(JournalError, match=message) as raised:
        Journal(url)
    assert "secret" not in str(raised.value)


def test_durability_must_be_known(path: Path) -> None:
    with pytest.raises(JournalError, match="durability is 'fast'; use 'full' or 'normal'"):
        Journal.open_path(path, durability="fast")


@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_a_missing_driver_names_the_extra(monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(JournalError, match=r"pip install '\.\[postgres\]'"):
        Journal(f"{scheme}://ann:secret@localhost/x")


def test_a_server_that_is_not_there() -> None:
    pytest.importorskip("psycopg")
    with pytest.raises(JournalError, match="check that the server runs") as raised:
        Journal("postgresql://ann:secret@127.0.0.1:1/x")
    assert "secret" not in str(raised.value)


def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(JournalError, match=r"folder .*file.* cannot be created"):
        Journal.open_path(tmp_path / "file" / "journal.db")


def test_a_path_that_is_a_folder(tmp_path: Path) -> None:
    with pytest.raises(JournalError, match="unable to open database file; check that its folder exists"):
        Journal.open_path(tmp_path)


def test_a_file_that_is_not_a_database(path: Path) -> None:
    path.write_text("# a note\n" * 1000)
    with pytest.raises(JournalError, match=f"{path}: file is not a database; .*slowwave rebuild --journal$"):
        Journal.open_path(path)
    assert path.read_text().startswith("# a note")


def test_a_journal_that_another_process_holds(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "LOCK_TIMEOUT_S", 0.1)
    with Journal.open_path(path) as journal:
        journal.append([entry("e1")])
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(JournalError, match="database is locked; another process"):
            journal.append([entry("e2")])
        other.execute("ROLLBACK")
        other.close()
        assert journal.append([entry("e2")]) == (1, 0)


def test_a_newer_schema_is_refused_and_left_alone(path: Path) -> None:
    with Journal.open_path(path) as journal:
        journal.append([entry("e1")])
    with sqlite3.connect(path) as raw:
        raw.execute("UPDATE journal_meta SET value = '4' WHERE key = 'schema_version'")
    with pytest.raises(JournalError, match="schema version 4, and this Slowwave supports version 3: open it"):
        Journal.open_path(path)
    with sqlite3.connect(path) as raw:
        assert raw.execute("SELECT value FROM journal_meta").fetchall() == [("4",)]


@pytest.mark.parametrize("version", ["1", "2"])
def test_an_older_schema_is_refused_and_left_alone(path: Path, version: str) -> None:
    with Journal.open_path(path) as journal:
        journal.append([entry("e1")])
    with closing(sqlite3.connect(path)) as raw, raw:
        raw.execute("DROP INDEX journal_entries_by_order")
        raw.execute("ALTER TABLE journal_entries DROP COLUMN ordered_at")
        raw.execute("UPDATE journal_meta SET value = ? WHERE key = 'schema_version'", [version])
    before = path.read_bytes()
    message = f"schema version {version}, .* supports version 3: open it with an older Slowwave first"
    for _ in range(2):
        with pytest.raises(JournalError, match=message):
            Journal.open_path(path)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir() if file.stat().st_size] == [path.name]


# Checking


def test_a_sound_journal_has_nothing_to_report(filled: Journal) -> None:
    before = ids(filled)
    assert filled.check() == []
    assert ids(filled) == before


def test_check_finds_damage(path: Path) -> None:
    with Journal.open_path(path) as journal:
        journal.append(
            [entry(f"e{number}", payload={"n": number, "text": "x" * 500}) for number in range(500)]
        )
    size = path.stat().st_size
    with path.open("r+b") as file:
        file.seek(size // 2 // 4096 * 4096)
        file.write(b"\xff" * 4096)
    with Journal.open_path(path) as journal:
        problems = journal.check()
    assert problems
    assert all(str(path) in problem for problem in problems)
    assert any("damaged" in problem for problem in problems)


def test_check_finds_a_journal_that_cannot_be_written(path: Path) -> None:
    with Journal.open_path(path) as journal:
        journal.append([entry("e1")])
    with Journal(f"sqlite:///file:{path}?mode=ro&uri=true") as journal:
        assert ids(journal) == ["e1"]
        (problem,) = journal.check()
        assert "attempt to write a readonly database; it may not be written" in problem
        with pytest.raises(JournalError, match="readonly database"):
            journal.append([entry("e2")])
    assert not (Path.cwd() / "file:").exists()


def test_check_finds_a_file_out_of_wal_mode(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engines, "_switch_to_wal", lambda _connection: None)
    with Journal.open_path(path) as journal:
        (problem,) = journal.check()
    assert "is in delete mode instead of wal" in problem


def test_check_finds_a_schema_changed_under_an_open_journal(path: Path) -> None:
    with Journal.open_path(path) as journal:
        with sqlite3.connect(path) as raw:
            raw.execute("UPDATE journal_meta SET value = '9'")
        (problem,) = journal.check()
    assert "schema version 9" in problem
