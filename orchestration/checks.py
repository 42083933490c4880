"""Asset checks; blocking ones must pass before the next stage reads."""

from collections.abc import Iterable, Sequence
from functools import partial

import dagster as dg
import polars as pl

from slowwave.assets import evaluation, feedback, ingest, learning
from slowwave.assets.daily import names_of
from slowwave.assets.partitions import PARTITION_TAG, RANGE_START_TAG
from slowwave.assets.report import table
from slowwave.assets.resources import SlowwaveResource
from slowwave.common.slim_imports import CONTRACT, when_used
from slowwave.evaluation.trend import trend_until
from slowwave.feedback.stale_days import processed_days, stale_days
from slowwave.home import processing_watermarks
from slowwave.learning.gate import gates_now
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.isolation import prove
from slowwave.lifecycle.gate_notice import notice
from slowwave.lifecycle.gate_report import accepted_notes
from slowwave.quality.contract import CHECKS as CLAUSES
from slowwave.quality.contract import CheckResult, run_contract
from slowwave.quality.learning_gate import GateDecision
from slowwave.store import one_of
from slowwave.store.reading import parts

_warning = partial(dg.AssetCheckResult, severity=dg.AssetCheckSeverity.WARN)


def days_of(context: dg.AssetCheckExecutionContext) -> list[str]:
    """Return the partitions of the run; empty if a check runs alone."""
    tags = context.run.tags
    return list(context.partition_keys) if {PARTITION_TAG, RANGE_START_TAG} & set(tags) else []


def _unique_key_check(name: str, asset: dg.AssetKey) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=asset,
        name="unique_key",
        blocking=True,
        description=f"No two rows of {name} have the same key: a duplicate key means a lost update.",
    )
    def unique_key(context: dg.AssetCheckExecutionContext, slowwave: SlowwaveResource) -> dg.AssetCheckResult:
        store = slowwave.space.store
        spec, days = store.specs[name], days_of(context)
        # A key of a partitioned table contains its day or an event of it, so no other partition can have it.
        where = one_of(spec.partition, days) if spec.partition and days else None
        key = spec.key
        # Hashes of millions of keys take a tenth of the memory. Only if two are equal are the keys compared.
        hashes = pl.concat([part[key].hash() for part in parts(store, name, where, columns=[key])])
        unique = hashes.n_unique() == hashes.len()
        rows = store.empty(name, [key]) if unique else store.read(name, where, columns=[key])
        duplicates = rows.group_by(key).len("rows").filter(pl.col("rows") > 1)
        # A key of a learned term contains a word of a question, so it is not shown.
        shown = duplicates.sort(key).select(pl.exclude("trigger_id"))
        examples = {} if duplicates.is_empty() else {"examples": table(shown)}
        return dg.AssetCheckResult(
            passed=duplicates.is_empty(),
            metadata={"rows": hashes.len(), "duplicate keys": duplicates.height, **examples},
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
            description=f"Accepted notes: {clause.description}",
        )
        for clause in CLAUSES
    ],
)
def gate_contract(
    context: dg.AssetCheckExecutionContext, slowwave: SlowwaveResource
) -> Iterable[dg.AssetCheckResult]:
    """Check every accepted note against the gate's contract, once for all days of the run.

    Notes that the gate only warned about, or that a person released, are checked separately; their violations
    are warnings.
    """
    space = slowwave.space
    policy = space.gate_policy
    batch = accepted_notes(space.store, list(context.partition_keys))
    enforced = pl.Series(
        [
            policy.refuses(namespace, origin, principal, moment) and not released
            for namespace, origin, principal, moment, released in batch.select(
                "namespace", "origin", "principal", "occurred_at", "released"
            ).iter_rows()
        ],
        dtype=pl.Boolean,
    )
    with when_used(*CONTRACT):
        hard = run_contract(batch.filter(enforced), policy, enforced=True)
        soft = run_contract(batch.filter(~enforced), policy, enforced=False)
    for strict, lenient in zip(hard.checks, soft.checks, strict=True):
        result = strict if not strict.passed or (lenient.passed and hard.notes) else lenient
        yield _check_result(result, hard.notes if result is strict else soft.notes)


