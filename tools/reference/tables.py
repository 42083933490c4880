"""Every LanceDB table and its columns, from their declarations."""

from __future__ import annotations

import pyarrow as pa

from slowwave.store.tables import SCHEMA_VERSION, TableSpec, table_specs
from tools.reference.markdown import code, codes, prose, section, table

WORDS = {
    "string": "text", "bool": "true or false", "int32": "whole number", "int64": "whole number",
    "double": "number",
}  # fmt: skip
DIMENSION = 384  # of the model that ships; a page has to have one (count)


def page() -> str:
    """The page."""
    specs = table_specs(DIMENSION)
    parts = [
        "# Tables",
        f"What is in the folder `lance` of a home, schema version {SCHEMA_VERSION}. Everything in it can be "
        "made again from the journal (`slowwave rebuild`). The first column is the key: no two rows have the "
        "same. A table with a day is replaced day by day; the others are shared by all days. Tables that "
        "people and chart tools read are in [warehouse.md](../warehouse.md).",
        table(["table", "by day", "what it has"], map(_listed, specs.values())),
    ]
    for name, spec in specs.items():
        rows = [(code(field.name), said(field.type), _marks(spec, field.name)) for field in spec.schema]
        parts.append(section(2, name, prose(spec.description), table(["column", "type", ""], rows)))
    return "\n\n".join(parts)


def _listed(spec: TableSpec) -> tuple[str, str, str]:
    return f"[`{spec.name}`](#{spec.name})", spec.partition or "", prose(spec.description)


def _marks(spec: TableSpec, column: str) -> str:
    marks = {
        "key": column == spec.key,
        "day of the run that writes it": column == spec.partition,
        "searched by text": column in spec.full_text,
    }
    return ", ".join(name for name, is_so in marks.items() if is_so)


def said(kind: pa.DataType) -> str:
    """A type in words."""
    if pa.types.is_fixed_size_list(kind):
        size = "as many as the model has" if kind.list_size == DIMENSION else f"{kind.list_size:,}"
        return f"vector: {size} numbers ({kind.value_type})"
    if pa.types.is_list(kind):
        inner = kind.value_type
        if pa.types.is_struct(inner):
            return "rows of " + codes(field.name for field in inner)
        return f"list of {said(inner)}"
    if pa.types.is_timestamp(kind):
        return "moment (UTC)"
    return WORDS.get(str(kind), str(kind))
