"""The soak bench runs, counts what is lost and doubled, and ends with one line of JSON."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def soak(tmp_path: Path, *arguments: object) -> tuple[list[dict], dict]:
    """Rows and totals of a run."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("SLOWWAVE_")}
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench" / "soak.py"), "--folder", str(tmp_path), *map(str, arguments)],
        env=env | {"PYTHONPATH": str(ROOT)}, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.splitlines()[-1])
    return said["rows"], said["totals"]


@pytest.mark.slow
def test_saves_one_by_one(tmp_path):
    rows, totals = soak(tmp_path, "--one-by-one", 10)
    assert [row["saves"] for row in rows] == list(range(1, 11))
    assert {"p50", "handles", "rss", "files", "tables", "journal", "ratio"} <= rows[0].keys()
    assert (totals["acts"], totals["lost"], totals["doubled"]) == (10, 0, 0)


@pytest.mark.slow
def test_a_short_mixed_load(tmp_path):
    acts, home = soak(tmp_path, "--minutes", 0.05, "--processes", 2, "--no-nights")
    assert [row["act"] for row in acts] == ["save", "save again", "search", "feedback", "forget"]
    assert sum(row["count"] for row in acts) > 0
    assert (home["lost"], home["doubled"]) == (0, 0)
    assert home["handles_most"] > 0
