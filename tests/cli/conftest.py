"""Commands that run in the process of the tests."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result
from command_lines import DEPLOY
from typer.testing import CliRunner

from slowwave.cli import app
from slowwave.memory import Memory
from slowwave.views.terminal import err, out


@pytest.fixture
def run(
    home: Path, memory: Memory, fast_embedder: Any, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Result]:
    """Runs a command on `home`, in this process; the file of tests says what its `memory` is."""
    (home / "slowwave.toml").write_text(f'[embedding]\nmodel = "{fast_embedder.name}"\n')
    monkeypatch.setenv("SLOWWAVE_HOME", str(home))
    monkeypatch.setattr("slowwave.embedding.load_embedder", lambda *_: fast_embedder)
    for console in (out, err):
        monkeypatch.setattr(console, "_width", 300)
    return lambda *words, **options: CliRunner().invoke(app, list(words), **options)


@pytest.fixture
def known(memory: Memory, tmp_path: Path) -> dict[str, str]:
    """What a sensible person gives, by the name of the parameter."""
    saved = memory.save(DEPLOY, key="deploy")
    response = memory.search("when do we deploy?", project="spring")
    (tmp_path / "vault").mkdir()
    return {
        "content": DEPLOY, "query": "when do we deploy?", "memory_id": saved.memory_id, "result": "1",
        "search_id": response.search_id, "rating": "helpful", "response": "On Thursday.", "project": "spring",
        "outcome": "success", "grade": "2", "who": "Ruaridh", "path": str(tmp_path / "vault"),
        "sql": "select 1", "name": "one", "model": "wordllama-256",
    }  # fmt: skip


@pytest.fixture
def nothing_is_served(monkeypatch: pytest.MonkeyPatch) -> None:
    """Commands that serve until somebody ends them end at once."""
    for server in (
        "slowwave.mcp.stdio.serve",
        "slowwave.cli.up._run",
        "slowwave.web.serving.serve",
        "uvicorn.Server.run",
    ):
        monkeypatch.setattr(server, lambda *_, **__: None)
    monkeypatch.setattr("slowwave.orchestration.process_groups.run_group", lambda *_, **__: 0)
