"""A closing label of a record, a save or a call is never silently dropped."""

from __future__ import annotations

from datetime import UTC, datetime

import orjson
import pytest
from pydantic import BaseModel

from slowwave.imports.bulk.rows import fields_of, item_of
from slowwave.imports.gate_preview import prepare_notes
from slowwave.imports.google import Keep
from slowwave.imports.memories import Mem0, MemoryServer
from slowwave.imports.model import ImportItem
from slowwave.imports.notion import Notion
from slowwave.notes.arguments import as_they_stand, note_of
from slowwave.notes.reading import parse_jsonl, parse_markdown
from slowwave.notes.sensitivity import words_in_fields
from slowwave.serving.lenient_arguments import _may_not_be_ignored, means_closing, read_arguments

NOW = datetime(2026, 5, 4, 9, tzinfo=UTC)
TEXT = "Marta keeps the code of the boathouse in the blue tin above the stove."


def saved(item: ImportItem) -> str:
    """The sensitivity with which an item is saved."""
    (note,), problems = prepare_notes([item], "ada", now=NOW, max_bytes=10_000)
    assert not problems
    return note.entry.payload["sensitivity"]


def only_item(source: type, path) -> ImportItem:
    read = source(name="x", path=str(path), now=NOW, max_bytes=10_000).read()
    ((item,),) = (one for one in read if isinstance(one, tuple))
    return item


@pytest.mark.parametrize(
    ("label", "wanted"),
    [("secret", "secret"), ("Private", "secret"), ("confidential", "secret"), ("recipes", "internal")],
)
def test_a_label_of_keep_closes(tmp_path, label, wanted):
    note = {"textContent": TEXT, "labels": [{"name": label}], "createdTimestampUsec": 1_700_000_000_000_000}
    (tmp_path / "tin.json").write_bytes(orjson.dumps(note))
    assert saved(only_item(Keep, tmp_path)) == wanted


@pytest.mark.parametrize(
    ("more", "wanted"),
    [
        ({"metadata": {"sensitivity": "secret"}}, "secret"),
        ({"metadata": {"sensitivityLevel": "secret"}}, "secret"),
        ({"categories": ["private"]}, "secret"),
        ({"metadata": {"room": "secret garden"}}, "internal"),
    ],
)
def test_metadata_and_categories_of_mem0_close(tmp_path, more, wanted):
    (tmp_path / "all.json").write_bytes(orjson.dumps([{"id": "1", "memory": TEXT, **more}]))
    assert saved(only_item(Mem0, tmp_path)) == wanted


def test_an_observation_of_the_memory_server_closes(tmp_path):
    entity = {"type": "entity", "name": "tin", "entityType": "thing"}
    line = orjson.dumps({**entity, "observations": [TEXT, "sensitivity: secret"]})
    (tmp_path / "memory.jsonl").write_bytes(line)
    assert saved(only_item(MemoryServer, tmp_path)) == "secret"


def test_a_property_and_a_column_of_notion_close(tmp_path):
    page, table = tmp_path / "page", tmp_path / "table"
    page.mkdir()
    table.mkdir()
    name = "Tin 0123456789abcdef0123456789abcdef"
    (page / f"{name}.md").write_text(f"# Tin\n\nSensitivity: secret\n\n{TEXT}\n")
    (table / f"{name}.csv").write_text(f"Name,Text,Sensitivity\nTin,{TEXT},secret\n")
    assert saved(only_item(Notion, page)) == "secret"
    assert saved(only_item(Notion, table)) == "secret"


@pytest.mark.parametrize("column", ["sensitivity", "Sensitivity", "sensitivityLevel", "SENSITIVITY", "meta"])
def test_a_column_in_any_spelling_closes_a_row(column):
    cell = {"sensitivity": "secret"} if column == "meta" else "secret"
    item = item_of({"text": TEXT, column: cell}, fields_of([]), "rows", "row 1", NOW)
    assert saved(item) == "secret"
    open_item = item_of({"text": f"{TEXT} secret"}, fields_of([]), "rows", "row 1", NOW)
    assert saved(open_item) == "internal"


