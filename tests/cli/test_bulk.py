"""`slowwave import bulk`: Parquet and JSON lines, mapped, resumed after a kill, wrong rows named."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import orjson
import polars as pl
import pytest

from slowwave.errors import ArgumentError
from slowwave.imports.bulk import fields_of, running, take_rows
from slowwave.imports.bulk.files import inputs
from slowwave.imports.model import ImportFailedError

ROWS = [
    {"id": at, "body": f"Gauge {at} of the harbour was read by Morag at pier {at * 7}.",
     "topic": f"Gauge {at}", "when": datetime(2026, 1, 1 + at % 28, tzinfo=UTC), "tags": ["harbour", "tide"]}
    for at in range(30)
]  # fmt: skip
MAP = ["text=body", "key=id", "title=topic", "date=when"]


def lines(path: Path, rows: list[object]) -> Path:
    text = b"\n".join(row if isinstance(row, bytes) else orjson.dumps(row) for row in rows)
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


def taken(memory, *names: object, **more):
    return take_rows(memory, inputs([str(one) for one in names]), fields_of(MAP), name="bulk", **more)


@pytest.mark.parametrize("name", ["notes.parquet", "notes.jsonl", "notes.jsonl.gz"])
def test_rows_become_notes_whatever_the_form(open_memory, tmp_path, name):
    file = tmp_path / name
    if name.endswith("parquet"):
        pl.DataFrame(ROWS).write_parquet(file, row_group_size=7)
    else:
        lines(file, ROWS)
    memory = open_memory()
    report = taken(memory, file, at_once=8)
    assert (report.found["note"], report.new["note"], report.unread) == (30, 30, 0)
    rows = memory.store.read("memories").sort("source")
    assert rows.height == 30
    one = rows.filter(pl.col("source") == "bulk:7").row(0, named=True)
    assert (one["title"], one["created_at"], one["tags"]) == (
        "Gauge 7", datetime(2026, 1, 8, tzinfo=UTC), ["harbour", "tide"],
    )  # fmt: skip
    again = taken(memory, file)
    assert (again.already, again.new.total(), memory.count()) == (30, 0, 30)


def test_wrong_rows_are_counted_and_named_by_their_line(open_memory, tmp_path):
    wrong = [b"{", b"", b"[1]", {"id": 1}, {"id": 2, "body": " "}, {**ROWS[3], "when": "soon"}]
    file = lines(tmp_path / "notes.jsonl", [*ROWS[:2], *wrong, ROWS[9]])
    report = taken(open_memory(), file, at_once=4)
    assert (report.new["note"], report.unread) == (3, 6)
    assert [one.place.rpartition(":")[2] for one in report.problems] == ["3", "4", "5", "6", "7", "8"]
    assert report.problems[-1].why == "'soon' is not a date, or in the future"


def test_nothing_is_written_by_a_dry_run_nor_where_no_row_has_a_text(open_memory, tmp_path, home):
    memory = open_memory()
    file = lines(tmp_path / "notes.jsonl", ROWS * 4)
    report = taken(memory, file, dry_run=True)
    assert report.new["note"] == 30
    with pytest.raises(ImportFailedError, match=r"can be imported: .*notes.jsonl:1: no text in words"):
        take_rows(memory, inputs([str(file)]), fields_of(["text=words"]), name="bulk")
    few = lines(tmp_path / "few.jsonl", ROWS[:3])
    with pytest.raises(ImportFailedError, match=r"None of the first 3 rows can be imported: .*few.jsonl:1"):
        take_rows(memory, inputs([str(few)]), fields_of(["text=words"]), name="bulk")
    assert memory.count() == 0
    assert memory.journal.count(memory.namespace, "save") == 0
    assert not list((home / "imports").iterdir())  # nothing to go on with


def test_what_is_named_has_to_be_there(tmp_path):
    (tmp_path / "b.jsonl").write_text("")
    (tmp_path / "a.jsonl").write_text("")
    (tmp_path / "notes.csv").write_text("")
    assert [Path(one.path).name for one in inputs([f"{tmp_path}/*.jsonl"])] == ["a.jsonl", "b.jsonl"]
    with pytest.raises(ImportFailedError, match="No file"):
        inputs([f"{tmp_path}/none*.jsonl"])
    with pytest.raises(ImportFailedError, match=r"must end with one of \.parquet"):
        inputs([f"{tmp_path}/notes.csv"])
    with pytest.raises(ArgumentError, match="PART=COLUMN"):
        fields_of(["body"])


def test_files_in_s3_are_read_by_pattern(open_memory, tmp_path, monkeypatch):
    from moto.server import ThreadedMotoServer
    from pyarrow import fs

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        monkeypatch.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
            monkeypatch.setenv(name, "testing")
        monkeypatch.setenv("AWS_REGION", "us-east-1")
        store = fs.S3FileSystem(
            allow_bucket_creation=True, scheme="http", endpoint_override=f"{host}:{port}", region="us-east-1"
        )
        store.create_dir("notes")
        for at, name in enumerate(("a.parquet", "deep/b.parquet", "c.txt")):
            file = tmp_path / "one.parquet"
            pl.DataFrame(ROWS[at * 10 : at * 10 + 10]).write_parquet(file)
            with store.open_output_stream(f"notes/{name}") as target:
                target.write(file.read_bytes())
        memory = open_memory()
        assert taken(memory, "s3://notes/*.parquet").new["note"] == 20
        assert memory.count() == 20
        with pytest.raises(ImportFailedError, match="No file matches s3://notes/none"):
            inputs(["s3://notes/none.parquet"])
        with pytest.raises(ImportFailedError, match="Cannot list"):
            inputs(["s3://no-such-bucket/*.parquet"])
    finally:
        server.stop()


def test_rows_without_a_key_are_known_by_what_they_say(open_memory, tmp_path):
    file = lines(tmp_path / "notes.jsonl", [{"text": row["body"]} for row in ROWS])
    memory, fields = open_memory(), fields_of([])
    assert take_rows(memory, inputs([str(file)]), fields, name="bulk").new["note"] == 30
    assert take_rows(memory, inputs([str(file)]), fields, name="bulk").already == 30


@pytest.mark.slow
def test_killed_in_the_middle_the_same_command_goes_on(tmp_path, open_memory, home):
    file = lines(tmp_path / "notes.jsonl", [
        {**row, "id": f"{row['id']}-{k}", "body": f"{row['body']} It was read {k} times that day."}
        for k in range(140) for row in ROWS
    ])  # fmt: skip
    command = [sys.executable, "-m", "slowwave", "--home", str(home), "import", "bulk", str(file),
               "-n", "ada", "--json", *(part for one in MAP for part in ("--map", one))]  # fmt: skip
    environment = {**os.environ, "SLOWWAVE_EMBEDDING__MODEL": "wordllama-256",
                   "SLOWWAVE_RECONSOLIDATION__POLICY": "off", "SLOWWAVE_GATE__MODE": "off"}  # fmt: skip
    started = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    for _ in range(3_000):
        if any(orjson.loads(one.read_bytes())["rows"] for one in (home / "imports").glob("*.json")):
            break
        time.sleep(0.05)
    time.sleep(0.4)
    started.send_signal(signal.SIGKILL)
    started.wait()
    done = subprocess.run(command, env=environment, capture_output=True, check=True)
    report = orjson.loads(done.stdout)
    assert report["notes"][0].startswith("Resumed after row ")
    assert report["found"]["note"] < 4_200
    memory = open_memory()
    assert memory.count() == 4_200
    assert memory.store.read("chunks", columns=["memory_id"])["memory_id"].n_unique() == 4_200
    assert not list((home / "imports").glob("*"))


def test_an_import_that_goes_on_keeps_its_place_whatever_comes(open_memory, tmp_path, home, monkeypatch):
    file = lines(tmp_path / "notes.jsonl", [*ROWS[:2], {"id": 1}, {"id": 2}])
    memory = open_memory()

    def stopped_after_the_first(batches):
        with monkeypatch.context() as patch:
            patch.setattr(running, "rows", lambda *_: iter(batches))
            with pytest.raises(ImportFailedError, match="gone"):
                taken(memory, file, at_once=2)

    def batches():
        yield 2, ROWS[:2]
        raise ImportFailedError("gone")

    def unreadable():
        raise ImportFailedError("gone")
        yield

    stopped_after_the_first(batches())
    stopped_after_the_first(unreadable())
    with pytest.raises(ImportFailedError, match="None of the first"):  # a look is no part of it
        take_rows(memory, inputs([str(file)]), fields_of(["text=words"]), name="bulk", dry_run=True)
    report = taken(memory, file, at_once=2)
    assert (report.unread, report.new["note"]) == (2, 0)
    assert report.notes == [f"Resumed after row 2 of {file}."]
    assert memory.count() == 2
