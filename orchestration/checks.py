"""Blocking checks: what has to hold before the next stage may read."""

import dagster as dg
import polars as pl

from assets.report import table
from assets.resources import SlowwaveResource


def _unique_key_check(name: str, asset: dg.AssetKey) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=asset,
        name="unique_key",
        blocking=True,
        description=f"No two rows of {name} have the same key: a doubled key means a lost update.",
    )
    def unique_key(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
        key = slowwave.space.store.specs[name].key
        rows = slowwave.space.store.read(name, columns=[key])
        doubled = rows.group_by(key).len("rows").filter(pl.col("rows") > 1)
        examples = {} if doubled.is_empty() else {"examples": table(doubled.sort(key))}
        return dg.AssetCheckResult(
            passed=doubled.is_empty(),
            metadata={"rows": rows.height, "doubled keys": doubled.height, **examples},
        )

    return unique_key


CHECKS = [
    _unique_key_check("staged_notes", dg.AssetKey("staged_notes")),
    _unique_key_check("gate_verdicts", dg.AssetKey("gate_verdicts")),
    _unique_key_check("embedded_chunks", dg.AssetKey("embedded_chunks")),
    _unique_key_check("memories", dg.AssetKey("memories")),
    _unique_key_check("chunks", dg.AssetKey("search_index")),
]
