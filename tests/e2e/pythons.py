"""Build the wheel and use it under every supported Python of this machine, each in an empty environment.

`make pythons` runs it. Each environment gets the pinned packages, so it takes a minute or two a version; a
version that is not there is left out and named. It runs from a folder that has packages of its own under the
names of the repository's folders.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[2]
VERSIONS = ("3.11", "3.12", "3.13")
CODE = """
import orchestration, assets, scoring, quality, slowwave, sys
assert all(one.OWN for one in (orchestration, assets, scoring, quality))
import slowwave.orchestration.definitions
with slowwave.open("home", namespace="default", embedding={"model": "wordllama-256"}) as memory:
    fact = "We deploy on Thursday since the second of March, and Friday is for repairs only."
    saved = memory.save(fact)
    found = memory.search("when do we deploy?")
    assert [one.text for one in found] == [fact], found
print(sys.version.split()[0], slowwave.__file__)
"""


def main() -> int:
    """Whether it worked under every Python that is there."""
    failed = []
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        _run(
            [
                sys.executable,
                "-m",
                "pip",
                "wheel",
                "-q",
                "--no-deps",
                "--no-build-isolation",
                "-w",
                work,
                ROOT,
            ]
        )
        (wheel,) = work.glob("slowwave-*.whl")
        for version in VERSIONS:
            python = _python(version)
            if python is None:
                print(f"Python {version}: not on this machine")
                continue
            print(f"Python {version}: installing ...", flush=True)
            try:
                _try(python, wheel, work / version)
            except subprocess.CalledProcessError as error:
                failed.append(version)
                print(f"Python {version}: FAILED\n{error.stdout}\n{error.stderr}")
            else:
                print(f"Python {version}: ok")
    print("all worked" if not failed else f"failed: {', '.join(failed)}")
    return len(failed)


def _python(version: str) -> str | None:
    """The interpreter of a version; a shim that leads nowhere is none."""
    found = shutil.which(f"python{version}")
    works = found and subprocess.run([found, "--version"], capture_output=True, check=False).returncode == 0
    if works:
        return found
    managed = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(managed[-1]) if managed else None


def _try(python: str, wheel: Path, folder: Path) -> None:
    """Install into an empty environment and use it."""
    _run([python, "-m", "venv", folder / "venv"])
    own = folder / "venv" / "bin" / "python"
    pip = [own, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--no-deps"]
    _run([*pip, "--require-hashes", "-r", ROOT / "requirements" / "runtime.lock"])
    _run([*pip, wheel])
    application = folder / "application"
    for name in ("orchestration", "assets", "scoring", "quality"):
        (application / name).mkdir(parents=True)
        (application / name / "__init__.py").write_text("OWN = True\n")
    print(_run([own, "-c", CODE], application).strip())
    told = _run([own.with_name("slowwave"), "--help"], application)
    assert " night " in told, told


def _run(words: list[str | Path], folder: Path = ROOT) -> str:
    return subprocess.run(words, cwd=folder, check=True, capture_output=True, text=True).stdout


if __name__ == "__main__":
    sys.exit(main())
