"""The soak bench counts what is lost and doubled by several processes."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., dict[str, Any]]


@pytest.mark.slow
@pytest.mark.soak
def test_saves_one_by_one(run: Run, tmp_path: Path) -> None:
    said = run("soak", "--one-by-one", 10, "--folder", tmp_path)

    assert [row["saves"] for row in said["rows"]] == list(range(1, 11))
    assert {"p50", "handles", "rss", "files", "tables", "journal", "ratio"} <= said["rows"][0].keys()
    assert [said["totals"][name] for name in ("acts", "lost", "doubled")] == [10, 0, 0]


@pytest.mark.slow
@pytest.mark.soak
def test_a_short_mixed_load(run: Run, tmp_path: Path) -> None:
    said = run("soak", "--folder", tmp_path, "--minutes", 0.03, "--processes", 2, "--no-nights")

    assert [row["act"] for row in said["rows"]] == ["save", "save again", "search", "feedback", "forget"]
    assert sum(row["count"] for row in said["rows"]) > 0
    assert (said["totals"]["lost"], said["totals"]["doubled"]) == (0, 0)
    assert said["totals"]["handles_most"] > 0
