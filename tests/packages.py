"""The packages that are made of this folder, for the tests of what is in them and of what is installed."""

from __future__ import annotations

import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOP = ("orchestration", "assets", "scoring", "quality")
"""Folders of the repository that are rooms of the package."""
ONLY_IN_A_CHECKOUT = shutil.ignore_patterns(
    "__pycache__", ".*_cache", ".git", ".venv", ".slowwave", ".demo*", ".peers", "*.egg-info", "dist"
)


@dataclass(frozen=True, slots=True)
class Packages:
    """Files of packages.

    Attributes:
        wheel: made of the folder.
        sdist: made of the folder.
        wheel_of_sdist: made of what the sdist has.
    """

    wheel: Path
    sdist: Path
    wheel_of_sdist: Path


def build(folder: Path) -> Packages:
    """Build them, without asking anybody on the net."""
    source = folder / "source"
    shutil.copytree(ROOT, source, symlinks=True, ignore=ONLY_IN_A_CHECKOUT)
    _run(sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-d", str(folder / "sdist"), cwd=source)
    (sdist,) = (folder / "sdist").glob("slowwave-*.tar.gz")
    made = [_wheel(source, folder / "wheel"), _wheel(sdist, folder / "wheel-of-sdist")]
    shutil.rmtree(source)
    return Packages(made[0], sdist, made[1])


def _wheel(of: Path, into: Path) -> Path:
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet", "--no-deps")
    _run(*pip, "--no-build-isolation", "--no-index", "-w", str(into), str(of), cwd=into.parent)
    (made,) = into.glob("slowwave-*.whl")
    return made


def _run(*command: str, cwd: Path) -> None:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
