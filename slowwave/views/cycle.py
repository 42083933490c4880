"""What an evaluation cycle found (rules 6.6 and 6.7): every ranking that was tried beside what was shown."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from slowwave.errors import NotFoundError
from slowwave.home.visibility import HIDDEN, closed_queries, open_rows
from slowwave.scoring.evaluation import Comparison, MeanInterval, compare, mean_interval
from slowwave.scoring.measures import MEASURES, NDCG, QUALITY
from slowwave.store import Store, quote
from slowwave.store.tenancy import within
from slowwave.views.data import plain

LOGGED = "logged"
METRICS = {measure.column: str(measure) for measure in QUALITY}
MAIN = NDCG.column
MARGIN = 0.02
_ROLES = ("in force", "shadow", "baseline", "channel", "stage")
_MEAN_DRAWS = 2_000  # of the interval of a mean, which decides nothing
_CHANNELS = {
    "channel": pl.String, "results": pl.Int64, "covered": pl.Int64, "exclusive": pl.Int64,
    "coverage": pl.Float64, "ecr": pl.Float64, "ecr_low": pl.Float64, "ecr_high": pl.Float64,
}  # fmt: skip
_GIVEN = [measure.column for measure in MEASURES]


@dataclass(frozen=True, slots=True)
class VariantResult:
    """How a ranking did in a cycle.

    Attributes:
        name: of the variant; ``logged`` is what searches showed.
        role: why it was tried: in force, shadow, baseline, channel, stage; empty of the logged one.
        policy_version: hash of its policy; empty where it has none of its own.
        without: channels that were taken away.
        queries: on which it was measured (count).
        means: of each metric, with its interval over queries.
        judged: mean share of its first ten results that anybody judged.
        against: for each metric, compared with the logged one on the same queries; nothing of the logged one.
        needed: `Comparison.queries_needed` of `MAIN`.
    """

    name: str
    role: str
    policy_version: str
    without: tuple[str, ...]
    queries: int
    means: dict[str, MeanInterval]
    judged: float
    against: dict[str, Comparison]
    needed: int | None


@dataclass(frozen=True, slots=True)
class Changed:
    """What is other than in the cycle before.

    Attributes:
        number: of the cycle before.
        metrics: variant, and for each metric it and ``{metric}_before``: means of all queries of each cycle.
        shared: queries that both cycles have (count).
        same_queries: those queries' logged scores now against then, for each metric; None where there are
            none.
        moved: of them, those whose logged `MAIN` is other than it was: query_id, query, before, now, change.
        judgments: added, removed and regraded pairs of query and memory (counts).
    """

    number: int
    metrics: pl.DataFrame
    shared: int
    same_queries: dict[str, Comparison] | None
    moved: pl.DataFrame
    judgments: dict[str, int]


@dataclass(frozen=True, slots=True)
class CycleReport:
    """An evaluation cycle.

    Attributes:
        cycle_id: namespace#number.
        namespace: whose.
        number: from 1.
        status: open or closed; an open one has no scores yet.
        opened_on: day (UTC).
        closed_on: day; empty while it is open.
        closed_at: moment; None while it is open.
        days: that it lasted (count).
        searches: that were evaluated (count).
        queries: distinct ones among them (count).
        judgment_version: hash of the judgments.
        code_version: of Slowwave.
        margin: difference of a metric that does not matter.
        variants: the logged one first, then by role.
        scores: variant, query_id, query, searches, the metrics, judged_10, relevant; a row a query.
        grades: its judgments: query_id, memory_id, title (null of a secret memory), grade, source.
        course: logged `MAIN` of this cycle and those before: number, closed_on, queries, mean, low, high.
        channels: channel, results, covered, exclusive, coverage, ecr and its interval ecr_low, ecr_high; no
            rows where the cycle does not tell.
        found_by: results that a single channel, several (multi) or none found (counts), as the cycle tells.
        judges: agreement and drift of each judge, as the cycle tells.
        shadow: figures of each variant's shadow comparison, as the cycle tells.
        interleaving: figures of each policy whose results were shown in turn, as the cycle tells.
        changed: since the cycle before; None of the first.
    """

    cycle_id: str
    namespace: str
    number: int
    status: str
    opened_on: str
    closed_on: str
    closed_at: datetime | None
    days: int
    searches: int
    queries: int
    judgment_version: str
    code_version: str
    margin: float
    variants: tuple[VariantResult, ...]
    scores: pl.DataFrame
    grades: pl.DataFrame
    course: pl.DataFrame
    channels: pl.DataFrame
    found_by: dict[str, Any]
    judges: dict[str, Any]
    shadow: dict[str, dict[str, Any]]
    interleaving: dict[str, dict[str, Any]]
    changed: Changed | None

    def variant(self, name: str) -> VariantResult | None:
        """One of the variants by name."""
        return next((one for one in self.variants if one.name == name), None)


def cycle_report(store: Store, cycle_id: str, *, margin: float = MARGIN) -> CycleReport:
    """Read a cycle and compare its variants with what was shown.

    Args:
        store: is only read.
        cycle_id: namespace#number.
        margin: difference of a metric (0 to 1) that does not matter.

    Raises:
        NotFoundError: there is no such cycle.
    """
    found = store.read("evaluation_cycles", f"cycle_id = {quote(cycle_id)}")
    if found.is_empty():
        raise NotFoundError(f"There is no evaluation cycle {cycle_id!r}; a cycle is named NAMESPACE#NUMBER.")
    row = found.row(0, named=True)
    namespace, number = str(row["namespace"]), int(row["number"])
    tried, told = _loaded(row["variants"]), _loaded(row["summary"])
    scores = _scores(store, cycle_id, closed_queries(store, namespace))
    grades = _grades(store, namespace, cycle_id)
    variants = _standings(scores, tried, margin)
    earlier = _closed_before(store, namespace, number)
    return CycleReport(
        cycle_id=cycle_id,
        namespace=namespace,
        number=number,
        status=row["status"] or "",
        opened_on=row["opened_on"] or "",
        closed_on=row["closed_on"] or "",
        closed_at=row["closed_at"],
        days=row["days"] or 0,
        searches=row["searches"] or 0,
        queries=row["queries"] or 0,
        judgment_version=row["judgment_version"] or "",
        code_version=row["code_version"] or "",
        margin=margin,
        variants=variants,
        scores=scores,
        grades=grades,
        course=_course(store, namespace, [*earlier.rows(), (cycle_id, number, row["closed_on"])]),
        channels=_channels(_mapping(told.get("channels"))),
        found_by=_mapping(told.get("found_by")),
        judges=_mapping(told.get("judges")),
        shadow=_mappings(told.get("shadow")),
        interleaving=_mappings(told.get("interleaving")),
        changed=None if earlier.is_empty() else _changed(store, earlier, scores, grades, variants, margin),
    )


def as_data(report: CycleReport) -> dict[str, Any]:
    """Convert a report to plain data for JSON: frames as lists, what is no number as null."""
    found: dict[str, Any] = plain(report)
    for data, one in zip(found["variants"], report.variants, strict=True):
        _add_verdicts(data["against"], one.against)
    if report.changed is not None and report.changed.same_queries is not None:
        _add_verdicts(found["changed"]["same_queries"], report.changed.same_queries)
    return found


def _add_verdicts(data: dict[str, Any], compared: Mapping[str, Comparison]) -> None:
    """Add to the plain data of each metric's comparison what it comes to."""
    for metric, one in compared.items():
        data[metric]["verdict"] = one.verdict


