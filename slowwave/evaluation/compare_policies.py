"""Comparing two rankings on the searches of some days, whenever someone asks (rule 6.6)."""

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
    """Two rankings on the same queries.

    Attributes:
        first: name of the one that is in place.
        second: name of the other.
        since: first day of the searches.
        until: last one.
        searches: of these days (count).
        judged: of them, those whose query has a relevant judgment and whose candidates are known (count).
        judgment_version: of the judgments that were used.
        by_metric: what was found, by metric; over queries, each the mean of its searches.
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
    """The ranking that a name or a policy file stands for; None is what was shown.

    Raises:
        SlowwaveError: there is none of this name, and no such file.
    """
    if name == LOGGED:
        return None
    everything = space.settings.evaluation.model_copy(update={"shadow": True, "ablations": True})
    known = {one.variant.name: one for one in variants(space.policy, everything, space.policy_of, keys=True)}
    if name in known:
        return known[name]
    if not Path(name).expanduser().is_file():
        raise SlowwaveError(f"{name!r} is neither a policy file nor one of: {', '.join([LOGGED, *known])}.")
    return Tried(Variant(name, read_policy(Path(name), space.model_policy)), "shadow")


def compare_policies(
    space: Workspace, namespace: str, first: str, second: str, *, since: date, until: date
) -> PolicyComparison:
    """Try two rankings on what the searches of some days considered, by all judgments that are known now.

    Raises:
        SlowwaveError: a ranking is not known, they are the same, or the days end before they begin.
    """
    if first == second:
        raise SlowwaveError(f"Both rankings are {first!r}. Name two different ones.")
    if until < since:
        raise SlowwaveError(f"The days end on {until}, before they begin on {since}.")
    pair = [one for one in (named(space, first), named(space, second)) if one is not None]
    days = days_from(since, until)
    searches = searches_of(space, days).filter(pl.col("namespace") == namespace)
    today = max(until, space.now().date()).isoformat()
    said = judgments_until(space.store, today, namespace=namespace)
    judgments = judgment_list(said, space.settings.judge.agreement)
    rows = score(space, searches, judgments.grades, pair)
    # What has no candidates has only been shown: the two are compared on the same searches.
    rows = rows.filter(pl.col("variant").is_in([first, second])).filter(pl.len().over("search_id") == 2)
    by_query = rows.group_by("variant", "query_id").agg(pl.col(COLUMNS).mean())
    one, other = (by_query.filter(pl.col("variant") == name).drop("variant") for name in (first, second))
    both = one.join(other, on="query_id", suffix="_second").sort("query_id")
    found = {
        str(measure): compare(
            both[measure.column], both[f"{measure.column}_second"], margin=space.settings.evaluation.margin
        )
        for measure in MEASURES
    }
    judged = rows["search_id"].n_unique()
    return PolicyComparison(
        first, second, days[0], days[-1], searches.height, judged, judgments.version, found
    )
