"""The control room: what each day brought and how things stand now, as numbers that the page draws."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import dagster as dg
import polars as pl

from slowwave.assets import evaluation, feedback, ingest, learning
from slowwave.assets.daily import daily_asset, rows_of
from slowwave.assets.failed_namespaces import run_per_namespace
from slowwave.assets.partitions import PARTITION_TAG, RANGE_END_TAG, RANGE_START_TAG
from slowwave.assets.resources import SlowwaveResource
from slowwave.evaluation.variants import LOGGED
from slowwave.home.processing_watermarks import faults
from slowwave.home.workspace import Workspace
from slowwave.lifecycle.gate_notes import judged_notes
from slowwave.lifecycle.pending_decisions import waiting
from slowwave.lifecycle.quarantine import HELD
from slowwave.maintenance.stale_partitions import over, partitions, stale_partitions
from slowwave.scoring.days import DAY, MICROSECOND, day_end
from slowwave.scoring.measures import NDCG
from slowwave.store import one_of
from slowwave.views import overview

GROUP = "at_a_glance"
LINE = "in a line"
"""Name of what is told of how things stand."""
LOOKED_BACK = timedelta(days=7)
"""For runs that failed."""
_RUNS = 1_000  # that are looked at, at most (count)
_NOTED = 5  # of the newest materializations of a day that are (count)
Told = dict[str, dg.MetadataValue]


@daily_asset(
    GROUP, ingest.memories, ingest.search_index, feedback.memory_state, evaluation.evaluation_scores,
    learning.learning_gate, kinds={"python", "polars"},
    rules=("views/overview.py",),
)  # fmt: skip
def at_a_glance(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Start here: how many memories, what was refused, how good searches were, what waits, what failed.

    Metadata, below, has the numbers of the newest day, and *Plots* beside it their history. *what to do*
    names each thing that waits, and where. The sensor `standing` reports the numbers of today whenever they
    change.

    Days of a backfill get what is known of them. What waits and what failed is how it stands at the moment,
    so only today and yesterday get it; a day that is run again keeps what was noted then.
    """
    days = list(context.partition_keys)
    for day, told in by_day(slowwave.space, days, slowwave.clock(), context.instance).items():
        context.add_asset_metadata(told, partition_key=day)
    return dg.MaterializeResult()


def by_day(
    space: Workspace, days: Sequence[str], now: datetime, instance: dg.DagsterInstance
) -> dict[str, Told]:
    """Metadata of each of some days that follow one another.

    Args:
        space: the home.
        days: YYYY-MM-DD, in order.
        now: the moment; how things stand belongs to the last day if that is its day or the one before.
        instance: has the runs, and what was noted of these days before.
    """
    told, last = _by_day(space, days), days[-1]
    stood = _noted(instance, at_a_glance.key, days)
    if day_end(last) - DAY <= now < day_end(last) + DAY:
        standing = _standing(space, now, int(told[last][overview.APPROVALS]), instance)
        stood[last] = {
            LINE: dg.MetadataValue.text(standing.words),
            "what to do": dg.MetadataValue.text(
                "; ".join(standing.todo) or "nothing"
            ),  # seen without a click
            **_numbers(standing.figures),
        }
    return {day: {**stood.get(day, {}), **_numbers(figures)} for day, figures in told.items()}


def _noted(instance: dg.DagsterInstance, key: dg.AssetKey, days: Sequence[str]) -> dict[str, Told]:
    """How things stood on some days, as a run of then noted it: a later one cannot know it, and keeps it."""
    found: dict[str, Told] = {}
    for day in days:
        wanted = dg.AssetRecordsFilter(asset_key=key, asset_partitions=[day])
        for record in reversed(instance.fetch_materializations(wanted, limit=_NOTED).records):
            made = record.asset_materialization
            if made is not None and overview.LIVE in made.metadata:
                found[day] = {name: made.metadata[name] for name in overview.NOW if name in made.metadata}
    return found


def _numbers(figures: overview.Figures) -> Told:
    return {
        name: dg.MetadataValue.float(value) if isinstance(value, float) else dg.MetadataValue.int(value)
        for name, value in figures.items()
    }


def _by_day(space: Workspace, days: Sequence[str]) -> dict[str, overview.Figures]:
    """What is known of some days."""
    store = space.store
    last = day_end(days[-1]) - MICROSECOND
    # Notes of a namespace that cannot be judged are not counted; the asset that judges them tells why.
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


def _standing(
    space: Workspace, now: datetime, approvals: int, instance: dg.DagsterInstance
) -> overview.HomeStatus:
    store, settings = space.store, space.settings
    return overview.HomeStatus(
        live=store.count("memories", "status = 'live'"),
        held=store.count("quarantine", f"status = '{HELD}'"),
        decisions=waiting(store).height,
        approvals=approvals,
        late=len(over(partitions(stale_partitions(space.journal, store).days, settings, now), settings, now)),
        faults=sum(len(told) for at in faults(store).values() for told in at.values()),
        failed=overview.open_problems(_runs(instance, now)),
    )


def _runs(instance: dg.DagsterInstance, now: datetime) -> list[dict[str, object]]:
    """Finished runs of the last week, the oldest first, for `slowwave.views.overview.open_problems`."""
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