# -- one cycle -------------------------------------------------------------------------------------


def _scores(store: Store, cycle_id: str, closed: Collection[str] = ()) -> pl.DataFrame:
    columns = ["variant", "query_id", "query", "searches", *_GIVEN, "relevant"]
    rows = store.read("cycle_scores", f"cycle_id = {quote(cycle_id)}", columns=columns)
    hidden = pl.col("query_id").is_in(sorted(closed))
    rows = rows.with_columns(query=pl.when(hidden).then(pl.lit(HIDDEN)).otherwise("query"))
    # What failed counts as 0 (rule 6.3).
    return rows.with_columns(pl.col(*_GIVEN).fill_nan(None).fill_null(0.0)).sort("variant", "query_id")


def _grades(store: Store, namespace: str, cycle_id: str) -> pl.DataFrame:
    columns = ["query_id", "memory_id", "grade", "source"]
    rows = store.read("cycle_judgments", f"cycle_id = {quote(cycle_id)}", columns=columns)
    known = store.read_by(
        "memories", "memory_id", rows["memory_id"].unique().to_list(),
        columns=["memory_id", "title", "sensitivity"], also=within(namespace),
    )  # fmt: skip
    titles = known.select("memory_id", title=pl.when(open_rows()).then(pl.col("title").replace("", None)))
    joined = rows.join(titles, on="memory_id", how="left").sort(
        "query_id", "grade", "memory_id", descending=[False, True, False], nulls_last=True
    )
    return joined.select("query_id", "memory_id", "title", "grade", "source")


def _standings(scores: pl.DataFrame, tried: Mapping[str, Any], margin: float) -> tuple[VariantResult, ...]:
    measured = set(scores["variant"]) - {LOGGED}
    roles = {name: str(_mapping(tried.get(name)).get("role", "")) for name in measured}
    order = {name: at for at, name in enumerate(dict.fromkeys((*tried, *sorted(measured))))}
    ranked = sorted(measured, key=lambda name: (_place(roles[name]), order[name]))
    logged = scores.filter(pl.col("variant") == LOGGED)
    return tuple(
        _standing(name, _mapping(tried.get(name)), scores.filter(pl.col("variant") == name), logged, margin)
        for name in [*([] if logged.is_empty() else [LOGGED]), *ranked]
    )


def _place(role: str) -> int:
    return _ROLES.index(role) if role in _ROLES else len(_ROLES)


