"""Forms of an export: Markdown folder, JSON lines, Parquet folder, and the files of other tools."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

import orjson
import polars as pl

from slowwave.common.files import atomic_write
from slowwave.errors import ArgumentError
from slowwave.imports.model import ImportFailedError
from slowwave.imports.own.folder import edited, written_folder
from slowwave.imports.own.markdown import write_markdown
from slowwave.imports.own.model import (
    HIDDEN,
    RECORDS,
    Contents,
    as_declared,
    checked_header,
    from_lines,
    lines_of,
)

FORMS: Final = ("markdown", "jsonl", "parquet", "memory-server", "mem0")
_HEADER = "header.json"


def write_export(contents: Contents, target: Path, form: str) -> None:
    """Write an export; the file or folder appears whole, or not at all.

    Raises:
        ArgumentError: No such form, or the target has other contents.
    """
    if form not in FORMS:
        raise ArgumentError(f"The form {form!r} is unknown; use one of {', '.join(FORMS)}.")
    if form in ("markdown", "parquet"):
        with written_folder(target) as folder:
            (folder / HIDDEN).mkdir()
            (_markdown if form == "markdown" else _parquet)(contents, folder)
        return
    if target.is_dir() or not target.name:
        raise ArgumentError(f"{target} is a folder; {form} is one file. Give its name.")
    lines = {"jsonl": lines_of, "memory-server": _memory_server, "mem0": _mem0}[form]
    with atomic_write(target.expanduser()) as stream:
        stream.writelines(lines(contents))


def _markdown(contents: Contents, folder: Path) -> None:
    write_markdown(contents, folder)
    with (folder / HIDDEN / RECORDS).open("wb") as stream:
        stream.writelines(lines_of(contents))


def _parquet(contents: Contents, folder: Path) -> None:
    (folder / _HEADER).write_bytes(orjson.dumps(contents.header))
    for name, frame in contents.frames.items():
        frame.write_parquet(folder / f"{name}.parquet")


def read_export(path: Path, columns: Mapping[str, Mapping[str, Any]]) -> tuple[Contents, list[str]]:
    """Read an export of any lossless form; also return the files of a folder that were edited since.

    Raises:
        ImportFailedError: It is damaged or something else.
        OSError: It cannot be opened.
    """
    if path.is_dir():
        changed = edited(path)
        if (path / HIDDEN / RECORDS).is_file():
            return _read_lines(path / HIDDEN / RECORDS, columns), changed
        if (path / _HEADER).is_file():
            return _read_parquet(path, columns), changed
        raise ImportFailedError(
            f"{path} is no export of `slowwave export memories`. `slowwave import markdown` reads any folder "
            f"of notes."
        )
    return _read_lines(path, columns), []


def _read_lines(file: Path, columns: Mapping[str, Mapping[str, Any]]) -> Contents:
    with file.open("rb") as stream:
        return from_lines(stream, columns, str(file))


def _read_parquet(folder: Path, columns: Mapping[str, Mapping[str, Any]]) -> Contents:
    try:
        header = checked_header(orjson.loads((folder / _HEADER).read_bytes()), str(folder))
        frames = {name: pl.read_parquet(folder / f"{name}.parquet") for name in columns}
    except (orjson.JSONDecodeError, pl.exceptions.PolarsError, FileNotFoundError) as error:
        raise ImportFailedError(f"The export {folder} is damaged: {error}. Nothing was written.") from None
    made = {name: as_declared(frame, columns[name], f"{name}.parquet") for name, frame in frames.items()}
    return Contents(header, made)


def _live(contents: Contents) -> Iterator[dict[str, Any]]:
    yield from contents.frames["memories"].filter(pl.col("status") == "live").iter_rows(named=True)


def _memory_server(contents: Contents) -> Iterator[bytes]:
    """Yield entities and relations as the reference memory server of MCP keeps them."""
    names: dict[str, str] = {}
    taken: set[str] = set()
    for row in _live(contents):
        title = row["title"] or row["source"]
        names[row["memory_id"]] = name = title if title not in taken else f"{title} {row['memory_id']}"
        taken.add(name)
        yield _line({
            "type": "entity", "name": name, "entityType": row["memory_type"] or "note",
            "observations": [row["content"]],
        })  # fmt: skip
    for edge in contents.frames["edges"].iter_rows(named=True):
        begin, end = names.get(edge["from_memory"]), names.get(edge["to_memory"])
        if begin and end:
            yield _line({"type": "relation", "from": begin, "to": end, "relationType": edge["kind"]})


def _mem0(contents: Contents) -> Iterator[bytes]:
    """Yield live memories as mem0's `get_all` returns them, one a line."""
    for row in _live(contents):
        yield _line({
            "id": row["memory_id"], "memory": row["content"], "user_id": contents.header["namespace"],
            "created_at": row["created_at"].isoformat(), "updated_at": row["updated_at"].isoformat(),
            "metadata": {"title": row["title"], "memory_type": row["memory_type"], "tags": row["tags"]},
        })  # fmt: skip


def _line(value: Mapping[str, Any]) -> bytes:
    return orjson.dumps(value) + b"\n"
