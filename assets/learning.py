"""learned_proposals, search_views -> learning_gate -> (where open) learned_triggers, search_keys."""

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
from slowwave.assets.report import table
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
"""Tag of a run in which the gate let nothing be learned, and why."""
GateOf = Mapping[tuple[str, str], GateDecision]
_Of = tuple[str, str, Kind]
"""Day, namespace and kind of learning."""


asset = partial(daily_asset, GROUP)
RULES = ("scoring/feedback", "scoring/nearness.py", "learning")


@asset(feedback.searches, feedback.usage_signals, rules=RULES)  # and on notes, which signals rest on
def learned_proposals(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """What each selection of a day could teach the memory that was selected, and why most teach nothing.

    A proposal has no effect on any search. Results that the search ranked among the first three, memories
    younger than three days, words that are frequent or on the list of those that say nothing: none teaches.
    """
    space = slowwave.space
    rows, written = write_days(context, space, proposals.proposal_days, "proposal_id", "namespace")
    became = _became(rows, Evidence(space, context.partition_keys[-1]).decided.reasons)
    return materialized(context, written, {"selections": rows.height, "what became of them": became})


@asset(learned_proposals, rules=RULES)  # of the same searches, signals and notes: its graph stays in view
def search_views(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """What each search of which anything was said showed, and what was taken: a past question could be a key.

    Nothing here has an effect on any search. What was shown and not taken counts against a memory, as far as
    it was looked at. Orders to an assistant and memories younger than three days teach nothing, and of one
    memory no more than three selections in eight hours.
    """
    space = slowwave.space
    rows, written = write_days(context, space, impressions.view_days, "view_id", "namespace", "query_id")
    became = _became(rows, Evidence(space, context.partition_keys[-1]).decided_views.reasons)
    more = {"questions": rows["query_id"].n_unique(), "what became of selections": became}
    return materialized(context, written, more)


def _became(rows: pl.DataFrame, reasons: pl.DataFrame) -> dg.MarkdownMetadataValue:
    """Counts of selections by namespace and reason."""
    by = ["namespace", "reason"]
    counted = rows.join(reasons, on=reasons.columns[0]).group_by(by).len("selections")
    return table(counted.sort(by), rows=40)


@asset(learned_proposals, search_views, evaluation.judgments, rules=RULES)
def learned_matches(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Whether memories were wanted where a term or a past question brings them to mind, or would.

    By what was known before the day of the search. It says how much noise learning makes.
    """
    space = slowwave.space
    of = ["namespace", "kind", "evidence", "relevant"]
    rows, written = write_days(context, space, boost_effect.match_days, *of)
    counted = rows.group_by(of).len("matches")
    return materialized(context, written, {"matches": table(counted.sort(of))})


@asset(
    learned_proposals, search_views, evaluation.evaluation_scores, evaluation.channel_attribution,
    rules=(*RULES, "scoring/ranking"),
)  # fmt: skip
def learned_effect(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """How good each judged search is without what was learned before its day, and with it.

    Where nothing is applied yet, with it is what it would be: tried on what the search considered.
    """
    space = slowwave.space
    of, flags = ["namespace", "kind"], ["moved", "live"]
    rows, written = write_days(context, space, boost_effect.effect_days, *of, *flags, *EFFECT_COLUMNS)
    found = rows.group_by(of).agg(
        pl.len().alias("searches"), pl.col(flags).sum(), pl.col(EFFECT_COLUMNS).mean()
    )
    return materialized(context, written, {"means": table(found.sort("namespace", "kind"))})


@asset(
    learned_matches, learned_effect, evaluation.evaluation_cycles, freshness_policy=DAILY_FRESH,
    rules=("quality/learning_gate.py", "quality/learning_bounds.py", "learning"),
)  # fmt: skip
def learning_gate(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Whether what use taught may be applied: every condition at the end of each day, by what was known then.

    Of words and of search keys, each by its own evidence and with its own approval. Where what was applied
    makes results worse, all of it is taken back and the gate is closed until a person approves again. What
    has expired is removed. Nothing is ever learned here.
    """
    space, days = slowwave.space, list(context.partition_keys)
    found, faults = run_per_namespace(space, lambda own: _decided(own, days))
    decided = {key: gate for one, _ in found for key, gate in one.items()}
    regressions = {namespace: why for _, one in found for namespace, why in one.items()}
    keep = {one.namespace for one in faults}

    def rows_of_gates(own: Workspace, part: list[str]) -> pl.DataFrame:
        held = own.store.read("learning_gate", one_of("day", part))
        rows = rows_in_scope(own, _rows(own, decided, part))
        return pl.concat([rows, held.filter(pl.col("namespace").is_in(keep)).select(rows.columns)])

    _, written = write_days(context, space, rows_of_gates, "day", "namespace", "kind", "condition")
    if faults:
        written = Metadata(
            written.numbers, {**written.whole, **failure_metadata(context, space.store, faults)}
        )
    malformed = malformed_events(space.journal)
    for event_id in malformed[:10]:
        context.log.warning(f"Entry {event_id} of the journal is no act of learning; it is left out.")
    for namespace, why in regressions.items():
        context.log.error(f"What use taught in {namespace} made results worse and is switched off: {why}")
    expired = applied_terms.expired_terms(space.store, space.now())
    faulty = faulty_days(space.store, MEASURED)  # they are due again
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
    """The gates at the end of some days, and where learning was taken back; what they refuse is logged."""
    evidence, found = Evidence(space, days[-1]), dict[_Of, GateDecision]()
    for kind in KINDS:
        decided = gates(evidence, days, kind, open_cycle=False)  # so that a range and its days agree
        refused = {key: one.reason for key, one in decided.items() if not one.open}
        log.log_refusals(space.store, evidence, refused, days, kind)
        found |= {(day, namespace, kind): one for (day, namespace), one in decided.items()}
    return found, close_where_worse(space, days[-1])


def conditions(gates: Iterable[GateDecision]) -> pl.DataFrame:
    """Every condition of some gates, a row each."""
    schema = dict.fromkeys(COLUMNS, pl.String) | {"number": pl.Float64}
    return pl.DataFrame([row for gate in gates for row in gate.rows], schema=schema, orient="row")


def conditions_table(gates: Iterable[GateDecision]) -> dg.MarkdownMetadataValue:
    """The same as a table for people."""
    return table(conditions(gates).drop("number"), rows=60)


def _states(decided: Iterable[GateDecision]) -> pl.DataFrame:
    mine = [(gate.namespace, gate.kind, gate.state, gate.describe()) for gate in decided]
    names = ("namespace", "kind", "gate", "says")
    return pl.DataFrame(mine, schema=dict.fromkeys(names, pl.String), orient="row")


def _rows(space: Workspace, decided: Mapping[_Of, GateDecision], days: Sequence[str]) -> pl.DataFrame:
    """Rows of ``learning_gate`` of some days."""
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
    """What is told where every gate is closed on one of some days, with the evidence; None: they are open."""
    opened = {day for (day, _), gate in decided.items() if gate.open}
    closed = [day for day in days if day not in opened]
    if not closed:
        return None
    last, refused = closed[-1], [gate for (day, _), gate in decided.items() if day == closed[-1]]
    return dg.AssetObservation(
        TABLES[kind],
        partition=days[0] if len(days) == 1 else None,
        description="\n".join(
            [f"The learning gate is closed at the end of {last}: nothing was learned.", *_lacking(refused)]
        ),
        metadata={
            "evidence": conditions_table(refused),
            "closed days": f"{_span(closed)} ({len(closed)} of {len(days)})",
            "open days": ", ".join(sorted(opened)) or "none",
        },
    )


def _closed(asset: dg.AssetKey, refused: dg.AssetObservation) -> dg.AssetCheckEvaluation:
    """The check `learning_gate` as a refused run leaves it, with the same table of conditions."""
    return dg.AssetCheckEvaluation(
        asset_key=asset,
        check_name="learning_gate",
        passed=False,
        severity=dg.AssetCheckSeverity.WARN,
        description=refused.description,
        metadata=dict(refused.metadata),
    )


def _lacking(refused: Sequence[GateDecision]) -> Iterator[str]:
    """What each namespace lacks, a condition a line."""
    for gate in refused:
        yield f"{gate.name} lacks:"
        yield from (f"- {one.name}: {one.value} (needs {one.bound})" for one in gate.missing)
    if not refused:
        yield "Nothing was ever searched."
    yield ""
    yield "The check learning_gate, or `slowwave learning status`, says how it is now."


def _span(days: Sequence[str]) -> str:
    return days[0] if len(days) == 1 else f"{days[0]} to {days[-1]}"


@asset(learning_gate, learned_proposals, output_required=False, rules=RULES)
def learned_triggers(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """What was learned on each day: words of questions that bring a memory to mind from then on.

    Refused, before anything is written, unless the learning gate was open at the end of each day by the
    evidence of that day: two closed cycles of evaluation (200 queries, 28 days), a week of proposals that had
    no effect, noise below 5 %, results not worse, the table in no full-text index, a person's approval. The
    sensor `learning_gate_opens` asks for it; run by hand or as a backfill it is refused just the same: the
    run ends without having made it, an observation says what is missing, and the run has the tag
    `slowwave/refused`.

    The check `learning_gate` shows every condition as it is now. The jobs `approve_learning`,
    `withdraw_learning` and `rollback_learning` are for people (Jobs, Launchpad).
    """
    yield from _applied(context, slowwave.space, WORDS)


@asset(learning_gate, search_views, output_required=False, rules=RULES)
def search_keys(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """What was learned of past questions: a new one near them is led to what was taken from them.

    Refused as `learned_triggers` is, by the same conditions of its own evidence, and with an approval of its
    own. What was proposed before the gate opened comes in when it opens: it is what the evidence was measured
    with. From the day after on it lifts.
    """
    yield from _applied(context, slowwave.space, KEYS)


def _applied(
    context: dg.AssetExecutionContext, space: Workspace, kind: Kind
) -> Iterator[dg.MaterializeResult]:  # type: ignore[type-arg]
    """Apply what was learned of a kind on the days of the run, unless the gate refuses it."""
    days = list(context.partition_keys)
    evidence = Evidence(space, days[-1] if kind == WORDS else "")
    decided = applied_terms.opened(evidence, days, kind)
    if refused := refusal(decided, days, kind):  # before any write
        context.log_event(refused)
        context.log.warning(refused.description)
        context.instance.add_run_tags(context.run.run_id, {REFUSED: "the learning gate is closed"})
        if kind == WORDS:  # Dagster runs no check of what was not made
            context.instance.report_runless_asset_event(_closed(context.asset_key, refused))
        return
    opened = [key for key, gate in decided.items() if gate.open]
    applied_terms.expired_terms(space.store, evidence.now)
    before, key = space.store.read(TABLES[kind]), applied_terms.KEY[kind]

    def made(own: Workspace, part: list[str]) -> pl.DataFrame:
        rows = rows_in_scope(
            own, applied_terms.applied(evidence, [one for one in opened if one[0] in part], kind)
        )
        log.log_taught(own.store, rows, before, kind)
        held = rows_in_scope(own, before.filter(pl.col("day").is_in(part)))
        if (
            kind == KEYS
        ):  # what was applied stands where a gate has closed since: others' days touch none of it
            open_now = pl.DataFrame(opened, schema={"day": pl.String, "namespace": pl.String}, orient="row")
            kept = held.join(open_now, on=["day", "namespace"], how="anti")
            rows = pl.concat([rows, kept.select(rows.columns)])
        log.log_untaught(own.store, held.join(rows, on=key, how="anti"), evidence.now, kind)
        return rows

    term = "term" if kind == WORDS else "query_id"
    rows, written = write_days(
        context, space, made, "namespace", "memory_id", term, *(["taken"] if kind == KEYS else [])
    )
    if kind == WORDS:
        what, so_far, reasons = "lessons", "proposals so far", evidence.decided.reasons
    else:
        what, so_far, reasons = "keys", "selections so far", evidence.decided_views.reasons
        rows = rows.filter(pl.col("taken") > 0).rename({term: "questions"})
    counted = rows.group_by("namespace").agg(
        pl.len().alias(what),
        pl.col("memory_id").n_unique().alias("memories"),
        pl.col("term" if kind == WORDS else "questions").n_unique(),
    )
    told = {
        what: table(counted.sort("namespace")),
        so_far: reasons.filter(pl.col("reason") == PROPOSED).height,
        "gates": table(_states([gate for (day, _), gate in decided.items() if day == days[-1]])),
    }
    yield materialized(context, written, told)


ASSETS = defined_in(globals())
GATED_ASSETS = [learned_triggers, search_keys]
PROPOSED_ASSETS = [asset for asset in ASSETS if asset not in GATED_ASSETS]
"""Those that anybody may run: they have no effect on a search."""
MEASURED = names_of([*evaluation.ASSETS, *PROPOSED_ASSETS])
"""Assets that the record of an evaluated day rests on."""
