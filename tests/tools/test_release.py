"""A release is the same bytes wherever it is built, and is refused where something is missing."""

from __future__ import annotations

import subprocess
from datetime import date
from pathlib import Path

import pytest

from tools import release

ROOT = Path(__file__).parents[2]
LOG = "# Changelog\n\n## Unreleased\n\n- New.\n\n## 0.1.0 - 2026-01-02\n\n- Old.\n"


def test_the_changelog_is_cut():
    new = release.cut(LOG, "0.2.0", date(2026, 5, 1))
    assert new.startswith("# Changelog\n\n## Unreleased\n\n## 0.2.0 - 2026-05-01\n\n- New.\n")
    assert release.section(new, "0.2.0") == "- New.\n"
    assert release.section(new, "0.1.0") == "- Old.\n"
    with pytest.raises(release.ReleaseError, match="no section"):
        release.cut(new, "0.3.0", date(2026, 5, 1))
    with pytest.raises(release.ReleaseError, match="already"):
        release.cut(LOG, "0.1.0", date(2026, 5, 1))


def git(folder: Path, *arguments: str) -> None:
    own = ["-c", "user.name=Ada", "-c", "user.email=ada@example.org"]
    subprocess.run(["git", *own, *arguments], cwd=folder, check=True, capture_output=True)


def test_what_cannot_be_released_is_refused(tmp_path: Path):
    git(tmp_path, "init")
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "0.2.0"\n')
    (tmp_path / "CHANGELOG.md").write_text(LOG)
    with pytest.raises(release.ReleaseError, match="uncommitted"):
        release.check(tmp_path)
    git(tmp_path, "add", "-A")
    git(tmp_path, "commit", "-m", "one")
    with pytest.raises(release.ReleaseError, match=r"no section '## 0\.2\.0'"):
        release.check(tmp_path)
    (tmp_path / "CHANGELOG.md").write_text(release.cut(LOG, "0.2.0", date(2026, 5, 1)))
    git(tmp_path, "commit", "-am", "two")
    assert release.check(tmp_path) == ("0.2.0", "- New.\n")
    git(tmp_path, "tag", "v0.2.0", "HEAD~1")
    with pytest.raises(release.ReleaseError, match="another commit"):
        release.check(tmp_path)


@pytest.mark.slow
def test_two_builds_at_two_places_are_the_same_bytes(tmp_path: Path):
    if not (ROOT / ".git").exists():
        pytest.skip("this tree is no checkout of git")
    git(tmp_path, "clone", "--quiet", "--depth", "1", f"file://{ROOT}", "other")
    built = [
        release.build(root, tmp_path / name, 1_700_000_000)
        for root, name in ((ROOT, "one"), (tmp_path / "other", "two"))
    ]
    assert [file.suffix for file in built[0]] == [".whl", ".gz"] or len(built[0]) == 2
    assert release.sums(built[0]) == release.sums(built[1])


@pytest.mark.parametrize("engine", ["#!/bin/sh\necho 'Cannot connect to the daemon.' >&2\nexit 1\n", None])
def test_without_a_container_engine_that_runs_the_command_is_said(tmp_path: Path, monkeypatch, engine):
    if engine is not None:
        (tmp_path / "docker").write_text(engine)
        (tmp_path / "docker").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/nowhere")
    said = release.image(ROOT, "0.2.0")
    assert said == (
        "Image: not built, because no container engine runs here. "
        "To build it elsewhere: docker build -f deploy/Dockerfile -t slowwave:0.2.0 ."
    )
