"""Looking for words in every byte of a home, and in everything that its bytes encode."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from pathlib import Path

import lance
import orjson

from slowwave.journal.codec import decode
from slowwave.scoring.ranking.words import stem


def places(home: Path, *canaries: str) -> list[str]:
    """Where a home holds one of the words: files, rows of the journal and of any version of any table."""
    return sorted({*_files(home, canaries), *_entries(home, canaries), *_rows(home, canaries)})


def _forms(canaries: Iterable[str]) -> list[bytes]:
    words = [form for word in canaries for form in (word, word.upper(), word.capitalize(), stem(word))]
    return [word.encode(encoding) for word in words for encoding in ("utf-8", "utf-16-le", "utf-16-be")]


def _files(home: Path, canaries: Iterable[str]) -> Iterable[str]:
    forms = _forms(canaries)
    for path in home.rglob("*"):
        name = str(path.relative_to(home))
        if any(form in name.encode() for form in forms):
            yield f"name of {name}"
        if path.is_file() and any(form in path.read_bytes() for form in forms):
            yield name


def _entries(home: Path, canaries: Iterable[str]) -> Iterable[str]:
    connection = sqlite3.connect(home / "journal.db")
    for *columns, payload in connection.execute("SELECT * FROM journal_entries"):
        text = (decode(payload).decode() + repr(columns)).lower()
        if any(word in text for word in canaries):
            yield f"journal entry {columns[0]}: {columns[2]}"
    connection.close()


def _rows(home: Path, canaries: Iterable[str]) -> Iterable[str]:
    for folder in (home / "lance").glob("*.lance"):
        for version in lance.dataset(str(folder)).versions():
            dataset = lance.dataset(str(folder), version=version["version"])
            names = [field.name for field in dataset.schema if field.name != "vector"]
            text = orjson.dumps(dataset.to_table(columns=names).to_pylist(), default=str).decode().lower()
            if any(word in text for word in canaries):
                yield f"version {version['version']} of {folder.name}"


def index_files(home: Path) -> set[Path]:
    """Files of full-text indexes."""
    return {path for path in home.glob("lance/*/_indices/**/*") if path.is_file()}
