"""Blocking checks: what has to hold before the next stage may read."""

from collections.abc import Iterable

import dagster as dg
import polars as pl

from assets.ingest import passed
from assets.report import table
from assets.resources import SlowwaveResource
from quality.contract import CHECKS as CLAUSES
from quality.contract import CheckResult, Limits, run_contract
from slowwave.store import one_of
from slowwave.workspace import Workspace


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


GATE_VERDICTS = dg.AssetKey("gate_verdicts")


@dg.multi_asset_check(
    name="gate_contract",
    specs=[
        dg.AssetCheckSpec(
            clause.name,
            asset=GATE_VERDICTS,
            blocking=True,
            description=f"Of accepted notes: {clause.description}",
        )
        for clause in CLAUSES
    ],
)
def gate_contract(
    context: dg.AssetCheckExecutionContext, slowwave: SlowwaveResource
) -> Iterable[dg.AssetCheckResult]:
    """What every note that the gate let in keeps to, asked once for all days of the run.

    Days on which the gate only warned are asked apart from the others, so that a range over both is judged
    as its days would be one by one.
    """
    space = slowwave.space
    batch = accepted_notes(space, list(context.partition_keys))
    enforced = pl.col("day").is_in([day for day in context.partition_keys if enforced_on(space, day)])
    limits = Limits(min_characters=space.gate_policy.min_characters)
    hard = run_contract(batch.filter(enforced), enforced=True, limits=limits)
    soft = run_contract(batch.filter(~enforced), enforced=False, limits=limits)
    for strict, lenient in zip(hard.checks, soft.checks, strict=True):
        result = strict if not strict.passed or (lenient.passed and hard.notes) else lenient
        yield _check_result(result, hard.notes if result is strict else soft.notes)


def enforced_on(space: Workspace, day: str) -> bool:
    """Whether the gate enforces its rules on this day."""
    return space.gate_policy.mode == "enforce"


def accepted_notes(space: Workspace, days: list[str]) -> pl.DataFrame:
    """The notes that the gate let in on these days, with the columns that the contract is about."""
    wanted = one_of("day", days)
    staged = space.store.read("staged_notes", wanted)
    verdicts = space.store.read("gate_verdicts", wanted)
    if "score" not in verdicts.columns:
        verdicts = verdicts.with_columns(score=pl.lit(None, dtype=pl.Float64))
    return (
        passed(staged, verdicts)
        .join(
            verdicts.select("day", "memory_id", quality_score="score"),
            on=["day", "memory_id"],
            how="left",
            maintain_order="left",
        )
        .with_columns(characters=pl.col("content").fill_null("").str.strip_chars().str.len_chars())
    )


def _check_result(result: CheckResult, notes: int) -> dg.AssetCheckResult:
    error = result.severity == "error"
    examples = pl.DataFrame(list(result.examples), schema=["note", "value"], orient="row")
    shown = {} if examples.is_empty() else {"examples": table(examples)}
    return dg.AssetCheckResult(
        asset_key=GATE_VERDICTS,
        check_name=result.name,
        passed=result.passed,
        severity=dg.AssetCheckSeverity.ERROR if error else dg.AssetCheckSeverity.WARN,
        description=result.description,
        metadata={
            "expectation": result.expectation,
            "notes": notes,
            "unexpected": result.unexpected,
            "unexpected percent": round(result.unexpected_percent, 2),
            **shown,
        },
    )


CHECKS = [
    gate_contract,
    _unique_key_check("staged_notes", dg.AssetKey("staged_notes")),
    _unique_key_check("gate_verdicts", dg.AssetKey("gate_verdicts")),
    _unique_key_check("embedded_chunks", dg.AssetKey("embedded_chunks")),
    _unique_key_check("memories", dg.AssetKey("memories")),
    _unique_key_check("chunks", dg.AssetKey("search_index")),
]
