"""The notebook of a data person runs from top to bottom, and what comes out is what it says."""

from __future__ import annotations

import ast
import importlib
import json
import os
from pathlib import Path
from typing import Any

import pytest

nbformat = pytest.importorskip("nbformat", reason="the development packages are not installed: make test")

ROOT = Path(__file__).parents[2]
NOTEBOOK = ROOT / "examples" / "history.ipynb"
PATIENCE_S = 600  # of one cell
VERDICTS = {"better", "worse", "equivalent", "insufficient evidence"}
ASK = """
import json
print(json.dumps({
    "home": str(home),
    "dry run": dict(take_in(dry_run=True).iter_rows()),
    "imported": dict(imported.iter_rows()),
    "again": dict(again.iter_rows()),
    "logged": sum("action_name" not in one for one in lines),
    "clicks": sum("action_name" in one for one in lines),
    "live": memory.count(),
    "runs": [one["success"] for one in (night, folded, *evaluated, learnt)],
    "assets": [step["asset"] for step in folded["steps"]],
    "state": state.select("used", "effectiveness").to_dicts(),
    "judgments": judgments["source"].unique().to_list(),
    "table": table.to_dicts(),
    "keys": selections["reason"].value_counts(sort=True).to_dicts(),
    "words": proposals["reason"].value_counts(sort=True).to_dicts(),
    "gates": [gate.open for gate in gates.values()],
}))
"""


def test_the_notebook_is_kept_without_what_came_out():
    for cell in nbformat.read(NOTEBOOK, as_version=4).cells:
        if cell.cell_type == "code":
            assert (cell.outputs, cell.execution_count) == ([], None)


def test_what_the_notebook_imports_is_there():
    cells = nbformat.read(NOTEBOOK, as_version=4).cells
    code = "\n".join(cell.source for cell in cells if cell.cell_type == "code")
    taken = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.ImportFrom)]
    own = [node for node in taken if node.module and node.module.startswith("slowwave")]
    assert own
    for node in own:
        module = importlib.import_module(str(node.module))
        assert [one.name for one in node.names if not hasattr(module, one.name)] == []


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """What is known at the end, as a person has it who opens the notebook where it stands."""
    from nbclient import NotebookClient

    place = tmp_path_factory.mktemp("notebook")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("SLOWWAVE_", "DAGSTER_"))
    }
    environment = kept | {
        "HOME": str(place), "TMPDIR": str(place), "IPYTHONDIR": str(place), "PYTHONPATH": str(ROOT),
        "SLOWWAVE_GATE__MODE": "enforce",
    }  # fmt: skip
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells.insert(-1, nbformat.v4.new_code_cell(ASK))  # the last one closes the memory
    client = NotebookClient(
        notebook,
        timeout=PATIENCE_S,
        kernel_name="python3",
        resources={"metadata": {"path": str(NOTEBOOK.parent)}},
    )
    client.execute(env=environment)
    (said,) = [one["text"] for one in notebook.cells[-2].outputs if one.output_type == "stream"]
    pictures = [
        one
        for cell in notebook.cells
        for one in cell.get("outputs", [])
        if "image/png" in one.get("data", {})
    ]
    return json.loads(said.splitlines()[-1]) | {"pictures": len(pictures), "place": str(place)}


@pytest.mark.slow
@pytest.mark.soak
@pytest.mark.timeout(900)
class TestNotebook:
    def test_a_log_is_imported_once(self, told):
        assert told["imported"]["searches"] == told["logged"] == 336
        assert told["imported"]["new"] == told["logged"] + told["clicks"] == told["dry run"]["already"]
        assert told["imported"]["unknown"] == told["imported"]["malformed"] == 0
        assert (told["again"]["new"], told["again"]["already"]) == (0, told["imported"]["new"])

    def test_it_stays_in_a_folder_of_its_own(self, told):
        assert told["home"].startswith(told["place"])
        assert told["live"] == 24

    def test_its_days_are_folded(self, told):
        assert all(told["runs"])
        assert len(told["runs"]) >= 4
        assert {"searches", "usage_signals", "effectiveness", "memory_state"} <= set(told["assets"])
        assert sum(one["used"] for one in told["state"]) > 50
        assert any(one["effectiveness"] > 0.5 for one in told["state"])

    def test_rankings_are_compared_with_intervals(self, told):
        assert told["judgments"] == ["selections"]
        assert len(told["table"]) == 4
        for one in told["table"]:
            assert one["questions"] > 50
            assert one["low"] <= one["difference"] <= one["high"]
            assert one["difference"] == pytest.approx(one["second"] - one["first"])
            assert one["verdict"] in VERDICTS
        assert any(one["low"] < one["high"] for one in told["table"])
        assert told["pictures"] == 1

    def test_it_says_what_would_be_learned_and_that_nothing_is(self, told):
        keys = {one["reason"]: one["count"] for one in told["keys"]}
        words = {one["reason"]: one["count"] for one in told["words"]}
        assert keys["shadow_period"] > 30
        assert words["no_provenance"] == told["clicks"]
        assert words["top_3_exclusion"] > 30
        assert told["gates"] == [False, False]
