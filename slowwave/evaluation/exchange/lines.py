"""Lines of log files: plain, gzip or zip, detected by their first bytes."""

from __future__ import annotations

import gzip
import sys
import zipfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import IO, NamedTuple

from slowwave.common import progress
from slowwave.common.archive_errors import damage_explained
from slowwave.evaluation.exchange.values import ExchangeError

STANDARD_INPUT = "-"
_ADVANCE_EVERY = 1_000  # lines
_GZIP, _ZIP = b"\x1f\x8b", b"PK\x03\x04"
_BOM = b"\xef\xbb\xbf"
_OF_A_MAC = "__MACOSX/"  # added by macOS


class LogLine(NamedTuple):
    """Line without its end: file, number (from 1) and bytes."""

    file: str
    number: int
    text: bytes


def read_lines(path: str) -> Iterator[LogLine]:
    """Yield every non-blank line of a log; `-` is standard input.

    A .zip yields the lines of each file in it.

    Raises:
        ExchangeError: a packed file is damaged or encrypted.
        OSError: it cannot be opened or read.
    """
    if path == STANDARD_INPUT:
        yield from _lines("standard input", sys.stdin.buffer)
        return
    size = Path(path).stat().st_size
    advice = ("; nothing was written. Get another copy.", "; unpack it and import the files.")
    with (
        damage_explained(path, ExchangeError, *advice),
        Path(path).open("rb") as file,
        progress.task(f"reading {path}", size) as advance,
    ):
        reached = 0
        for count, line in enumerate(_unpacked(path, file), start=1):
            if count % _ADVANCE_EVERY == 0:
                at = file.tell()
                advance(max(0, at - reached))
                reached = max(reached, at)
            yield line
        advance(size - reached)


def _unpacked(path: str, file: IO[bytes]) -> Iterator[LogLine]:
    first = file.read(len(_ZIP))
    file.seek(0)
    if first.startswith(_GZIP):
        with gzip.open(file) as unpacked:
            yield from _lines(path, unpacked)
    elif first == _ZIP:
        with zipfile.ZipFile(file) as archive:
            for member in archive.infolist():
                if not member.is_dir() and not member.filename.startswith(_OF_A_MAC):
                    with archive.open(member) as unpacked:
                        yield from _lines(f"{path}/{member.filename}", unpacked)
    else:
        yield from _lines(path, file)


def _lines(name: str, file: Iterable[bytes]) -> Iterator[LogLine]:
    for number, text in enumerate(file, start=1):
        line = (text.removeprefix(_BOM) if number == 1 else text).strip()
        if line:
            yield LogLine(name, number, line)
