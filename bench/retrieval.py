"""Retrieval quality on a labelled collection: BM25 alone, vectors alone, fused at the default settings.

    python bench/retrieval.py --data FOLDER [--model NAME]

FOLDER holds ``corpus.jsonl``, ``queries.jsonl`` and ``qrels.tsv`` as in BEIR; documents and queries may name
a namespace. Every document goes through ``Memory.save_many`` with the gate off and every query through
the candidates and the ranking of ``Memory.search``. Failed queries count as 0; queries that have no
relevant document are not counted. Intervals are 95 % bootstrap intervals over queries.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from collections import defaultdict
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from _report import report
from rich.progress import track

import slowwave
from scoring.evaluation import evaluate, mean_interval, parse_measure
from scoring.ranking import rank

MEASURES = ("ndcg@10", "mrr@5", "recall@10")
BATCH = 5_000


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the collection")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    arguments = parser.parse_args()
    documents = _lines(arguments.data / "corpus.jsonl")
    qrels = _qrels(arguments.data / "qrels.tsv")
    queries = [query for query in _lines(arguments.data / "queries.jsonl") if _answerable(query, qrels)]
    with tempfile.TemporaryDirectory() as home:
        spaces = _fill(Path(home), arguments.model, documents)
        runs = _search(spaces, queries)
    rows = [_row(name, run, qrels, queries) for name, run in runs.items()]
    note = f"{arguments.data.name}: {len(documents):,} documents, {len(queries):,} queries, {arguments.model}"
    report("retrieval", [{"set": arguments.data.name, **row} for row in rows], note=note)


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def _qrels(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text().splitlines()[1:]:
        if line.strip():
            query, document, grade = line.split("\t")
            found[query][document] = int(grade)
    return dict(found)


def _answerable(query: dict[str, Any], qrels: dict[str, dict[str, int]]) -> bool:
    judged = any(grade > 0 for grade in qrels.get(query["_id"], {}).values())
    return bool(query.get("answerable", True)) and judged


def _fill(home: Path, model: str, documents: list[dict[str, Any]]) -> dict[str, slowwave.Memory]:
    by_space: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for document in documents:
        by_space[document.get("namespace") or "default"].append(document)
    spaces = {}
    for name, members in track(by_space.items(), description="embedding"):
        memory = slowwave.open(home, namespace=name, embedding={"model": model}, gate={"mode": "off"})
        for at in range(0, len(members), BATCH):
            memory.save_many(
                [
                    {"key": one["_id"], "title": one.get("title", ""), "content": one["text"] or one["title"]}
                    for one in members[at : at + BATCH]
                ]
            )
        spaces[name] = memory
    return spaces


def _search(
    spaces: dict[str, slowwave.Memory], queries: list[dict[str, Any]]
) -> dict[str, dict[str, list[tuple[str, float]]]]:
    """Per run and query: source and score, best first; and how long the fused search took."""
    runs: dict[str, dict[str, list[tuple[str, float]]]] = defaultdict(dict)
    took: list[float] = []
    for query in track(queries, description="searching"):
        memory = spaces[query.get("namespace") or "default"]
        start = time.perf_counter()
        found = memory._space.searcher.find(
            memory.namespace, query["text"], memory.settings.ranking.candidates
        )
        ranked = rank(found.candidates, memory.policy, 20)
        took.append((time.perf_counter() - start) * 1e3)
        source = dict(zip(found.candidates.memory_ids, found.shown.column("source").to_pylist(), strict=True))
        policies = {
            "bm25": replace(memory.policy, vector_weight=0.0),
            "vector": replace(memory.policy, vector_weight=1.0, cosine_floor=-0.999),
            "rrf": replace(memory.policy, fusion="rrf"),
        }
        lists = {name: rank(found.candidates, policy, 20) for name, policy in policies.items()}
        for name, result in {**lists, "fused": ranked}.items():
            runs[name][query["_id"]] = [(source[one.memory_id], one.score) for one in result]
    runs["fused"]["_p50_ms"] = [("", float(np.median(took)))]
    return dict(runs)


def _row(
    name: str,
    run: dict[str, list[tuple[str, float]]],
    qrels: dict[str, dict[str, int]],
    queries: list[dict[str, Any]],
) -> dict[str, Any]:
    p50 = run.pop("_p50_ms", None)
    rankings = {query: [document for document, _ in found] for query, found in run.items()}
    judged = {query["_id"]: qrels[query["_id"]] for query in queries}
    measures = {key: parse_measure(key) for key in MEASURES}
    values = evaluate(rankings, judged, list(measures.values()))
    row: dict[str, Any] = {"run": name}
    row |= {key: round(values[str(one)].mean(), 4) for key, one in measures.items()}
    interval = mean_interval(values["nDCG@10"])
    row |= {"low": round(interval.low, 4), "high": round(interval.high, 4), "queries": interval.n}
    row["p50_ms"] = round(p50[0][1], 2) if p50 else None
    return row


if __name__ == "__main__":
    main()
