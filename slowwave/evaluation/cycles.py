"""Evaluation cycles: plan, progress and closing (rule 6.7).

A closed cycle never changes. Its judgments and query metrics are written first and its own row last, so an
interrupted closing starts again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import date, datetime
from typing import TYPE_CHECKING, Any

import orjson
import polars as pl

from slowwave.evaluation.code import code_version
from slowwave.evaluation.derived_judgments import search_of
from slowwave.evaluation.grading import grade_anchors
from slowwave.evaluation.judging.agreement import agreements, as_summary
from slowwave.evaluation.judgments import judgment_list, judgments_until
from slowwave.evaluation.scores import COLUMNS, attribute, mean_distances, score, searches_of
from slowwave.evaluation.variants import Tried
from slowwave.feedback.questions import with_query_ids
from slowwave.scoring.days import DAY, days_from
from slowwave.scoring.evaluation import Cycle, SearchDay, contributions, plan_cycles, preference
from slowwave.scoring.evaluation.cycles import Asking, counted_questions
from slowwave.store.frames import quote
from slowwave.store.tenancy import within

if TYPE_CHECKING:
    from slowwave.evaluation.judging.anchors import Drift
    from slowwave.home.workspace import Workspace

OPEN, CLOSED = "open", "closed"
COUNTED = "counted"
"""Summary key of a cycle: weight of its queries (rule 7.7)."""


def cycle_id(namespace: str, number: int) -> str:
    """Return the id of a cycle: ``namespace#number``."""
    return f"{namespace}#{number}"


def advance(space: Workspace, until: str, tried: Sequence[Tried], now: datetime) -> list[str]:
    """Close every cycle that is complete by the end of a day; record the progress of others.

    Args:
        space: Workspace with searches and judgments.
        until: Day (YYYY-MM-DD).
        tried: Variants that a closing cycle compares.
        now: Time of closing.

    Returns:
        Ids of the closed cycles.
    """
    names = space.store.scan("searches", f"day <= {quote(until)}", columns=["namespace"])["namespace"]
    closed = []
    for namespace in names.unique().sort():
        while (closing := _close_next(space, namespace, until, tried, now)) is not None:
            closed.append(closing)
    return closed


def closed_cycles(space: Workspace, namespace: str) -> list[Cycle]:
    """Return the closed cycles of a namespace, oldest first."""
    rows = space.store.of(namespace).read(
        "evaluation_cycles", f"status = '{CLOSED}'",
        columns=["number", "opened_on", "closed_on", "days", "searches", "queries", "summary"],
    )  # fmt: skip
    return [
        Cycle(
            number, date.fromisoformat(opened), date.fromisoformat(closed), days, searches, queries,
            counted_in(json.loads(summary or "{}"), queries),
        )
        for number, opened, closed, days, searches, queries, summary in rows.sort("number").iter_rows()
    ]  # fmt: skip


def counted_in(summary: Mapping[str, Any], queries: int) -> int:
    """Return the query weight of a cycle from its summary; without one each query counts once."""
    return int(summary.get(COUNTED, queries))


def own_cycles(space: Workspace, namespace: str, until: str) -> list[Cycle]:
    """Return the cycles of local searches and judgments alone, as of a day's end.

    The last one may be open. The learning gate counts these cycles: imported history neither adds one nor
    ends one early.
    """
    searches = _searches_between(space, namespace, "", until, own=True)
    judgments = judgments_until(space.store, until, namespace=namespace, own=True)
    cycles: list[Cycle] = []
    while (due := _next(space, cycles, searches, judgments, date.fromisoformat(until))) is not None:
        cycles.append(due.cycle)
        if due.cycle.closed_on is None:
            break
    return cycles


@dataclass(frozen=True)
class _Due:
    """Next cycle after the closed ones, and the judgments by its last day."""

    cycle: Cycle
    judgments: pl.DataFrame


def _next(
    space: Workspace, closed: Sequence[Cycle], searches: pl.DataFrame, judgments: pl.DataFrame, as_of: date
) -> _Due | None:
    """Return the next cycle after the closed ones; None without searches since.

    Args:
        space: Workspace with the settings.
        closed: Closed cycles, oldest first.
        searches: Searches up to the day, rows of `_searches_between`.
        judgments: Judgments up to the day.
        as_of: Day at whose end the cycle is planned.
    """
    last = closed[-1].closed_on if closed else None
    if last is not None:
        searches = searches.filter(pl.col("day") > last.isoformat())
    bounds = _bounds(space)
    plan = plan_cycles(closed, _search_days(searches, _may_count(judgments)), as_of, **bounds)
    planned = next(iter(plan.closing), plan.open)
    if planned is None:
        return None
    # The plan counts all judgments, so no cycle closes before it. Some may be withdrawn since, and some
    # judges do not count: the judgments at the end of the closing day decide.
    last_day = planned.closed_on or as_of
    for late in range((as_of - last_day).days + 1):
        day = last_day + late * DAY
        by_then = judgments.filter(pl.col("day") <= day.isoformat())
        cycle = _counted(space, planned, searches.filter(pl.col("day") <= day.isoformat()), by_then, day)
        if planned.closed_on is not None and cycle.counted >= bounds["least_queries"]:
            return _Due(cycle, by_then)
    return _Due(replace(cycle, closed_on=None), by_then)


