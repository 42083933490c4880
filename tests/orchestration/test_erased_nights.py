"""Nights before and after an erasure: nothing of it is left, and nothing brings it back."""

from __future__ import annotations

import shutil
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from slowwave.home.workspace import Workspace
from slowwave.maintenance.rebuild import rebuild
from slowwave.memory import Memory
from slowwave.orchestration.instance import dagster_home
from slowwave.orchestration.run_nightly import evaluate_due, run_due
from slowwave.settings import load

sys.path.append(str(Path(__file__).parents[1] / "slowwave"))
from erasure_helpers import places

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
CANARY = "zebracanary"
OTHER = "The battery of the northern gauge lasts eleven weeks in winter, and nineteen in summer."


def nights(settings) -> None:
    for report in [*run_due(settings), *evaluate_due(settings)]:
        assert report["success"], report["errors"]


def test_nights_that_are_run_again_over_all_days_do_not_bring_it_back(home: Path):
    home.mkdir()
    first = (datetime.now(UTC) - timedelta(days=5)).date().isoformat()
    (home / "slowwave.toml").write_text(
        f'[embedding]\nmodel = "wordllama-256"\n[night]\nfirst_day = "{first}"\n'
        f'[reconsolidation]\npolicy = "guarded"\n'
    )
    settings = load(home)
    with Memory(settings, namespace="default") as memory:
        saved = memory.save(f"The {CANARY} relay is behind the radar; it is tested each May.", title="Relay")
        merged = memory.save(f"{OTHER}\nThe {CANARY} knows why.", title="Battery")
        other = memory.save(OTHER, title="Battery", key="battery")
        found = memory.search(f"where is the {CANARY} relay?")
        memory.feedback(found.search_id, saved.memory_id, "helpful")
        memory.judge(f"where is the {CANARY} relay?", saved.memory_id, 3)
        memory.search("how long does the battery last?")
    nights(settings)
    with dg.DagsterInstance.from_config(str(dagster_home(load(home)))) as instance:  # as older versions told
        told = dg.AssetMaterialization(
            "memories", metadata={"examples": dg.MetadataValue.md(f"| {CANARY} |")}
        )
        instance.report_runless_asset_event(told)
    kinds = ("dagster/history", "journal entry", "searches.lance", "judgments.lance", "memories.lance")
    before = places(home, CANARY)
    assert all(any(kind in place for place in before) for kind in kinds), before
    with Memory(settings, namespace="default") as memory:
        memory.erase(saved.memory_id, merged.memory_id)
        assert places(home, CANARY) == []
        assert memory.get(other.memory_id).content == OTHER
    nights(settings)
    assert places(home, CANARY) == []
    assert (home / "warehouse.duckdb").exists()
    shutil.rmtree(home / "lance")
    space = Workspace(settings)
    rebuild(space)
    space.close()
    assert places(home, CANARY) == []
    nights(settings)
    assert places(home, CANARY) == []
    with Memory(settings, namespace="default") as memory:
        assert [memory.count(), memory.get(other.memory_id).status] == [1, "live"]
