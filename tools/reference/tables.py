"""Reference of every LanceDB table and its columns, from their declarations."""

from __future__ import annotations

import pyarrow as pa

from slowwave.store.tables import SCHEMA_VERSION, TableSpec, table_specs
from tools.reference.markdown import code, codes, prose, section, table

WORDS = {
    "string": "text", "bool": "true or false", "int32": "whole number", "int64": "whole number",
    "double": "number",
}  # fmt: skip
DIMENSION = 384  # of the bundled model; a page must have one (count)


def page() -> str:
    """Return the page."""
    specs = table_specs(DIMENSION)
    parts = [
        "# Tables",
        f"These are the LanceDB tables in the folder `lance` of a home, schema version {SCHEMA_VERSION}. "
        "`slowwave rebuild` recreates all of them from the journal. The first column is the unique key. A "
        "table with a day column is partitioned: the nightly job replaces it day by day. [Query with "
        "DuckDB](../how-to/query-with-duckdb.md) has the tables for people and chart tools.",
        table(["table", "day column", "description"], map(_listed, specs.values())),
    ]
    for name, spec in specs.items():
        rows = [(code(field.name), type_name(field.type), _marks(spec, field.name)) for field in spec.schema]
        parts.append(section(2, name, prose(spec.description), table(["column", "type", "role"], rows)))
    return "\n\n".join(parts)


def _listed(spec: TableSpec) -> tuple[str, str, str]:
    return f"[`{spec.name}`](#{spec.name})", spec.partition or "", prose(spec.description)


def _marks(spec: TableSpec, column: str) -> str:
    marks = {
        "key": column == spec.key,
        "partition (day)": column == spec.partition,
        "full-text index": column in spec.full_text,
    }
    return ", ".join(name for name, is_so in marks.items() if is_so)


def type_name(kind: pa.DataType) -> str:
    """Return the name of a column type."""
    if pa.types.is_fixed_size_list(kind):
        size = "as many as the model's dimension" if kind.list_size == DIMENSION else f"{kind.list_size:,}"
        return f"vector of {size} numbers ({kind.value_type})"
    if pa.types.is_list(kind):
        inner = kind.value_type
        if pa.types.is_struct(inner):
            return "list of rows with " + codes(field.name for field in inner)
        return f"list of {type_name(inner)}"
    if pa.types.is_timestamp(kind):
        return "timestamp (UTC)"
    return WORDS.get(str(kind), str(kind))
