"""searches, usage_signals -> judgments -> evaluation_scores, shadow_scores, channel_attribution -> cycles."""

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
"""Folder of the pages, in the home."""


asset = partial(daily_asset, GROUP)
TRIED = ("scoring", "evaluation/scores.py", "evaluation/variants.py", "evaluation/judgments.py")


# and on notes, which signals rest on
@asset(
    feedback.searches, feedback.usage_signals,
    rules=("evaluation/derived_judgments.py", "evaluation/judgments.py", "scoring/evaluation/judgments.py"),
)  # fmt: skip
def judgments(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """How well memories answer queries, as each day said: by people, a judge, use, and trigger phrases.

    The judge is asked about some pairs of each day that have no grade yet; what it says is in the journal, so
    running the day again asks nothing twice.
    """
    space, days = slowwave.space, list(context.partition_keys)
    problem = _judge(context, slowwave, days)
    stale_days.begin(space.journal, space.store, run_key(context))
    unreadable: set[str] = set()

    def made(own: Workspace, part: list[str]) -> pl.DataFrame:
        said = drain_judgments(own.journal, part)
        unreadable.update(said.unreadable)
        triggers = derived_judgments.trigger_judgments(own.store, part)
        return pl.concat([said.rows, triggers, derived_judgments.selection_judgments(own.store, part)])

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


def _contradictions(space: Workspace, day: str, about: pl.DataFrame) -> dict[str, Any]:
    """Where sources contradict each other on these queries, and how far each judge agrees with people."""
    said, bar = judgments_until(space.store, day), space.settings.judge.agreement
    conflicts = judgment_list(said, bar, about).conflicts
    judges = [
        {"namespace": namespace, "judge": judge, "pairs": found.n, "exact": found.exact.value,
         "at least": found.exact.low, "kappa": found.kappa.value, "is heard": found.meets(bar)}
        for (namespace, judge), found in sorted(agreements(said, n_draws=1).items())
    ]  # fmt: skip
    return {
        "pairs in conflict": conflicts.height,
        "conflicts (examples)": table(conflicts.drop("query_id")),
        "judges beside people": table(pl.DataFrame(judges)),
    }


def _judge(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, days: Sequence[str]
) -> dict[str, Any]:
    """Ask the judge; that it is off or cannot be asked is told and stops no night."""
    if slowwave.space.settings.judge.kind == "off":
        return {"judge": "off"}
    try:
        found, faults = run_per_namespace(
            slowwave.space, lambda own: grading.grade_days(own, days, slowwave.clock())
        )
    except (JudgeError, ModelError) as error:
        # What a server said of a request may quote it, and is not kept here; what is wrong here is.
        why = (
            str(error)
            if error.__cause__ is None
            else f"`slowwave judge run` says why ({type(error).__name__})"
        )
        context.log.warning(f"The judge could not grade: {why}")
        return {"judge": why}
    reports = [one for some in found for one in some]
    counted = {
        f"judge {name}": sum(getattr(one, name) for one in reports)
        for name in ("graded", "failed", "skipped", "left", "tokens")
    }
    problems = "; ".join(f"{one.namespace}: {one.error}" for one in faults[:10])
    return counted | ({"judge problems": problems} if problems else {})


@asset(judgments, feedback.searches, rules=TRIED)
def evaluation_scores(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """How good each search was: as it was shown, and as every other ranking that is tried would have been.

    By the judgments known at the end of its day. Searches of queries without a relevant judgment are not
    counted; one that showed nothing counts as 0.
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
    return by_variant.sort(NDCG.column, "variant", descending=[True, False])


@asset(feedback.searches, rules=TRIED)
def shadow_scores(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """How far the results of other rankings are from what was shown: tried on what each search considered."""
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
    """Which channels found the results of each search, and which results only one channel found."""
    space = slowwave.space
    counts = ["results", "covered", "exclusive"]
    rows, written = write_days(context, space, scores.attribute_days, "channel", *counts)
    found = rows.filter(pl.col("channel") != "*").group_by("channel").agg(pl.col(counts).sum())
    shares = found.with_columns(ecr=pl.col("exclusive") / pl.col("results")).sort("channel")
    return materialized(context, written, {"channels": table(shares)})


@asset(
    feedback.searches, feedback.usage_signals,
    rules=("scoring/evaluation/interleaving.py", "evaluation/interleaved.py"),
)  # fmt: skip
def interleavings(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Searches that showed two rankings in turn, and how many results of each were used."""
    space = slowwave.space
    counts = ["credit_a", "credit_b"]
    rows, written = write_days(context, space, interleaved.interleaved_days, "policy_b", *counts)
    found = rows.group_by("policy_b").agg(pl.len().alias("searches"), pl.col(counts).sum())
    return materialized(context, written, {"credit": table(found.sort("policy_b"))})


@asset(
    evaluation_scores, shadow_scores, channel_attribution, interleavings, on_day_before=True,
    rules=("scoring/evaluation", "evaluation/cycles.py"),
)  # fmt: skip
def evaluation_cycles(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Closes the cycles that are due by the end of the last day, and notes how far the open ones are.

    A cycle of a namespace takes at least 100 queries with a relevant judgment, each counted once a day and
    three times at most, and 14 days. What it
    came to is written down with its judgments, policies and code version, and never changed.
    """
    space, days = slowwave.space, list(context.partition_keys)
    found, faults = run_per_namespace(
        space, lambda own: cycles.advance(own, days[-1], _tried(space), slowwave.clock())
    )
    closed = [name for some in found for name in some]
    told = failure_metadata(context, space.store, faults)
    rows = space.store.read("evaluation_cycles").sort("namespace", "number")
    # One that a killed run has closed has no page yet.
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
            **told,
        },
    )


def _write_page(space: Workspace, cycle: str) -> Path:
    """The report of a cycle as a page in the home; it can be written again with `slowwave eval report`."""
    page = cycle_page(cycle_report(space.store, cycle, margin=space.settings.evaluation.margin))
    path = _page(space, cycle)
    path.parent.mkdir(exist_ok=True)
    beside = path.with_name(path.name + ".part")
    beside.write_text(page, encoding="utf-8")
    beside.replace(path)
    return path


def _page(space: Workspace, cycle: str) -> Path:
    """Where the page of a cycle is; no two cycles have the same name in it."""
    namespace, _, number = cycle.rpartition("#")
    return space.settings.home / REPORTS / f"cycle-{namespace.replace('/', '~')}-{number}.html"


def _tried(space: Workspace) -> list[Tried]:
    keys = in_use(space, KEYS)
    return variants(space.policy, space.settings.evaluation, space.policy_of, keys=keys)


ASSETS = defined_in(globals())
