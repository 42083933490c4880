"""Files as people have them: plain, packed, written by other systems, damaged."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest
from exchange_helpers import event, lines, log, objects, of_kind, query, take_ubi, written

from slowwave.common import progress
from slowwave.evaluation.exchange.lines import read_lines
from slowwave.evaluation.exchange.values import ExchangeError
from slowwave.journal import Journal

QUERY, CLICK = query(hits=["a"], text="Fähre nach Hoy"), event("click")


def bulk(*documents: dict) -> bytes:
    parts = []
    for number, document in enumerate(documents):
        index = "ubi_events" if "action_name" in document else "ubi_queries"
        parts += [{"index": {"_index": index, "_id": str(number)}}, document]
    return lines(parts)


def tabbed(*documents: dict) -> bytes:
    names = ["ubi_events" if "action_name" in one else "ubi_queries" for one in documents]
    return lines(f"{name}\t{json.dumps(one)}" for name, one in zip(names, documents, strict=True))


def dump(*documents: dict) -> bytes:
    return lines({"_index": "ubi", "_id": "1", "_score": 1, "_source": one} for one in documents)


def windows(*documents: dict) -> bytes:
    return b"\xef\xbb\xbf" + lines(documents).replace(b"\n", b"\r\n")


def zipped(*documents: dict) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.mkdir("logs")
        for number, document in enumerate(reversed(documents)):
            archive.writestr(f"logs/{number}.json", windows(document))
        archive.writestr("__MACOSX/logs/._0.json", b"\0\5\26\7")
    return packed.getvalue()


@pytest.mark.parametrize(
    "form",
    [
        lambda *documents: lines(documents),
        lambda *documents: lines(documents).rstrip(b"\n"),
        bulk,
        tabbed,
        dump,
        windows,
        zipped,
        lambda *documents: gzip.compress(bulk(*documents)),
    ],
)
def test_every_way_to_write_a_log_gives_the_same(
    journal: Journal, tmp_path: Path, form: Callable[..., bytes]
) -> None:
    path = tmp_path / "log of the shop"
    path.write_bytes(form(QUERY, CLICK))
    report = take_ubi(journal, str(path))
    assert (report.new, report.malformed, report.skipped) == (2, 0, {})
    [search] = of_kind(journal, "search")
    assert (search["query"], objects(search)) == ("Fähre nach Hoy", ["a"])
    take_ubi(journal, log(tmp_path, QUERY, CLICK, name="plain"))
    assert len(written(journal)) == 2


def test_a_line_is_named_by_its_file_in_the_archive_and_its_number(journal: Journal, tmp_path: Path) -> None:
    path = tmp_path / "log.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("queries.json", lines([QUERY]))
        archive.writestr("events.json", lines([CLICK, "", "{"]))
    report = take_ubi(journal, str(path))
    assert [(one.file, one.line) for one in report.problems] == [(f"{path}/events.json", 3)]
    assert report.new == 2


def test_standard_input(journal: Journal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(lines([QUERY, "{", CLICK]))))
    report = take_ubi(journal, "-")
    assert (report.new, report.problems[0].file) == (2, "standard input")


@pytest.mark.parametrize("packed", [zipped, lambda *documents: gzip.compress(lines(documents * 500))])
def test_a_damaged_file_is_an_error_and_nothing_is_written(
    journal: Journal, tmp_path: Path, packed: Callable[..., bytes]
) -> None:
    whole = packed(QUERY, CLICK)
    path = tmp_path / "log"
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ExchangeError, match=r"log is damaged \(.*\); nothing was written"):
        take_ubi(journal, log(tmp_path, QUERY, name="good"), str(path))
    assert written(journal) == []


def test_bytes_changed_within_an_archive_are_noticed(journal: Journal, tmp_path: Path) -> None:
    path = tmp_path / "log.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("log.json", lines([QUERY] * 100))
    content = bytearray(path.read_bytes())
    content[2_000:2_004] = b"xxxx"
    path.write_bytes(content)
    with pytest.raises(ExchangeError, match="is damaged"):
        take_ubi(journal, str(path))
    assert written(journal) == []


def test_an_encrypted_archive_says_to_unpack_it(journal: Journal, tmp_path: Path) -> None:
    path = tmp_path / "log.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("log.json", lines([QUERY]))
    content = bytearray(path.read_bytes())
    for signature, flags in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        content[content.index(signature) + flags] |= 1
    path.write_bytes(content)
    with pytest.raises(
        ExchangeError, match=r"cannot be unpacked \(.*encrypted.*unpack it and import the files"
    ):
        take_ubi(journal, str(path))


def test_a_file_that_is_not_there(journal: Journal, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="missing"):
        take_ubi(journal, str(tmp_path / "missing"))


@pytest.mark.parametrize("pack", [bytes, gzip.compress])
def test_progress_reaches_the_size_of_the_file(tmp_path: Path, pack: Callable[[bytes], bytes]) -> None:
    path = tmp_path / "log"
    path.write_bytes(pack(lines([QUERY] * 5_000)))
    told: list[tuple[str, int]] = []
    listener = SimpleNamespace(
        start=lambda what, total: told.append((what, total)) or 0,
        advance=lambda _task, units: told.append(("advance", units)),
        end=lambda _task, *, done: told.append(("done", done)),
    )
    with progress.listening(listener):
        assert sum(1 for _ in read_lines(str(path))) == 5_000
    assert told[0] == (f"reading {path}", path.stat().st_size)
    assert told.pop() == ("done", True)
    steps = [units for _, units in told[1:]]
    assert sum(steps) == path.stat().st_size
    assert min(steps) >= 0
    assert len(steps) > 3
