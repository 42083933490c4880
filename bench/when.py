"""Times in questions: nDCG@10 with and without the time term of rule 3.13, and sorted by date.

    python bench/when.py --data FOLDER [FOLDER ...] [--model NAME] [--asked 2023-12-01]

A folder is a collection in BEIR form. ``without`` is the ranking with ``time_weight`` 0, ``newest first`` its
ten results sorted by the date of their text, ``with`` the shipped ranking. Questions are grouped by what they
ask: a window, an order in time, when something is, or no time; and by the collection's own categories.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime, time
from pathlib import Path
from typing import Any

import numpy as np
from _data import labelled, space_of
from _report import bench, existing_folder, options, positive, reports

from slowwave.scoring.ranking import rank
from slowwave.scoring.ranking.text_times import dates_in
from slowwave.scoring.ranking.time_words import time_words
from slowwave.search.searcher import searcher_in
from slowwave.tuning import opened
from slowwave.views.terminal import bars

LIMIT = 10
WAYS = ("without", "newest first", "with")


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, nargs="+", required=True, help="collections")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--cache", type=Path, help="keep the embedded collections here, for the next time")
    parser.add_argument(
        "--asked", type=date.fromisoformat, default=date(2023, 12, 1), help="day of the questions"
    )
    parser.add_argument("--weight", type=float, help="time_weight instead of the shipped one")
    parser.add_argument("--queries", type=positive, default=10_000, help="at most so many of a collection")
    arguments = parser.parse_args(argv)
    tables = {folder.name: (measure(folder, arguments), f"{arguments.model}") for folder in arguments.data}
    reports("when", tables)


def measure(folder: Path, arguments: Any) -> list[dict[str, Any]]:  # noqa: ANN401 - parsed options
    """Return nDCG@10 of each way by group of questions."""
    collection = labelled(folder)
    now = datetime.combine(arguments.asked, time(12), UTC)
    values: dict[str, list[tuple[float, ...]]] = defaultdict(list)
    with bars(), opened(collection, arguments.model, cache=arguments.cache) as spaces:
        for query in collection.answerable()[: arguments.queries]:
            memory = spaces[space_of(query)]
            policy = replace(memory.policy.with_weak, abstention_floor=0.0)
            if arguments.weight is not None:
                policy = replace(policy, time_weight=arguments.weight)
            found = searcher_in(memory.home).find(memory.namespace, query["text"], 100, now=now)
            names = dict(
                zip(found.candidates.memory_ids, found.shown.column("source").to_pylist(), strict=True)
            )
            texts = dict(
                zip(found.candidates.memory_ids, found.shown.column("text").to_pylist(), strict=True)
            )
            lists = {}
            for way, own in (("without", replace(policy, time_weight=0.0)), ("with", policy)):
                ranked = rank(found.candidates, own, as_of=now, limit=LIMIT)
                lists[way] = [result.memory_id for result in ranked.results]
            lists["newest first"] = sorted(lists["without"], key=lambda one: _last(texts[one]), reverse=True)
            grades = collection.qrels[query["_id"]]
            row = tuple(_ndcg([names[one] for one in lists[way]], grades) for way in WAYS)
            asked = time_words(query["text"], now)
            kind = "no time" if asked is None else "when" if asked.language else asked.order or "window"
            groups = ["all", kind]
            groups += [f"category {query['category']}"] if "category" in query else []
            for group in groups:
                values[group].append(row)
    return [_row(group, np.array(values[group])) for group in sorted(values)]


def _last(text: str) -> date:
    """Return the last day that a text has; the first of all without one."""
    return max((last for _, last in dates_in(text)), default=date.min)


def _ndcg(found: Sequence[str], grades: Mapping[str, int]) -> float:
    gains = sum(grades.get(name, 0) / math.log2(at + 2) for at, name in enumerate(found))
    ideal = sorted((grade for grade in grades.values() if grade > 0), reverse=True)[:LIMIT]
    return gains / sum(grade / math.log2(at + 2) for at, grade in enumerate(ideal))


def _row(group: str, values: Any) -> dict[str, Any]:  # noqa: ANN401 - an array
    change = values[:, 2] - values[:, 0]
    ends = 1.96 * change.std(ddof=1) / math.sqrt(len(change)) if len(change) > 1 else math.nan
    means = values.mean(axis=0).round(4).tolist()
    return {
        "questions": group, "n": len(values), **dict(zip(WAYS, means, strict=True)),
        "change": round(float(change.mean()), 4), "95 %": f"±{ends:.4f}",
    }  # fmt: skip


if __name__ == "__main__":
    main()
