"""The documentation is true: its Python runs, its commands and settings exist."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import polars as pl
import pytest

import slowwave.memory
from slowwave.cli.app import app
from slowwave.notes.model import Reason
from slowwave.quality.structure import KNOWN_WORDS, structure_faults
from slowwave.settings import in_force, load
from slowwave.settings.deprecated import DEPRECATED

ROOT = Path(__file__).parents[2]
PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
PLUGINS = {"night", "ui"}


def _blocks(language: str) -> list[tuple[str, str]]:
    return [
        (page.name, block)
        for page in PAGES
        for block in re.findall(rf"```{language}\n(.*?)```", page.read_text(), re.DOTALL)
    ]


def test_there_is_python_to_run() -> None:
    assert _blocks("python")


@pytest.mark.parametrize(("page", "code"), _blocks("python"))
def test_python_of_the_docs_runs(page: str, code: str, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SLOWWAVE_EMBEDDING__MODEL", "wordllama-256")
    exec(compile(code, page, "exec"), {"__name__": "docs"})
    printed = capsys.readouterr().out
    assert bool(printed.strip()) == ("print" in code)


def test_python_of_the_module_docstring_runs(tmp_path: Path, monkeypatch, capsys) -> None:
    code = re.search(r"```python\n(.*?)```", slowwave.memory.__doc__ or "", re.DOTALL)
    assert code is not None
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SLOWWAVE_EMBEDDING__MODEL", "wordllama-256")
    exec(compile(code[1], "memory.py", "exec"), {"__name__": "docs"})
    assert "Deploy day" in capsys.readouterr().out


def test_every_command_of_the_docs_exists() -> None:
    known = {
        command.name or command.callback.__name__ for command in app.registered_commands if command.callback
    }
    known |= {group.name for group in app.registered_groups} | PLUGINS
    used = {
        word
        for page in PAGES
        for word in re.findall(r"(?:^|`|\$ )slowwave ([a-z]+)", page.read_text(), re.MULTILINE)
    }
    assert used
    assert used <= known


def test_every_setting_of_the_docs_exists() -> None:
    names = {row.name for row in in_force(load())}
    groups = {name.split(".")[0] for name in names if "." in name}
    used = {
        match
        for page in PAGES
        for match in re.findall(r"`([a-z]+\.[a-z_]+)`", page.read_text())
        if match.split(".")[0] in groups and match != "journal.db"
        if page.name != "upgrade.md" or match not in DEPRECATED  # it has the table of renamed settings
    }
    assert used
    assert used <= names


def test_every_link_of_the_docs_leads_somewhere() -> None:
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#]+)\)", page.read_text()):
            if "://" not in target:
                assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_every_reason_of_quarantine_is_explained() -> None:
    text = (ROOT / "docs" / "reference" / "notes.md").read_text()
    odd = {
        "title": "",
        "content": "x",
        "namespace": "!",
        "source": "../a",
    }
    note = pl.DataFrame([odd | dict.fromkeys(KNOWN_WORDS, "?")])
    [faults] = structure_faults(note, min_characters=50)
    reasons = {"unknown_…" if fault.startswith("unknown_") else fault for fault in faults}
    assert len(faults) == 4 + len(KNOWN_WORDS)
    assert {reason for reason in reasons | set(get_args(Reason)) if f"`{reason}`" not in text} == set()
