"""Comparison of two policies on logged searches, on demand (rule 6.6)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import TYPE_CHECKING

import polars as pl

from slowwave.errors import SlowwaveError
from slowwave.evaluation.judgments import judgment_list, judgments_until
from slowwave.evaluation.scores import COLUMNS, score, searches_of
from slowwave.evaluation.variants import LOGGED, Tried, variants
from slowwave.scoring.days import days_from
from slowwave.scoring.evaluation import Comparison, compare
from slowwave.scoring.evaluation.replay import Variant
from slowwave.scoring.measures import MEASURES
from slowwave.settings.ranking_file import read_policy

if TYPE_CHECKING:
    from slowwave.home.workspace import Workspace


@dataclass(frozen=True, slots=True)
class PolicyComparison:
    """Comparison of two policies on the same queries.

    Attributes:
        first: Name of the current policy.
        second: Name of the other.
        since: First day of the searches.
        until: Last day.
        searches: Searches on these days (count).
        judged: Searches with a relevant judgment and known candidates (count).
        judgment_version: Version of the judgments.
        by_metric: Result by metric, over queries; each query is the mean of its searches.
    """

    first: str
    second: str
    since: str
    until: str
    searches: int
    judged: int
    judgment_version: str
    by_metric: Mapping[str, Comparison]


def named(space: Workspace, name: str) -> Tried | None:
    """Return the variant that a name or a policy file stands for; None is the returned results.

    Raises:
        SlowwaveError: an unknown name that is no file either.
    """
    if name == LOGGED:
        return None
    everything = space.settings.evaluation.model_copy(update={"shadow": True, "ablations": True})
    by_name = {
        tried.variant.name: tried for tried in variants(space.policy, everything, space.policy_of, keys=True)
    }
    if name in by_name:
        return by_name[name]
    if not Path(name).expanduser().is_file():
        raise SlowwaveError(f"{name!r} is neither a policy file nor one of: {', '.join([LOGGED, *by_name])}.")
    return Tried(Variant(name, read_policy(Path(name), space.model_policy)), "shadow")


def compare_policies(
    space: Workspace, namespace: str, first: str, second: str, *, since: date, until: date
) -> PolicyComparison:
    """Replay two policies on the searches of some days, with all current judgments.

    Raises:
        SlowwaveError: an unknown policy, the same one twice, or days that end before they begin.
    """
    if first == second:
        raise SlowwaveError(f"Both rankings are {first!r}. Name two different ones.")
    if until < since:
        raise SlowwaveError(f"The days end on {until}, before they begin on {since}.")
    pair = [entry for entry in (named(space, first), named(space, second)) if entry is not None]
    days = days_from(since, until)
    searches = searches_of(space, days).filter(pl.col("namespace") == namespace)
    today = max(until, space.now().date()).isoformat()
    all_judgments = judgments_until(space.store, today, namespace=namespace)
    judgments = judgment_list(all_judgments, space.settings.judge.agreement)
    rows = score(space, searches, judgments.grades, pair)
    # Searches without candidates have only the returned results: compare both on the same searches.
    rows = rows.filter(pl.col("variant").is_in([first, second])).filter(pl.len().over("search_id") == 2)
    by_query = rows.group_by("variant", "query_id").agg(pl.col(COLUMNS).mean())
    entry, other = (by_query.filter(pl.col("variant") == name).drop("variant") for name in (first, second))
    both = entry.join(other, on="query_id", suffix="_second").sort("query_id")
    by_metric = {
        str(measure): compare(
            both[measure.column], both[f"{measure.column}_second"], margin=space.settings.evaluation.margin
        )
        for measure in MEASURES
    }
    judged = rows["search_id"].n_unique()
    return PolicyComparison(
        first, second, days[0], days[-1], searches.height, judged, judgments.version, by_metric
    )
