"""Report of an evaluation cycle (rules 6.6 and 6.7): every policy beside the served ranking."""

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
_MEASURED = [measure.column for measure in MEASURES]


@dataclass(frozen=True, slots=True)
class VariantResult:
    """Result of a policy in a cycle.

    Attributes:
        name: of the variant; ``logged`` is the served ranking.
        role: in force, shadow, baseline, channel, stage; empty for the logged one.
        policy_version: hash of its policy; empty if it has none of its own.
        without: channels that were removed.
        queries: on which it was measured (count).
        means: of each metric, with its interval over queries.
        judged: mean share of judged results among its first ten.
        against: for each metric, compared with the logged one on the same queries; empty for the logged one.
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
    """Changes since the previous cycle.

    Attributes:
        number: of the previous cycle.
        metrics: variant, and for each metric it and ``{metric}_before``: means of all queries of each cycle.
        shared: queries that both cycles have (count).
        same_queries: the logged scores of those queries, now against then, for each metric; None without any.
        moved: of them, those whose logged `MAIN` changed: query_id, query, before, now, change.
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
    """Report of an evaluation cycle.

    Attributes:
        cycle_id: namespace#number.
        namespace: of the cycle.
        number: from 1.
        status: open or closed; an open one has no scores yet.
        opened_on: day (UTC).
        closed_on: day; empty while it is open.
        closed_at: time; None while it is open.
        days: duration (count).
        searches: that were evaluated (count).
        queries: distinct ones among them (count).
        judgment_version: hash of the judgments.
        code_version: of Slowwave.
        margin: difference of a metric that does not matter.
        variants: the logged one first, then by role.
        scores: variant, query_id, query, searches, the metrics, judged_10, relevant; a row per query.
        grades: its judgments: query_id, memory_id, title (null for a secret memory), grade, source.
        course: logged `MAIN` of this and previous cycles: number, closed_on, queries, mean, low, high.
        channels: channel, results, covered, exclusive, coverage, ecr and its interval ecr_low, ecr_high; no
            rows if the cycle did not record them.
        found_by: results found by a single channel, by several (multi) or by none (counts), as recorded.
        judges: agreement and drift of each judge, as recorded.
        shadow: figures of each variant's shadow comparison, as recorded.
        interleaving: figures of each interleaved policy, as recorded.
        changed: since the previous cycle; None for the first.
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
        """Return a variant by name."""
        return next((result for result in self.variants if result.name == name), None)


def cycle_report(store: Store, cycle_id: str, *, margin: float = MARGIN) -> CycleReport:
    """Read a cycle and compare its variants with the served ranking.

    Args:
        store: is only read.
        cycle_id: namespace#number.
        margin: difference of a metric (0 to 1) that does not matter.

    Raises:
        NotFoundError: there is no such cycle.
    """
    rows = store.read("evaluation_cycles", f"cycle_id = {quote(cycle_id)}")
    if rows.is_empty():
        raise NotFoundError(f"Unknown evaluation cycle {cycle_id!r}. Give NAMESPACE#NUMBER.")
    row = rows.row(0, named=True)
    namespace, number = str(row["namespace"]), int(row["number"])
    tried, summary = _loaded(row["variants"]), _loaded(row["summary"])
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
        channels=_channels(_mapping(summary.get("channels"))),
        found_by=_mapping(summary.get("found_by")),
        judges=_mapping(summary.get("judges")),
        shadow=_mappings(summary.get("shadow")),
        interleaving=_mappings(summary.get("interleaving")),
        changed=None if earlier.is_empty() else _changed(store, earlier, scores, grades, variants, margin),
    )


def as_data(report: CycleReport) -> dict[str, Any]:
    """Convert a report to JSON data: frames as lists, NaN as null."""
    plain_data: dict[str, Any] = plain(report)
    for data, result in zip(plain_data["variants"], report.variants, strict=True):
        _add_verdicts(data["against"], result.against)
    if report.changed is not None and report.changed.same_queries is not None:
        _add_verdicts(plain_data["changed"]["same_queries"], report.changed.same_queries)
    return plain_data


def _add_verdicts(data: dict[str, Any], compared: Mapping[str, Comparison]) -> None:
    """Add the verdict to the plain data of each metric's comparison."""
    for metric, comparison in compared.items():
        data[metric]["verdict"] = comparison.verdict


# -- one cycle -------------------------------------------------------------------------------------


def _scores(store: Store, cycle_id: str, closed: Collection[str] = ()) -> pl.DataFrame:
    columns = ["variant", "query_id", "query", "searches", *_MEASURED, "relevant"]
    rows = store.read("cycle_scores", f"cycle_id = {quote(cycle_id)}", columns=columns)
    hidden = pl.col("query_id").is_in(sorted(closed))
    rows = rows.with_columns(query=pl.when(hidden).then(pl.lit(HIDDEN)).otherwise("query"))
    # What failed counts as 0 (rule 6.3).
    return rows.with_columns(pl.col(*_MEASURED).fill_nan(None).fill_null(0.0)).sort("variant", "query_id")


def _grades(store: Store, namespace: str, cycle_id: str) -> pl.DataFrame:
    columns = ["query_id", "memory_id", "grade", "source"]
    rows = store.read("cycle_judgments", f"cycle_id = {quote(cycle_id)}", columns=columns)
    memories = store.read_by(
        "memories", "memory_id", rows["memory_id"].unique().to_list(),
        columns=["memory_id", "title", "sensitivity"], also=within(namespace),
    )  # fmt: skip
    titles = memories.select("memory_id", title=pl.when(open_rows()).then(pl.col("title").replace("", None)))
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
    name: str, variant: Mapping[str, Any], own: pl.DataFrame, logged: pl.DataFrame, margin: float
) -> VariantResult:
    means = {metric: mean_interval(own[metric].to_numpy(), n_draws=_MEAN_DRAWS) for metric in METRICS}
    against = {} if name == LOGGED else compared(logged, own, margin)
    main = against.get(MAIN)
    return VariantResult(
        name=name,
        role=str(variant.get("role", "")),
        policy_version=str(variant.get("policy_version", "")),
        without=tuple(variant.get("without", ())),
        queries=own.height,
        means=means,
        judged=_mean(own["judged_10"]),
        against=against,
        needed=0 if main is None else main.queries_needed,
    )


def compared(before: pl.DataFrame, after: pl.DataFrame, margin: float) -> dict[str, Comparison]:
    """Compare `after` with `before` per metric on their common queries; empty without any."""
    both = before.join(after, on="query_id", how="inner", suffix="_after").sort("query_id")
    if both.is_empty():
        return {}
    return {
        metric: compare(both[metric].to_numpy(), both[f"{metric}_after"].to_numpy(), margin=margin)
        for metric in METRICS
    }


def _channels(recorded: Mapping[str, Any]) -> pl.DataFrame:
    rows = [
        {"channel": name, **{key: figures.get(key) for key in list(_CHANNELS)[1:]}}
        for name, figures in recorded.items()
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
    order = pl.DataFrame({"variant": [variant.name for variant in variants]}, schema={"variant": pl.String})
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
    return {name: _mapping(item) for name, item in _mapping(value).items()}


def _mean(values: pl.Series) -> float:
    mean = values.mean()
    return float(mean) if isinstance(mean, float) else math.nan
