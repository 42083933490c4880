"""Cycles of evaluation: which one is open, which close, and what is written down then (rule 6.7).

A closed cycle is never changed. Its judgments and its queries' figures are written first and its own row
last, so that one that was killed half-way is written again from the start.
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
"""In a cycle's summary: how much its queries count (rule 7.7)."""


def cycle_id(namespace: str, number: int) -> str:
    """Id of a cycle: ``namespace#number``."""
    return f"{namespace}#{number}"


def advance(space: Workspace, until: str, tried: Sequence[Tried], now: datetime) -> list[str]:
    """Close every cycle that is due by the end of a day, and note how far the open ones are.

    Args:
        space: has searches and judgments.
        until: the day.
        tried: the rankings that a closing cycle compares.
        now: when it is closed.

    Returns:
        Ids of the cycles that were closed.
    """
    names = space.store.scan("searches", f"day <= {quote(until)}", columns=["namespace"])["namespace"]
    done = []
    for namespace in names.unique().sort():
        while (closing := _close_next(space, namespace, until, tried, now)) is not None:
            done.append(closing)
    return done


def closed_cycles(space: Workspace, namespace: str) -> list[Cycle]:
    """The cycles of a namespace that are closed, the first one first."""
    rows = space.store.of(namespace).read(
        "evaluation_cycles", f"status = '{CLOSED}'",
        columns=["number", "opened_on", "closed_on", "days", "searches", "queries", "summary"],
    )  # fmt: skip
    return [
        Cycle(
            number, date.fromisoformat(opened), date.fromisoformat(closed), days, searches, queries,
            counted_in(json.loads(told or "{}"), queries),
        )
        for number, opened, closed, days, searches, queries, told in rows.sort("number").iter_rows()
    ]  # fmt: skip


def counted_in(summary: Mapping[str, Any], queries: int) -> int:
    """How much the queries of a cycle count, as its summary tells; before it did so each counted once."""
    return int(summary.get(COUNTED, queries))


def own_cycles(space: Workspace, namespace: str, until: str) -> list[Cycle]:
    """The cycles of what was asked and said here alone, as of the end of a day; the last one may be open.

    They are what the learning gate counts: history that is imported neither brings one nor ends one early.
    """
    asked = _asked(space, namespace, "", until, own=True)
    said = judgments_until(space.store, until, namespace=namespace, own=True)
    found: list[Cycle] = []
    while (due := _next(space, found, asked, said, date.fromisoformat(until))) is not None:
        found.append(due.cycle)
        if due.cycle.closed_on is None:
            break
    return found


@dataclass(frozen=True)
class _Due:
    """The cycle after those that are closed, and what was said by its last day."""

    cycle: Cycle
    said: pl.DataFrame


def _next(
    space: Workspace, closed: Sequence[Cycle], asked: pl.DataFrame, said: pl.DataFrame, as_of: date
) -> _Due | None:
    """What comes after the closed cycles; None where nothing was asked since.

    Args:
        space: has the settings.
        closed: cycles, the first first.
        asked: searches up to the day, rows of `_asked`.
        said: judgments up to it.
        as_of: the day at whose end it is looked.
    """
    last = closed[-1].closed_on if closed else None
    if last is not None:
        asked = asked.filter(pl.col("day") > last.isoformat())
    bounds = _bounds(space)
    plan = plan_cycles(closed, _search_days(asked, _may_count(said)), as_of, **bounds)
    planned = next(iter(plan.closing), plan.open)
    if planned is None:
        return None
    # The plan counts everything that was ever said, so no cycle closes before it. Judgments may have been
    # taken back since, and not every judge is heard: what counts are those at the end of the closing day.
    last_day = planned.closed_on or as_of
    for late in range((as_of - last_day).days + 1):
        day = last_day + late * DAY
        by_then = said.filter(pl.col("day") <= day.isoformat())
        cycle = _counted(space, planned, asked.filter(pl.col("day") <= day.isoformat()), by_then, day)
        if planned.closed_on is not None and cycle.counted >= bounds["least_queries"]:
            return _Due(cycle, by_then)
    return _Due(replace(cycle, closed_on=None), by_then)


