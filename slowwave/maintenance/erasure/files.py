"""Other files of a home that may quote an erased text: warehouse, pages and Dagster's storage."""

from __future__ import annotations

import shutil
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
from slowwave.search.deliveries import FOLDER

WAREHOUSE = "warehouse.duckdb"
PAGES = frozenset(
    {".html", ".htm", ".json", ".jsonl", ".ndjson", ".csv", ".tsv", ".txt", ".log", ".svg", ".md"}
)
"""Suffixes of reports and exports. In a home, files that quote an erased text are removed."""
_OWN = ("lance", "dagster")
_SET_ASIDE = "journal.db.damaged-"
_SQLITE = b"SQLite format 3\x00"
_PATIENCE_S = 30
_MADE_ANEW = (".html", ".htm", ".svg")  # reports and plots, which a command recreates
_SEVERAL, _SHARE = 3, 0.1  # unique words that are no coincidence: count, and share of a file's words
# Other rows are about runs: their events have our words, not those of notes.
_TELLING = ("asset_key", "last_materialization", "evaluation_event")
_FORGETFUL = {"asset_keys": ("last_materialization", "cached_status_data")}
"""Tables whose rows stay, without these columns."""


def drop_warehouse(home: Path) -> int:
    """Remove the warehouse, which the next evaluation recreates. Return the number of files.

    Raises:
        StoreError: It is being built.
    """
    from filelock import FileLock, Timeout

    path = home / WAREHOUSE
    try:
        with FileLock(f"{path}.lock", timeout=_PATIENCE_S, mode=file_mode(home)):
            removed = [path for path in sorted(home.glob(f"{WAREHOUSE}*")) if path.suffix != ".lock"]
            for path in removed:
                path.unlink()
    except Timeout:
        raise StoreError(
            f"Another process has been building {path} for {_PATIENCE_S} s. Wait for it, then run "
            f"`slowwave erase --finish`."
        ) from None
    return len(removed)


@dataclass(frozen=True, slots=True)
class Pages:
    """Files of a home beside the tables, most of them reports and exports.

    Attributes:
        go: Files that quote what was erased.
        stay: Files with one of its words, which may come from elsewhere.
    """

    go: tuple[Path, ...]
    stay: tuple[Path, ...]


def quoting_pages(
    home: Path, needles: QuoteFingerprints, memories: Collection[str], spared: Collection[Path]
) -> Pages:
    """Return files that quote an erased text: its title, source or id, or several of its unique words.

    One such word is enough for a report that a command recreates (.html, .htm, .svg). Every set-aside copy of
    the journal is returned, too.

    Args:
        home: Searched recursively.
        needles: Fingerprints of the text.
        memories: Ids of what is erased.
        spared: Files and folders that are not searched: vaults, and files named in the settings.
    """
    names = (
        phrase for phrase in needles.phrases if len(words(as_asked(phrase))) > 1
    )  # a single word is too common
    whole = QuoteFingerprints(frozenset(), (*names, *memories))
    go, stay = list[Path](), list[Path]()
    for path in _files(home):
        inside = path.relative_to(home)
        if inside.name.startswith(_SET_ASIDE):  # a previous journal that was set aside
            go.append(path)
            continue
        own = inside.name.startswith("erasing-") or inside.name == catalog.FILE
        if own or path.suffix.lower() not in PAGES or any(map(path.is_relative_to, spared)):
            continue
        text = plain(path.read_text(encoding="utf-8", errors="replace"))
        used = vocabulary([text])
        quoted = len(needles.words & used)
        several = quoted >= min(_SEVERAL, len(needles.words)) and quoted >= _SHARE * len(used)
        if any(whole.named([text])) or (quoted and (several or path.suffix.lower() in _MADE_ANEW)):
            go.append(path)
        elif quoted:
            stay.append(path)
    return Pages(tuple(go), tuple(stay))


def _files(home: Path) -> Iterator[Path]:
    """Yield the sorted files of a home.

    Those of tables and of Dagster, which are many, are left out.
    """
    for path in sorted(home.iterdir()):
        if path.name in _OWN:
            continue
        below = [] if path.is_symlink() else sorted(path.rglob("*"))
        yield from (inside for inside in [path, *below] if inside.is_file())


def drop_sessions(home: Path) -> None:
    """Remove what sessions were given: digests of texts, of which one may be erased."""
    shutil.rmtree(home / FOLDER, ignore_errors=True)


def clean_dagster(folder: Path, needles: QuoteFingerprints) -> int:
    """Remove rows and files of Dagster that quote an erased text. Return how many.

    Args:
        folder: Of the home's Dagster instance.
        needles: Fingerprints that detect quotes.
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
            cleared = ", ".join(f"{column} = NULL" for column in _FORGETFUL.get(table, ()))
            statement = f'UPDATE "{table}" SET {cleared}' if cleared else f'DELETE FROM "{table}"'  # noqa: S608
            connection.executemany(f"{statement} WHERE rowid = ?", [(row,) for row in rows])
        # Always: what another process deleted may still be in a free page.
        connection.execute("VACUUM")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return removed


def _quoting(connection: sqlite3.Connection, table: str, needles: QuoteFingerprints) -> Iterator[int]:
    columns = [row[1] for row in connection.execute(f'PRAGMA table_info("{table}")')]
    free_text = [name for name in _TELLING if name in columns]
    chosen = ", ".join(f'"{name}"' for name in columns)
    has_text = " OR ".join(f'"{name}" IS NOT NULL' for name in free_text) or "0"
    cursor = connection.execute(f'SELECT rowid, ({has_text}), {chosen} FROM "{table}"')  # noqa: S608 - its own names
    while rows := cursor.fetchmany(500):
        texts = [" ".join(part for part in row[2:] if isinstance(part, str)) for row in rows]
        named = needles.named(texts)
        mentioned = needles.mentioned(texts)
        for row, whole, phrase in zip(rows, named, mentioned, strict=True):
            if phrase or (whole and row[1]):
                yield row[0]
