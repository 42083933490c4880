"""Kills of `export memories` and `import memories` at each of their writes; a rerun ends equal."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path

import pytest
import warm
from faults_helpers import MODEL, ROOT, chunk_faults, environment

import slowwave as package
from slowwave.imports.own.collect import collect
from slowwave.imports.own.model import EVENTS, TABLES, schemas
from slowwave.imports.own.restore import restore
from slowwave.imports.own.writing import read_export, write_export

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

KILLED = """
import os, signal, sys
from importlib import import_module
from slowwave.cli import app

place, at, words = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
module, *path, name = place.split(":")
owner = import_module(module)
for part in path:
    owner = getattr(owner, part)
real, calls = getattr(owner, name), 0

def until_killed(*arguments, **options):
    global calls
    calls += 1
    if calls == at:
        os.kill(os.getpid(), signal.SIGKILL)
    return real(*arguments, **options)

setattr(owner, name, until_killed)
app(words)
"""
OWN = "slowwave.imports.own"
DURING_IMPORT = [
    ("slowwave.journal:Journal:append_next", 1),
    *(("slowwave.store:Store:upsert", at) for at in (1, 2, 3)),
    ("slowwave.store:Store:settle", 1),
]
DURING_EXPORT = [
    (f"{OWN}.markdown:_note", 1),
    (f"{OWN}.markdown:_note", 15),
    (f"{OWN}.folder:_write_list", 1),
    (f"{OWN}.folder:_swap", 1),
    ("pathlib:Path:rename", 1),
    ("pathlib:Path:rename", 2),
]


def killed(home: Path, place: str, at: int, *words: object) -> None:
    """Run a command that kills itself at a call of a function."""
    done = subprocess.run(
        warm.python("-c", KILLED, place, at, *words),
        env=environment(SLOWWAVE_HOME=str(home), SLOWWAVE_EMBEDDING__MODEL=MODEL), cwd=ROOT,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()[-800:]


def opened(home: Path) -> package.Memory:
    return package.open(home, namespace="default", embedding={"model": MODEL})


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with changed, forgotten and rated memories."""
    home = tmp_path_factory.mktemp("filled") / "home"
    with opened(home) as memory:
        for n in range(24):
            memory.save(f"Sluice {n} at weir {n % 5} opens when the gauge reads {n + 3}.", key=f"sluice-{n}")
        for n in range(0, 24, 5):
            memory.save(f"Sluice {n} at weir {n % 5} stays closed until June {n + 1}.", key=f"sluice-{n}")
        memory.forget(memory.search("sluice 7")[0].memory_id)
        memory.feedback(memory.search("which sluice stays closed?").search_id, 1, "helpful")
    return home


def tables(memory: package.Memory) -> dict[str, object]:
    frames = collect(memory, secret=True).contents.frames
    chunks = memory.store.read("chunks", columns=["chunk_id", "revision", "text", "status"])
    return {name: frames[name] for name in (EVENTS, *TABLES)} | {"chunks": chunks.sort("chunk_id")}


def require_equal(first: dict[str, object], second: dict[str, object]) -> None:
    for name, frame in first.items():
        assert frame.equals(second[name]), name


@pytest.mark.parametrize(("place", "at"), DURING_IMPORT)
def test_a_killed_import_is_completed_by_a_rerun(filled: Path, tmp_path: Path, place: str, at: int) -> None:
    with opened(filled) as memory:
        wanted = tables(memory)
        write_export(collect(memory, secret=True).contents, tmp_path / "out.jsonl", "jsonl")
    home = tmp_path / "home"
    with opened(home):
        pass
    killed(home, place, at, "import", "memories", tmp_path / "out.jsonl")
    with opened(home) as memory:
        restore(memory, read_export(tmp_path / "out.jsonl", schemas(memory.store.specs))[0])
        require_equal(wanted, tables(memory))
        assert memory.search("which sluice stays closed?")
    assert chunk_faults(home) == []


@pytest.mark.parametrize("again", [False, True])
@pytest.mark.parametrize(("place", "at"), DURING_EXPORT)
def test_a_killed_export_leaves_the_old_folder_or_none(
    filled: Path, tmp_path: Path, place: str, at: int, again: bool
) -> None:
    if place.startswith("pathlib") and at == 2 and not again:
        pytest.skip("a new folder is renamed once")
    target = tmp_path / "out"
    with opened(filled) as memory:
        contents = collect(memory, secret=True).contents

    def export() -> None:
        write_export(contents, target, "markdown")

    if again:
        export()
        (target / "own.md").write_text("Mine stays.")
    killed(filled, place, at, "export", "memories", target, "--secret")
    assert not target.exists() or (again and (target / "own.md").exists())
    export()
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    assert (target / "own.md").exists() is again
    with opened(tmp_path / "home") as memory:
        read, edited = read_export(target, schemas(memory.store.specs))
        assert edited == []
        restore(memory, read)
        with opened(filled) as first:
            require_equal(tables(first), tables(memory))
