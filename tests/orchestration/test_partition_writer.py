from collections.abc import Callable

import dagster as dg
import polars as pl
import pytest

from slowwave.assets import daily, versions
from slowwave.assets.daily import daily_asset, materialized, rows_of_run, write_rows
from slowwave.assets.resources import SlowwaveResource
from slowwave.memory import Memory

DAYS = ["2026-03-01", "2026-03-02", "2026-03-03"]


def frame(*rows: tuple[str, str, str]) -> pl.DataFrame:
    """Rows of ``staged_notes``: (day, name, title)."""
    return pl.DataFrame(
        {
            "staged_id": [f"{day}:{name}" for day, name, _ in rows],
            "day": [day for day, _, _ in rows],
            "title": [title for _, _, title in rows],
        },
        schema={"staged_id": pl.String, "day": pl.String, "title": pl.String},
    )


class Night:
    """Materialises an asset that gives `rows`, and one that reads it."""

    def __init__(self, memory: Memory) -> None:
        self.store = memory.store
        self.rows = frame()
        self.seen = frame()
        home = memory.settings.home
        (home / "slowwave.toml").write_text('[embedding]\nmodel = "wordllama-256"\n')
        self.resource = SlowwaveResource(home=str(home))

    def run(self, first: str, last: str = "", *, fails: bool = False) -> dg.ExecuteInProcessResult:
        night = self

        @daily_asset("ingest")
        def staged_notes(
            context: dg.AssetExecutionContext, slowwave: SlowwaveResource
        ) -> dg.MaterializeResult:
            return materialized(context, write_rows(context, slowwave.space.store, night.rows), {})

        @daily_asset("ingest", staged_notes)
        def reader(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> None:
            night.seen = rows_of_run(context, slowwave.space.store, "staged_notes")

        days = (
            {"partition_key": first}
            if not last
            else {
                "tags": {
                    "dagster/asset_partition_range_start": first,
                    "dagster/asset_partition_range_end": last,
                }
            }
        )
        return dg.materialize(
            [staged_notes, reader],
            resources={"slowwave": self.resource},
            raise_on_error=not fails,
            run_config={"loggers": {"console": {"config": {"log_level": "CRITICAL"}}}},
            **days,
        )

    def held(self) -> list[tuple[str, str]]:
        return sorted(self.store.read("staged_notes", columns=["staged_id", "title"]).rows())

    def version(self) -> int:
        return int(self.store.table("staged_notes").version)


@pytest.fixture(autouse=True)
def _rules_of_the_real_assets(monkeypatch: pytest.MonkeyPatch) -> None:
    """The assets made here have names of their own or of real ones, whose versions other tests look at."""
    monkeypatch.setattr(versions, "RULES", dict(versions.RULES))
    monkeypatch.setattr(daily, "RULES", versions.RULES)
    versions.code_version.cache_clear()


@pytest.fixture
def night(open_memory: Callable[..., Memory]) -> Night:
    return Night(open_memory())


@pytest.mark.slow
def test_a_partition_is_stored_and_read_back(night):
    night.rows = frame((DAYS[0], "b", "B"), (DAYS[0], "a", "A"))
    before = night.version()
    result = night.run(DAYS[0])
    assert night.held() == [(f"{DAYS[0]}:a", "A"), (f"{DAYS[0]}:b", "B")]
    assert night.version() == before + 1
    assert night.seen.select("staged_id", "title").rows() == night.held()
    assert night.seen.columns == night.store.specs["staged_notes"].schema.names
    (made,) = result.asset_materializations_for_node("staged_notes")
    metadata = {name: value.value for name, value in made.metadata.items()}
    assert metadata["dagster/partition_row_count"] == 2
    assert metadata["dagster/uri"] == f"{night.store.uri}/staged_notes.lance"
    assert (metadata["inserted"], metadata["updated"], metadata["deleted"]) == (2, 0, 0)
    assert metadata["lance_version"] == night.version()


@pytest.mark.slow
def test_a_range_of_partitions_is_stored_in_one_commit(night):
    night.rows = frame(*((day, name, name) for day in DAYS for name in "ab"))
    before = night.version()
    night.run(DAYS[0], DAYS[-1])
    assert night.version() == before + 1
    assert len(night.held()) == 6
    assert night.seen["staged_id"].to_list() == [row[0] for row in night.held()]


def test_a_reader_is_given_its_own_days_only(night):
    night.rows = frame(*((day, "a", day) for day in DAYS))
    night.run(DAYS[0], DAYS[-1])
    night.rows = frame((DAYS[1], "a", "new"), (DAYS[1], "b", "new"))
    night.run(DAYS[1])
    assert night.seen["staged_id"].to_list() == [f"{DAYS[1]}:a", f"{DAYS[1]}:b"]
    assert [row[1] for row in night.held()] == [DAYS[0], "new", "new", DAYS[2]]


def test_an_empty_day_empties_its_partition_and_no_other(night):
    night.rows = frame(*((day, "a", day) for day in DAYS))
    night.run(DAYS[0], DAYS[-1])
    night.rows = frame()
    night.run(DAYS[1])
    assert [row[0] for row in night.held()] == [f"{DAYS[0]}:a", f"{DAYS[2]}:a"]
    assert night.seen.height == 0


@pytest.mark.slow
def test_a_rerun_leaves_the_same_table(night):
    night.rows = frame((DAYS[0], "a", "A"), (DAYS[0], "b", "B"))
    night.run(DAYS[0])
    before = night.store.read("staged_notes").sort("staged_id")
    night.run(DAYS[0])
    assert night.store.read("staged_notes").sort("staged_id").equals(before)


def test_a_row_of_another_day_fails_the_run_and_nothing_is_written(night):
    night.rows = frame((DAYS[0], "a", "A"))
    night.run(DAYS[0])
    night.rows = frame((DAYS[0], "b", "B"), (DAYS[1], "a", "A"))
    result = night.run(DAYS[0], fails=True)
    assert not result.success
    assert night.held() == [(f"{DAYS[0]}:a", "A")]