def _standing(
    name: str, told: Mapping[str, Any], mine: pl.DataFrame, logged: pl.DataFrame, margin: float
) -> VariantResult:
    means = {metric: mean_interval(mine[metric].to_numpy(), n_draws=_MEAN_DRAWS) for metric in METRICS}
    against = {} if name == LOGGED else compared(logged, mine, margin)
    main = against.get(MAIN)
    return VariantResult(
        name=name,
        role=str(told.get("role", "")),
        policy_version=str(told.get("policy_version", "")),
        without=tuple(told.get("without", ())),
        queries=mine.height,
        means=means,
        judged=_mean(mine["judged_10"]),
        against=against,
        needed=0 if main is None else main.queries_needed,
    )


def compared(before: pl.DataFrame, after: pl.DataFrame, margin: float) -> dict[str, Comparison]:
    """For each metric, `after` against `before` on the queries that both have; nothing without any."""
    both = before.join(after, on="query_id", how="inner", suffix="_after").sort("query_id")
    if both.is_empty():
        return {}
    return {
        metric: compare(both[metric].to_numpy(), both[f"{metric}_after"].to_numpy(), margin=margin)
        for metric in METRICS
    }


def _channels(told: Mapping[str, Any]) -> pl.DataFrame:
    rows = [
        {"channel": name, **{key: one.get(key) for key in list(_CHANNELS)[1:]}} for name, one in told.items()
    ]
    return pl.DataFrame(rows, schema=_CHANNELS).sort("ecr", "channel", descending=[True, False])


# -- the cycles before -----------------------------------------------------------------------------


def _closed_before(store: Store, namespace: str, number: int) -> pl.DataFrame:
    where = within(namespace, f"number < {number} AND status = 'closed'")
    return store.read("evaluation_cycles", where, columns=["cycle_id", "number", "closed_on"]).sort("number")


def _course(store: Store, namespace: str, cycles: list[tuple[Any, ...]]) -> pl.DataFrame:
    where = within(namespace, f"variant = {quote(LOGGED)}")
    rows = store.read("cycle_scores", where, columns=["cycle_id", "query_id", MAIN]).sort("query_id")
    points = []
    for cycle_id, number, closed_on in cycles:
        values = rows.filter(pl.col("cycle_id") == cycle_id)[MAIN].fill_nan(None).fill_null(0.0)
        mean = mean_interval(values.to_numpy(), n_draws=_MEAN_DRAWS)
        points.append((number, closed_on, mean.n, mean.mean, mean.low, mean.high))
    schema = {"number": pl.Int64, "closed_on": pl.String, "queries": pl.Int64}
    schema |= dict.fromkeys(("mean", "low", "high"), pl.Float64)
    return pl.DataFrame(points, schema=schema, orient="row").filter(pl.col("queries") > 0)


def _changed(
    store: Store,
    earlier: pl.DataFrame,
    scores: pl.DataFrame,
    grades: pl.DataFrame,
    variants: Sequence[VariantResult],
    margin: float,
) -> Changed:
    cycle_id, number, _ = earlier.row(-1)
    then = _scores(store, cycle_id)
    old_grades = store.read(
        "cycle_judgments", f"cycle_id = {quote(cycle_id)}", columns=["query_id", "memory_id", "grade"]
    )
    means = [rows.group_by("variant").agg(pl.col(*METRICS).mean()) for rows in (scores, then)]
    order = pl.DataFrame({"variant": [one.name for one in variants]}, schema={"variant": pl.String})
    metrics = order.join(means[0], on="variant", how="inner", maintain_order="left").join(
        means[1], on="variant", how="inner", suffix="_before", maintain_order="left"
    )
    before, now = (rows.filter(pl.col("variant") == LOGGED) for rows in (then, scores))
    same = compared(before, now, margin)
    moved = (
        now.join(before, on="query_id", how="inner", suffix="_before")
        .select("query_id", "query", before=f"{MAIN}_before", now=MAIN)
        .with_columns(change=pl.col("now") - pl.col("before"))
        .filter(pl.col("change").abs() > 1e-9)
        .sort("change", "query_id")
    )  # fmt: skip
    shared = same[MAIN].n if same else 0
    return Changed(number, metrics, shared, same or None, moved, _judgments_changed(old_grades, grades))


def _judgments_changed(before: pl.DataFrame, now: pl.DataFrame) -> dict[str, int]:
    pair = ["query_id", "memory_id"]
    both = now.join(before, on=pair, how="inner", suffix="_before")
    return {
        "added": now.join(before, on=pair, how="anti").height,
        "removed": before.join(now, on=pair, how="anti").height,
        "regraded": both.filter(pl.col("grade").ne_missing(pl.col("grade_before"))).height,
    }


# -- plain data ------------------------------------------------------------------------------------


def _loaded(text: str | None) -> dict[str, Any]:
    return _mapping(json.loads(text) if text else None)


def _mapping(value: object) -> dict[str, Any]:
    return dict(value) if isinstance(value, Mapping) else {}


def _mappings(value: object) -> dict[str, dict[str, Any]]:
    return {name: _mapping(one) for name, one in _mapping(value).items()}


def _mean(values: pl.Series) -> float:
    mean = values.mean()
    return float(mean) if isinstance(mean, float) else math.nan
