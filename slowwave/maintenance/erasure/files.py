"""What else of a home may quote an erased text: the warehouse, pages, and Dagster's record of its runs."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from slowwave.backup import catalog
from slowwave.common.permissions import file_mode
from slowwave.errors import StoreError
from slowwave.maintenance.erasure.quote_detection import QuoteFingerprints, plain, vocabulary
from slowwave.scoring.ranking.words import as_asked, words

WAREHOUSE = "warehouse.duckdb"
PAGES = frozenset(
    {".html", ".htm", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".log", ".svg", ".md"}
)
"""Ends of names of files that reports and exports are written to; in a home they are removed."""
_OWN = ("lance", "dagster")
_SET_ASIDE = "journal.db.damaged-"
_SQLITE = b"SQLite format 3\x00"
_PATIENCE_S = 30
_MADE_ANEW = (".html", ".htm", ".svg")  # reports and plots, which a command makes again
_SEVERAL, _SHARE = 3, 0.1  # words of a text's own that are no accident: count, and of all that a file says
# Other rows are of runs themselves: the words of their events are ours, not anybody's notes'.
_TELLING = ("asset_key", "last_materialization", "evaluation_event")
_FORGETFUL = {"asset_keys": ("last_materialization", "cached_status_data")}
"""Tables whose rows stay without these columns: what they name goes on to be."""


def drop_warehouse(home: Path) -> int:
    """Remove the warehouse, which the next evaluation builds again; how many files it was.

    Raises:
        StoreError: it is being built.
    """
    from filelock import FileLock, Timeout

    path = home / WAREHOUSE
    try:
        with FileLock(f"{path}.lock", timeout=_PATIENCE_S, mode=file_mode(home)):
            there = [one for one in sorted(home.glob(f"{WAREHOUSE}*")) if one.suffix != ".lock"]
            for one in there:
                one.unlink()
    except Timeout:
        raise StoreError(
            f"Another process has been building {path} for {_PATIENCE_S} s. Wait for it, then run "
            f"`slowwave erase --finish`."
        ) from None
    return len(there)


@dataclass(frozen=True, slots=True)
class Pages:
    """Files of a home beside the tables, most of them reports and exports.

    Attributes:
        go: that quote what was erased.
        stay: that say a word of it, and may have it from elsewhere.
    """

    go: tuple[Path, ...]
    stay: tuple[Path, ...]


def quoting_pages(
    home: Path, needles: QuoteFingerprints, memories: Collection[str], spared: Collection[Path]
) -> Pages:
    """Files that quote an erased text: with its title, source or id, or with several of its own words.

    Of a page one such word is enough: a command makes it again.

    Args:
        home: in which they are.
        needles: by what the text is known.
        memories: ids of what is erased.
        spared: files and folders that are not looked at: vaults, and what the settings name.
    """
    names = (one for one in needles.phrases if len(words(as_asked(one))) > 1)  # a word alone is anybody's
    whole = QuoteFingerprints(frozenset(), (*names, *memories))
    go, stay = list[Path](), list[Path]()
    for path in sorted(home.rglob("*")):
        inside = path.relative_to(home)
        if not path.is_file() or inside.parts[0] in _OWN:
            continue
        if inside.name.startswith(_SET_ASIDE):  # a journal of before, which nobody looks into
            go.append(path)
            continue
        own = inside.name.startswith("erasing-") or inside.name == catalog.FILE
        if own or path.suffix.lower() not in PAGES or any(map(path.is_relative_to, spared)):
            continue
        text = plain(path.read_text(encoding="utf-8", errors="replace"))
        there = vocabulary([text])
        said = len(needles.words & there)
        several = said >= min(_SEVERAL, len(needles.words)) and said >= _SHARE * len(there)
        if any(whole.named([text])) or (said and (several or path.suffix.lower() in _MADE_ANEW)):
            go.append(path)
        elif said:
            stay.append(path)
    return Pages(tuple(go), tuple(stay))


def clean_dagster(folder: Path, needles: QuoteFingerprints) -> int:
    """Take what quotes an erased text out of Dagster's files; how many rows and files that were.

    Args:
        folder: of the home's Dagster instance.
        needles: by what a text is known that quotes it.
    """
    removed = 0
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.name.endswith(("-wal", "-shm", "-journal", ".yaml")):
            continue
        with path.open("rb") as file:
            database = file.read(len(_SQLITE)) == _SQLITE
        if database:
            removed += _clean_database(path, needles)
        elif any(needles.named([path.read_text(encoding="utf-8", errors="replace")])):
            path.unlink()
            removed += 1
    return removed


def _clean_database(path: Path, needles: QuoteFingerprints) -> int:
    removed = 0
    with closing(sqlite3.connect(path, timeout=_PATIENCE_S, isolation_level=None)) as connection:
        connection.execute("PRAGMA secure_delete=ON")
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in tables:
            rows = list(_quoting(connection, table, needles))
            removed += len(rows)
            lost = ", ".join(f"{column} = NULL" for column in _FORGETFUL.get(table, ()))
            act = f'UPDATE "{table}" SET {lost}' if lost else f'DELETE FROM "{table}"'  # noqa: S608
            connection.executemany(f"{act} WHERE rowid = ?", [(row,) for row in rows])
        # Always: what was taken out by another hand may still be in a free page.
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return removed


def _quoting(connection: sqlite3.Connection, table: str, needles: QuoteFingerprints) -> Iterator[int]:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    tells = [name for name in _TELLING if name in columns]
    chosen = ", ".join(f'"{name}"' for name in columns)
    told = " OR ".join(f'"{name}" IS NOT NULL' for name in tells) or "0"
    cursor = connection.execute(f'SELECT rowid, ({told}), {chosen} FROM "{table}"')  # noqa: S608 - its own names
    while rows := cursor.fetchmany(500):
        texts = [" ".join(part for part in row[2:] if isinstance(part, str)) for row in rows]
        named = needles.named(texts)
        mentioned = needles.mentioned(texts)
        for row, whole, phrase in zip(rows, named, mentioned, strict=True):
            if phrase or (whole and row[1]):
                yield row[0]
