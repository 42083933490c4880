"""Assets of feedback: searches, events -> usage_signals -> effectiveness, strength -> memory_state."""

from collections.abc import Callable, Sequence
from functools import partial

import dagster as dg
import polars as pl

from slowwave.assets import ingest, pictures
from slowwave.assets.daily import (
    DAILY_FRESH,
    Metadata,
    daily_asset,
    defined_in,
    materialized,
    names_of,
    rows_of,
    sizes_of,
    write_days,
)  # fmt: skip
from slowwave.assets.failed_namespaces import failure_metadata, run_per_namespace
from slowwave.assets.partitions import run_key
from slowwave.assets.report import table
from slowwave.assets.resources import OneNight, SlowwaveResource
from slowwave.feedback import aggregation, apply_state
from slowwave.feedback.carry_over_state import CarryOverState
from slowwave.feedback.questions import remember_of
from slowwave.feedback.rows import FOLDED, REMEMBERED, ids_in
from slowwave.feedback.stale_days import SEARCHES, begin, finish, last_of
from slowwave.feedback.text_attribution import texts_in
from slowwave.home import processing_watermarks
from slowwave.home.workspace import Workspace
from slowwave.journal import FEEDBACK_KINDS, Journal, projections
from slowwave.scoring.days import day_end
from slowwave.scoring.feedback.promotion import PROMOTED
from slowwave.store import one_of
from slowwave.store.reading import matching
from slowwave.views import counts

GROUP = "feedback"
RESULTS, EVIDENCE, VOTES = 5.0, 3.0, 0.3
"""Memory use of a search, a feedback event and a promotion vote, in rows of ``usage_signals``."""
asset = partial(daily_asset, GROUP)


class _FromJournal:
    """Reader of the journal's rows of some days.

    Args:
        drain: Reads them.

    Attributes:
        last: Last seq that was read, by day.
    """

    def __init__(self, drain: Callable[[Journal, Sequence[str]], projections.ProjectedRows]) -> None:
        self._drain, self._unreadable, self.last = drain, set[str](), dict[str, int]()

    def __call__(self, own: Workspace, days: list[str]) -> pl.DataFrame:
        """Read the rows of some days."""
        done = self._drain(own.journal, days)
        self._unreadable.update(done.unreadable)
        self.last.update({day: max(seq, self.last.get(day, 0)) for day, seq in done.last.items()})
        return done.rows

    def set_aside(self, context: dg.AssetExecutionContext) -> dict[str, int]:
        """Warn of unreadable journal entries, and return metadata of them."""
        for event_id in sorted(self._unreadable)[:10]:
            context.log.warning(f"Journal entry {event_id} cannot be read and is skipped.")
        return {"unreadable": len(self._unreadable)}


