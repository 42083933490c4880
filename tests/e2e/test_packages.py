"""What is in the wheel and in the sdist, and that what they ask for can be had."""

from __future__ import annotations

import re
import tarfile
import tomllib
import zipfile
from email.parser import HeaderParser
from pathlib import Path

import pytest
from packages import ROOT, TOP, Packages
from packaging.requirements import Requirement

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
EXTRAS = PROJECT["optional-dependencies"]
CACHES = {"__pycache__", ".mypy_cache"}


def files(folder: Path) -> set[str]:
    """What a folder has, links to other folders and caches left out."""
    found = (path for path in folder.rglob("*") if path.is_file())
    return {
        str(path.relative_to(ROOT))
        for path in found
        if not CACHES & set(path.parts) and not any(one.is_symlink() for one in path.parents)
    }


def contents(wheel: Path) -> dict[str, int]:
    """Files of a wheel with the check sums of what is in them."""
    with zipfile.ZipFile(wheel) as opened:
        return {one.filename: one.CRC for one in opened.infolist()}


def headers(wheel: Path) -> HeaderParser:
    with zipfile.ZipFile(wheel) as opened:
        (name,) = (one for one in opened.namelist() if one.endswith(".dist-info/METADATA"))
        return HeaderParser().parsestr(opened.read(name).decode())


@pytest.mark.slow
def test_the_wheel_has_the_package_and_nothing_else(packages: Packages) -> None:
    rooms = {f"slowwave/{path}" for room in TOP for path in files(ROOT / room)}
    there = set(contents(packages.wheel))
    own = {path for path in there if ".dist-info/" not in path}
    assert own == files(ROOT / "slowwave") | rooms
    kinds = {Path(path).suffix for path in own}
    assert kinds == {
        ".py",
        ".txt",
        ".jinja",
        ".css",
        ".js",
        ".svg",
        ".typed",
    }  # code, lists of words, pages and what they look like, and that it has types
    assert {"slowwave/py.typed", "slowwave/__main__.py", "slowwave/views/page.html.jinja"} <= own
    assert {"slowwave/web/static/style.css", "slowwave/web/templates/base.html.jinja"} <= own
    assert not [path for path in there if "test" in Path(path).parts[0] or "/tests/" in path]


@pytest.mark.slow
def test_a_wheel_of_the_sdist_is_the_same(packages: Packages) -> None:
    with tarfile.open(packages.sdist) as opened:
        members = opened.getmembers()
    assert not [one.name for one in members if not one.isreg()]  # no links, which some systems lack
    there = {Path(*Path(one.name).parts[1:]).as_posix() for one in members}
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "slowwave/py.typed",
        "quality/words/filler.txt",
    } <= there
    assert not [path for path in there if path.startswith(tuple(f"slowwave/{room}/" for room in TOP))]
    assert contents(packages.wheel_of_sdist) == contents(packages.wheel)


@pytest.mark.slow
def test_the_wheel_tells_what_the_project_says(packages: Packages) -> None:
    told = headers(packages.wheel)
    assert (told["Name"], told["Version"]) == (PROJECT["name"], PROJECT["version"])
    assert set(told.get_all("Provides-Extra")) == set(EXTRAS)
    assert told["Requires-Python"] == PROJECT["requires-python"]
    with zipfile.ZipFile(packages.wheel) as opened:
        (name,) = (one for one in opened.namelist() if one.endswith("entry_points.txt"))
        points = opened.read(name).decode()
    assert f"slowwave = {PROJECT['scripts']['slowwave']}" in points
    for name, value in PROJECT["entry-points"]["slowwave.commands"].items():
        assert f"{name} = {value}" in points


def locked() -> dict[str, str]:
    """Version of each package that the tests run with."""
    text = (ROOT / "requirements" / "dev.lock").read_text()
    return dict(re.findall(r"^([\w.\-]+)==([\w.]+)", text, re.MULTILINE))


@pytest.mark.parametrize("extra", ["", *EXTRAS])
def test_what_it_asks_for_is_locked_in_a_version_that_it_allows(extra: str) -> None:
    versions = locked()
    asked = EXTRAS[extra] if extra else PROJECT["dependencies"]
    assert asked
    for one in map(Requirement, asked):
        assert versions[one.name] in one.specifier, one


def test_every_extra_that_anybody_is_told_to_install_is_there() -> None:
    """`pip install '.[night]'`, in an error or on a page."""
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    code = [path for room in ("slowwave", *TOP) for path in (ROOT / room).rglob("*.py")]
    told = {
        name.strip()
        for path in {*pages, *code}
        for names in re.findall(r"(?<=\.\[)[a-z, ]+(?=\]')", path.read_text())
        for name in names.split(",")
    }
    assert {"night", "mcp"} <= told <= set(EXTRAS)
