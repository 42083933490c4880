"""The soak bench counts what is lost and doubled by several processes; test_smoke.py runs it with one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., dict[str, Any]]


@pytest.mark.slow
def test_a_short_mixed_load(run: Run, tmp_path: Path) -> None:
    said = run("soak", "--folder", tmp_path, "--minutes", 0.03, "--processes", 2, "--no-nights")

    assert [row["act"] for row in said["rows"]] == ["save", "save again", "search", "feedback", "forget"]
    assert sum(row["count"] for row in said["rows"]) > 0
    assert (said["totals"]["lost"], said["totals"]["doubled"]) == (0, 0)
    assert said["totals"]["handles_most"] > 0
