"""Assets of learning: proposals, search_views -> learning_gate -> learned_triggers, search_keys."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial

import dagster as dg
import polars as pl

from slowwave.assets import evaluation, feedback
from slowwave.assets.daily import (
    DAILY_FRESH,
    Metadata,
    daily_asset,
    defined_in,
    materialized,
    names_of,
    write_days,
)  # fmt: skip
from slowwave.assets.failed_namespaces import failure_metadata, run_per_namespace
from slowwave.assets.partitions import run_key
from slowwave.assets.report import page_link, table
from slowwave.assets.resources import OneNight, SlowwaveResource
from slowwave.evaluation import stale_days
from slowwave.home.fault_isolation import rows_in_scope
from slowwave.home.processing_watermarks import faulty_days
from slowwave.home.workspace import Workspace
from slowwave.learning import applied_terms, boost_effect, impressions, log, proposals
from slowwave.learning.active_boosts import TABLES
from slowwave.learning.events import malformed_events
from slowwave.learning.gate import gates
from slowwave.learning.gate_evidence import Evidence
from slowwave.learning.guard import close_where_worse
from slowwave.quality.learning_gate import COLUMNS, GateDecision
from slowwave.scoring.feedback.learned import KEYS, KINDS, PROPOSED, WORDS, Kind
from slowwave.scoring.measures import EFFECT_COLUMNS
from slowwave.store import one_of

GROUP = "learning"
REFUSED = "slowwave/refused"
"""Tag of a run that the learning gate refused; its value is the reason."""
GateOf = Mapping[tuple[str, str], GateDecision]
_Of = tuple[str, str, Kind]
"""Day, namespace and kind of learning."""


asset = partial(daily_asset, GROUP)
RULES = ("scoring/feedback", "scoring/nearness.py", "learning")


@asset(
    feedback.searches, feedback.usage_signals, rules=RULES
)  # signals depend on notes: left out to keep the graph readable
def learned_proposals(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Proposals of learned terms by the selections of a day, or the reasons against.

    A proposal has no effect on any search. Nothing is proposed from results ranked among the first three, for
    memories younger than three days, or from frequent and listed filler words.
    """
    space = slowwave.space
    rows, written = write_days(context, space, proposals.proposal_days, "proposal_id", "namespace")
    outcomes = _outcomes(rows, Evidence(space, context.partition_keys[-1]).decided.reasons)
    return materialized(context, written, {"selections": rows.height, "outcomes": outcomes})


