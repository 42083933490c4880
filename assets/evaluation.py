"""Assets of evaluation: searches, usage_signals -> judgments -> scores, attribution -> evaluation_cycles."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from slowwave.assets import feedback
from slowwave.assets.daily import Metadata, daily_asset, defined_in, materialized, write_days
from slowwave.assets.failed_namespaces import failure_metadata, run_per_namespace
from slowwave.assets.partitions import run_key
from slowwave.assets.report import table
from slowwave.assets.resources import OneNight, SlowwaveResource
from slowwave.errors import ModelError
from slowwave.evaluation import cycles, derived_judgments, grading, interleaved, scores, stale_days
from slowwave.evaluation.judging.agreement import agreements
from slowwave.evaluation.judging.entries import drain_judgments
from slowwave.evaluation.judging.model import JudgeError
from slowwave.evaluation.judgments import judgment_list, judgments_until
from slowwave.evaluation.variants import Tried, variants
from slowwave.home.workspace import Workspace
from slowwave.learning.active_boosts import in_use
from slowwave.scoring.feedback.learned import KEYS
from slowwave.scoring.measures import NDCG
from slowwave.search import sparse_recall as sparse
from slowwave.views.cycle import cycle_report
from slowwave.views.cycle_sections import cycle_page

GROUP = "evaluation"
REPORTS = "reports"
"""Folder of the cycle reports, in the home."""


asset = partial(daily_asset, GROUP)
TRIED = ("scoring", "evaluation/scores.py", "evaluation/variants.py", "evaluation/judgments.py")


# Signals depend on notes: that dependency is left out to keep the graph readable.
@asset(
    feedback.searches, feedback.usage_signals,
    rules=("evaluation/derived_judgments.py", "evaluation/judgments.py", "scoring/evaluation/judgments.py"),
)  # fmt: skip
def judgments(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Relevance judgments of each day: ratings by users, a judge, use and trigger phrases.

    The judge grades a sample of each day's ungraded pairs. Its grades are in the journal, so running the day
    again asks nothing twice.
    """
    space, days = slowwave.space, list(context.partition_keys)
    problem = _judge(context, slowwave, days)
    stale_days.begin(space.journal, space.store, run_key(context))
    unreadable: set[str] = set()

    def made(own: Workspace, part: list[str]) -> pl.DataFrame:
        drained = drain_judgments(own.journal, part)
        unreadable.update(drained.unreadable)
        triggers = derived_judgments.trigger_judgments(own.store, part)
        return pl.concat([drained.rows, triggers, derived_judgments.selection_judgments(own.store, part)])

    rows, written = write_days(context, space, made, "source", "state", "grade", "namespace", "query_id")
    by_source = rows.group_by("source", "state").agg(
        pl.len().alias("judgments"), pl.col("grade").mean().alias("mean grade")
    )
    return materialized(
        context,
        written,
        {
            "judgments": table(by_source.sort("source", "state")),
            "queries": rows.select("namespace", "query_id").n_unique(),
            "unreadable": len(unreadable),
            **_contradictions(space, days[-1], rows.select("namespace", "query_id").unique()),
            **problem,
        },
    )


def _contradictions(space: Workspace, day: str, queries: pl.DataFrame) -> dict[str, Any]:
    """Return metadata of conflicting sources on these queries, and each judge's agreement with people."""
    known_judgments, bar = judgments_until(space.store, day), space.settings.judge.agreement
    conflicts = judgment_list(known_judgments, bar, queries).conflicts
    judges = [
        {"namespace": namespace, "judge": judge, "pairs": agreement.n, "exact": agreement.exact.value,
         "at least": agreement.exact.low, "kappa": agreement.kappa.value, "counts": agreement.meets(bar)}
        for (namespace, judge), agreement in sorted(agreements(known_judgments, n_draws=1).items())
    ]  # fmt: skip
    return {
        "pairs in conflict": conflicts.height,
        "conflicts (examples)": table(conflicts.drop("query_id")),
        "agreement of judges with people": table(pl.DataFrame(judges)),
    }


def _judge(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, days: Sequence[str]
) -> dict[str, Any]:
    """Grade pairs with the judge. If it is off or unavailable, report that and continue."""
    if slowwave.space.settings.judge.kind == "off":
        return {"judge": "off"}
    try:
        graded, faults = run_per_namespace(
            slowwave.space, lambda own: grading.grade_days(own, days, slowwave.clock())
        )
    except (JudgeError, ModelError) as error:
        # The server's error may quote the request, so it is not recorded. Errors of our own are.
        why = (
            str(error)
            if error.__cause__ is None
            else f"{type(error).__name__}; run `slowwave judge run` for details"
        )
        context.log.warning(f"The judge cannot grade: {why}")
        return {"judge": why}
    reports = [report for batch in graded for report in batch]
    counted = {
        f"judge {name}": sum(getattr(report, name) for report in reports)
        for name in ("graded", "failed", "skipped", "left", "tokens")
    }
    problems = "; ".join(f"{fault.namespace}: {fault.error}" for fault in faults[:10])
    return counted | ({"judge problems": problems} if problems else {})


