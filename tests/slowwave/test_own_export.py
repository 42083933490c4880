"""Memories out and in again: equal ids, labels, dates, versions, states and ratings."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.errors import ArgumentError
from slowwave.imports.model import ImportFailedError
from slowwave.imports.own.collect import collect
from slowwave.imports.own.markdown import file_names, safe_name
from slowwave.imports.own.model import EVENTS, TABLES, schemas
from slowwave.imports.own.restore import restore
from slowwave.imports.own.writing import read_export, write_export
from slowwave.lifecycle.browse import BrowseOptions, browse
from slowwave.memory import Memory

BELLS = "The bell of the east tower rings at six, and on feast days at seven."
OVEN = "The bread oven needs forty minutes at 230 degrees before the first loaf."
SECRET = "The strongbox opens with the number of the old mooring."


def fill(memory: Memory) -> None:
    memory.save(BELLS, title="Bells: east/west?", key="bells", tags=["tower", "Zeit"], memory_type="fact")
    memory.save(BELLS + " Since May the west tower rings, too.", title="Bells: east/west?", key="bells",
                tags=["tower", "Zeit"], memory_type="fact")  # fmt: skip
    memory.save(OVEN, title="bells  east west", key="oven", aliases=["stove"], trigger_phrases=["bake bread"])
    memory.save("The mill race is cleaned in the first week of October.", title="CON", key="race",
                created_at=datetime(2021, 5, 6, tzinfo=UTC))  # fmt: skip
    memory.save(SECRET, title="Strongbox", key="box", sensitivity="secret")
    gone = memory.save("The ferry to the island is laid up for repairs until Easter.", key="ferry")
    memory.forget(gone.memory_id)
    found = memory.search("when does the bell ring?")
    memory.feedback(found.search_id, 1, "helpful")


def same(first: Memory, second: Memory) -> None:
    one, other = (collect(memory, secret=True).contents.frames for memory in (first, second))
    assert one[EVENTS].equals(other[EVENTS])
    for name in TABLES:
        assert one[name].equals(other[name]), name
    for memory_id in one["memories"]["memory_id"]:
        assert first.stats(memory_id).helpful == second.stats(memory_id).helpful
    chunks = [
        memory.store.read("chunks", columns=["chunk_id", "revision", "text", "status"]).sort("chunk_id")
        for memory in (first, second)
    ]
    assert chunks[0].equals(chunks[1])


@pytest.mark.parametrize("form", ["markdown", "jsonl", "parquet"])
def test_a_home_is_equal_after_out_and_in_again(form, memory, open_memory, tmp_path):
    fill(memory)
    target = tmp_path / ("out.jsonl" if form == "jsonl" else "out")
    write_export(collect(memory, secret=True).contents, target, form)
    other = open_memory("ada", path=tmp_path / "other")
    contents, edited = read_export(target, schemas(other.store.specs))
    assert (edited, restore(other, contents, dry_run=True).memories) == ([], 5)
    assert other.count() == 0
    assert restore(other, contents).memories == 5
    same(memory, other)
    again = restore(other, contents)
    assert (again.memories, again.already, again.events) == (0, 5, 0)
    assert other.search("when does the bell ring?")[0].title == "Bells: east/west?"


def test_what_was_changed_here_stays(memory, open_memory, tmp_path):
    fill(memory)
    contents = collect(memory).contents
    other = open_memory("ada", path=tmp_path / "other")
    other.save("The bell of the east tower is silent until it is mended.", key="bells")
    assert restore(other, contents).kept == 1
    assert "silent" in next(row.content for row in [other.get(m) for m in other.store.read(
        "memories", "source = 'bells'", columns=["memory_id"])["memory_id"]])  # fmt: skip
    with pytest.raises(ImportFailedError, match="-n ada"):
        restore(open_memory("bert", path=tmp_path / "other"), contents)


@pytest.mark.parametrize("form", ["markdown", "jsonl", "parquet", "memory-server", "mem0"])
def test_no_form_has_anything_secret(form, memory, tmp_path):
    fill(memory)
    memory.save("The second key lies under the third step.", key="key", sensitivity="secret")
    memory.save("The second key is at the notary now.", key="key", sensitivity="internal")
    collected = collect(memory)
    assert collected.withheld == 1
    target = tmp_path / "out"
    write_export(collected.contents, target, form)
    files = [path for path in (target, *target.rglob("*")) if path.is_file()]
    if form == "parquet":
        text = "".join(str(pl.read_parquet(file).to_dicts()) for file in files if file.suffix == ".parquet")
    else:
        text = "".join(file.read_text() + file.name for file in files)
    assert "bell of the east tower" in text
    assert not any(word in text for word in ("strongbox", "mooring", "Strongbox", "third step"))


def test_a_folder_is_whole_and_a_foreign_one_is_refused(memory, tmp_path, monkeypatch):
    fill(memory)
    contents, target = collect(memory).contents, tmp_path / "vault"
    (tmp_path / "foreign").mkdir()
    (tmp_path / "foreign" / "mine.md").write_text("mine")
    with pytest.raises(ArgumentError, match="no export"):
        write_export(contents, tmp_path / "foreign", "markdown")
    write_export(contents, target, "markdown")
    notes = {path.name for path in target.glob("*.md")}
    assert {"CON note.md", "index.md"} < notes
    assert len([name for name in notes if name.lower().startswith("bells east west ")]) == 2
    assert "Since May" in "".join(file.read_text() for file in (target / "versions").glob("*.md"))
    (target / "own.md").write_text("my own note")
    memory.save("The cooper comes on the second Monday of the month.", title="Cooper", key="cooper")
    write_export(collect(memory).contents, target, "markdown")
    assert (target / "own.md").read_text() == "my own note"
    (target / "Cooper.md").write_text("edited")
    with pytest.raises(ArgumentError, match=r"Cooper\.md"):
        write_export(contents, target, "markdown")
    monkeypatch.setattr("slowwave.imports.own.writing.write_markdown", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        write_export(contents, tmp_path / "half", "markdown")
    assert {path.name for path in tmp_path.iterdir()} <= {"foreign", "vault", "home"}


@given(st.lists(st.text(max_size=120), max_size=12))
def test_names_are_safe_and_apart(titles):
    made = file_names((f"{number:026d}", title) for number, title in enumerate(titles))
    assert len({name.casefold() for name in made.values()}) == len(titles)
    for name in made.values():
        assert name == name.strip(" .")
        assert not set(name) & set('<>:"/\\|?*#^[]\n\0')
        assert 0 < len(name.encode()) <= 240
    assert all(safe_name(name) == name for name in map(safe_name, titles))


WORDS = ("pier", "lamp", "storm", "rope", "winter", "boat", "the", "is", "new", "14")
NOTE = st.fixed_dictionaries({
    "key": st.sampled_from(["one", "two", "three"]),
    "content": st.lists(st.sampled_from(WORDS), min_size=5,
                        max_size=30).map(" ".join),
    "title": st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20),
    "tags": st.lists(st.sampled_from(["sea", "Öl", "a b"]), max_size=2),
    "created_at": st.none() | st.datetimes(datetime(1990, 1, 1), datetime(2025, 1, 1)  # noqa: DTZ001 - their zone follows
    ).map(
        lambda day: day.replace(tzinfo=UTC)),
})  # fmt: skip


@settings(max_examples=8)
@given(
    st.lists(NOTE, min_size=1, max_size=6), st.booleans(), st.sampled_from(["jsonl", "parquet", "markdown"])
)
def test_any_small_home_is_equal_after_out_and_in_again(open_memory, tmp_path_factory, notes, forget, form):
    folder: Path = tmp_path_factory.mktemp("round")
    first, second = (open_memory("ada", path=folder / name) for name in ("first", "second"))
    for note in notes:
        saved = first.save(**{name: value for name, value in note.items() if value is not None})
        if forget and saved.status != "quarantined":
            first.forget(saved.memory_id)
    write_export(collect(first).contents, folder / "out", form)
    restore(second, read_export(folder / "out", schemas(second.store.specs))[0])
    same(first, second)


def test_lists_filter_sort_and_page(memory):
    fill(memory)

    def titles(**options: object) -> list[str]:
        return [row["title"] for row in browse(memory.home, "ada", BrowseOptions(**options))[0]]

    assert titles(sort="title")[0] == "(secret)"
    assert titles(memory_type="fact") == ["Bells: east/west?"]
    assert titles(tags=("tower", "Zeit")) == titles(source="bell") == ["Bells: east/west?"]
    assert titles(source="box") == []
    assert len(titles(state="forgotten")) == 1
    assert len(titles(state="all")) == 5
    assert titles(sort="title", limit=1, skip=1) == ["Bells: east/west?"]
    tomorrow = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
    assert titles(since=tomorrow) == []
    with pytest.raises(ArgumentError, match="--state"):
        titles(state="lost")
