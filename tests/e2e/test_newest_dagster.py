"""A night under the newest Dagster of 1.13 and under an early one, both from the package index."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from slowwave.memory import Memory

PACKAGES = ("dagster", "dagster-shared", "dagster-pipes", "dagster-graphql", "dagster-webserver")


@pytest.mark.soak
@pytest.mark.parametrize("version", ["<1.14", "==1.13.*,<1.13.5"], ids=["newest", "early"])
def test_a_night_runs_under_another_dagster(memory: Memory, tmp_path: Path, version: str) -> None:
    memory.save("The bell of the ferry rings twice at the northern pier.")
    home = memory.settings.home
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    wanted = [f"{name}{version}" for name in PACKAGES]
    install = [
        sys.executable,
        "-m",
        "pip",
        "install",
        "--quiet",
        "--no-deps",
        "--target",
        str(tmp_path / "own"),
    ]
    subprocess.run([*install, *wanted], check=True)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "own"), "SLOWWAVE_HOME": str(home)}
    script = (
        "import sys\n"
        "import dagster as dg\n"
        "from slowwave.orchestration.definitions import defs\n"
        "assert 'own' in dg.__file__, dg.__file__\n"
        "dg.Definitions.validate_loadable(defs())\n"
        "from slowwave.cli import main\n"
        "sys.argv = ['slowwave', 'night', '--json']\n"
        "main()\n"
    )
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert '"success": true' in done.stdout