def _close_next(
    space: Workspace, namespace: str, until: str, tried: Sequence[Tried], now: datetime
) -> str | None:
    """Close the next complete cycle and return its id; else record progress and return None."""
    closed = closed_cycles(space, namespace)
    last = closed[-1].closed_on if closed else None
    start = (last + DAY).isoformat() if last else ""
    if start > until:
        return None
    searches = _searches_between(space, namespace, start, until)
    judgments = judgments_until(space.store, until, namespace=namespace)
    due = _next(space, closed, searches, judgments, date.fromisoformat(until))
    if due is None:
        return None
    if due.cycle.closed_on is not None:
        return _freeze(space, namespace, due.cycle, due.judgments, tried, now)
    _note_progress(space, namespace, due.cycle, _bounds(space))
    return None


def _counted(
    space: Workspace, planned: Cycle, searched: pl.DataFrame, judgments: pl.DataFrame, day: date
) -> Cycle:
    """Return a planned cycle with its counts at the end of a day."""
    grades = judgment_list(judgments, space.settings.judge.agreement).grades
    evaluated = searched.join(grades.filter(pl.col("grade") > 0), on="query_id", how="semi")
    opened, searches, queries = planned.opened_on, evaluated.height, evaluated["query_id"].n_unique()
    count = counted_questions(_askings(evaluated))
    return Cycle(planned.number, opened, day, (day - opened).days + 1, searches, queries, count)


def _askings(searches: pl.DataFrame) -> list[Asking]:
    """Return the distinct pairs of query and day."""
    days = searches.select("query_id", "day").unique()
    return [(query, date.fromisoformat(day)) for query, day in days.iter_rows()]


def _bounds(space: Workspace) -> dict[str, int]:
    settings = space.settings.evaluation
    return {"least_queries": settings.cycle_searches, "least_days": settings.cycle_days}


def _searches_between(
    space: Workspace, namespace: str, start: str, until: str, *, own: bool = False
) -> pl.DataFrame:
    """Return day, search_id and query_id of a period's searches; only local ones if `own`."""
    where = within(namespace, f"day >= {quote(start)} AND day <= {quote(until)}")
    where += " AND imported_from IS NULL" if own else ""
    rows = space.store.scan("searches", where, columns=["day", "namespace", "search_id", "query"])
    return with_query_ids(rows).drop("namespace", "query")


def _may_count(judgments: pl.DataFrame) -> pl.DataFrame:
    """Drop judges that cannot count, because no person graded one of their pairs."""
    people = judgments.filter(pl.col("source") == "manual").select("query_id", "memory_id")
    judges = judgments.filter(pl.col("source") == "judge").join(
        people, on=["query_id", "memory_id"], how="semi"
    )
    compared = judges["judge"].unique().drop_nulls()
    return judgments.filter((pl.col("source") != "judge") | pl.col("judge").is_in(compared.implode()))


def _search_days(searches: pl.DataFrame, judgments: pl.DataFrame) -> list[SearchDay]:
    """Return the searches that each day adds to a cycle.

    A search counts from the first day with a relevant judgment.
    """
    relevant = judgments.filter(pl.col("grade") > 0).group_by("query_id").agg(since=pl.col("day").min())
    evaluated = searches.join(relevant, on="query_id").with_columns(known=pl.max_horizontal("day", "since"))
    by_day = evaluated.partition_by("known", as_dict=True)
    days = pl.concat([searches["day"], evaluated["known"]]).unique().sort()
    brought = [(date.fromisoformat(day), by_day.get((day,), evaluated.clear())) for day in days]
    return [
        SearchDay(day, day_searches.height, frozenset(_askings(day_searches)))
        for day, day_searches in brought
    ]


def _note_progress(space: Workspace, namespace: str, cycle: Cycle, bounds: Mapping[str, int]) -> None:
    name = cycle_id(namespace, cycle.number)
    recorded_days = space.store.read("evaluation_cycles", f"cycle_id = {quote(name)}", columns=["days"])[
        "days"
    ]
    if cycle.days < max(recorded_days.to_list(), default=0):  # a backfilled old day
        return
    missing = {
        COUNTED: cycle.counted,
        "queries_missing": max(0, bounds["least_queries"] - cycle.counted),
        "days_missing": max(0, bounds["least_days"] - cycle.days),
    }
    row = {
        "cycle_id": name, "namespace": namespace, "number": cycle.number,
        "status": OPEN, "opened_on": cycle.opened_on.isoformat(), "days": cycle.days,
        "searches": cycle.searches, "queries": cycle.queries, "summary": _json(missing),
    }  # fmt: skip
    space.store.upsert("evaluation_cycles", pl.DataFrame([row]))


