"""Backups of homes on S3 and PostgreSQL, to S3, and into homes with other places: real servers."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
import servers
from backup_helpers import FAST_MODEL, NOTES, QUESTIONS, answers, assert_equal_homes

from slowwave.backup.archive import Archive
from slowwave.backup.keys import derived
from slowwave.backup.making import make
from slowwave.backup.restoring import restore
from slowwave.backup.storage import FileStorage
from slowwave.backup.verifying import verify
from slowwave.errors import BackupError
from slowwave.memory import Memory
from slowwave.settings import load

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
KEY = derived(b"k" * 32)
MODEL = {"embedding": {"model": FAST_MODEL}}


@pytest.fixture(scope="module")
def options() -> Iterator[dict[str, str]]:
    """Options of a server with the bucket ``memories``."""
    with servers.s3() as bucket:
        yield bucket.options()


@pytest.fixture(scope="module")
def postgres() -> Iterator[str]:
    with servers.postgres() as url:
        yield url


def schema(postgres: str) -> str:
    """URL of an empty schema of its own."""
    import psycopg

    name = f"j{uuid.uuid4().hex}"
    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(f"CREATE SCHEMA {name}")
    return f"{postgres}&options=-csearch_path%3D{name}"


def test_a_team_s_home_is_backed_up_to_s3_and_comes_back_into_files_and_the_other_way(
    options: dict[str, str], postgres: str, tmp_path: Path
) -> None:
    def team(tables: str) -> dict:
        """Settings of a home on the servers."""
        return {
            **MODEL, "store": {"uri": f"s3://memories/{tables}", "storage_options": options},
            "journal": {"url": schema(postgres)},
        }  # fmt: skip

    first = team("first")
    with Memory(load(tmp_path / "team", **first), namespace="ada") as memory:
        memory.save_many([{"content": text, "key": text[:9]} for text in NOTES])
        memory.search(QUESTIONS[0])
        place = FileStorage("s3://memories/backups", options)
        made = make(memory.home, place, KEY)
        assert made.encrypted
        assert make(memory.home, place, KEY).backup.sent == 0
        with pytest.raises(BackupError, match="the bucket does not exist"):
            make(memory.home, FileStorage("s3://other/backups", options), KEY)
        archive = Archive(FileStorage("s3://memories/backups", options), KEY)
        assert verify(archive).sound

        files = load(tmp_path / "files", **MODEL)
        done = restore(files, archive)
        assert done.digest == memory.journal.rows.digest()
        with Memory(files, namespace="ada") as again:
            assert_equal_homes(memory, again)
            again.save("A rule that only the home of files has, about the spare oars.", key="oars")
            make(again.home, FileStorage(str(tmp_path / "backups"), make=True), None)

    second = team("second")
    back = load(tmp_path / "again", **second)
    restore(back, Archive(FileStorage(str(tmp_path / "backups")), None))
    with Memory(back, namespace="ada") as one, Memory(files, namespace="ada") as other:
        assert_equal_homes(one, other)
    with pytest.raises(BackupError, match="There are tables at s3://memories/second already"):
        restore(load(tmp_path / "third", **second), archive)
    other_journal = {**second, "store": {"uri": "s3://memories/fourth", "storage_options": options}}
    with pytest.raises(BackupError, match="has entries already"):
        restore(load(tmp_path / "fourth", **other_journal), archive)
    assert not FileStorage("s3://memories/fourth", options).list()
    assert answers(tmp_path / "files")[0]


def test_a_piece_that_is_damaged_in_a_bucket_is_found(options: dict[str, str], tmp_path: Path) -> None:
    place = FileStorage("s3://memories/damaged", options)
    with Memory(load(tmp_path / "home", **MODEL), namespace="ada") as memory:
        memory.save("The spare keys of the boat shed hang behind its door, on the left.", key="keys")
        make(memory.home, place, None)
    name = sorted(place.list("pieces"))[3]
    whole = place.get(name)
    place.put(name, whole[:-1] + bytes([whole[-1] ^ 1]))
    (fault,) = verify(Archive(place, None)).faults
    assert fault.where == name
    place.delete([name, "pieces/none"])
    (fault,) = verify(Archive(place, None)).faults
    assert fault.problem == "is missing"


def test_a_server_that_does_not_answer_and_bad_options_are_told(options: dict[str, str]) -> None:
    with pytest.raises(BackupError, match="cannot be reached"):
        FileStorage("s3://memories/x", {**options, "endpoint": "http://127.0.0.1:1"}).list()
    with pytest.raises(BackupError, match="endpoint2"):
        FileStorage("s3://memories/x", {**options, "endpoint2": "http://127.0.0.1:1"})