def _close_next(
    space: Workspace, namespace: str, until: str, tried: Sequence[Tried], now: datetime
) -> str | None:
    """Close the cycle that is due first; None where none is, and then its progress is noted."""
    closed = closed_cycles(space, namespace)
    last = closed[-1].closed_on if closed else None
    start = (last + DAY).isoformat() if last else ""
    if start > until:
        return None
    asked = _asked(space, namespace, start, until)
    said = judgments_until(space.store, until, namespace=namespace)
    due = _next(space, closed, asked, said, date.fromisoformat(until))
    if due is None:
        return None
    if due.cycle.closed_on is not None:
        return _freeze(space, namespace, due.cycle, due.said, tried, now)
    _note_progress(space, namespace, due.cycle, _bounds(space))
    return None


def _counted(space: Workspace, planned: Cycle, asked: pl.DataFrame, said: pl.DataFrame, day: date) -> Cycle:
    """A planned cycle with what it comes to at the end of a day."""
    grades = judgment_list(said, space.settings.judge.agreement).grades
    evaluated = asked.join(grades.filter(pl.col("grade") > 0), on="query_id", how="semi")
    opened, searches, queries = planned.opened_on, evaluated.height, evaluated["query_id"].n_unique()
    count = counted_questions(_askings(evaluated))
    return Cycle(planned.number, opened, day, (day - opened).days + 1, searches, queries, count)


def _askings(asked: pl.DataFrame) -> list[Asking]:
    """Which queries searches asked on which days, each once."""
    days = asked.select("query_id", "day").unique()
    return [(query, date.fromisoformat(day)) for query, day in days.iter_rows()]


def _bounds(space: Workspace) -> dict[str, int]:
    given = space.settings.evaluation
    return {"least_queries": given.cycle_searches, "least_days": given.cycle_days}


def _asked(space: Workspace, namespace: str, start: str, until: str, *, own: bool = False) -> pl.DataFrame:
    """Day, search_id and query_id of the searches of a period; only those made here, if asked for."""
    where = within(namespace, f"day >= {quote(start)} AND day <= {quote(until)}")
    where += " AND imported_from IS NULL" if own else ""
    rows = space.store.scan("searches", where, columns=["day", "namespace", "search_id", "query"])
    return with_query_ids(rows).drop("namespace", "query")


def _may_count(said: pl.DataFrame) -> pl.DataFrame:
    """Without the judges that can never have been heard: nobody has labelled a pair that they graded."""
    people = said.filter(pl.col("source") == "manual").select("query_id", "memory_id")
    judges = said.filter(pl.col("source") == "judge").join(people, on=["query_id", "memory_id"], how="semi")
    compared = judges["judge"].unique().drop_nulls()
    return said.filter((pl.col("source") != "judge") | pl.col("judge").is_in(compared.implode()))


def _search_days(asked: pl.DataFrame, said: pl.DataFrame) -> list[SearchDay]:
    """What each day brought to a cycle: a search counts from the day on which it is known what answers it."""
    relevant = said.filter(pl.col("grade") > 0).group_by("query_id").agg(since=pl.col("day").min())
    evaluated = asked.join(relevant, on="query_id").with_columns(known=pl.max_horizontal("day", "since"))
    by_day = evaluated.partition_by("known", as_dict=True)
    days = pl.concat([asked["day"], evaluated["known"]]).unique().sort()
    brought = [(date.fromisoformat(day), by_day.get((day,), evaluated.clear())) for day in days]
    return [SearchDay(day, mine.height, frozenset(_askings(mine))) for day, mine in brought]


def _note_progress(space: Workspace, namespace: str, one: Cycle, bounds: Mapping[str, int]) -> None:
    name = cycle_id(namespace, one.number)
    known = space.store.read("evaluation_cycles", f"cycle_id = {quote(name)}", columns=["days"])["days"]
    if one.days < max(known.to_list(), default=0):  # an old day that is evaluated again
        return
    missing = {
        COUNTED: one.counted,
        "queries_missing": max(0, bounds["least_queries"] - one.counted),
        "days_missing": max(0, bounds["least_days"] - one.days),
    }
    row = {
        "cycle_id": name, "namespace": namespace, "number": one.number,
        "status": OPEN, "opened_on": one.opened_on.isoformat(), "days": one.days, "searches": one.searches,
        "queries": one.queries, "summary": _json(missing),
    }  # fmt: skip
    space.store.upsert("evaluation_cycles", pl.DataFrame([row]))


