"""What all benchmarks share: the last line, shares of nothing, and measurements in other processes."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest


def test_the_last_line_has_no_nan_and_only_plain_numbers(
    load: Callable[[str], ModuleType], capsys: pytest.CaptureFixture[str]
) -> None:
    shared = load("_report")
    rows = [{"name": "[/bold] [x]", "mean": math.nan, "n": np.int64(3), "all": np.float64(0.5), "none": None}]
    shared.reports("made", {"first": (rows, "a note"), "second": ([], "")})

    out = capsys.readouterr().out
    assert "[/bold] [x]" in out
    assert json.loads(out.splitlines()[-1]) == {
        "bench": "made",
        "tables": {
            "first": [{"name": "[/bold] [x]", "mean": None, "n": 3, "all": 0.5, "none": None}], "second": []
        },
        "notes": {"first": "a note"},
    }  # fmt: skip


def test_figures_of_nothing_are_none(load: Callable[[str], ModuleType]) -> None:
    shared = load("_report")
    assert shared.ratio(0, 0) is None
    assert shared.ratio(1, 3) == 0.3333
    assert shared.rounded(math.nan) is None
    assert shared.rounded(-math.inf) is None
    assert shared.spread([]) == {}
    assert shared.spread([1.0, 3.0]) == {"p50_ms": 2.0, "p95_ms": 2.9}


def test_another_process_says_its_figures_in_its_last_line(
    load: Callable[[str], ModuleType], tmp_path: Path
) -> None:
    script = tmp_path / "script.py"
    script.write_text("import json, sys\nprint('so far')\nprint(json.dumps({'given': sys.argv[1:]}))\n")
    assert load("_processes").child(str(script), "--times", 3) == {"given": ["--times", "3"]}