@asset(ingest.JOURNAL, rules=("journal/projections.py", "journal/kinds"))
def searches(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Searches of each day with their returned results, from the journal."""
    space, made = slowwave.space, _FromJournal(projections.drain_searches)
    nothing = (pl.col("shown").list.len() == 0).alias("nothing")
    rows, written = write_days(
        context, space, made, "namespace", "imported_from", "abstained", nothing,
        sizes=_entries(space, SEARCHES, RESULTS),
        numbers={"abstained": pl.col("abstained").sum(), "without results": nothing.sum()},
    )  # fmt: skip
    processing_watermarks.FEEDBACK.look(space.store, run_key(context), "searches", made.last)
    by_source = rows.group_by("namespace", "imported_from").len("searches").sort("namespace", "imported_from")
    return materialized(
        context,
        written,
        {
            "searches": table(by_source),
            "abstained": int(rows["abstained"].sum()),
            "without results": int(rows["nothing"].sum()),
            **made.set_aside(context),
        },
    )


@asset(ingest.JOURNAL, rules=("journal/projections.py", "journal/kinds"))
def events(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Feedback events of each day, from the journal: ratings, observed answers, outcomes."""
    space, made = slowwave.space, _FromJournal(projections.drain_events)
    kinds = "day", "tier", "verdict", "imported_from", "principal"
    rows, written = write_days(
        context, space, made, kept=lambda rows: counts.counted(rows, *kinds),
        sizes=_entries(space, FEEDBACK_KINDS, EVIDENCE),
    )  # fmt: skip
    processing_watermarks.FEEDBACK.look(space.store, run_key(context), "events", made.last)
    return materialized(
        context,
        written,
        {
            **pictures.of_events(rows, context.partition_keys),
            "principals": rows["principal"].n_unique(),
            **made.set_aside(context),
        },
    )


def _entries(space: Workspace, kinds: Sequence[str], each: float) -> dict[str, int]:
    """Count journal entries of some kinds by day, times their weight in rows."""
    by_day = space.journal.days(kinds).group_by("day").agg(pl.col("entries").sum())
    return {day: int(count * each) for day, count in by_day.iter_rows()}


@asset(
    searches, events, ingest.memories,
    rules=("scoring/feedback/signals.py", "scoring/feedback/usage.py", "feedback/aggregation.py"),
)  # fmt: skip
def usage_signals(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Signals of each event about each memory: used or ignored, a rating, or a share of a project's outcome.

    The outcome of a project is credited to the results of its searches, on this day or earlier. Vectors of
    the questions are cached in ``question_vectors``.
    """
    space, days = slowwave.space, list(context.partition_keys)
    store, ratio = space.store, space.usage_policy.used_ratio
    seen = [
        pl.concat(
            [
                rows_of(store, name, days, ["day", "seq"]),
                processing_watermarks.FEEDBACK.seen(store, run_key(context), name),
            ]
        )
        for name in ("searches", "events")
    ]
    begin(store, run_key(context), last_of(*seen), days[0])

    by_query = (pl.col("tier") == "implicit") & (pl.col("verdict") == "used") & (pl.col("weight") == 0)
    memory_ids: set[str] = set()

    def made(own: Workspace, part: list[str]) -> pl.DataFrame:
        events = rows_of(own.store, "events", part)
        rows = aggregation.signals(own.store, events, space.feedback_policy, ratio, texts_in(own))
        remember_of(own.store, own.embedder, rows)
        return rows

    def kept(rows: pl.DataFrame) -> pl.DataFrame:
        memory_ids.update(ids_in(rows))
        return counts.counted(rows, "day", "tier", "verdict", "evidence", by_query.alias("by_query"))

    rows, written = write_days(
        context,
        space,
        made,
        kept=kept,
        sizes=sizes_of(store, "events", days, EVIDENCE),
        numbers={"used only by words of the query": by_query.sum()},
    )
    verdicts = rows.group_by("tier", "verdict", "evidence").agg(signals=pl.col("rows").sum())
    verdicts = verdicts.sort("tier", "verdict", "evidence")
    return materialized(
        context,
        written,
        {
            "verdicts": table(verdicts),
            "memories": len(memory_ids),
            "used only by words of the query": int(rows.filter("by_query")["rows"].sum()),
            **pictures.of_signals(rows, days),
        },
    )


def _from_signals(
    context: dg.AssetExecutionContext,
    space: Workspace,
    rule: Callable[..., pl.DataFrame],
    columns: Sequence[str] = FOLDED,
) -> Callable[[Workspace, list[str]], pl.DataFrame]:
    """Return a function that folds the signals of some days into a rule's state.

    It starts from the state that the previous days left.
    """
    carried = CarryOverState(context.partition_keys[0])

    def made(own: Workspace, part: list[str]) -> pl.DataFrame:
        signals = rows_of(own.store, "usage_signals", part, columns)
        previous = carried.of(whole=own is space)
        return rule(own.store, signals, part[0], space.feedback_policy, previous, space.engine)

    return made


@asset(
    usage_signals, on_day_before=True,
    rules=("scoring/feedback/effectiveness.py", "scoring/feedback/votes.py",
        "scoring/feedback/influence_limits.py", "scoring/feedback/policy.py", "feedback/aggregation.py"),
)  # fmt: skip
def effectiveness(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Effectiveness of each chunk and memory, at the end of each changed day (rule 4.3).

    A weighted mean of ratings with a neutral prior, updated from the state of the previous days. Ratings lose
    half of their weight every three months; of one user on one memory only the newest few count.
    """
    space = slowwave.space

    def kept(rows: pl.DataFrame) -> pl.DataFrame:
        whole = rows.filter(pl.col("chunk_id").is_null())
        return counts.newest(whole.select("day", "memory_id", "chunk_id", "effectiveness"))

    rows, written = write_days(
        context,
        space,
        _from_signals(context, space, aggregation.effectiveness),
        kept=kept,
        sizes=sizes_of(space.store, "usage_signals", list(context.partition_keys)),
        numbers={"memories changed": pl.col("chunk_id").is_null().sum()},
    )
    return materialized(context, written, {**pictures.of_effectiveness(rows)})


@asset(
    usage_signals, on_day_before=True,
    rules=("scoring/feedback/strength.py", "scoring/feedback/policy.py", "feedback/aggregation.py"),
)  # fmt: skip
def strength(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Memory strength, after the last signal of each day that has one (rule 4.2).

    For display: it says which memories fade. It has no weight in ranking and deletes nothing.
    """
    space = slowwave.space

    def kept(rows: pl.DataFrame) -> pl.DataFrame:
        return counts.newest(rows.select("day", "memory_id", "strength", "stability", "last_at"))

    rows, written = write_days(
        context,
        space,
        _from_signals(context, space, aggregation.strength, REMEMBERED),
        kept=kept,
        sizes=sizes_of(space.store, "usage_signals", list(context.partition_keys)),
        numbers={"memories changed": pl.len()},
    )
    end = day_end(context.partition_keys[-1])
    return materialized(context, written, {**pictures.of_strength(rows, end)})


# Signals depend on notes: that dependency is left out to keep the graph readable.
@asset(
    usage_signals, on_day_before=True,
    rules=("scoring/feedback/promotion.py", "scoring/feedback/votes.py", "scoring/feedback/policy.py",
        "feedback/aggregation.py"),
)  # fmt: skip
def promotions(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Promotions by useful ratings, decided at the end of each day, with reasons (rule 4.4).

    Five useful ratings make a normal memory important, ten an important one critical. Ratings by its authors
    do not count, unless its namespace has no other user. A memory has at most three promotions in eight
    hours.
    """
    policy = slowwave.space.feedback_policy

    def made(own: Workspace, days: list[str]) -> pl.DataFrame:
        of_days = f"{aggregation.QUICK} AND {one_of('day', days)}"
        signals = matching(own.store, "usage_signals", of_days, columns=aggregation.PROMOTING)
        return aggregation.promotions(own.store, signals, days[0], policy)

    votes = sizes_of(
        slowwave.space.store, "usage_signals", list(context.partition_keys), VOTES, aggregation.QUICK
    )
    rows, written = write_days(
        context, slowwave.space, made, pl.all(), sizes=votes,
        numbers={"promoted": (pl.col("reason") == PROMOTED).sum()},
    )  # fmt: skip
    return materialized(context, written, {**pictures.of_promotions(rows, context.partition_keys)})


@asset(
    effectiveness, strength, promotions, freshness_policy=DAILY_FRESH,
    rules=("feedback/apply_state.py", "feedback/states.py"),
)  # fmt: skip
def memory_state(
    context: dg.AssetExecutionContext, slowwave: SlowwaveResource, one_night: OneNight
) -> dg.MaterializeResult:  # type: ignore[type-arg]
    """Latest feedback state per memory: effectiveness, strength, tier.

    One row per memory. Read by ranking.
    """
    space = slowwave.space
    days = list(context.partition_keys)
    changed, faults = run_per_namespace(
        space, lambda own: apply_state.apply_state(own.store, days, space.feedback_policy, texts_in(own))
    )
    failed_metadata = failure_metadata(context, space.store, faults)
    if not processing_watermarks.faulty_days(space.store, FOLDS) & set(days):  # else they stay stale
        finish(space.store, run_key(context))
    return materialized(
        context,
        Metadata(),
        {"memories changed": sum(changed), **failed_metadata},
        as_of_end={"dagster/row_count": space.store.count("memory_state")},
    )


ASSETS = defined_in(globals())
FOLDS = names_of(ASSETS)
