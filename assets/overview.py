"""Overview asset: numbers of each day and the current state, plotted by Dagster."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import dagster as dg
import polars as pl

from slowwave.assets import evaluation, feedback, ingest, learning
from slowwave.assets.daily import daily_asset, rows_of
from slowwave.assets.failed_namespaces import run_per_namespace
from slowwave.assets.partitions import PARTITION_TAG, RANGE_END_TAG, RANGE_START_TAG
from slowwave.assets.report import page_link
from slowwave.assets.resources import SlowwaveResource
from slowwave.evaluation.variants import LOGGED
from slowwave.home.processing_watermarks import faults
from slowwave.home.workspace import Workspace
from slowwave.lifecycle.gate_notes import judged_notes
from slowwave.lifecycle.pending_decisions import waiting
from slowwave.maintenance.stale_partitions import over, partitions, stale_partitions
from slowwave.quality.admission.statuses import HELD
from slowwave.scoring.days import DAY, MICROSECOND, day_end
from slowwave.scoring.measures import NDCG
from slowwave.store import one_of
from slowwave.views import overview

GROUP = "at_a_glance"
LINE = "in a line"
"""Metadata label of the one-line summary."""
LOOKED_BACK = timedelta(days=7)
"""Window in which failed runs are reported."""
_RUNS = 1_000  # maximum checked (count)
_NOTED = 5  # maximum of the latest materializations of a day that are read (count)
Figures = dict[str, dg.MetadataValue]


@daily_asset(
    GROUP, ingest.memories, ingest.search_index, feedback.memory_state, evaluation.evaluation_scores,
    learning.learning_gate, kinds={"python", "polars"},
    rules=("views/overview.py",),
)  # fmt: skip
def at_a_glance(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Start here: memories, refusals, search quality, pending decisions and failures.

    Metadata below has the numbers of the latest day, and *Plots* beside it their history. *what to do* lists
    each pending item and where to decide it. The sensor `standing` reports today's numbers whenever they
    change.

    A backfilled day gets the numbers that its tables have. Pending items and failures are known only as of
    now, so only today and yesterday get them; a rerun of an older day keeps the values recorded then.
    """
    days = list(context.partition_keys)
    for day, figures in by_day(slowwave.space, days, slowwave.clock(), context.instance).items():
        context.add_asset_metadata(figures, partition_key=day)
    return dg.MaterializeResult()


def by_day(
    space: Workspace, days: Sequence[str], now: datetime, instance: dg.DagsterInstance
) -> dict[str, Figures]:
    """Compute the metadata of consecutive days.

    Args:
        space: The home.
        days: YYYY-MM-DD, in order.
        now: The current state belongs to the last day if `now` is in that day or the next.
        instance: Has the runs, and the values recorded for these days before.
    """
    figures_by_day, last = _by_day(space, days), days[-1]
    recorded = _recorded(instance, at_a_glance.key, days)
    if day_end(last) - DAY <= now < day_end(last) + DAY:
        status = _status(space, now, int(figures_by_day[last][overview.APPROVALS]), instance)
        recorded[last] = {
            LINE: dg.MetadataValue.text(status.words),
            "what to do": dg.MetadataValue.text("; ".join(status.todo) or "nothing"),  # seen without a click
            **page_link(space.settings),
            **_numbers(status.figures),
        }
    return {day: {**recorded.get(day, {}), **_numbers(figures)} for day, figures in figures_by_day.items()}


def _recorded(instance: dg.DagsterInstance, key: dg.AssetKey, days: Sequence[str]) -> dict[str, Figures]:
    """Read the state that earlier runs recorded for some days; a later run cannot recompute it."""
    recorded: dict[str, Figures] = {}
    for day in days:
        wanted = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[day])
        for record in reversed(instance.fetch_materializations(wanted, limit=_NOTED).records):
            made = record.asset_materialization
            if made is not None and overview.LIVE in made.metadata:
                recorded[day] = {name: made.metadata[name] for name in overview.NOW if name in made.metadata}
    return recorded


def _numbers(figures: overview.Figures) -> Figures:
    return {
        name: dg.MetadataValue.float(value) if isinstance(value, float) else dg.MetadataValue.int(value)
        for name, value in figures.items()
    }


def _by_day(space: Workspace, days: Sequence[str]) -> dict[str, overview.Figures]:
    """Compute the figures of some days from their tables."""
    store = space.store
    last = day_end(days[-1]) - MICROSECOND
    # Namespaces whose notes cannot be judged are left out; the asset that judges them reports why.
    notes, _ = run_per_namespace(space, lambda home: judged_notes(home, None, days[0], last))
    scores = rows_of(store, "evaluation_scores", days, ["day", "variant", NDCG.column])
    return overview.by_day(
        days,
        memories=store.read("memories", columns=["created_at"]),
        notes=pl.concat(notes),
        searches=rows_of(store, "searches", days, ["day", "abstained"]),
        scores=scores.filter(pl.col("variant") == LOGGED),
        gates=store.read(
            "learning_gate", one_of("day", days), columns=["day", "namespace", "kind", "condition", "state"]
        ),
    )


def _status(
    space: Workspace, now: datetime, approvals: int, instance: dg.DagsterInstance
) -> overview.HomeStatus:
    store, settings = space.store, space.settings
    return overview.HomeStatus(
        live=store.count("memories", "status = 'live'"),
        held=store.count("quarantine", f"status = '{HELD}'"),
        decisions=waiting(store).height,
        approvals=approvals,
        late=len(over(partitions(stale_partitions(space.journal, store).days, settings, now), settings, now)),
        faults=sum(len(namespaces) for by_day in faults(store).values() for namespaces in by_day.values()),
        failed=overview.open_problems(_runs(instance, now)),
    )


def _runs(instance: dg.DagsterInstance, now: datetime) -> list[dict[str, object]]:
    """Return finished runs of the last week, oldest first, for `slowwave.views.overview.open_problems`."""
    over = [dg.DagsterRunStatus.SUCCESS, dg.DagsterRunStatus.FAILURE]
    wanted = dg.RunsFilter(statuses=over, created_after=now - LOOKED_BACK)
    return [
        {
            "what": (
                run.job_name,
                *(
                    run.tags.get(tag, "")
                    for tag in (
                        PARTITION_TAG, RANGE_START_TAG, RANGE_END_TAG,
                    )
                ),
            ),
            "failed": run.status == dg.DagsterRunStatus.FAILURE,
            "succeeded": run.status == dg.DagsterRunStatus.SUCCESS,
        }
        for run in reversed(instance.get_runs(wanted, limit=_RUNS))
    ]  # fmt: skip


ASSETS = [at_a_glance]