def _freeze(
    space: Workspace,
    namespace: str,
    cycle: Cycle,
    all_judgments: pl.DataFrame,
    tried: Sequence[Tried],
    now: datetime,
) -> str:
    """Write the results of a cycle, its own row last."""
    store, name = space.store, cycle_id(namespace, cycle.number)
    judgments = judgment_list(all_judgments, space.settings.judge.agreement)
    drifted = grade_anchors(space, namespace, name, now)
    days = days_from(cycle.opened_on, cycle.opened_on + (cycle.days - 1) * DAY)
    searches = searches_of(space, days).filter(pl.col("namespace") == namespace)
    rows = score(space, searches, judgments.grades, tried)
    # Imports cannot be replayed: if a query has other searches, only those count.
    ranked = pl.len().over("search_id") > 1
    rows = rows.filter(ranked | ~ranked.any().over("query_id"))
    queries = searches.sort("seq").unique("query_id", keep="first", maintain_order=True)
    by_query = (
        rows.group_by("variant", "query_id")
        .agg(pl.col(COLUMNS).mean(), pl.col("relevant").first(), searches=pl.len().cast(pl.Int32))
        .join(queries.select("query_id", "query"), on="query_id")
        .with_columns(
            cycle_id=pl.lit(name), namespace=pl.lit(namespace),
            cycle_score_id=pl.concat_str(pl.lit(name), "variant", "query_id", separator=":"),
        )
        .sort("cycle_score_id")
    )  # fmt: skip
    used = judgments.grades.join(queries.select("query_id"), on="query_id", how="semi").with_columns(
        cycle_id=pl.lit(name),
        cycle_judgment_id=pl.concat_str(pl.lit(name), "query_id", "memory_id", separator=":"),
    )
    of_cycle = f"cycle_id = {quote(name)}"
    for table, table_rows in (("cycle_judgments", used), ("cycle_scores", by_query)):
        store.upsert(table, table_rows.select(store.specs[table].schema.names), delete=of_cycle)
    row = {
        "cycle_id": name, "namespace": namespace, "number": cycle.number, "status": CLOSED,
        "opened_on": cycle.opened_on.isoformat(), "closed_on": days[-1], "days": cycle.days,
        "searches": cycle.searches, "queries": cycle.queries, "judgment_version": judgments.version,
        "code_version": code_version(),
        "variants": _json({variant.variant.name: variant.to_dict() for variant in tried}),
        "summary": _json(
            {COUNTED: cycle.counted} | _summary(space, namespace, days, searches, all_judgments, drifted)
        ),
        "closed_at": now,
    }  # fmt: skip
    schema = pl.DataFrame(store.empty("evaluation_cycles")).schema
    store.upsert("evaluation_cycles", pl.DataFrame([row], schema=schema))
    return name


def _summary(
    space: Workspace,
    namespace: str,
    days: Sequence[str],
    searches: pl.DataFrame,
    judgments: pl.DataFrame,
    drifted: Sequence[Drift],
) -> dict[str, Any]:
    """Return the summary of a cycle beside its query metrics."""
    rows = attribute(space, searches)
    channels = {
        item.channel: {name: value for name, value in asdict(item).items() if name != "channel"}
        for item in contributions(rows, searches)
    }
    whole = rows.filter(pl.col("channel") == "*")
    counted = {name: int(whole[name].sum()) for name in ("results", "single", "multi", "unattributed")}
    bar = space.settings.judge.agreement
    judges: dict[str, Any] = {
        judge: as_summary(agreement, bar) for (_, judge), agreement in agreements(judgments).items()
    }
    for item in drifted:
        judges.setdefault("drift", {})[item.cycle_id] = asdict(item)
    return {
        "channels": channels,
        "found_by": counted,
        "judges": judges,
        "shadow": _shadow(space, namespace, days),
        "interleaving": _interleaving(space, namespace, days),
    }


def _shadow(space: Workspace, namespace: str, days: Sequence[str]) -> dict[str, Any]:
    where = within(namespace, f"day >= {quote(days[0])} AND day <= {quote(days[-1])}")
    distances = mean_distances(space.store.scan("shadow_scores", where))
    return {row.pop("variant"): row for row in distances.iter_rows(named=True)}


def _interleaving(space: Workspace, namespace: str, days: Sequence[str]) -> dict[str, Any]:
    where = within(namespace, f"day >= {quote(days[0])} AND day <= {quote(days[-1])}")
    rows = search_of(space.store, space.store.scan("interleavings", where))
    results: dict[str, Any] = {}
    for (policy,), policy_rows in rows.sort("policy_b", "search_id").group_by(
        "policy_b", maintain_order=True
    ):
        won = preference(
            policy_rows["credit_a"], policy_rows["credit_b"], questions=policy_rows["query_id"].to_list(),
            margin=space.settings.evaluation.margin,
        )  # fmt: skip
        results[str(policy)] = {
            "searches": policy_rows.height,
            "queries": won.n,
            "preferred": won.difference,
            "low": won.low,
            "high": won.high,
            "verdict": won.verdict,
        }
    return results


def _json(data: Mapping[str, Any]) -> str:
    """Encode as JSON; an undefined number (NaN) becomes null."""
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode()
