"""Benchmark data: labelled collections and JSON lines."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from _report import UnusableError

from slowwave.tuning.collection import Collection, notes_of, read_collection


def labelled(folder: Path, namespace: str | None = None) -> Collection:
    """A collection in BEIR form with at least one document and one query that a document answers.

    Args:
        folder: of its three files.
        namespace: whose queries are needed; None: of any that has documents.

    Raises:
        UnusableError: there is nothing to ask, or a query is of a namespace without documents.
    """
    collection = read_collection(folder)
    spaces = notes_of(collection.documents)
    if not spaces:
        raise UnusableError(f"{folder / 'corpus.jsonl'} has no document with a word")
    if namespace is not None and namespace not in spaces:
        raise UnusableError(f"{folder} has no documents of namespace {namespace!r}, only of {sorted(spaces)}")
    for query in collection.queries:
        if space_of(query) not in spaces:
            raise UnusableError(
                f"{folder}: query {query['_id']} is of namespace {space_of(query)!r}, which has no documents"
            )
    if not any(namespace in (None, space_of(query)) for query in collection.answerable()):
        of = "" if namespace is None else f" of namespace {namespace!r}"
        raise UnusableError(f"{folder}: no query{of} has a relevant document in qrels.tsv")
    return collection


def space_of(row: Any) -> str:  # noqa: ANN401 - a document or a query
    """The namespace of a document or a query."""
    return str(row.get("namespace") or "default")


def lines(path: Path, *wanted: str) -> list[dict[str, Any]]:
    """The objects of a file of JSON lines, each with what is wanted.

    Raises:
        UnusableError: the file cannot be read, or a line of it lacks something.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UnusableError(f"{path} cannot be read: {error}") from None
    found = []
    for number, line in enumerate(text.split("\n"), start=1):  # JSON may hold other separators
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise UnusableError(f"{path}, line {number} is not JSON: {error}") from None
        if lacking := [name for name in wanted if not isinstance(row, dict) or name not in row]:
            raise UnusableError(f"{path}, line {number} has no {', '.join(lacking)}")
        found.append(row)
    return found
