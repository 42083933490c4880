"""Runs the scripts of the folder bench/ in the process of a test."""

from __future__ import annotations

import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from prepared import empty
from quick_dagster import _quick_nights as _quick_nights

from slowwave.embedding import Embedder
from slowwave.home import opening
from slowwave.settings import Settings
from slowwave.store import Store

FAST_MODEL = "wordllama-256"
BENCH = Path(__file__).parents[2] / "bench"


def no_number(text: str) -> None:
    """JSON has no NaN and no infinity, whatever Python's reader lets through."""
    raise AssertionError(f"{text} is not JSON")


@pytest.fixture
def _quick_homes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A new home has the tables that opening it would make, but at once: half a second each."""
    made = opening.open_store

    def open_store(settings: Settings, embedder: Embedder, *more: Any) -> Store:
        folder = Path(settings.store_uri)
        if folder.is_dir() and not any(folder.iterdir()) and embedder.name == FAST_MODEL:
            shutil.copytree(empty(FAST_MODEL) / "lance", folder, dirs_exist_ok=True)
        return made(settings, embedder, *more)

    monkeypatch.setattr(opening, "open_store", open_store)


@pytest.fixture
def load(monkeypatch: pytest.MonkeyPatch, _quick_homes: None) -> Callable[[str], ModuleType]:
    """Loads a script as Python does when it is started: beside its helpers."""
    monkeypatch.syspath_prepend(str(BENCH))

    def load_(name: str) -> ModuleType:
        spec = importlib.util.spec_from_file_location(name, BENCH / f"{name}.py")
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        monkeypatch.setitem(sys.modules, name, module)  # where processes of the script look for what they do
        spec.loader.exec_module(module)
        return module

    return load_


def without_warehouse(life: Any, first: date, last: date) -> None:
    """The jobs of a simulated month but for what only reports need: they take half a minute."""
    from _home import run

    for job in ("night", "evaluation"):
        run(life, job, first, last, datetime.combine(last, time(1), UTC) + timedelta(days=1))


@pytest.fixture
def run(
    load: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., dict[str, Any]]:
    """Runs a script; the value is what its last line says, the only one that is JSON."""

    def child(script: str, *arguments: object) -> dict[str, Any]:
        capsys.readouterr()
        load(Path(script).stem).main([str(one) for one in arguments])
        return json.loads(capsys.readouterr().out.splitlines()[-1])

    def run_(name: str, *arguments: object) -> dict[str, Any]:
        script = load(name)
        if hasattr(script, "child"):  # a process of its own, which takes seconds to start
            monkeypatch.setattr(script, "child", child)
        if name == "month":
            monkeypatch.setattr(script, "work", without_warehouse)
        script.main([str(one) for one in arguments])
        *others, last = capsys.readouterr().out.splitlines()
        assert not [line for line in others if line.startswith("{")]
        said = json.loads(last, parse_constant=no_number)
        assert said["bench"] == name
        return said

    return run_


@pytest.fixture
def refused(load: Callable[[str], ModuleType], capsys: pytest.CaptureFixture[str]) -> Callable[..., str]:
    """Runs a script that cannot measure what it is given; the value is what it says of it."""

    def run_(name: str, *arguments: object) -> str:
        with pytest.raises(SystemExit) as ended:
            load(name).main([str(one) for one in arguments])
        said = capsys.readouterr()
        assert ended.value.code == 2
        assert not [line for line in said.out.splitlines() if line.startswith("{")]
        return " ".join(said.err.split())

    return run_
