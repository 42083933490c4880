"""A reader sees what a table is now, also where another process made it again."""

from __future__ import annotations

import shutil
from pathlib import Path

import polars as pl
import pytest

from slowwave.store import Store


def store_at(folder: Path) -> Store:
    return Store(str(folder), model="m", dimension=4)


def fact(name: str, value: str = "{}") -> pl.DataFrame:
    return pl.DataFrame({"name": [name], "value": [value]})


@pytest.mark.parametrize("more", [0, 1, 3])
def test_a_table_that_was_made_again_with_as_many_versions(tmp_path, more):
    reader, writer = store_at(tmp_path / "lance"), store_at(tmp_path / "lance")
    writer.upsert("meta", fact("old"))
    assert "old" in reader.read("meta")["name"].to_list()
    version = reader.version("meta")
    writer.db.drop_table("meta")
    writer.connect()
    writer.create_table(writer.specs["meta"])
    number = 0
    while writer.version("meta") < version + more:
        writer.upsert("meta", fact(f"new {number}"))
        number += 1
    assert sorted(reader.read("meta")["name"]) == [f"new {one}" for one in range(number)]
    assert reader.count("meta") == number


def test_a_damaged_table_of_facts_does_not_let_others_be_made_empty(tmp_path):
    store = store_at(tmp_path / "lance")
    store.upsert("meta", fact("a"))
    for file in (tmp_path / "lance" / "meta.lance" / "data").iterdir():
        file.unlink()
    shutil.rmtree(tmp_path / "lance" / "memories.lance")
    with pytest.raises(RuntimeError, match=r"meta|data"):
        store_at(tmp_path / "lance")
    assert not (tmp_path / "lance" / "memories.lance").exists()
