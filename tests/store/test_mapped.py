"""A file that is mapped gives back what was put into it, or nothing at all."""

from __future__ import annotations

import os
import stat
from contextlib import suppress

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.index.mapped_file import MappedFile, Putting, Texts, is_sound, opened, remove
from slowwave.store import wal

TEXT = st.text(max_size=6)
NUMBERS = np.arange(7, dtype=np.int32)
TABLE = pa.table({"name": ["a", None, "Ä"], "tags": [["x", "y"], [], None]})


@pytest.fixture
def path(tmp_path):
    return tmp_path / "folder" / "file"


def put(path, **facts):
    with Putting(path) as made:
        made.array("numbers", NUMBERS)
        made.array("square", np.eye(3, dtype=np.float32))
        made.array("none", np.empty((0, 4)))
        made.table("table", TABLE)
        made.texts("words", {"b", "a", "東京", ""})
        made.end(facts)


def test_what_was_put_into_it_is_in_it(path):
    put(path, version=3, names=["x"])
    found = opened(path)
    assert found is not None
    assert found.facts == {"version": 3, "names": ["x"]}
    assert found.array("numbers").tolist() == list(range(7))
    assert np.array_equal(found.array("square"), np.eye(3))
    assert found.array("none").shape == (0, 4)
    assert found.table("table").equals(TABLE)
    assert [found.texts("words").find(one) for one in ("", "a", "b", "東京", "c")] == [0, 1, 2, 3, None]


def test_what_it_gives_is_in_the_file_and_outlives_its_name(path):
    put(path)
    found = opened(path)
    numbers, table = found.array("numbers"), found.table("table")
    assert not numbers.flags.writeable
    assert not numbers.flags.owndata
    put(path, later=True)
    remove(path)
    del found
    assert (numbers.tolist(), table.to_pydict()) == (list(range(7)), TABLE.to_pydict())
    assert opened(path) is None
    assert list(path.parent.iterdir()) == []


def test_one_that_fails_leaves_the_one_before(path):
    put(path, number=1)
    with suppress(ZeroDivisionError), Putting(path) as made:
        made.array("numbers", NUMBERS)
        _ = 1 / 0
    assert opened(path).facts == {"number": 1}
    assert list(path.parent.iterdir()) == [path]


def test_a_file_that_was_cut_off_or_tells_something_else_is_none(path):
    put(path, number=1)
    whole = path.read_bytes()
    told = whole.rindex(b'{"format"')
    for size in {0, 1, 8, 40, told, *range(told, len(whole), 9), len(whole) - 1}:
        path.write_bytes(whole[:size])
        assert opened(path) is None, size
    for at in {0, 3, *range(told, len(whole), 7), len(whole) - 1}:
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        assert opened(path) is None, at
    path.write_bytes(whole + whole[-8:])
    assert opened(path) is None
    path.write_bytes(whole[:100] + whole)  # something came before
    assert opened(path) is None
    path.write_bytes(whole)
    assert opened(path).facts == {"number": 1}


@pytest.mark.skipif(os.name != "posix", reason="modes of files")
@pytest.mark.parametrize(("mode", "file"), [(0o700, 0o600), (0o770, 0o660), (0o755, 0o600)])
def test_it_is_as_private_as_the_folder_that_it_is_in(path, mode, file):
    before = os.umask(0o002)
    try:
        path.parent.parent.chmod(mode)
        put(path)
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == file
    assert stat.S_IMODE(path.parent.stat().st_mode) == file | (file & 0o440) >> 2


@given(st.sets(TEXT, max_size=20), TEXT)
def test_a_text_is_found_by_halves(texts, other):
    coded = sorted(one.encode() for one in texts)
    ends = np.cumsum([0, *map(len, coded)], dtype=np.int64)
    found = Texts(ends, np.frombuffer(b"".join(coded), np.uint8))
    for one in (*texts, other):
        at = found.find(one)
        assert (at is not None) == (one in texts)
        assert at is None or coded[at] == one.encode()


def test_any_byte_that_is_not_as_it_was_written_makes_it_none(path):
    put(path, number=1)
    whole = path.read_bytes()
    for at in range(0, len(whole), 5):
        path.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        assert opened(path) is None, at
        assert not is_sound(path)


def test_it_is_read_whole_once_in_a_start_of_the_machine(path, monkeypatch, tmp_path):
    looked = []
    look = MappedFile.is_sound
    monkeypatch.setattr(MappedFile, "is_sound", lambda one: looked.append(1) or look(one))
    put(path, number=1)
    assert opened(path).facts == {"number": 1}
    assert not looked  # who wrote it knows
    started = tmp_path / "boot_id"
    started.write_text("another start of the machine")
    monkeypatch.setattr(wal, "STARTED", started)
    assert opened(path).facts == opened(path).facts == {"number": 1}
    assert len(looked) == 1
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    assert opened(path) is None
    path.write_bytes(whole)
    monkeypatch.setattr(wal, "STARTED", tmp_path / "nowhere")
    assert opened(path) is not None
    assert opened(path) is not None
    assert len(looked) == 4  # without a name of the start each opening looks


def test_damage_that_left_the_time_of_change_is_found_by_looking(path):
    put(path, number=1)
    time = path.stat().st_mtime_ns
    whole = path.read_bytes()
    path.write_bytes(whole[:100] + bytes([whole[100] ^ 1]) + whole[101:])
    os.utime(path, ns=(time, time))
    assert not is_sound(path)
