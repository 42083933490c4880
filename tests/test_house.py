"""The table of rooms, the import contract and the tree say the same; files stay readable."""

from __future__ import annotations

import ast
import re
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
TOP = ("orchestration", "assets", "quality", "scoring")  # folders that stand at the top of the repository
LONGEST = 400  # lines of a file
IN_TWO_FRAMEWORKS = {"SlowwaveRetriever"}  # as users of LangChain and of LlamaIndex know it
FILES = [
    file
    for room in ("slowwave", *TOP, "tools", "examples")
    for file in sorted((ROOT / room).rglob("*.py"))
    if not any(parent.is_symlink() for parent in file.parents)
]


def layers() -> list[set[str]]:
    """The rooms of the import contract, the highest layer first."""
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (rooms,) = [one for one in contracts if one["type"] == "layers"]
    assert rooms["containers"] == ["slowwave"]
    assert rooms["exhaustive"]
    return [set(re.split(r" [|:] ", layer)) for layer in rooms["layers"]]


def table() -> list[tuple[str, str]]:
    """Package and folder of each row of the table in CONTRIBUTING.md."""
    section = (ROOT / "CONTRIBUTING.md").read_text().split("## Packages and layers")[1].split("\n## ")[0]
    return re.findall(r"^\| `(\w+)` \| `([^`]+)` \| \S", section, re.MULTILINE)


def test_the_table_has_the_rooms_of_the_contract_in_their_order():
    rooms = [room for room, _ in table()]
    placed = []
    for layer in layers():
        placed.append(set(rooms[sum(map(len, placed)) :][: len(layer)]))
    assert placed == layers()
    assert len(rooms) == len(set(rooms))


def test_the_table_has_the_folders_of_the_tree():
    folder = ROOT / "slowwave"
    sources = [file for file in folder.iterdir() if file.suffix == ".py" or any(file.rglob("*.py"))]
    there = {file.stem for file in sources}  # not what git left of a folder that is gone
    assert {room for room, _ in table()} == there - {"__init__", "__main__", "__pycache__"}
    for room, path in table():
        assert path == (f"{room}/" if room in TOP else path)
        assert path in (f"{room}/", f"slowwave/{room}/", f"slowwave/{room}.py")
        assert (ROOT / path).exists()


@pytest.mark.parametrize("room", TOP)
def test_a_folder_at_the_top_is_a_room_of_the_package(room):
    link = ROOT / "slowwave" / room
    assert link.is_symlink()
    assert link.resolve() == ROOT / room
    assert PROJECT["tool"]["hatch"]["build"]["targets"]["wheel"]["sources"][room] == f"slowwave/{room}"


def test_no_room_below_the_assets_may_import_dagster():
    contracts = PROJECT["tool"]["importlinter"]["contracts"]
    (forbidden,) = [one for one in contracts if one.get("forbidden_modules") == ["dagster"]]
    below = {f"slowwave.{room}" for layer in layers()[2:] for room in layer}
    assert set(forbidden["source_modules"]) == below
    assert layers()[:2] == [{"orchestration"}, {"assets"}]


def test_no_file_is_longer_than_can_be_read_at_once():
    lengths = {str(file.relative_to(ROOT)): len(file.read_text().splitlines()) for file in FILES}
    assert {file: lines for file, lines in lengths.items() if lines > LONGEST} == {}


def test_no_two_classes_have_one_name():
    places = defaultdict(list)
    for file in FILES:
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name not in IN_TWO_FRAMEWORKS:
                places[node.name].append(str(file.relative_to(ROOT)))
    assert {name: files for name, files in places.items() if len(files) > 1} == {}


def test_a_tenant_is_spelled_in_one_place():
    """Every other filter of a namespace comes from there, so that none can forget or misquote it."""
    spelled = {
        str(file.relative_to(ROOT))
        for file in FILES
        if re.search(r"namespace = (?:\{quote|')", file.read_text())
    }
    assert spelled == {"slowwave/store/tenancy.py"}


PAGES = [ROOT / name for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md")]
PAGES += sorted((ROOT / "docs").rglob("*.md"))
_TREE = "(?:slowwave|scoring|quality|assets|orchestration|tests|bench|docs)/"
PATH = re.compile(rf"`({_TREE}[\w./\-]+\.py|{_TREE}[\w./\-]*/)`")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_every_file_that_a_page_names_is_there(page):
    assert [path for path in PATH.findall(page.read_text()) if not (ROOT / path).exists()] == []
