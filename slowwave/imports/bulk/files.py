"""Files of rows: Parquet and JSON lines, by paths, patterns and ``s3://`` addresses, read in batches."""

from __future__ import annotations

import glob
import gzip
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import IO, Any

import orjson

from slowwave.imports.model import ImportFailedError, Unread

S3 = "s3://"
KINDS = {".parquet": "parquet", ".jsonl": "lines", ".ndjson": "lines", ".jsonl.gz": "lines"}


@dataclass(frozen=True, slots=True)
class Input:
    """One file.

    Attributes:
        path: as a person would name it.
        kind: parquet or lines.
        size: bytes; with `path` it says whether it is the file that was begun.
    """

    path: str
    kind: str
    size: int


def inputs(names: Sequence[str]) -> list[Input]:
    """The files that paths and patterns name, in the order given, those of a pattern by name.

    Raises:
        ImportFailedError: a name has no file, or one of another form.
    """
    found: list[Input] = []
    for name in names:
        files = _in_s3(name) if name.startswith(S3) else _here(name)
        if not files:
            raise ImportFailedError(f"No file {name}. Nothing was written.")
        found += [Input(path, _kind(path), size) for path, size in sorted(files)]
    return found


def _here(name: str) -> list[tuple[str, int]]:
    from pathlib import Path

    paths = [Path(name)] if Path(name).is_file() else map(Path, glob.glob(name, recursive=True))  # noqa: PTH207 - also absolute
    return [(str(path), path.stat().st_size) for path in paths if path.is_file()]


def _in_s3(name: str) -> list[tuple[str, int]]:
    from pyarrow import fs

    whole = name.removeprefix(S3)
    plain = whole.partition("*")[0].rpartition("/")[0]
    try:
        if "*" not in whole:
            listed = [_store().get_file_info(whole)]
        else:
            listed = _store().get_file_info(fs.FileSelector(plain, recursive=True))
    except OSError as error:
        raise ImportFailedError(
            f"{name} cannot be listed: {error}. Address and keys come from AWS_ENDPOINT_URL, "
            f"AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION."
        ) from None
    files = [one for one in listed if one.is_file and fnmatchcase(one.path, whole)]
    return [(S3 + one.path, one.size) for one in files]


def _store() -> Any:  # noqa: ANN401 - a file system of PyArrow
    from pyarrow import fs

    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    scheme, there, host = os.environ.get("AWS_ENDPOINT_URL", "").partition("://")
    if not there:
        return fs.S3FileSystem(region=region)
    return fs.S3FileSystem(region=region, scheme=scheme, endpoint_override=host)


def _kind(path: str) -> str:
    for end, kind in KINDS.items():
        if path.lower().endswith(end):
            return kind
    raise ImportFailedError(f"{path}: its name ends with none of {', '.join(KINDS)}. Nothing was written.")


def _opened(one: Input) -> IO[bytes]:
    handle: IO[bytes]
    if one.path.startswith(S3):
        handle = _store().open_input_file(one.path.removeprefix(S3))
    else:
        handle = open(one.path, "rb")  # noqa: SIM115, PTH123 - closed by who reads it
    return gzip.open(handle) if one.path.lower().endswith(".gz") else handle  # type: ignore[return-value]


Row = dict[str, Any] | Unread


def rows(one: Input, after: int, at_once: int) -> Iterator[tuple[int, list[Row]]]:
    """The rows of a file after the first so many: the number of the last one, and the rows.

    Args:
        one: the file.
        after: rows that are passed over (count).
        at_once: rows of a batch (count).

    Raises:
        ImportFailedError: it is damaged, or no file of its form.
    """
    import pyarrow as pa

    read = _of_parquet if one.kind == "parquet" else _of_lines
    try:
        yield from read(one, after, at_once)
    except (OSError, EOFError, pa.ArrowException) as error:
        raise ImportFailedError(
            f"{one.path} cannot be read on: {error}. What came before was taken in; with the file mended, "
            f"run the same command again."
        ) from None


def _of_parquet(one: Input, after: int, at_once: int) -> Iterator[tuple[int, list[Row]]]:
    from pyarrow import parquet

    with _opened(one) as handle:
        file, seen = parquet.ParquetFile(handle), 0
        groups = range(file.num_row_groups)
        for group in groups:  # those that were taken in are not read again
            count = file.metadata.row_group(group).num_rows
            if seen + count > after:
                groups = range(group, file.num_row_groups)
                break
            seen += count
        else:
            return
        for batch in file.iter_batches(at_once, row_groups=list(groups)):
            begins, seen = seen, seen + batch.num_rows
            if seen > after:
                yield seen, batch.slice(max(0, after - begins)).to_pylist()


def _of_lines(one: Input, after: int, at_once: int) -> Iterator[tuple[int, list[Row]]]:
    some: list[Row] = []
    number = 0
    with _opened(one) as handle:
        for number, line in enumerate(handle, start=1):
            if number <= after:
                continue
            some.append(_of_line(line, f"{one.path}:{number}"))
            if len(some) == at_once:
                yield number, some
                some = []
    if some:
        yield number, some


def _of_line(line: bytes, place: str) -> Row:
    if not line.strip():
        return Unread(place, "an empty line")
    try:
        found = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        return Unread(place, f"no JSON: {error}")
    return found if isinstance(found, dict) else Unread(place, "no JSON object")
