"""Cost of many tenants in one table, beside a table for each of them.

    python bench/tenants.py [--tenants 100,1000] [--rows 20] [--folder DIR]

Both layouts hold the same rows of ``chunks``, without indexes (a table for each would have one each, too).
``open`` opens the database and the table of a tenant that nobody asked for before and reads that tenant's
rows, ``upsert`` writes one row, ``night`` compacts every table and removes what is old. Medians of 30
tenants; ``night`` once. CPU time of the process, in which LanceDB's threads are counted.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
from _report import bench, existing_folder, numbers, options, positive, ratio, report

from slowwave.common.progress import task
from slowwave.store import quote
from slowwave.store.tables import table_specs

DIMENSION, ASKED, WORDS = 256, 30, 60
ONE, EACH = "one table", "a table each"


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Measure both layouts at each number of tenants."""
    parser = options(__doc__)
    parser.add_argument("--tenants", type=numbers, default="100,1000", help="namespaces")
    parser.add_argument("--rows", type=positive, default=20, help="chunks of each")
    parser.add_argument("--folder", type=existing_folder, help="where it is done; default: a temporary one")
    arguments = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    for tenants in arguments.tenants:
        for layout in (ONE, EACH):
            with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
                rows.append(measured(Path(folder), layout, tenants, arguments.rows))
        one, each = rows[-2:]
        for name in ("open_cpu_ms", "upsert_cpu_ms", "night_cpu_s", "disk_mb"):
            each[f"{name}_ratio"] = ratio(each[name], one[name], 2)
    report("tenants", rows, note=f"{arguments.rows} chunks of each tenant; ratios: to one table")


def measured(folder: Path, layout: str, tenants: int, rows: int) -> dict[str, Any]:
    """One layout of so many tenants."""
    spec = table_specs(DIMENSION)["chunks"]
    random = np.random.default_rng(0)
    database = lancedb.connect(str(folder))
    with task(f"writing {tenants:,} tenants, {layout}", tenants) as advance:
        if layout == ONE:
            every = pa.concat_tables([chunks(spec.schema, tenant, rows, random) for tenant in range(tenants)])
            database.create_table(named(layout, 0), every)
        for tenant in range(tenants):
            if layout == EACH:
                database.create_table(named(layout, tenant), chunks(spec.schema, tenant, rows, random))
            advance(1)
    asked = random.choice(tenants, min(ASKED, tenants), replace=False).tolist()
    found: dict[str, Any] = {"tenants": tenants, "layout": layout}
    found["open_cpu_ms"] = median([cpu(partial(read, folder, layout, one, rows)) for one in asked])
    fresh = {one: chunks(spec.schema, one, 1, random) for one in asked}
    found["upsert_cpu_ms"] = median(
        [cpu(partial(add, folder, layout, one, row)) for one, row in fresh.items()]
    )
    found["night_cpu_s"] = round(cpu(partial(night, folder)) / 1_000, 2)
    files = [one for one in folder.rglob("*") if one.is_file()]
    found["disk_mb"] = round(sum(one.stat().st_size for one in files) / 2**20, 1)
    return found | {"files": len(files)}


def named(layout: str, tenant: int) -> str:
    """The table that a tenant's rows are in."""
    return "chunks" if layout == ONE else f"chunks_{tenant:06}"


def chunks(schema: pa.Schema, tenant: int, rows: int, random: np.random.Generator) -> pa.Table:
    """Rows of a tenant; columns that neither layout is asked for are null."""
    first = int(random.integers(1 << 60))
    texts = [" ".join(f"w{word}" for word in random.integers(9_999, size=WORDS)) for _ in range(rows)]
    columns: dict[str, Any] = {
        "chunk_id": [f"{first + at:016x}" for at in range(rows)],
        "namespace": [space(tenant)] * rows,
        "text": texts,
        "search_text": texts,
        "vector": random.standard_normal((rows, DIMENSION), dtype=np.float32).tolist(),
    }
    lacking = [pa.nulls(rows, field.type) for field in schema if field.name not in columns]
    rest = iter(lacking)
    return pa.table(
        [pa.array(columns[one.name], one.type) if one.name in columns else next(rest) for one in schema],
        schema=schema,
    )


def space(tenant: int) -> str:
    """A tenant's namespace."""
    return f"tenant-{tenant:06}"


def read(folder: Path, layout: str, tenant: int, rows: int) -> None:
    """All rows of a tenant, by a process that has opened nothing."""
    table = lancedb.connect(str(folder)).open_table(named(layout, tenant))
    found = table.search().where(f"namespace = {quote(space(tenant))}").limit(10 * rows).to_arrow()
    assert found.num_rows >= rows


def add(folder: Path, layout: str, tenant: int, row: pa.Table) -> None:
    """One more row of a tenant."""
    table = lancedb.connect(str(folder)).open_table(named(layout, tenant))
    table.merge_insert("chunk_id").when_matched_update_all().when_not_matched_insert_all().execute(row)


def night(folder: Path) -> None:
    """Every table is put in order."""
    database = lancedb.connect(str(folder))
    names = database.list_tables(limit=10**6).tables
    with task("putting tables in order", len(names)) as advance:
        for name in names:
            database.open_table(name).optimize(cleanup_older_than=timedelta(0))
            advance(1)


def cpu(work: Callable[[], object]) -> float:
    """CPU time of the process (milliseconds)."""
    start = time.process_time()
    work()
    return (time.process_time() - start) * 1_000


def median(values: Sequence[float]) -> float:
    """The middle one."""
    return round(float(np.median(values)), 2)


if __name__ == "__main__":
    main()