def _check_result(result: CheckResult, notes: int) -> dg.AssetCheckResult:
    error = result.severity == "error"
    examples = pl.DataFrame({"note": [note for note, _ in result.examples]}, schema={"note": pl.String})
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


@dg.asset_check(
    asset=GATE_VERDICTS,
    name="save_gate",
    description="Start of the save gate's refusals, and how many notes it refused or would have refused. "
    "Warns above one in twenty: review them before the gate starts to refuse, or postpone it.",
)
def save_gate(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Report the state of the save gate, before and after it starts to refuse."""
    try:
        gate = notice(slowwave.space, slowwave.clock())
    except Exception as error:  # one namespace failed; the stage reports which
        why = f"Cannot count what the gate would refuse: {type(error).__name__}: {error}"
        return _warning(passed=False, description=why)
    begins = "not known" if gate.begins is None else f"{gate.begins:%F %H:%M} UTC"
    return _warning(
        passed=not gate.loud,
        description=gate.words,
        metadata={
            "mode": gate.mode,
            "refuses": gate.enforced,
            "begins to refuse": begins if gate.mode == "warn" else "as set",
            **(
                {}
                if gate.enforced
                else {
                    "notes since it was activated": gate.since.notes,
                    "would have been refused": gate.since.would,
                }
            ),
            "notes of the last 7 days": gate.lately.notes,
            "would have been refused of the last 7 days": gate.lately.would,
            "refused of the last 7 days": gate.lately.refused,
            "reasons": ", ".join(f"{name} {count:,}" for name, count in gate.reasons.items()) or "none",
            "what to do": gate.commands or "nothing",
        },
    )


@dg.asset_check(
    asset=dg.AssetKey("memories"),
    name="no_exact_duplicates",
    description="No two live memories of a namespace have the same text. Duplicates are possible while the "
    "gate is off or only warns, and if a person released one.",
)
def no_exact_duplicates(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Whether live memories are free of exact duplicates."""
    columns = ["namespace", "memory_id", "content_hash"]
    rows = slowwave.space.store.read("memories", "status = 'live'", columns=columns)
    duplicates = (
        rows.group_by("namespace", "content_hash")
        .agg(pl.len().alias("memories"), pl.col("memory_id").sort())
        .filter(pl.col("memories") > 1)
    )
    return _warning(
        passed=duplicates.is_empty(),
        metadata={
            "live memories": rows.height,
            "examples": table(
                duplicates.drop("content_hash").sort("namespace", pl.col("memory_id").list.first())
            ),
        },
    )


@dg.asset_check(
    asset=dg.AssetKey("memory_state"),
    name="nothing_late",
    description="Every processed day includes all feedback up to it. If not, some arrived late or a day was "
    "rerun alone: the sensor late_feedback or `slowwave night` processes the listed days again.",
)
def nothing_late(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Whether every processed day includes its own and all earlier feedback."""
    space = slowwave.space
    folded = processed_days(space.store)
    late = [day for day in stale_days(space.journal, space.store) if day in folded]
    return _warning(
        passed=not late,
        metadata={"processed days": len(folded), "stale days": ", ".join(late[:30]) or "none"},
    )


def _every_namespace_check(asset: dg.AssetKey, stages: Sequence[str]) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=asset,
        name="every_namespace",
        description="Every namespace was processed. If not, one failed: the others are done, the failed one "
        "keeps its rows, and the next run retries its days.",
    )
    def every_namespace(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
        faults = [
            (stage, day, namespace, why)
            for stage, days in processing_watermarks.faults(slowwave.space.store).items()
            if stage in stages
            for day, namespaces in days.items()
            for namespace, why in namespaces.items()
        ]
        names = ("asset", "day", "namespace", "error")
        shown = pl.DataFrame(faults, schema=dict.fromkeys(names, pl.String), orient="row")
        return _warning(
            passed=not faults,
            metadata={"failures": len(faults), "failed": table(shown)},
        )

    return every_namespace


@dg.asset_check(
    asset=dg.AssetKey("learned_triggers"),
    name="isolation",
    blocking=True,
    description="No full-text index covers learned terms, and a term that only a learned trigger has is not "
    "found by text. If it is, nothing learned is used; run `slowwave doctor --repair` to fix it.",
)
def isolation(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Whether full-text search cannot reach learned terms (rule 5.4)."""
    store = slowwave.space.store
    leaks = prove(store)
    leaks_table = pl.DataFrame({"path into full-text search": leaks})
    return dg.AssetCheckResult(
        passed=not leaks,
        description="; ".join(leaks) or "Verified: full-text search cannot reach learned terms.",
        metadata={"leaks": table(leaks_table) if leaks else "none", "tables checked": len(store.specs)},
    )


@dg.asset_check(
    asset=dg.AssetKey("learned_triggers"),
    name="learning_gate",
    description="Current state of the learning gate, and each condition. It starts closed: that is no fault, "
    "only nothing is learned yet.",
)
def learning_gate(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Report the current gates of all namespaces."""
    now = gates_now(Evidence(slowwave.space))
    return _warning(
        passed=any(gate.open for gate in now),
        description=" | ".join(gate.describe() for gate in now) or "No search was ever recorded.",
        metadata={
            "evidence": learning.conditions_table(now),
            "what to do": "; ".join(_next(gate) for gate in now) or "search, and rate results",
            "open gates": sum(gate.open for gate in now),
            "conditions met": sum(part.state == "open" for gate in now for part in gate.conditions),
        },
    )


@dg.asset_check(
    asset=dg.AssetKey("learned_effect"),
    name="beside_never_used",
    description="Searches are not significantly worse than in a memory that nobody ever used. The regression "
    "guard switches ratings off where they are the cause; `slowwave learning ratings` shows the figures.",
)
def beside_never_used(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Compare judged searches of all namespaces with the same ones without anything learned from use."""
    space = slowwave.space
    compared = trend_until(space, space.now()).beside
    worse = compared.filter(pl.col("verdict") == "worse")
    differences = [
        f"{row['namespace']}, {row['kind']}, answers {row['answers']}: {row['difference']:+.3f}"
        for row in worse.iter_rows(named=True)
    ]
    return _warning(
        passed=worse.is_empty(),
        description="; ".join(differences) or "No namespace is significantly worse.",
        metadata={"compared": table(compared, rows=60), "significantly worse": worse.height},
    )


def _next(gate: GateDecision) -> str:
    """Return the next step that a person can take about a gate."""
    if gate.open:
        return f"{gate.name}: nothing, the sensor learning_gate_opens starts the runs"
    if gate.awaits_only_approval:
        return (
            f"{gate.name}: review the evidence, then approve (job approve_learning, or "
            f"`slowwave learning approve -n {gate.namespace} --who NAME --kind {gate.kind}`)"
        )
    return f"{gate.name}: still missing {', '.join(condition.name for condition in gate.missing)}"


CHECKS = [
    gate_contract,
    save_gate,
    no_exact_duplicates,
    *(
        _unique_key_check("chunks" if name == "search_index" else name, dg.AssetKey(name))
        for name in names_of([*ingest.ASSETS, *feedback.ASSETS, *evaluation.ASSETS, *learning.ASSETS])
    ),
    _every_namespace_check(dg.AssetKey("search_index"), ingest.TAKEN_IN),
    _every_namespace_check(dg.AssetKey("memory_state"), feedback.FOLDS),
    _every_namespace_check(dg.AssetKey("learning_gate"), (*learning.MEASURED, "learned_triggers")),
    nothing_late,
    isolation,
    learning_gate,
    beside_never_used,
]
