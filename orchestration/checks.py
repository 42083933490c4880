"""Blocking checks: what has to hold before the next stage may read."""

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
    """The partitions of the run; none where a check is run by itself."""
    tags = context.run.tags
    return list(context.partition_keys) if {PARTITION_TAG, RANGE_START_TAG} & set(tags) else []


def _unique_key_check(name: str, asset: dg.AssetKey) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=asset,
        name="unique_key",
        blocking=True,
        description=f"No two rows of {name} have the same key: a doubled key means a lost update.",
    )
    def unique_key(context: dg.AssetCheckExecutionContext, slowwave: SlowwaveResource) -> dg.AssetCheckResult:
        store = slowwave.space.store
        spec, days = store.specs[name], days_of(context)
        # A key of a partitioned table names its day or an act of it, so no other partition can have it.
        where = one_of(spec.partition, days) if spec.partition and days else None
        key = spec.key
        # Of millions of keys their hashes are a tenth; where two of them are equal the keys are looked at.
        hashes = pl.concat([part[key].hash() for part in parts(store, name, where, columns=[key])])
        sure = hashes.n_unique() == hashes.len()
        rows = store.empty(name, [key]) if sure else store.read(name, where, columns=[key])
        doubled = rows.group_by(key).len("rows").filter(pl.col("rows") > 1)
        # A key of what was learned has a word of a question.
        shown = doubled.sort(key).select(pl.exclude("trigger_id"))
        examples = {} if doubled.is_empty() else {"examples": table(shown)}
        return dg.AssetCheckResult(
            passed=doubled.is_empty(),
            metadata={"rows": hashes.len(), "doubled keys": doubled.height, **examples},
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

    Notes that the gate only warned about, or that a person released, are asked apart from the others: what
    they break is a warning.
    """
    space = slowwave.space
    policy = space.gate_policy
    batch = accepted_notes(space.store, list(context.partition_keys))
    enforced = pl.Series(
        [
            policy.enforces_at(moment) and not released
            for moment, released in batch.select("occurred_at", "released").iter_rows()
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
    description="When the save gate begins to refuse, and how many notes it refused or would have refused. A "
    "warning where that is more than one in twenty: look at them before it begins, or put it off.",
)
def save_gate(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """What people are told of the gate before it begins to refuse, and when it has begun."""
    try:
        told = notice(slowwave.space, slowwave.clock())
    except Exception as error:  # a fault of one namespace; the stage itself says whose
        why = f"What the gate would refuse could not be counted: {type(error).__name__}: {error}"
        return _warning(passed=False, description=why)
    begins = "not known" if told.begins is None else f"{told.begins:%F %H:%M} UTC"
    return _warning(
        passed=not told.loud,
        description=told.words,
        metadata={
            "mode": told.mode,
            "refuses": told.enforced,
            "begins to refuse": begins if told.mode == "warn" else "as set",
            **(
                {}
                if told.enforced
                else {
                    "notes since it was activated": told.since.notes,
                    "would have been refused": told.since.would,
                }
            ),
            "notes of the last 7 days": told.lately.notes,
            "would have been refused of the last 7 days": told.lately.would,
            "refused of the last 7 days": told.lately.refused,
            "reasons": ", ".join(f"{name} {count:,}" for name, count in told.reasons.items()) or "none",
            "what to do": told.commands or "nothing",
        },
    )


@dg.asset_check(
    asset=dg.AssetKey("memories"),
    name="no_exact_duplicates",
    description="No two live memories of a namespace say exactly the same. Possible while the gate is off or "
    "only warns, and where a person released a duplicate.",
)
def no_exact_duplicates(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Whether the memory is free of exact duplicates."""
    columns = ["namespace", "memory_id", "content_hash"]
    rows = slowwave.space.store.read("memories", "status = 'live'", columns=columns)
    twins = (
        rows.group_by("namespace", "content_hash")
        .agg(pl.len().alias("memories"), pl.col("memory_id").sort())
        .filter(pl.col("memories") > 1)
    )
    return _warning(
        passed=twins.is_empty(),
        metadata={
            "live memories": rows.height,
            "examples": table(twins.drop("content_hash").sort("namespace", pl.col("memory_id").list.first())),
        },
    )


@dg.asset_check(
    asset=dg.AssetKey("memory_state"),
    name="nothing_late",
    description="Every folded day rests on all feedback up to it. If not, some came late, or a day was run "
    "again by itself: the sensor late_feedback, or `slowwave night`, folds the days that are named.",
)
def nothing_late(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Whether a folded day misses feedback of its own or of a day before it."""
    space = slowwave.space
    folded = processed_days(space.store)
    late = [day for day in stale_days(space.journal, space.store) if day in folded]
    return _warning(
        passed=not late,
        metadata={"folded days": len(folded), "to fold again": ", ".join(late[:30]) or "none"},
    )


def _every_namespace_check(asset: dg.AssetKey, stages: Sequence[str]) -> dg.AssetChecksDefinition:
    @dg.asset_check(
        asset=asset,
        name="every_namespace",
        description="The part of every namespace is done. If not, one has something that its part fails at: "
        "the others are done, what it had stays as it was, and its days are due again.",
    )
    def every_namespace(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
        faults = [
            (stage, day, namespace, why)
            for stage, days in processing_watermarks.faults(slowwave.space.store).items()
            if stage in stages
            for day, told in days.items()
            for namespace, why in told.items()
        ]
        names = ("asset", "day", "namespace", "error")
        shown = pl.DataFrame(faults, schema=dict.fromkeys(names, pl.String), orient="row")
        return _warning(
            passed=not faults,
            metadata={"faults": len(faults), "not done": table(shown)},
        )

    return every_namespace


@dg.asset_check(
    asset=dg.AssetKey("learned_triggers"),
    name="isolation",
    blocking=True,
    description="No full-text index covers what was learned, and a term that only a learned trigger has is "
    "not found by text. If it is, nothing learned is used; `slowwave doctor --repair` mends it.",
)
def isolation(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Whether learned terms are out of reach of the full-text search (safeguard 4)."""
    store = slowwave.space.store
    leaks = prove(store)
    found = pl.DataFrame({"way into the full-text search": leaks})
    return dg.AssetCheckResult(
        passed=not leaks,
        description="; ".join(leaks) or "Proven: no full-text search reaches what was learned.",
        metadata={"leaks": table(found) if leaks else "none", "tables looked at": len(store.specs)},
    )


@dg.asset_check(
    asset=dg.AssetKey("learned_triggers"),
    name="learning_gate",
    description="Whether the learning gate is open now, and each condition. Closed is how it begins: nothing "
    "is wrong, nothing is learned yet.",
)
def learning_gate(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """The gates of all namespaces as they are now."""
    now = gates_now(Evidence(slowwave.space))
    return _warning(
        passed=any(one.open for one in now),
        description=" | ".join(one.describe() for one in now) or "Nothing was ever searched.",
        metadata={
            "evidence": learning.conditions_table(now),
            "what to do": "; ".join(_next(one) for one in now) or "search, and say what was of use",
            "open gates": sum(one.open for one in now),
            "conditions that hold": sum(part.state == "open" for one in now for part in one.conditions),
        },
    )


@dg.asset_check(
    asset=dg.AssetKey("learned_effect"),
    name="beside_never_used",
    description="Whether searches are surely worse than in a memory that nobody ever used. The regression "
    "guard switches ratings off where they are the cause; `slowwave learning ratings` shows the figures.",
)
def beside_never_used(slowwave: SlowwaveResource) -> dg.AssetCheckResult:
    """Compare the judged searches of all namespaces with the same ones without anything that use taught."""
    space = slowwave.space
    compared = trend_until(space, space.now()).beside
    worse = compared.filter(pl.col("verdict") == "worse")
    told = [
        f"{row['namespace']}, {row['kind']}, answers {row['answers']}: {row['difference']:+.3f}"
        for row in worse.iter_rows(named=True)
    ]
    return _warning(
        passed=worse.is_empty(),
        description="; ".join(told) or "Use has made no namespace surely worse.",
        metadata={"compared": table(compared, rows=60), "surely worse": worse.height},
    )


def _next(gate: GateDecision) -> str:
    """What a person can do about a gate."""
    if gate.open:
        return f"{gate.name}: nothing, the sensor learning_gate_opens asks for what is to be learned"
    if gate.awaits_only_approval:
        return (
            f"{gate.name}: look at the evidence, then approve (job approve_learning, or "
            f"`slowwave learning approve -n {gate.namespace} --who NAME --kind {gate.kind}`), or not"
        )
    return f"{gate.name}: it still lacks {', '.join(one.name for one in gate.missing)}"


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