def _freeze(
    space: Workspace, namespace: str, cycle: Cycle, said: pl.DataFrame, tried: Sequence[Tried], now: datetime
) -> str:
    """Write down all that a cycle came to; its own row last."""
    store, name = space.store, cycle_id(namespace, cycle.number)
    judgments = judgment_list(said, space.settings.judge.agreement)
    drifted = grade_anchors(space, namespace, name, now)
    days = days_from(cycle.opened_on, cycle.opened_on + (cycle.days - 1) * DAY)
    searches = searches_of(space, days).filter(pl.col("namespace") == namespace)
    rows = score(space, searches, judgments.grades, tried)
    # No other ranking can be tried on an import: where a query has searches on which it can, those count.
    ranked = pl.len().over("search_id") > 1
    rows = rows.filter(ranked | ~ranked.any().over("query_id"))
    asked = searches.sort("seq").unique("query_id", keep="first", maintain_order=True)
    by_query = (
        rows.group_by("variant", "query_id")
        .agg(pl.col(COLUMNS).mean(), pl.col("relevant").first(), searches=pl.len().cast(pl.Int32))
        .join(asked.select("query_id", "query"), on="query_id")
        .with_columns(
            cycle_id=pl.lit(name), namespace=pl.lit(namespace),
            cycle_score_id=pl.concat_str(pl.lit(name), "variant", "query_id", separator=":"),
        )
        .sort("cycle_score_id")
    )  # fmt: skip
    used = judgments.grades.join(asked.select("query_id"), on="query_id", how="semi").with_columns(
        cycle_id=pl.lit(name),
        cycle_judgment_id=pl.concat_str(pl.lit(name), "query_id", "memory_id", separator=":"),
    )
    mine = f"cycle_id = {quote(name)}"
    for table, found in (("cycle_judgments", used), ("cycle_scores", by_query)):
        store.upsert(table, found.select(store.specs[table].schema.names), delete=mine)
    row = {
        "cycle_id": name, "namespace": namespace, "number": cycle.number, "status": CLOSED,
        "opened_on": cycle.opened_on.isoformat(), "closed_on": days[-1], "days": cycle.days,
        "searches": cycle.searches, "queries": cycle.queries, "judgment_version": judgments.version,
        "code_version": code_version(),
        "variants": _json({one.variant.name: one.to_dict() for one in tried}),
        "summary": _json(
            {COUNTED: cycle.counted} | _summary(space, namespace, days, searches, said, drifted)
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
    said: pl.DataFrame,
    drifted: Sequence[Drift],
) -> dict[str, Any]:
    """What a cycle says beside its queries' figures."""
    rows = attribute(space, searches)
    channels = {
        one.channel: {name: value for name, value in asdict(one).items() if name != "channel"}
        for one in contributions(rows, searches)
    }
    whole = rows.filter(pl.col("channel") == "*")
    counted = {name: int(whole[name].sum()) for name in ("results", "single", "multi", "unattributed")}
    bar = space.settings.judge.agreement
    judges: dict[str, Any] = {judge: as_summary(found, bar) for (_, judge), found in agreements(said).items()}
    for one in drifted:
        judges.setdefault("drift", {})[one.cycle_id] = asdict(one)
    return {
        "channels": channels,
        "found_by": counted,
        "judges": judges,
        "shadow": _shadow(space, namespace, days),
        "interleaving": _interleaving(space, namespace, days),
    }


def _shadow(space: Workspace, namespace: str, days: Sequence[str]) -> dict[str, Any]:
    where = within(namespace, f"day >= {quote(days[0])} AND day <= {quote(days[-1])}")
    found = mean_distances(space.store.scan("shadow_scores", where))
    return {row.pop("variant"): row for row in found.iter_rows(named=True)}


def _interleaving(space: Workspace, namespace: str, days: Sequence[str]) -> dict[str, Any]:
    where = within(namespace, f"day >= {quote(days[0])} AND day <= {quote(days[-1])}")
    rows = search_of(space.store, space.store.scan("interleavings", where))
    found: dict[str, Any] = {}
    for (policy,), mine in rows.sort("policy_b", "search_id").group_by("policy_b", maintain_order=True):
        won = preference(
            mine["credit_a"], mine["credit_b"], questions=mine["query_id"].to_list(),
            margin=space.settings.evaluation.margin,
        )  # fmt: skip
        found[str(policy)] = {
            "searches": mine.height,
            "queries": won.n,
            "preferred": won.difference,
            "low": won.low,
            "high": won.high,
            "verdict": won.verdict,
        }
    return found


def _json(data: Mapping[str, Any]) -> str:
    """As JSON; what is not defined, and so is no number, is null."""
    return orjson.dumps(data, option=orjson.OPT_SORT_KEYS).decode()
