"""searches, events -> usage_signals -> effectiveness, strength, promotions -> memory_state."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import dagster as dg
import polars as pl

from assets import pictures
from assets.ingest import IO_MANAGER, KINDS, WHOLE_RANGE, staged_notes
from assets.partitions import DAILY, day_end
from assets.report import table
from assets.resources import SlowwaveResource
from slowwave.feedback import drain, fold
from slowwave.feedback.pending import begin, finish, last_of
from slowwave.store import one_of

GROUP = "feedback"


def asset(**more: Any) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:  # noqa: ANN401
    """An asset of this group; a range of its days is one run."""
    made: Callable[[Callable[..., Any]], dg.AssetsDefinition] = dg.asset(
        partitions_def=DAILY, backfill_policy=WHOLE_RANGE, group_name=GROUP, kinds=KINDS, code_version="1",
        **more,
    )  # fmt: skip
    return made


def owned(
    *deps: dg.AssetsDefinition, ins: dict[str, dg.AssetIn] | None = None
) -> Callable[[Callable[..., Any]], dg.AssetsDefinition]:
    """One whose rows belong to its partitions."""
    return asset(io_manager_key=IO_MANAGER, deps=deps, ins=ins)


SIGNALS = {"usage_signals": dg.AssetIn(metadata={"columns": list(fold.FOLDED)})}


@owned()
def searches(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.Output[pl.DataFrame]:
    """Every search of each day and what it showed, from the journal."""
    done = drain.drain_searches(slowwave.space.journal, list(context.partition_keys))
    rows = done.rows
    by_source = rows.group_by("namespace", "imported_from").len("searches").sort("namespace", "imported_from")
    return dg.Output(
        rows,
        metadata={
            "searches": table(by_source),
            "abstained": int(rows["abstained"].sum()),
            "showed nothing": rows.filter(pl.col("shown").list.len() == 0).height,
            **_unreadable(context, done),
        },
    )


@owned()
def events(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.Output[pl.DataFrame]:
    """Every act of feedback of each day, from the journal: ratings, observed answers, outcomes."""
    done = drain.drain_events(slowwave.space.journal, list(context.partition_keys))
    return dg.Output(
        done.rows,
        metadata={
            **pictures.of_events(done.rows, context.partition_keys),
            "principals": done.rows["principal"].n_unique(),
            **_unreadable(context, done),
        },
    )


def _unreadable(context: dg.AssetExecutionContext, done: drain.Drained) -> dict[str, int]:
    for event_id in done.unreadable[:10]:
        context.log.warning(f"Entry {event_id} of the journal cannot be read; it is left out.")
    return {"unreadable": len(done.unreadable)}


@owned(searches)
def usage_signals(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, events: pl.DataFrame
) -> dg.Output[pl.DataFrame]:
    """What each act says of each memory: used or ignored, a vote, or a share of a project's outcome.

    The outcome of a project is credited to what its searches brought, on this day or earlier.
    """
    space = slowwave.space
    days = list(context.partition_keys)
    seen = space.store.read("searches", one_of("day", days), columns=["day", "seq"])
    begin(space.store, context.run.run_id, last_of(seen, events.select("day", "seq")), days[0])
    rows = fold.signals(space.store, events, space.feedback_policy, space.settings.feedback.used_ratio)
    implicit = rows.filter(pl.col("tier") == "implicit")
    return dg.Output(
        rows,
        metadata={
            "verdicts": table(
                rows.group_by("tier", "verdict", "evidence").len("signals").sort("tier", "verdict")
            ),
            "memories": rows["memory_id"].n_unique(),
            "used only by words of the query": implicit.filter(
                (pl.col("verdict") == "used") & (pl.col("weight") == 0)
            ).height,
            **pictures.of_signals(rows, days),
        },
    )


@owned(ins=SIGNALS)
def effectiveness(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, usage_signals: pl.DataFrame
) -> dg.Output[pl.DataFrame]:
    """How well each chunk and memory served, as of the end of each day that changed it.

    A weighted mean with a neutral beginning, from the state that the days before left. Votes lose half of
    their weight every three months; of one principal on one memory the newest few count.
    """
    space = slowwave.space
    rows = fold.effectiveness(space.store, usage_signals, context.partition_keys[0], space.feedback_policy)
    return dg.Output(rows, metadata=pictures.of_effectiveness(rows))


@owned(ins=SIGNALS)
def strength(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, usage_signals: pl.DataFrame
) -> dg.Output[pl.DataFrame]:
    """How firmly use has set each memory, after the last verdict of each day that has one.

    It is shown, and says which memories fade; it has no weight in a ranking and deletes nothing.
    """
    space = slowwave.space
    rows = fold.strength(space.store, usage_signals, context.partition_keys[0], space.feedback_policy)
    return dg.Output(rows, metadata=pictures.of_strength(rows, day_end(context.partition_keys[-1])))


@owned(staged_notes, ins=SIGNALS)
def promotions(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, usage_signals: pl.DataFrame
) -> dg.Output[pl.DataFrame]:
    """Which memories useful votes promote, and why others were not: decided at the end of each day.

    Five useful votes make a normal memory important, ten an important one critical. Its authors' votes do not
    count, and a namespace has at most three promotions in eight hours.
    """
    space = slowwave.space
    rows = fold.promotions(space.store, usage_signals, context.partition_keys[0], space.feedback_policy)
    titles = space.store.read_by(
        "memories", "memory_id", rows["memory_id"].to_list(), columns=["memory_id", "title"]
    )
    titled = rows.join(titles, on="memory_id", how="left", maintain_order="left")
    return dg.Output(rows, metadata=pictures.of_promotions(titled, context.partition_keys))


@asset(
    pool="lance_memory_state",
    deps=[effectiveness, strength, promotions],
    freshness_policy=dg.FreshnessPolicy.time_window(
        warn_window=timedelta(hours=26), fail_window=timedelta(hours=50)
    ),
)
def memory_state(context: dg.AssetExecutionContext, slowwave: SlowwaveResource) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """What use has taught of each memory: the newest of all that the days came to. Ranking reads it."""
    space = slowwave.space
    changed = fold.take_effect(space.store, list(context.partition_keys), space.feedback_policy)
    finish(space.store, context.run.run_id)
    return dg.MaterializeResult(
        metadata={"dagster/row_count": space.store.count("memory_state"), "memories changed": changed}
    )


ASSETS = [searches, events, usage_signals, effectiveness, strength, promotions, memory_state]
