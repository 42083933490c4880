"""Retrieval quality on labelled collections: full ranking, each stage off, and simple baselines.

    python bench/retrieval.py --data FOLDER [FOLDER ...] [--model NAME] [--untitled] [--cross-encoder]
        [--cache FOLDER]

FOLDER holds ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv`` as in BEIR; documents and queries may name
a namespace, and documents that have a session, speaker or role are turns of a chat, in their order. Every
document goes through ``Memory.save_many`` with the gate off, every query through the candidates and the
ranking of ``Memory.search``. Failed queries count as 0; queries without a relevant document are not counted.
``low`` and ``high`` are 95 % bootstrap intervals of nDCG@10, ``change`` the paired difference of nDCG@10 to
``full``.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from _data import labelled, space_of
from _report import bench, existing_folder, options, positive, report
from rich.progress import track

import slowwave
from slowwave.scoring.evaluation import Measure, baselines_and_ablations, compare, evaluate, mean_interval
from slowwave.scoring.ranking import RankingPolicy, rank
from slowwave.search.run import read_by_cross_encoder
from slowwave.search.searcher import searcher_in
from slowwave.tuning import Collection, opened
from slowwave.tuning.fit import AS_OF
from slowwave.views.terminal import bars

MEASURES = (Measure("ndcg", 10), Measure("mrr", 5), Measure("recall", 10))
CROSS_ENCODER_WEIGHT = 0.4
HEARD = ("bm25", "vector", "as if the model knew")
"""Measured as if the model knew every language: what the channels give by themselves."""


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, nargs="+", required=True, help="the collections")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument(
        "--cross-encoder", action="store_true", help="also with the cross-encoder (half a second a query)"
    )
    parser.add_argument("--cache", type=Path, help="keep the embedded collections here, for the next time")
    parser.add_argument("--untitled", action="store_true", help="leave out the titles of the documents")
    parser.add_argument("--queries", type=positive, default=100_000, help="at most so many per collection")
    arguments = parser.parse_args(argv)
    rows: list[dict[str, Any]] = []
    notes = []
    for folder in arguments.data:
        collection = labelled(folder)
        if arguments.untitled:
            plain = [{**document, "title": ""} for document in collection.documents]
            collection = replace(collection, name=f"{collection.name}_untitled", documents=plain)
        with bars(), opened(collection, arguments.model, cache=arguments.cache) as spaces:
            rows += _measure(collection, spaces, arguments.queries, cross_encoder=arguments.cross_encoder)
        notes.append(f"{collection.name}: {len(collection.documents):,} documents")
    report("retrieval", rows, note=f"{'; '.join(notes)}; {arguments.model}")


def policies(present: RankingPolicy) -> dict[str, RankingPolicy]:
    """What is measured beside the full ranking; none abstains, so every query gets its list."""
    full = present.complete
    plain = replace(full, trigger_weight=0.0, **baselines_and_ablations.off(baselines_and_ablations.OF_TEXT))
    return {
        "full": full,
        "bm25": replace(plain, vector_weight=0.0),
        "vector": replace(plain, vector_weight=1.0, cosine_floor=-0.999),
        "as if the model knew": full,
        "rrf": replace(plain, fusion="rrf"),
        "fused": plain,
        **{
            name.lower(): replace(full, **baselines_and_ablations.off([name]))
            for name in baselines_and_ablations.OF_TEXT
        },
        "no feedback share": replace(full, **baselines_and_ablations.off(["no effectiveness"])),
        "mpab as in the seeds": replace(full, mpab_coefficient=0.3, mpab_cap=math.inf),
        "seeds": baselines_and_ablations.seeds(full).complete,
    }


def _measure(
    collection: Collection, spaces: Mapping[str, slowwave.Memory], most: int, *, cross_encoder: bool
) -> list[dict[str, Any]]:
    queries = collection.answerable()[:most]
    memory = next(iter(spaces.values()))
    measured = policies(memory.policy)
    runs: dict[str, dict[str, list[str]]] = {name: {} for name in measured}
    if cross_encoder:
        runs["cross-encoder"] = {}
    took: dict[str, list[float]] = {"full": [], "cross-encoder": []}
    for query in track(queries, description="searching"):
        memory = spaces[space_of(query)]
        start = time.perf_counter()
        found = searcher_in(memory.home).find(
            memory.namespace, query["text"], memory.settings.ranking.candidates
        )
        source = dict(zip(found.candidates.memory_ids, found.shown.column("source").to_pylist(), strict=True))
        heard = replace(found.candidates, vector_say=1.0)
        for name, policy in measured.items():
            candidates = heard if name in HEARD else found.candidates
            ranking = rank(candidates, policy, as_of=AS_OF, limit=20)
            runs[name][query["_id"]] = [source[one.memory_id] for one in ranking.results]
            if name == "full":
                took["full"].append((time.perf_counter() - start) * 1e3)
        if cross_encoder:
            policy = replace(measured["full"], rerank_weight=CROSS_ENCODER_WEIGHT)
            start = time.perf_counter()
            read = read_by_cross_encoder(memory.home, found, policy, query["text"], AS_OF)
            ranking = rank(read.candidates, policy, as_of=AS_OF, limit=20)
            took["cross-encoder"].append((time.perf_counter() - start) * 1e3 + took["full"][-1])
            runs["cross-encoder"][query["_id"]] = [source[one.memory_id] for one in ranking.results]
    qrels = {query["_id"]: collection.qrels[query["_id"]] for query in queries}
    tables = {name: evaluate(run, qrels, MEASURES) for name, run in runs.items()}
    return [_row(collection.name, name, tables, took.get(name, [])) for name in runs]


def _row(collection: str, name: str, tables: Mapping[str, pl.DataFrame], took: list[float]) -> dict[str, Any]:
    ndcg = {run: table[str(MEASURES[0])].to_numpy() for run, table in tables.items()}
    mean = mean_interval(ndcg[name])
    change = compare(ndcg["full"], ndcg[name], margin=0.01)
    return {
        "set": collection,
        "run": name,
        **{str(measure).lower(): round(float(tables[name][str(measure)].mean()), 4) for measure in MEASURES},
        "low": round(mean.low, 4),
        "high": round(mean.high, 4),
        "change": round(change.difference, 4),
        "change_low": round(change.low, 4),
        "change_high": round(change.high, 4),
        "queries": mean.n,
        "p50_ms": round(float(np.median(took)), 2) if took else None,
    }


if __name__ == "__main__":
    main()
