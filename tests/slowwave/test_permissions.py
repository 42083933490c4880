"""Who may read what is written: the home's owner, or its group where a person has said so."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

import slowwave
from slowwave.cli import app
from slowwave.maintenance.doctor import examine
from slowwave.settings import load

TEXT = "We deploy on Thursday since the second of March, and Friday is for repairs only."
MODEL = {"embedding": {"model": "wordllama-256"}}
pytestmark = pytest.mark.skipif(os.name != "posix", reason="modes of files")


@pytest.fixture(autouse=True)
def _usual_umask() -> Iterator[None]:
    before = os.umask(0o022)
    yield
    os.umask(before)


def bits(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def readable(folder: Path, mask: int) -> list[str]:
    """What somebody has rights to, by the bits of the mask."""
    return [str(path) for path in (folder, *folder.rglob("*")) if bits(path) & mask]


def command(home: Path, *words: object) -> str:
    done = CliRunner().invoke(app, ["--home", str(home), *map(str, words)], input=TEXT)
    assert done.exit_code == 0, done.output
    return done.output


@pytest.fixture
def elsewhere(tmp_path: Path) -> Path:
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return folder


@pytest.mark.slow
def test_what_commands_write_is_the_owners_alone(home, elsewhere):
    command(home, "init", home, "--model", "wordllama-256")
    command(home, "save", TEXT)
    command(home, "search", "when do we deploy?")
    command(home, "export", elsewhere / "searches.jsonl")
    command(home, "report", "feedback", "--html", elsewhere / "page.html")
    command(home, "mcp", "token", "--namespace", "ada", "--principal", "claude")
    command(home, "warehouse", "build")
    assert {path.name for path in home.iterdir()} >= {
        "lance",
        "journal.db",
        "slowwave.toml",
        "warehouse.duckdb",
    }
    assert bits(home) == 0o700
    assert readable(home, 0o077) == []
    assert len(list(elsewhere.iterdir())) == 2
    assert [bits(path) for path in elsewhere.iterdir()] == [0o600, 0o600]
    assert os.umask(0o022) == 0o022  # as it was before the commands


def test_an_application_keeps_its_umask_and_others_are_kept_out(home):
    with slowwave.open(home, namespace="ada", **MODEL) as memory:
        memory.save(TEXT)
    assert (bits(home), bits(home / "lance"), bits(home / "journal.db")) == (0o700, 0o700, 0o600)
    assert os.umask(0o022) == 0o022


def test_an_empty_folder_becomes_private_and_one_in_use_stays(home, tmp_path):
    home.mkdir()
    command(home, "init", home, "--model", "wordllama-256")
    assert bits(home) == 0o700
    project = tmp_path / "project"
    project.mkdir()
    (project / "README").write_text("A project.")
    command(project, "init", project, "--model", "wordllama-256")
    assert bits(project) == 0o755
    assert readable(project / "lance", 0o077) == []
    assert bits(project / "journal.db") == 0o600


@pytest.mark.slow
def test_a_folder_that_is_given_to_a_group_is_shared_with_it(home):
    home.mkdir()
    home.chmod(0o2770)
    os.umask(0o002)
    command(home, "init", home, "--model", "wordllama-256")
    command(home, "save", TEXT)
    assert bits(home) == 0o2770
    assert readable(home, 0o007) == []
    assert bits(home / "journal.db") == 0o660
    assert bits(home / "slowwave.toml") == 0o660
    assert all(bits(path) & 0o070 for path in home.rglob("*"))
    (found,) = [one for one in examine(load(home)) if one.subject == "permissions"]
    assert found.ok


@pytest.mark.slow
def test_doctor_finds_a_home_that_others_may_read_and_mends_it(home):
    command(home, "init", home, "--model", "wordllama-256")
    for path in (home, *home.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (home / "link").symlink_to("/etc")

    def found() -> tuple[bool, str]:
        (one,) = [one for one in examine(load(home)) if one.subject == "permissions"]
        return one.ok, one.advice

    assert found() == (False, "slowwave doctor --repair, or, to share it with a group: chmod -R o= HOME")
    command(home, "doctor", "--repair")
    assert readable(home, 0o077) == [str(home / "link")]
    (home / "link").unlink()
    assert found() == (True, "")
    assert bits(Path("/etc")) & 0o005
