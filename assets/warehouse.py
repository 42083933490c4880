"""Asset of the warehouse: all tables -> warehouse.duckdb, for people and chart tools."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import dagster as dg
import polars as pl
from dagster_duckdb import DuckDBResource

from slowwave.assets.daily import DAILY_FRESH, whole_asset
from slowwave.assets.report import table
from slowwave.assets.resources import SlowwaveResource
from slowwave.warehouse import FILE, build_home, described
from slowwave.warehouse.sources import MADE, SOURCES

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

GROUP = "at_a_glance"
# Two tables are no assets: the decision log and quarantine are written with the memories.
_WRITTEN_WITH = {"decisions": "memories", "quarantine": "memories"}
READS = tuple(sorted({_WRITTEN_WITH.get(name, name) for name in (*SOURCES, *MADE)}))


@whole_asset(
    GROUP, *(dg.AssetKey(name) for name in READS), kinds={"duckdb", "lancedb"},
    freshness_policy=DAILY_FRESH,
    rules=("warehouse",),
)  # fmt: skip
def warehouse(slowwave: SlowwaveResource, duckdb: DuckDBResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Small documented tables for people and chart tools, in one DuckDB file.

    Not partitioned: recreated from all tables and replaced atomically; open connections keep reading the old
    file. Without a `database` in the resource it is warehouse.duckdb in the home.
    """
    space = slowwave.space
    path = Path(duckdb.database) if duckdb.database else space.settings.home / FILE

    @contextmanager
    def connect(new: Path) -> Iterator["DuckDBPyConnection"]:
        resource = DuckDBResource(database=str(new), connection_config=duckdb.connection_config)
        with resource.get_connection() as connection:
            yield connection

    done = build_home(space, path, connect=connect)
    table_infos = described(path)
    tables = pl.DataFrame(
        [(info.name, info.rows, info.about) for info in table_infos],
        schema={"table": pl.String, "rows": pl.Int64, "a row is": pl.String},
        orient="row",
    )
    return dg.MaterializeResult(
        metadata={
            "dagster/uri": str(path),
            "dagster/row_count": sum(done.rows.values()),
            "tables": table(tables),
            "seconds": dg.MetadataValue.float(done.seconds),
            "bytes": done.bytes,
        }
    )


ASSETS = [warehouse]
