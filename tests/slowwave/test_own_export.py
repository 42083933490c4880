"""Memories out and in again: equal ids, labels, dates, versions, states and ratings."""

from __future__ import annotations

import re
import shutil
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import polars as pl
import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from slowwave.errors import ArgumentError, SlowwaveError
from slowwave.imports.markdown import Markdown
from slowwave.imports.model import ImportFailedError
from slowwave.imports.own.collect import collect
from slowwave.imports.own.markdown import file_names, safe_name
from slowwave.imports.own.model import EVENTS, TABLES, schemas
from slowwave.imports.own.restore import restore
from slowwave.imports.own.writing import read_export, write_export
from slowwave.lifecycle.browse import BrowseOptions, browse
from slowwave.memory import Memory
from slowwave.notes.folder import list_vault
from slowwave.vaults import vault

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
    memory.search("is the number of the old mooring 4471ZK?", limit=1)  # a secret's words in a query
    found = memory.search("bell of the east tower", limit=1)
    memory.feedback(found.search_id, 1, "helpful")
    collected = collect(memory)
    assert (collected.withheld, collected.searches) == (1, 3)
    assert set(collected.contents.frames[EVENTS]["kind"]) <= {"save", "forget", "undo", "accept"}
    target = tmp_path / "out"
    write_export(collected.contents, target, form)
    files = [path for path in (target, *target.rglob("*")) if path.is_file()]
    if form == "parquet":
        text = "".join(str(pl.read_parquet(file).to_dicts()) for file in files if file.suffix == ".parquet")
    else:
        text = "".join(file.read_text() + file.name for file in files)
    assert "bell of the east tower" in text
    assert not any(word in text for word in ("strongbox", "mooring", "Strongbox", "third step", "4471ZK"))


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


@pytest.mark.parametrize("how", ["refused", "earlier version", "unreadable label"])
def test_queries_stay_where_a_secret_was_never_a_memory_or_is_none_now(how, memory):
    memory.save(OVEN, key="oven")
    if how == "refused":
        memory.save("kX9 4471ZK zz" * 3, key="odd", sensitivity="secret")
    elif how == "earlier version":
        memory.save(
            "The well was dug 4471ZK paces from the gate, says the deed.", key="w", sensitivity="secret"
        )
        memory.save("The well stands in the court, as everybody knows by now.", key="w", sensitivity="public")
    else:
        memory.save("The deed names 4471ZK paces from the gate to the well.", key="w", sensitivity="closed?")
    memory.search("4471ZK paces from the gate")
    assert "4471ZK" not in str(
        {name: frame.to_dicts() for name, frame in collect(memory).contents.frames.items()}
    )
    assert "search" in set(collect(memory, secret=True).contents.frames[EVENTS]["kind"])


def test_without_any_secret_queries_and_ratings_go_along(memory):
    memory.save(OVEN, key="oven")
    memory.feedback(memory.search("how hot is the oven?").search_id, 1, "helpful")
    collected = collect(memory)
    assert collected.searches == 0
    assert {"search", "feedback"} < set(collected.contents.frames[EVENTS]["kind"])


def test_an_exported_folder_opens_in_obsidian(memory, tmp_path):
    fill(memory)
    memory.save("Colons: break 'weak' front matter, [[as]] do # hashes and \t tabs.",
                title='He said: "no" # never', key="quotes: 1", tags=["a:b", "#x", "- y", "yes"])  # fmt: skip
    memory.save("A title of reserved words is a file name on no Windows.", title="aux.txt", key="aux")
    write_export(collect(memory, secret=True).contents, tmp_path / "vault", "markdown")
    files = list((tmp_path / "vault").rglob("*.md"))
    stems = {file.stem for file in files}
    assert len({file.name.casefold() for file in files}) == len(files)
    for file in files:
        text = file.read_text()
        links = re.findall(r"\[\[([^\]]+)\]\]", text.replace("[[as]]", ""))
        assert {link.split("|")[0] for link in links} <= stems
        if file.name != "index.md":
            fields = yaml.safe_load(text.split("---\n")[1])
            assert {"title", "type"} <= fields.keys()
    one = next(file for file in files if file.stem.startswith("He said") and file.parent.name == "vault")
    fields = yaml.safe_load(one.read_text().split("---\n")[1])
    assert (fields["title"], fields["tags"]) == ('He said: "no" # never', ["a:b", "#x", "- y", "yes"])