@asset(
    learned_proposals, rules=RULES
)  # searches, signals and notes are upstream too: left out to keep the graph readable
def search_views(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Impressions and selections of each search with feedback: the input of search keys.

    It has no effect on any search. An impression that was not selected counts against a memory, weighted by
    the probability that it was examined. Instructions to an assistant and memories younger than three days
    are left out; one memory counts for at most three selections in eight hours.
    """
    space = slowwave.space
    rows, written = write_days(context, space, impressions.view_days, "view_id", "namespace", "query_id")
    outcomes = _outcomes(rows, Evidence(space, context.partition_keys[-1]).decided_views.reasons)
    more = {"questions": rows["query_id"].n_unique(), "outcomes of selections": outcomes}
    return materialized(context, written, more)


def _outcomes(rows: pl.DataFrame, reasons: pl.DataFrame) -> dg.MarkdownMetadataValue:
    """Count selections by namespace and reason."""
    by = ["namespace", "reason"]
    counted = rows.join(reasons, on=reasons.columns[0]).group_by(by).len("selections")
    return table(counted.sort(by), rows=40)


@asset(learned_proposals, search_views, evaluation.judgments, rules=RULES)
def learned_matches(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Matches of learned terms and search keys, with the relevance of their memories.

    Uses only what was known before the day of the search. It measures the noise that learning adds.
    """
    space = slowwave.space
    columns = ["namespace", "kind", "evidence", "relevant"]
    rows, written = write_days(context, space, boost_effect.match_days, *columns)
    counted = rows.group_by(columns).len("matches")
    return materialized(context, written, {"matches": table(counted.sort(columns))})


@asset(
    learned_proposals, search_views, evaluation.evaluation_scores, evaluation.channel_attribution,
    rules=(*RULES, "scoring/ranking"),
)  # fmt: skip
def learned_effect(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Quality of each judged search without and with what was learned before its day.

    Where nothing is applied yet, the effect is predicted by replay of the logged candidates.
    """
    space = slowwave.space
    groups, flags = ["namespace", "kind"], ["moved", "live"]
    rows, written = write_days(context, space, boost_effect.effect_days, *groups, *flags, *EFFECT_COLUMNS)
    effects = rows.group_by(groups).agg(
        pl.len().alias("searches"), pl.col(flags).sum(), pl.col(EFFECT_COLUMNS).mean()
    )
    return materialized(context, written, {"means": table(effects.sort("namespace", "kind"))})


@asset(
    learned_matches, learned_effect, evaluation.evaluation_cycles, freshness_policy=DAILY_FRESH,
    rules=("quality/learning_gate.py", "quality/learning_bounds.py", "learning"),
)  # fmt: skip
def learning_gate(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Learning gate: every condition at the end of each day, by what was known then (rule 6.7).

    Learned terms and search keys each have their own evidence and approval. If applied learning makes results
    worse, all of it is rolled back and the gate stays closed until a person approves again. Expired entries
    are removed. Nothing is learned here.
    """
    space, days = slowwave.space, list(context.partition_keys)
    decisions, faults = run_per_namespace(space, lambda own: _decided(own, days))
    decided = {key: gate for gates_of, _ in decisions for key, gate in gates_of.items()}
    regressions = {namespace: why for _, worse in decisions for namespace, why in worse.items()}
    keep = {fault.namespace for fault in faults}

    def rows_of_gates(own: Workspace, part: list[str]) -> pl.DataFrame:
        previous = own.store.read("learning_gate", one_of("day", part))
        rows = rows_in_scope(own, _rows(own, decided, part))
        return pl.concat([rows, previous.filter(pl.col("namespace").is_in(keep)).select(rows.columns)])

    _, written = write_days(context, space, rows_of_gates, "day", "namespace", "kind", "condition")
    failed = failure_metadata(context, space.store, faults) if faults else {}
    links = page_link(space.settings, "/learning")
    written = Metadata(written.numbers, {**written.whole, **failed, **links})
    malformed = malformed_events(space.journal)
    for event_id in malformed[:10]:
        context.log.warning(f"Journal entry {event_id} is not a valid learning decision and is skipped.")
    for namespace, why in regressions.items():
        context.log.error(f"Learning made results worse in {namespace} and was rolled back: {why}")
    expired = applied_terms.expired_terms(space.store, space.now())
    faulty = faulty_days(space.store, MEASURED)  # they stay stale
    stale_days.finish(space.store, run_key(context), [day for day in days if day not in faulty])
    last = [gate for (day, *_), gate in decided.items() if day == days[-1]]
    return materialized(
        context,
        written,
        {},
        as_of_end={
            "gates": table(_states(last)),
            "conditions": conditions_table(last),
            "made worse": "; ".join(f"{namespace}: {why}" for namespace, why in regressions.items())
            or "none",
            "expired": expired,
            "unreadable": len(malformed),
        },
    )


def _decided(space: Workspace, days: list[str]) -> tuple[dict[_Of, GateDecision], dict[str, str]]:
    """Return the gates at the end of some days, and rolled-back namespaces with reasons.

    Refusals are logged.
    """
    evidence, decisions = Evidence(space, days[-1]), dict[_Of, GateDecision]()
    for kind in KINDS:
        decided = gates(evidence, days, kind, open_cycle=False)  # so that a range and its days agree
        refused = {key: gate.reason for key, gate in decided.items() if not gate.open}
        log.log_refusals(space.store, evidence, refused, days, kind)
        decisions |= {(day, namespace, kind): gate for (day, namespace), gate in decided.items()}
    return decisions, close_where_worse(space, days[-1])


def conditions(gates: Iterable[GateDecision]) -> pl.DataFrame:
    """Return every condition of some gates, one row each."""
    schema = dict.fromkeys(COLUMNS, pl.String) | {"number": pl.Float64}
    return pl.DataFrame([row for gate in gates for row in gate.rows], schema=schema, orient="row")


def conditions_table(gates: Iterable[GateDecision]) -> dg.MarkdownMetadataValue:
    """Return the conditions as a Markdown table."""
    return table(conditions(gates).drop("number"), rows=60)


def _states(decided: Iterable[GateDecision]) -> pl.DataFrame:
    rows = [(gate.namespace, gate.kind, gate.state, gate.describe()) for gate in decided]
    names = ("namespace", "kind", "gate", "says")
    return pl.DataFrame(rows, schema=dict.fromkeys(names, pl.String), orient="row")


def _rows(space: Workspace, decided: Mapping[_Of, GateDecision], days: Sequence[str]) -> pl.DataFrame:
    """Return the rows of ``learning_gate`` of some days."""
    by_day = [
        conditions(gate for (on, *_), gate in decided.items() if on == day).with_columns(day=pl.lit(day))
        for day in days
    ]
    key = pl.concat_str("day", "namespace", "condition", separator=":")
    of_keys = pl.concat_str("day", "namespace", "kind", "condition", separator=":")
    named = pl.concat(by_day).with_columns(
        gate_id=pl.when(pl.col("kind") == WORDS).then(key).otherwise(of_keys)
    )
    return named.select(space.store.specs["learning_gate"].schema.names)


def refusal(decided: GateOf, days: Sequence[str], kind: Kind = WORDS) -> dg.AssetObservation | None:
    """Return the observation of a refused run, with the evidence; None if a gate is open each day."""
    opened = {day for (day, _), gate in decided.items() if gate.open}
    closed = [day for day in days if day not in opened]
    if not closed:
        return None
    last, refused = closed[-1], [gate for (day, _), gate in decided.items() if day == closed[-1]]
    return dg.AssetObservation(
        TABLES[kind],
        partition=days[0] if len(days) == 1 else None,
        description="\n".join(
            [f"The learning gate is closed at the end of {last}: nothing was learned.", *_missing(refused)]
        ),
        metadata={
            "evidence": conditions_table(refused),
            "closed days": f"{_span(closed)} ({len(closed)} of {len(days)})",
            "open days": ", ".join(sorted(opened)) or "none",
        },
    )


def _closed(asset: dg.AssetKey, refused: dg.AssetObservation) -> dg.AssetCheckEvaluation:
    """Return the failed check `learning_gate` of a refused run, with the same table of conditions."""
    return dg.AssetCheckEvaluation(
        asset_key=asset,
        check_name="learning_gate",
        passed=False,
        severity=dg.AssetCheckSeverity.WARN,
        description=refused.description,
        metadata=dict(refused.metadata),
    )


def _missing(refused: Sequence[GateDecision]) -> Iterator[str]:
    """Yield the missing conditions of each namespace, one per line."""
    for gate in refused:
        yield f"{gate.name} is missing:"
        yield from (
            f"- {condition.name}: {condition.value} (needs {condition.bound})" for condition in gate.missing
        )
    if not refused:
        yield "No search was ever recorded."
    yield ""
    yield "Current state: the check learning_gate, or `slowwave learning status`."


def _span(days: Sequence[str]) -> str:
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


@asset(learning_gate, learned_proposals, output_required=False, rules=RULES)
def learned_triggers(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Learned terms of each day: words of questions that lead to a memory from then on (rule 5).

    Refused before anything is written, unless the learning gate was open at the end of each day by the
    evidence of that day. The gate needs two closed evaluation cycles (200 queries, 28 days) and a week of
    proposals without effect. It also needs noise below 5 %, results not worse, a table in no full-text index,
    and a person's approval.

    The sensor `learning_gate_opens` starts runs. Runs by hand and backfills are refused just the same. The
    run ends without materializing, an observation lists what is missing, and the run gets the tag
    `slowwave/refused`.

    The check `learning_gate` shows every condition as of now. The jobs `approve_learning`,
    `withdraw_learning` and `rollback_learning` are for people (Jobs, Launchpad).
    """
    yield from _applied(context, slowwave.space, WORDS)


@asset(learning_gate, search_views, output_required=False, rules=RULES)
def search_keys(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Search keys: vectors of past questions with the results selected for them (rule 7).

    A new question near a key boosts what was selected then, from the day after on. Refused like
    `learned_triggers`, by the same conditions on its own evidence and with its own approval. When the gate
    opens, proposals from before are applied too: the evidence was measured with them.
    """
    yield from _applied(context, slowwave.space, KEYS)


def _applied(
    context: dg.AssetExecutionContext, space: Workspace, kind: Kind
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Apply learned terms or keys on the run's days, unless the gate refuses."""
    days = list(context.partition_keys)
    evidence = Evidence(space, days[-1] if kind == WORDS else "")
    decided = applied_terms.opened(evidence, days, kind)
    if refused := refusal(decided, days, kind):  # before any write
        context.log_event(refused)
        context.log.warning(refused.description)
        context.instance.add_run_tags(context.run.run_id, {REFUSED: "the learning gate is closed"})
        if kind == WORDS:  # Dagster runs no check of an asset that was not materialized
            context.instance.report_runless_asset_event(_closed(context.asset_key, refused))
        return
    opened = [day_namespace for day_namespace, gate in decided.items() if gate.open]
    applied_terms.expired_terms(space.store, evidence.now)
    before, key = space.store.read(TABLES[kind]), applied_terms.KEY[kind]

    def made(own: Workspace, part: list[str]) -> pl.DataFrame:
        rows = rows_in_scope(
            own, applied_terms.applied(evidence, [at for at in opened if at[0] in part], kind)
        )
        log.log_taught(own.store, rows, before, kind)
        existing = rows_in_scope(own, before.filter(pl.col("day").is_in(part)))
        if kind == KEYS:  # keys of namespaces whose gate has closed since stay applied
            open_now = pl.DataFrame(opened, schema={"day": pl.String, "namespace": pl.String}, orient="row")
            kept = existing.join(open_now, on=["day", "namespace"], how="anti")
            rows = pl.concat([rows, kept.select(rows.columns)])
        log.log_untaught(own.store, existing.join(rows, on=key, how="anti"), evidence.now, kind)
        return rows

    term = "term" if kind == WORDS else "query_id"
    rows, written = write_days(
        context, space, made, "namespace", "memory_id", term, *(["taken"] if kind == KEYS else [])
    )
    if kind == WORDS:
        label, so_far, reasons = "learned terms", "proposals so far", evidence.decided.reasons
    else:
        label, so_far, reasons = "keys", "selections so far", evidence.decided_views.reasons
        rows = rows.filter(pl.col("taken") > 0).rename({term: "questions"})
    counted = rows.group_by("namespace").agg(
        pl.len().alias(label),
        pl.col("memory_id").n_unique().alias("memories"),
        pl.col("term" if kind == WORDS else "questions").n_unique(),
    )
    metadata = {
        label: table(counted.sort("namespace")),
        so_far: reasons.filter(pl.col("reason") == PROPOSED).height,
        "gates": table(_states([gate for (day, _), gate in decided.items() if day == days[-1]])),
    }
    yield materialized(context, written, metadata)


ASSETS = defined_in(globals())
GATED_ASSETS = [learned_triggers, search_keys]
PROPOSED_ASSETS = [asset for asset in ASSETS if asset not in GATED_ASSETS]
"""Assets that anybody may run: they have no effect on a search."""
MEASURED = names_of([*evaluation.ASSETS, *PROPOSED_ASSETS])
"""Assets that must succeed before a day counts as evaluated."""