@asset(judgments, feedback.searches, rules=TRIED)
def evaluation_scores(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Quality of each search: of the returned results, and of every shadow policy.

    Uses the judgments known at the end of its day. Searches of queries without a relevant judgment are not
    counted; a search that returned nothing counts as 0.
    """
    space, tried = slowwave.space, _tried(slowwave.space)
    rows, written = write_days(
        context, space, lambda own, days: scores.score_days(own, days, tried),
        "variant", *scores.COLUMNS, "abstained",
    )  # fmt: skip
    recalled = sparse.figures(space, list(context.partition_keys)).to_dict()
    return materialized(context, written, {"means": table(_means(rows), rows=40), **recalled})


def _means(rows: pl.DataFrame) -> pl.DataFrame:
    means = pl.col(scores.COLUMNS).mean()
    by_variant = rows.group_by("variant").agg(pl.len().alias("searches"), means, pl.col("abstained").sum())
    # Sums in another order differ in their last digit, which must not decide.
    return by_variant.sort(pl.col(NDCG.column).round(9), "variant", descending=[True, False])


@asset(feedback.searches, rules=TRIED)
def shadow_scores(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Distance between returned results and those of shadow policies, by replay of logged candidates."""
    space, tried = slowwave.space, _tried(slowwave.space)
    rows, written = write_days(
        context, space, lambda own, days: scores.compare_days(own, days, tried),
        "variant", *scores.DISTANCES,
    )  # fmt: skip
    return materialized(context, written, {"means": table(scores.mean_distances(rows))})


@asset(feedback.searches, rules=("scoring/evaluation/attribution.py", "evaluation/scores.py"))
def channel_attribution(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Channels that found the results of each search, and results that only one channel found."""
    space = slowwave.space
    counts = ["results", "covered", "exclusive"]
    rows, written = write_days(context, space, scores.attribute_days, "channel", *counts)
    by_channel = rows.filter(pl.col("channel") != "*").group_by("channel").agg(pl.col(counts).sum())
    shares = by_channel.with_columns(ecr=pl.col("exclusive") / pl.col("results")).sort("channel")
    return materialized(context, written, {"channels": table(shares)})


@asset(
    feedback.searches, feedback.usage_signals,
    rules=("scoring/evaluation/interleaving.py", "evaluation/interleaved.py"),
)  # fmt: skip
def interleavings(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Interleaved searches of two policies, and how many results of each were used."""
    space = slowwave.space
    counts = ["credit_a", "credit_b"]
    rows, written = write_days(context, space, interleaved.interleaved_days, "policy_b", *counts)
    by_policy = rows.group_by("policy_b").agg(pl.len().alias("searches"), pl.col(counts).sum())
    return materialized(context, written, {"credit": table(by_policy.sort("policy_b"))})


@asset(
    evaluation_scores, shadow_scores, channel_attribution, interleavings, on_day_before=True,
    rules=("scoring/evaluation", "evaluation/cycles.py"),
)  # fmt: skip
def evaluation_cycles(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Evaluation cycles: closes complete ones by the last day, and records the progress of open ones.

    A cycle of a namespace takes at least 14 days and 100 queries with a relevant judgment. Each query counts
    once a day and three times at most. The result is recorded with its judgments, policies and code version,
    and never changes.
    """
    space, days = slowwave.space, list(context.partition_keys)
    closed_by_namespace, faults = run_per_namespace(
        space, lambda own: cycles.advance(own, days[-1], _tried(space), slowwave.clock())
    )
    closed = [name for names in closed_by_namespace for name in names]
    failed_metadata = failure_metadata(context, space.store, faults)
    rows = space.store.read("evaluation_cycles").sort("namespace", "number")
    # A cycle that a killed run closed has no page yet.
    wanted = [
        name
        for name in rows.filter(pl.col("status") == cycles.CLOSED)["cycle_id"]
        if name in closed or not _page(space, name).exists()
    ]
    pages = {f"report of {name}": dg.MetadataValue.path(str(_write_page(space, name))) for name in wanted}
    shown = rows.select("cycle_id", "status", "opened_on", "closed_on", "days", "searches", "queries")
    return materialized(
        context,
        Metadata(),
        {},
        as_of_end={
            "dagster/row_count": rows.height,
            "closed": ", ".join(closed) or "none",
            "cycles closed": len(closed),
            "cycles": table(shown),
            **pages,
            **failed_metadata,
        },
    )


def _write_page(space: Workspace, cycle: str) -> Path:
    """Write the report of a cycle as a page in the home. `slowwave eval report` rewrites it."""
    page = cycle_page(cycle_report(space.store, cycle, margin=space.settings.evaluation.margin))
    path = _page(space, cycle)
    path.parent.mkdir(exist_ok=True)
    partial_file = path.with_name(path.name + ".part")
    partial_file.write_text(page, encoding="utf-8")
    partial_file.replace(path)
    return path


def _page(space: Workspace, cycle: str) -> Path:
    """Return the path of a cycle's page. Names are unique across namespaces."""
    namespace, _, number = cycle.rpartition("#")
    return space.settings.home / REPORTS / f"cycle-{namespace.replace('/', '~')}-{number}.html"


def _tried(space: Workspace) -> list[Tried]:
    keys = in_use(space, KEYS)
    return variants(space.policy, space.settings.evaluation, space.policy_of, keys=keys)


ASSETS = defined_in(globals())
