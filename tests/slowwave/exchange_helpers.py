"""Logs of other applications, made small, and what an import makes of them."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Sequence
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

import orjson

from slowwave.common import ids
from slowwave.evaluation.exchange.importing import Form, LogImportOptions, import_logs
from slowwave.evaluation.exchange.jsonl import JsonlForm
from slowwave.evaluation.exchange.report import LogImportReport
from slowwave.evaluation.exchange.ubi import Ubi
from slowwave.journal import FEEDBACK_KINDS, Journal

TODAY = date(2026, 3, 10)
FIRST_DAY = "2026-01-01"
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
KINDS = ("search", *FEEDBACK_KINDS)


def query(query_id: str = "q1", text: str = "gauge battery", hits: Sequence[str] = (), **fields: Any) -> dict:
    """A UBI query."""
    document = {
        "application": "shop",
        "query_id": query_id,
        "client_id": "ann",
        "user_query": text,
        "timestamp": "2026-03-01T12:00:00Z",
        "query_response_hit_ids": list(hits),
    }
    return {**document, **fields}


def event(action: str, thing: str | int | None = "a", query_id: str | None = "q1", **fields: Any) -> dict:
    """A UBI event; `ordinal` and `helpful` go where they belong."""
    attributes: dict[str, Any] = {}
    if thing is not None:
        attributes["object"] = {"object_id": thing, "object_id_field": "sku"}
    if "ordinal" in fields:
        attributes["position"] = {"ordinal": fields.pop("ordinal")}
    if "helpful" in fields:
        attributes["helpful"] = fields.pop("helpful")
    document = {
        "application": "shop",
        "action_name": action,
        "query_id": query_id,
        "client_id": "ann",
        "timestamp": "2026-03-01T12:00:05Z",
        "event_attributes": attributes,
    }
    return {**document, **fields}


def lines(documents: Iterable[Any]) -> bytes:
    """Documents as lines; text is a line as it is."""
    return b"".join(
        (one.encode() if isinstance(one, str) else json.dumps(one, ensure_ascii=False).encode()) + b"\n"
        for one in documents
    )


def log(folder: Path, *documents: Any, name: str = "log.ndjson") -> str:
    """A file with these lines."""
    path = folder / name
    path.write_bytes(lines(documents))
    return str(path)


def take(
    journal: Journal,
    form: Form,
    *files: str,
    namespace: str = "ada",
    is_memory: Callable[[Sequence[str]], Collection[str]] = lambda memories: memories,
    **options: Any,
) -> LogImportReport:
    """Import files on the tenth of March 2026."""
    given = {"first_day": FIRST_DAY, "today": TODAY, **options}
    return import_logs(journal, form, files, LogImportOptions(namespace, **given), is_memory)


def take_ubi(journal: Journal, *files: str, namespace: str = "ada", **options: Any) -> LogImportReport:
    """Import UBI files."""
    reading = {name: options.pop(name) for name in ("source_prefix", "actions") if name in options}
    return take(journal, Ubi(namespace, **reading), *files, namespace=namespace, **options)


def take_jsonl(journal: Journal, *files: str, namespace: str = "ada", **options: Any) -> LogImportReport:
    """Import JSONL files."""
    form = JsonlForm(namespace, lambda project: journal.searches_of(namespace, project))
    return take(journal, form, *files, namespace=namespace, **options)


def written(journal: Journal, *kinds: str, namespace: str | None = None) -> list[dict[str, Any]]:
    """The entries of searches and feedback, payloads as data, without what the journal adds."""
    rows = journal.read(kinds=kinds or KINDS, namespace=namespace).drop(
        "seq", "day", "digest", "content_hash"
    )
    return [{**row, "payload": orjson.loads(row["payload"])} for row in rows.iter_rows(named=True)]


def of_kind(journal: Journal, kind: str) -> list[dict[str, Any]]:
    """The payloads of one kind."""
    return [row["payload"] for row in written(journal, kind)]


def memory_of(thing: str, namespace: str = "ada") -> str:
    """The memory that an object is."""
    return ids.memory_id(namespace, thing)


def objects(payload: dict[str, Any]) -> list[str]:
    """What a search showed, by the application's own ids."""
    return [row["object"] for row in payload["shown"]]
