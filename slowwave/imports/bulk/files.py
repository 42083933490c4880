"""Input files of a bulk import: Parquet and JSON lines, by path, pattern or ``s3://`` address, in batches."""

from __future__ import annotations

import glob
import gzip
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import IO, Any

import orjson

from slowwave.common.json_repair import parse, repeated_key
from slowwave.imports.json_records import repeats
from slowwave.imports.model import ImportFailedError, Unread

S3 = "s3://"
KINDS = {".parquet": "parquet", ".jsonl": "lines", ".ndjson": "lines", ".jsonl.gz": "lines"}


@dataclass(frozen=True, slots=True)
class Input:
    """Input file.

    Attributes:
        path: As a person would name it.
        kind: parquet or lines.
        size: Bytes; identifies the file together with `path`.
    """

    path: str
    kind: str
    size: int


def inputs(names: Sequence[str]) -> list[Input]:
    """List the files that paths and patterns name, in the given order; those of a pattern by name.

    Raises:
        ImportFailedError: A name matches no file, or one of another form.
    """
    result: list[Input] = []
    for name in names:
        files = _in_s3(name) if name.startswith(S3) else _here(name)
        if not files:
            raise ImportFailedError(f"No file matches {name}. Nothing was written.")
        result += [Input(path, _kind(path), size) for path, size in sorted(files)]
    return result


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
            f"Cannot list {name}: {error}. Set address and keys in AWS_ENDPOINT_URL, "
            f"AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_REGION."
        ) from None
    files = [info for info in listed if info.is_file and fnmatchcase(info.path, whole)]
    return [(S3 + info.path, info.size) for info in files]


def _store() -> Any:  # noqa: ANN401 - a file system of PyArrow
    from pyarrow import fs

    region = os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION")
    scheme, separator, host = os.environ.get("AWS_ENDPOINT_URL", "").partition("://")
    if not separator:
        return fs.S3FileSystem(region=region)
    return fs.S3FileSystem(region=region, scheme=scheme, endpoint_override=host)


def _kind(path: str) -> str:
    for end, kind in KINDS.items():
        if path.lower().endswith(end):
            return kind
    raise ImportFailedError(
        f"The name of {path} must end with one of {', '.join(KINDS)}. Nothing was written."
    )


def _opened(file: Input) -> IO[bytes]:
    handle: IO[bytes]
    if file.path.startswith(S3):
        handle = _store().open_input_file(file.path.removeprefix(S3))
    else:
        handle = open(file.path, "rb")  # noqa: SIM115, PTH123 - closed by the reader
    return gzip.open(handle) if file.path.lower().endswith(".gz") else handle  # type: ignore[return-value]


Row = dict[str, Any] | Unread


def rows(source: Input, after: int, at_once: int) -> Iterator[tuple[int, list[Row]]]:
    """Yield batches of a file's rows after the first `after`: the number of the last row, and the rows.

    Args:
        source: The file.
        after: Rows to skip (count).
        at_once: Rows of a batch (count).

    Raises:
        ImportFailedError: It is damaged, or has another form.
    """
    import pyarrow as pa

    read = _of_parquet if source.kind == "parquet" else _of_lines
    try:
        yield from read(source, after, at_once)
    except (OSError, EOFError, pa.ArrowException) as error:
        raise ImportFailedError(
            f"Cannot read the rest of {source.path}: {error}. Rows before it are imported. Fix the file, "
            f"then run the same command again."
        ) from None


def _of_parquet(source: Input, after: int, at_once: int) -> Iterator[tuple[int, list[Row]]]:
    from pyarrow import parquet

    with _opened(source) as handle:
        file, seen = parquet.ParquetFile(handle), 0
        groups = range(file.num_row_groups)
        for group in groups:  # imported groups are not read again
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


def _of_lines(source: Input, after: int, at_once: int) -> Iterator[tuple[int, list[Row]]]:
    batch: list[Row] = []
    number = 0
    with _opened(source) as handle:
        for number, line in enumerate(handle, start=1):
            if number <= after:
                continue
            batch.append(_of_line(line, f"{source.path}:{number}"))
            if len(batch) == at_once:
                yield number, batch
                batch = []
    if batch:
        yield number, batch


def _of_line(line: bytes, place: str) -> Row:
    if not line.strip():
        return Unread(place, "an empty line")
    if name := repeated_key(line):
        return Unread(place, repeats(name))
    try:
        value = orjson.loads(line)
    except orjson.JSONDecodeError:
        try:
            value = parse(line).value
        except ValueError as error:
            return Unread(place, f"not JSON: {error}")
    return value if isinstance(value, dict) else Unread(place, "not a JSON object")
