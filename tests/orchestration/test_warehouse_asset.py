"""The warehouse as a Dagster asset, on a real home."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from dagster_duckdb import DuckDBResource
from warehouse_rows import fill_day, journal_day

from slowwave.assets.resources import SlowwaveResource
from slowwave.assets.warehouse import READS, warehouse
from slowwave.memory import Memory
from slowwave.warehouse import FILE, described, query

DAY = "2026-03-01"


def materialized(home: Path, **duckdb: Any) -> dict[str, Any]:
    resources = {"slowwave": SlowwaveResource(home=str(home)), "duckdb": DuckDBResource(**duckdb)}
    done = dg.materialize([warehouse], resources=resources)
    assert done.success
    (told,) = done.asset_materializations_for_node("warehouse")
    return {name: value.value for name, value in told.metadata.items()}


@pytest.fixture
def home(memory: Memory, home: Path) -> Path:
    """A home with a day in every table."""
    (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
    journal_day(memory.journal, 0)
    fill_day(memory.store, 0)
    return home


def test_the_asset_builds_the_file_of_the_home_and_tells_its_rows(home: Path) -> None:
    told = materialized(home, database="")
    path = home / FILE
    assert told["dagster/uri"] == str(path)
    assert "| memories | 2 |" in told["tables"]
    assert told["dagster/row_count"] == sum(one.rows for one in described(path))
    assert told["bytes"] == path.stat().st_size
    assert "| quality_by_day | 3 |" in told["tables"]


def test_the_resource_names_the_file_and_sets_up_its_connection(home: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.duckdb"
    materialized(home, database=str(other), connection_config={"default_order": "desc"})
    assert query(other, "SELECT count(*) FROM memories").rows == [(2,)]
    assert not (home / FILE).exists()


@pytest.mark.slow
def test_a_build_that_fails_fails_the_run_and_the_next_one_succeeds(home: Path, memory: Memory) -> None:
    materialized(home, database="")
    before = (home / FILE).read_bytes()
    table = memory.store.table("memories")
    table.add(memory.store.read("memories").head(1).to_arrow())
    with pytest.raises(Exception, match="memories was built with 3 rows and has 3 with 2 keys"):
        materialized(home, database="")
    assert (home / FILE).read_bytes() == before
    table.delete("memory_id = 'ada-0-a'")
    assert "| memories | 1 |" in materialized(home, database="")["tables"]


def test_it_depends_on_what_it_reads_and_has_no_days() -> None:
    assert warehouse.partitions_def is None
    assert {"evaluation_scores", "channel_attribution", "evaluation_cycles", "memory_state", "memories",
            "gate_verdicts", "searches", "events", "usage_signals", "promotions",
            "trend"} == set(READS)  # fmt: skip
    assert {key.to_user_string() for key in warehouse.dependency_keys} == set(READS)
