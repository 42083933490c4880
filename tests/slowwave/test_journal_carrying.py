"""Journals whose rows are carried to another one, between both databases."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import servers

from slowwave.journal import Entry, Journal, JournalError
from slowwave.journal.erasing import emptied
from slowwave.journal.transfer import COLUMNS, Digest, encoded

ROOT = Path(__file__).parents[2]
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
PAIRS = [("sqlite", "sqlite"), ("sqlite", "postgresql"), ("postgresql", "sqlite"), ("postgresql",) * 2]

Make = Callable[[str], Journal]


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with servers.postgres() as url:
        yield url


@pytest.fixture
def make(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Make]:
    """New journals: of SQLite a file each, of PostgreSQL a schema each."""
    opened = []

    def new(kind: str) -> Journal:
        if kind == "sqlite":
            url = f"sqlite:///{tmp_path / uuid.uuid4().hex}.db"
        else:
            import psycopg

            url, schema = request.getfixturevalue("server"), f"j{uuid.uuid4().hex}"
            with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
                connection.execute(f"CREATE SCHEMA {schema}")
            url += f"&options=-csearch_path%3D{schema}"
        opened.append(Journal(url, durability="normal"))
        return opened[-1]

    yield new
    for journal in opened:
        journal.close()


def entry(number: int, **changes: object) -> Entry:
    about = {
        "event_id": f"e{number}",
        "kind": "save",
        "namespace": "default",
        "subject": f"заметки/{number % 7}.md",
        "occurred_at": NOON - timedelta(seconds=number),  # a clock that goes back: the order is another
        "principal": "ann",
        "digest": f"d{number}",
        "payload": {"text": "é" * (number * 40 % 3000), "n": number},
    }
    return Entry(**{**about, **changes})


def filled(journal: Journal, rows: int = 60) -> Journal:
    for number in range(rows):
        journal.append([entry(number)])
    journal.append([entry(0)])  # nothing new, but PostgreSQL's sequence has gone on
    for name in ("b", "A", "ä"):
        journal.add_source("default", name, f"file:///{name}", added_at=NOON, principal="ann")
    journal.append([entry(rows)])
    return journal


def carry(source: Journal, target: Journal, most: int = 7) -> None:
    for page in source.rows.pages(after=target.last_seq(), most=most):
        target.rows.put(page)
    target.rows.put_sources(source.rows.sources())


@pytest.mark.parametrize(("one", "other"), PAIRS)
def test_a_carried_journal_is_equal_and_goes_on_behind_its_last_act(make: Make, one: str, other: str) -> None:
    source, target = filled(make(one)), make(other)
    carry(source, target)
    assert [*target.rows.pages()] == [*source.rows.pages()]
    assert target.rows.digest() == source.rows.digest()
    assert target.rows.sources() == source.rows.sources()
    assert target.sources() == source.sources()
    assert target.get("e59") == source.get("e59")
    assert target.check() == []

    assert target.append([entry(1000)]).appended == 1
    written = target.get("e1000")
    assert written.seq == source.last_seq() + 1
    assert written.ordered_at > source.get("e60").ordered_at


@pytest.mark.parametrize(("one", "other"), PAIRS[:2])
def test_a_carrying_that_was_killed_goes_on(make: Make, one: str, other: str) -> None:
    source, target = filled(make(one)), make(other)
    pages = [*source.rows.pages(most=9)]
    for page in pages[:3]:
        assert target.rows.put(page) == 9
    assert target.rows.put(pages[2]) == 0
    assert target.rows.put(pages[2][5:] + pages[3]) == 9  # other bounds of pages
    carry(source, target)
    assert target.rows.digest() == source.rows.digest()


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_what_has_other_acts_is_not_written_over(make: Make, kind: str) -> None:
    source, target = filled(make("sqlite")), make(kind)
    target.append([entry(500)])
    before = target.rows.digest()
    with pytest.raises(JournalError, match="another entry at place 1"):
        target.rows.put(next(source.rows.pages()))
    assert target.rows.digest() == before


def test_pages_have_a_beginning_and_an_end(make: Make) -> None:
    rows = filled(make("sqlite")).rows
    found = [[row[0] for row in page] for page in rows.pages(after=10, until=17, most=3)]
    assert found == [[11, 12, 13], [14, 15, 16], [17]]
    assert list(rows.pages(after=17, until=17)) == []
    assert rows.count() == 61
    assert rows.count(until=17) == 17
    assert list(make("sqlite").rows.pages()) == []


def test_a_digest_is_of_every_value_and_not_of_the_pages(make: Make) -> None:
    rows = filled(make("sqlite")).rows
    (whole,) = rows.pages()
    digest = Digest()
    for row in whole:
        digest.add([row])
    assert digest.value() == rows.digest()
    row = whole[3]
    for at, name in enumerate(COLUMNS):
        other = {int: 7777, str: "other", bytes: b"\0{}"}[type(row[at])]
        assert encoded((*row[:at], other, *row[at + 1 :])) != encoded(row), name
    assert encoded(("a", "bc")) != encoded(("ab", "c"))


@pytest.mark.parametrize("kind", ["sqlite", "postgresql"])
def test_an_erasure_is_noticed(make: Make, kind: str) -> None:
    journal = filled(make(kind))
    before, erasures = journal.rows.digest(until=61), journal.rows.erasures()
    act = entry(0, event_id="erasure", kind="erasure", subject="x")
    journal.erase(act, {5: emptied("erasure", "save", subject="erased:x")})
    assert journal.rows.digest(until=61) != before
    assert journal.rows.erasures() == erasures + 2
    copy = make("sqlite")
    carry(journal, copy)
    assert copy.rows.digest() == journal.rows.digest()
