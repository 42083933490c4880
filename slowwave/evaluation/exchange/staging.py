"""Temporary staging of parsed log lines, grouped by search.

The results and the feedback of a search may be anywhere in the logs, and nothing is written before all are
read. So the lines wait in a temporary SQLite database, on disk beyond a small cache. SQLite deletes it on
close.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import NamedTuple

_CACHE_KIB = 65_536
_BATCH = 1_000

_TABLES = """
CREATE TABLE facts (search TEXT, at INTEGER, file INTEGER, line INTEGER, content BLOB);
CREATE TABLE firsts (search TEXT PRIMARY KEY, at INTEGER) WITHOUT ROWID;
CREATE TABLE seen (memory_id TEXT PRIMARY KEY) WITHOUT ROWID;
"""


class Fact(NamedTuple):
    """Parsed line: search, time (microseconds), place and content."""

    search: str
    at: int
    file: str
    line: int
    content: bytes


class Staging:
    """Staged facts of one import: added in any order, read by search, earliest first."""

    def __init__(self) -> None:
        self._db = sqlite3.connect("", isolation_level=None)
        self._db.execute(f"PRAGMA cache_size = -{_CACHE_KIB}")
        self._db.execute("PRAGMA journal_mode = OFF")
        self._db.execute("PRAGMA synchronous = OFF")
        self._db.executescript(_TABLES)
        self._db.execute("BEGIN")
        self._waiting: list[tuple[str, int, int, int, bytes]] = []
        self._files: dict[str, int] = {}

    def add(self, fact: Fact) -> None:
        """Add a fact."""
        number = self._files.setdefault(fact.file, len(self._files))
        self._waiting.append((fact.search, fact.at, number, fact.line, fact.content))
        if len(self._waiting) >= _BATCH:
            self._flush()

    def leave_out(self, before: int) -> int:
        """Delete searches whose first fact is earlier, with all their facts; return the count of facts."""
        self._find_firsts()
        self._db.execute("DELETE FROM firsts WHERE at < ?", (before,))
        return self._db.execute("DELETE FROM facts WHERE search NOT IN (SELECT search FROM firsts)").rowcount

    def earliest(self) -> Fact | None:
        """Return the earliest fact."""
        self._flush()
        rows = self._db.execute("SELECT * FROM facts ORDER BY at, file, line LIMIT 1").fetchall()
        return next(iter(self._facts(rows)), None)

    def __len__(self) -> int:
        self._flush()
        return int(self._db.execute("SELECT count(*) FROM facts").fetchone()[0])

    def groups(self) -> Iterator[list[Fact]]:
        """Yield the facts of each search in time order, searches by their first fact."""
        self._find_firsts()
        rows = self._db.execute(
            "SELECT facts.* FROM facts JOIN firsts USING (search) "
            "ORDER BY firsts.at, facts.search, facts.at, facts.file, facts.line"
        )
        for _, group in groupby(self._facts(rows), key=attrgetter("search")):
            yield list(group)

    def see(self, memories: Iterable[str]) -> None:
        """Record the memories that the logs mention."""
        self._db.executemany("INSERT OR IGNORE INTO seen VALUES (?)", [(memory,) for memory in memories])

    def seen(self) -> Iterator[Sequence[str]]:
        """Yield the recorded memories in batches, each once."""
        cursor = self._db.execute("SELECT memory_id FROM seen ORDER BY memory_id")
        while rows := cursor.fetchmany(_BATCH):
            yield [row[0] for row in rows]

    def close(self) -> None:
        """Close and delete the database."""
        self._db.close()

    def _find_firsts(self) -> None:
        self._flush()
        self._db.execute("DELETE FROM firsts")
        self._db.execute("INSERT INTO firsts SELECT search, min(at) FROM facts GROUP BY search")

    def _flush(self) -> None:
        self._db.executemany("INSERT INTO facts VALUES (?, ?, ?, ?, ?)", self._waiting)
        self._waiting.clear()

    def _facts(self, rows: Iterable[tuple[str, int, int, int, bytes]]) -> Iterator[Fact]:
        names = list(self._files)
        for search, at, file, line, content in rows:
            yield Fact(search, at, names[file], line, content)