@pytest.mark.parametrize(
    "name", ["sensitivityLevel", "noteSensitivity", "Sensitivity Level", "sensitivity_level"]
)
def test_a_compound_name_in_front_matter_closes(name):
    note = parse_markdown(f"---\n{name}: secret\n---\n{TEXT}\n".encode(), "a.md", max_bytes=4_000)
    assert note.sensitivity == "secret"
    assert list(words_in_fields({name: "public"})) == []


@pytest.mark.parametrize("pair", [("secret", "public"), ("public", "secret")])
def test_of_a_repeated_sensitivity_in_json_the_strictest_counts(pair):
    one, other = pair
    line = f'{{"id": "1", "text": "{TEXT}", "sensitivity": "{one}", "sensitivity": "{other}"}}'
    (note,) = parse_jsonl(line.encode(), "a.jsonl", max_bytes=4_000)
    assert note.sensitivity == "secret"
    assert note.content == TEXT


@pytest.mark.parametrize(
    "labels",
    [
        {"content": f"---\nsensitivity: secret\n---\n{TEXT}"},
        {"content": TEXT, "metadata": {"sensitivity": "secret"}},
        {"content": TEXT, "tags": ["private"]},
        {"content": TEXT, "tags": ["sensitivity/secret"], "sensitivity": "public"},
    ],
)
def test_a_save_with_a_closing_label_is_closed_also_over_an_open_memory(labels):
    note = note_of(labels, fallback_key="tin")
    assert note.sensitivity == "secret"
    stands = {"tin": {"sensitivity": "internal"}}
    (kept,) = as_they_stand([note], [labels], stands)
    assert kept.sensitivity == "secret"


def test_a_save_without_one_keeps_what_its_memory_has():
    labels = {"content": TEXT, "tags": ["boat"]}
    note = note_of(labels, fallback_key="tin")
    assert note.sensitivity == "internal"
    (kept,) = as_they_stand([note], [labels], {"tin": {"sensitivity": "secret"}})
    assert kept.sensitivity == "secret"


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("is_secret", True), ("isPrivate", True), ("acl", True), ("hidden", True), ("visibility", True),
        ("confidential", True), ("sensitivityLevel", True), ("namespace", False), ("color", False),
    ],
)  # fmt: skip
def test_names_that_mean_closing(name, wanted):
    assert means_closing(name) is wanted


class _Saved(BaseModel):
    content: str


@pytest.mark.parametrize(
    "given",
    [
        {"metadata": {"sensitivity": "secret"}}, {"metadata": {"secret": True}}, {"privacy": "secret"},
        {"properties": {"note": {"visibility": "closed"}}}, {"access": "me"}, {"readers": ["ada"]},
        {"audience": "me"}, {"shared": False}, {"who": ["Private"]}, {"validate_only": True},
        {"no_save": True}, {"test": True}, {"readOnly": True}, {"include_secret": True},
    ],
)  # fmt: skip
def test_what_may_mean_a_closed_note_or_a_dry_run_is_not_ignored(given):
    read = read_arguments(_Saved, {"content": TEXT, **given})
    assert read.values == {"content": TEXT, **given}
    assert read.remarks == ()


def test_a_label_at_any_depth_is_not_ignored():
    deep: object = {"sensitivity": "secret"}
    for _ in range(3_000):
        deep = [deep]
    assert _may_not_be_ignored("metadata", deep)


def test_other_unknown_arguments_are_ignored():
    read = read_arguments(_Saved, {"content": TEXT, "metadata": {"colour": "a secret place"}, "mode": "fast"})
    assert read.values == {"content": TEXT}
    assert "'metadata', 'mode'" in read.remarks[0]
