"""Reproducible release build: the same bytes from the same commit on any machine.

    python -m tools.release             # checks, builds into dist/, tests the wheel
    python -m tools.release --cut       # only dates the unreleased section of CHANGELOG.md

Checks that nothing is uncommitted, the changelog has a section of the version, and its tag is on no other
commit. Builds wheel, source archive, release notes and SHA256SUMS. Then installs the wheel with the pinned
packages into an empty environment and uses it. Builds the image if a container engine runs.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from datetime import UTC, date, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
ENGINES = ("docker", "podman")
TRY = """
import slowwave
with slowwave.open("home", namespace="default", embedding={"model": "wordllama-256"}) as memory:
    fact = "We deploy on Thursday since the second of March, and Friday is for repairs only."
    memory.save(fact)
    assert [one.text for one in memory.search("when do we deploy?")] == [fact]
"""


class ReleaseError(Exception):
    """Error that prevents a release, with the next step."""


def version_of(root: Path) -> str:
    """Return the version in pyproject.toml."""
    return str(tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"])


def section(changelog: str, version: str) -> str:
    """Return the changelog's section of a version.

    Raises:
        ReleaseError: There is none, or it is empty.
    """
    match = re.search(rf"^## {re.escape(version)}\b[^\n]*\n(.*?)(?=^## |\Z)", changelog, re.M | re.S)
    if match is None or not match[1].strip():
        raise ReleaseError(f"CHANGELOG.md has no section '## {version}'. Run python -m tools.release --cut.")
    return match[1].strip() + "\n"


def cut(changelog: str, version: str, day: date) -> str:
    """Return the changelog with its unreleased section dated and numbered, and a new empty one.

    Raises:
        ReleaseError: Nothing is unreleased, or the version has a section already.
    """
    if re.search(rf"^## {re.escape(version)}\b", changelog, re.M):
        raise ReleaseError(f"CHANGELOG.md has {version} already. Raise the version in pyproject.toml first.")
    section(changelog, "Unreleased")
    return re.sub(
        r"^## Unreleased\n", f"## Unreleased\n\n## {version} - {day:%F}\n", changelog, count=1, flags=re.M
    )


def build(root: Path, out: Path, epoch: int) -> list[Path]:
    """Build wheel and source archive of the last commit, in a copied tree.

    Args:
        root: Of the repository.
        out: Output folder.
        epoch: Time stamp of all files in them, in seconds since 1970.
    """
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(epoch), "PYTHONHASHSEED": "0", "TZ": "UTC"}
    code = (
        "import sys; from hatchling import build; "
        "build.build_wheel(sys.argv[1]); build.build_sdist(sys.argv[1])"
    )
    with tempfile.TemporaryDirectory() as folder:
        tree = Path(folder) / "tree"
        tree.mkdir()
        packed = subprocess.run(["git", "archive", "HEAD"], cwd=root, check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-p", "--no-same-owner"], cwd=tree, input=packed, check=True)
        out.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            [sys.executable, "-c", code, str(out.absolute())], cwd=tree, env=environment, check=True
        )
    return sorted(out.glob("slowwave-*"))


def sums(files: list[Path]) -> str:
    """Return the lines of SHA256SUMS, for `sha256sum --check`."""
    return "".join(f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}\n" for file in files)


def _git(root: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def check(root: Path) -> tuple[str, str]:
    """Return the version to be released, and its notes.

    Raises:
        ReleaseError: This tree cannot be released.
    """
    version = version_of(root)
    if changed := _git(root, "status", "--porcelain"):
        raise ReleaseError(f"There are uncommitted changes. Commit or stash them:\n{changed[:500]}")
    notes = section((root / "CHANGELOG.md").read_text(encoding="utf-8"), version)
    tag = f"v{version}"
    if _git(root, "tag", "--list", tag) and _git(root, "rev-list", "-n1", tag) != _git(
        root, "rev-parse", "HEAD"
    ):
        raise ReleaseError(f"The tag {tag} is on another commit. Raise the version in pyproject.toml.")
    return version, notes


def use(wheel: Path, root: Path) -> None:
    """Install a wheel with the pinned packages into an empty environment, then save and search."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
        pip = [
            work / "venv/bin/python",
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
        ]
        subprocess.run([*pip, "--require-hashes", "-r", root / "requirements/runtime.lock"], check=True)
        subprocess.run([*pip, wheel], check=True)
        clean = {
            name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE_", "PYTHON"))
        }
        subprocess.run([work / "venv/bin/python", "-c", TRY], cwd=work, env=clean, check=True)
        subprocess.run([work / "venv/bin/slowwave", "--version"], cwd=work, env=clean, check=True)


def _runs(engine: str) -> bool:
    """Whether a container engine is usable: often only its command is installed."""
    return subprocess.run([engine, "info"], check=False, capture_output=True).returncode == 0


def image(root: Path, version: str) -> str:
    """Build the image if an engine runs. Return the result for a person."""
    engine = next((name for name in ENGINES if shutil.which(name) and _runs(name)), None)
    file = root / "deploy" / "Dockerfile"
    command = f"{engine or ENGINES[0]} build -f deploy/Dockerfile -t slowwave:{version} ."
    if engine is None or not file.exists():
        why = "deploy/Dockerfile is missing" if not file.exists() else "no container engine runs here"
        return f"Image: not built, because {why}. To build it elsewhere: {command}"
    subprocess.run(command.split(), cwd=root, check=True)
    return f"Image: slowwave:{version}"


def main(arguments: list[str] | None = None) -> int:
    """Build a release; return 1 if that is impossible."""
    parser = argparse.ArgumentParser(prog="python -m tools.release", description="Build a release.")
    parser.add_argument(
        "--cut", action="store_true", help="only date the unreleased section of the changelog"
    )
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="output folder")
    parser.add_argument("--no-try", action="store_true", help="do not test the wheel")
    options = parser.parse_args(arguments)
    try:
        if options.cut:
            path = ROOT / "CHANGELOG.md"
            version = version_of(ROOT)
            today = datetime.now(UTC).date()
            path.write_text(cut(path.read_text(encoding="utf-8"), version, today), encoding="utf-8")
            print(f"CHANGELOG.md: {version}. Commit it, then run python -m tools.release.")
            return 0
        version, notes = check(ROOT)
        if options.out.exists():
            shutil.rmtree(options.out)
        files = build(ROOT, options.out, int(_git(ROOT, "log", "-1", "--format=%ct")))
        (options.out / "NOTES.md").write_text(notes, encoding="utf-8")
        (options.out / "SHA256SUMS").write_text(sums(files), encoding="utf-8")
        if not options.no_try:
            use(next(file for file in files if file.suffix == ".whl"), ROOT)
        print(image(ROOT, version))
        print(f"{options.out}: {', '.join(file.name for file in files)}. Next: git tag v{version}")
    except ReleaseError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
