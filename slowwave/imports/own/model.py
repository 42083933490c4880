"""Contents of an export of memories: a header, journal events, and rows of tables, as frames."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import orjson
import polars as pl

from slowwave.change_log.columns import schema_of
from slowwave.imports.model import ImportFailedError
from slowwave.journal import Entry
from slowwave.notes.exported import EXPORT_FOLDER, EXPORT_TYPE
from slowwave.store.tables import TableSpec

TYPE: Final = EXPORT_TYPE
VERSION: Final = 1
TABLES: Final = ("memories", "decisions", "edges", "quarantine", "memory_state")
"""Exported tables. All others are recomputed from the events by the nightly job."""
EVENTS: Final = "events"
RECORDS: Final = "slowwave.jsonl"
"""File of a Markdown folder with its whole contents, in a hidden folder."""
HIDDEN: Final = EXPORT_FOLDER

_MOMENT = pl.Datetime("us", "UTC")
_ISO = "%Y-%m-%dT%H:%M:%S%.6fZ"
EVENT_SCHEMA: Final[Mapping[str, Any]] = {
    "event_id": pl.String, "kind": pl.String, "subject": pl.String, "occurred_at": _MOMENT,
    "principal": pl.String, "digest": pl.String, "content_hash": pl.String, "origin": pl.String,
    "payload": pl.String,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Contents:
    """Contents of an export.

    Attributes:
        header: type, version, namespace, model.
        frames: `EVENTS` and each of `TABLES`, without vectors.
    """

    header: Mapping[str, Any]
    frames: Mapping[str, pl.DataFrame]


def schemas(specs: Mapping[str, TableSpec]) -> dict[str, dict[str, Any]]:
    """Return the columns of each frame."""
    return {EVENTS: dict(EVENT_SCHEMA), **{name: dict(schema_of(specs[name])) for name in TABLES}}


def events_frame(entries: Iterable[Entry]) -> pl.DataFrame:
    """Return events as a frame; payloads are JSON."""
    rows = [
        (
            entry.event_id, entry.kind, entry.subject, entry.occurred_at, entry.principal, entry.digest,
            entry.content_hash, entry.origin, orjson.dumps(entry.payload).decode(),
        )
        for entry in entries
    ]  # fmt: skip
    return pl.DataFrame(rows, schema=dict(EVENT_SCHEMA), orient="row")


def lines_of(contents: Contents) -> Iterable[bytes]:
    """Yield an export as JSON lines: the header, then a line per event and row."""
    yield orjson.dumps(contents.header) + b"\n"
    for name, frame in contents.frames.items():
        for row in _plain(frame).iter_rows(named=True):
            filled = {column: value for column, value in row.items() if value is not None}
            if name == EVENTS:
                filled["payload"] = orjson.loads(filled["payload"])
            yield orjson.dumps({"type": name, **filled}) + b"\n"


def from_lines(lines: Iterable[bytes], columns: Mapping[str, Mapping[str, Any]], place: str) -> Contents:
    """Parse JSON lines.

    Raises:
        ImportFailedError: A line is damaged, or the first is no header of such an export.
    """
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in columns}
    header: Mapping[str, Any] | None = None
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            value = orjson.loads(line)
        except orjson.JSONDecodeError as error:
            raise ImportFailedError(
                f"Line {number:,} of {place} is no JSON ({error}); nothing was written. The export is cut "
                f"off or was changed: export again."
            ) from None
        if header is None:
            header = checked_header(value, place)
            continue
        name = value.pop("type", None) if isinstance(value, dict) else None
        if name not in rows:
            raise ImportFailedError(
                f"Line {number:,} of {place} has the type {name!r}; nothing was written. Expected one of "
                f"{', '.join(rows)}."
            )
        if name == EVENTS:
            value["payload"] = orjson.dumps(value.get("payload", {})).decode()
        rows[name].append(value)
    if header is None:
        raise ImportFailedError(f"{place} is empty; nothing was written.")
    frames = {name: _typed(rows[name], schema, place) for name, schema in columns.items()}
    return Contents(header, frames)


def checked_header(value: object, place: str) -> Mapping[str, Any]:
    """Return a header that this version can read.

    Raises:
        ImportFailedError: It is another file, or of a newer version.
    """
    if (
        not isinstance(value, dict)
        or value.get("type") != TYPE
        or not isinstance(value.get("namespace"), str)
    ):
        raise ImportFailedError(
            f"{place} is no export of `slowwave export memories`; nothing was written. `slowwave import "
            f"--help` lists the imports of other files."
        )
    if value.get("version") != VERSION:
        raise ImportFailedError(
            f"{place} has version {value.get('version')!r} of the export; this Slowwave reads {VERSION}. "
            f"Upgrade it."
        )
    return value


def as_declared(frame: pl.DataFrame, schema: Mapping[str, Any], place: str) -> pl.DataFrame:
    """Return a frame with these columns; missing ones are null, unknown ones are left out.

    Raises:
        ImportFailedError: A value does not fit.
    """
    try:
        return frame.select(
            (pl.col(name) if name in frame.columns else pl.lit(None)).cast(kind).alias(name)
            for name, kind in schema.items()
        )
    except pl.exceptions.PolarsError as error:
        raise ImportFailedError(f"A value in {place} does not fit: {error}. Nothing was written.") from None


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    """Return a frame with times as ISO 8601."""
    return frame.with_columns(
        pl.col(name).dt.strftime(_ISO)
        if kind == _MOMENT
        else pl.col(name).list.eval(pl.element().dt.strftime(_ISO))
        for name, kind in frame.schema.items()
        if _MOMENT in (kind, getattr(kind, "inner", None))
    )


def _typed(rows: list[dict[str, Any]], schema: Mapping[str, Any], place: str) -> pl.DataFrame:
    written = {
        name: pl.String if kind == _MOMENT else pl.List(pl.String) if _is_moments(kind) else kind
        for name, kind in schema.items()
    }
    try:
        frame = pl.DataFrame(rows, schema=written)
        return frame.with_columns(
            pl.col(name).str.to_datetime(_READ, time_unit="us", time_zone="UTC")
            if kind == _MOMENT
            else pl.col(name).list.eval(pl.element().str.to_datetime(_READ, time_unit="us", time_zone="UTC"))
            for name, kind in schema.items()
            if kind == _MOMENT or _is_moments(kind)
        )
    except (pl.exceptions.PolarsError, TypeError, ValueError) as error:
        raise ImportFailedError(f"A value in {place} does not fit: {error}. Nothing was written.") from None


_READ = "%Y-%m-%dT%H:%M:%S%.fZ"


def _is_moments(kind: Any) -> bool:  # noqa: ANN401 - a Polars type
    return getattr(kind, "inner", None) == _MOMENT