def test_a_scan_of_an_export_doubles_nothing(memory, tmp_path):
    fill(memory)
    folder = tmp_path / "vault" / "exported"
    folder.parent.mkdir()
    write_export(collect(memory, secret=True).contents, folder, "markdown")
    assert list_vault(folder.parent).copies == list_vault(folder).copies == len(list(folder.rglob("*.md")))
    moved = tmp_path / "moved"
    shutil.copytree(folder, moved, copy_function=shutil.copy)  # all files get new times
    (moved / "own.md").write_text("A note of mine about the lamp of the east pier.")
    (moved / "CON note.md").write_text("The mill race is cleaned in November from now on.")
    assert {file.source for file in list_vault(moved).files} == {"own.md", "CON note.md"}
    now = datetime.now(UTC)
    source = vault.watch(memory.journal, "ada", folder.parent, name="", as_of=now, principal="ada")
    result = vault.scan(memory.journal, source, memory.settings.notes, as_of=now)
    assert (result.new, result.acts) == (0, 0)
    assert "slowwave import memories" in result.warnings[0]
    items = list(Markdown("markdown", str(moved), now=now, max_bytes=10**6).read())
    assert len([item for item in items if isinstance(item, tuple)]) == 2
    assert any("slowwave import memories" in str(item) for item in items)


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
    "content": st.lists(st.sampled_from(WORDS), min_size=5, max_size=30).map(" ".join),
    "title": st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20),
    "tags": st.lists(st.sampled_from(["sea", "Öl", "a b"]), max_size=2),
    "aliases": st.lists(st.sampled_from(["beacon", "der Pier"]), max_size=1),
    "memory_type": st.sampled_from(["note", "fact", "decision"]),
    "sensitivity": st.sampled_from(["public", "internal", "secret"]),
    "created_at": st.none() | st.datetimes(
        datetime(1990, 1, 1), datetime(2025, 1, 1), timezones=st.just(UTC),  # noqa: DTZ001 - UTC follows
    ),
})  # fmt: skip
STEP = (
    st.tuples(st.just("save"), NOTE)
    | st.tuples(st.just("forget"), st.sampled_from(["one", "two", "three"]))
    | st.tuples(st.just("rate"), st.sampled_from(["helpful", "unhelpful", "neutral"]))
    | st.tuples(st.just("undo"), st.none())
)


def live(memory: Memory, key: str) -> list[str]:
    rows = memory.store.read("memories", f"source = '{key}' AND status = 'live'", columns=["memory_id"])
    return rows["memory_id"].to_list()


def take(memory: Memory, step: tuple[str, object], decisions: list[str]) -> None:
    """Do one step of a history."""
    kind, value = step
    if kind == "save":
        saved = memory.save(**{name: field for name, field in value.items() if field is not None})
        decisions += [saved.decision_id] if saved.decision_id else []
    elif kind == "forget":
        for memory_id in live(memory, value):
            memory.forget(memory_id)
    elif kind == "rate":
        found = memory.search("is the pier lamp new since the storm?")
        if found:
            memory.feedback(found.search_id, 1, value)
    elif decisions:
        with suppress(SlowwaveError):  # it only stored the note, or was undone
            memory.undo(decisions.pop())


@settings(max_examples=8)
@given(st.lists(STEP, min_size=1, max_size=9), st.sampled_from(["jsonl", "parquet", "markdown"]))
def test_any_small_home_is_equal_after_out_and_in_again(open_memory, tmp_path_factory, steps, form):
    folder: Path = tmp_path_factory.mktemp("round")
    apart = {"reconsolidation": {"policy": "literal"}}
    first, second = (open_memory("ada", path=folder / name, **apart) for name in ("first", "second"))
    decisions: list[str] = []
    for step in steps:
        take(first, step, decisions)
    write_export(collect(first, secret=True).contents, folder / "out", form)
    restore(second, read_export(folder / "out", schemas(second.store.specs))[0])
    same(first, second)
    assert restore(second, read_export(folder / "out", schemas(second.store.specs))[0]).memories == 0
    same(first, second)


def test_lists_filter_sort_and_page(memory):
    fill(memory)

    def titles(**options: object) -> list[str]:
        return [row["title"] for row in browse(memory.tenant, BrowseOptions(**options))[0]]

    assert titles(sort="title")[0] == "(secret)"
    assert titles(memory_type="fact") == ["Bells: east/west?"]
    assert titles(tags=("tower", "Zeit")) == titles(source="bell") == ["Bells: east/west?"]
    assert titles(source="box") == []
    assert len(titles(state="forgotten")) == 1
    assert len(titles(state="all")) == 5
    assert titles(sort="title", limit=1, skip=2) == ["Bells: east/west?"]
    tomorrow = (datetime.now(UTC) + timedelta(days=2)).date().isoformat()
    assert titles(since=tomorrow) == []
    memory.save("The weather vane was gilded in the year of the flood.", title="Vane",
                created_at=datetime(2019, 5, 4, tzinfo=UTC))  # fmt: skip
    assert titles(since="2019-05-04", until="2019-05-04", date="created") == ["Vane"]
    assert titles(since="2019-05-04", until="2019-05-04") == []
    with pytest.raises(ArgumentError, match="--date"):
        titles(date="read")
    with pytest.raises(ArgumentError, match="--state"):
        titles(state="lost")
