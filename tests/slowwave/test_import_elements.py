"""Elements of an array are found whatever the pieces are that a file is read in."""

from __future__ import annotations

import io
import json
from contextlib import contextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from slowwave.common.json_repair import repeated_key
from slowwave.imports import json_records as module
from slowwave.imports.archives import Member
from slowwave.imports.json_records import Element, elements, lines, whole
from slowwave.imports.model import ImportFailedError, Unread

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | st.text(alphabet='ab"\\{}[],é☃\n', max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text('k"\\{]', max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


def read(data: bytes, reader: Any = elements) -> list[Any]:
    @contextmanager
    def opened() -> Any:
        yield io.BytesIO(data)

    return list(reader(Member("file.json", len(data), opened)))


@given(
    st.lists(st.dictionaries(st.text('ab"{é', max_size=3), VALUES, max_size=3), max_size=5),
    st.integers(1, 9),
    st.sampled_from([None, 1]),
    st.booleans(),
)
def test_every_object_is_found(values, piece, indent, ascii_only):
    data = json.dumps(values, indent=indent, ensure_ascii=ascii_only).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_PIECE", piece)
        patch.setattr(module, "_refuse_utf16", lambda *_: None)
        found = read(b"\xef\xbb\xbf" + data if piece > 4 else data)
    assert [one.value for one in found] == values
    assert [one.number for one in found] == list(range(1, len(values) + 1))


@given(st.lists(st.dictionaries(st.just("a"), VALUES, min_size=1), min_size=1, max_size=4), st.data())
def test_of_a_file_that_was_cut_off_the_objects_before_are_found(values, data):
    whole = json.dumps(values).encode()
    cut = data.draw(st.integers(1, len(whole) - 1))
    found = read(whole[:cut])
    assert isinstance(found[-1], Unread)
    good = [one.value for one in found if isinstance(one, Element)]
    assert good == values[: len(good)]
    assert len(json.dumps(values[: len(good) + 1])) > cut


def test_one_object_is_one_element_and_a_record_that_is_too_large_an_error(monkeypatch):
    assert [one.value for one in read(b' {"a": 1}')] == [{"a": 1}]
    monkeypatch.setattr(module, "MAX_WHOLE_BYTES", 100)
    monkeypatch.setattr(module, "_PIECE", 50)
    with pytest.raises(ImportFailedError, match="more than 100 bytes"):
        read(b'[{"a": "' + b"x" * 1_000 + b'"}]')


REPEATED = b'{"id": "1", "text": "The pier is red.", "text": "The pier is green."}'


@pytest.mark.parametrize(
    "record", [REPEATED, b'{"id": "2", "about": {"a": [1], "a": [2]}}', b'{"id": "3", "id": "4"}']
)
def test_a_repeated_key_with_two_values_is_not_read_and_named(record):
    key = repeated_key(record)
    assert key in ("text", "a", "id")
    (one,) = read(b"[" + record + b"]")
    assert isinstance(one, Unread)
    assert f"the key '{key}' is there twice" in one.why
    sound, line = read(b'{"id": "0"}\n' + record, lines)
    assert (sound.value, isinstance(line, Unread)) == ({"id": "0"}, True)
    with pytest.raises(ImportFailedError, match="twice"):
        whole(record, "all.json")


@pytest.mark.parametrize(
    "record",
    [b'{"a": 1, "a": 1}', b'{"a": {"x": 1}, "b": {"x": 2}}', b'{"a": "\\"b\\": 1", "b": 2}', b'{"a'],
)
def test_equal_values_and_equal_names_of_two_objects_are_no_repetition(record):
    assert repeated_key(record) == ""
