"""What reconsolidation does to chats: is the updated turn above the outdated one, and is anything lost?

    python bench/updates.py --data FOLDER [--model NAME] [--policy guarded]

FOLDER holds ``corpus.jsonl`` (turns in order; namespace, said_at), ``queries.jsonl`` (kind, outdated,
updated) and ``qrels.tsv``. Every turn is saved by itself, in order, with the gate only warning, as a chat
application would: once with reconsolidation off and once with it on. Of the questions of kind
``knowledge_update``: how often the updated turn ranks above the outdated one (an outdated turn that is not
found at all is below; two that are not found count against). Of all questions: how many turns that one of
them needs can no longer be found by default search, because they were merged or superseded, and the
retrieval quality. Intervals are 95 % Wilson intervals.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ir_measures
from _report import report
from ir_measures import RR, nDCG
from rich.progress import track

import slowwave
from slowwave.memory import Memory
from slowwave.scoring.intervals import wilson

DEPTH = 50


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, required=True, help="folder of the chats")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--policy", default="guarded", choices=("guarded", "literal"))
    parser.add_argument("--show", type=int, default=0, help="print so many turns that were lost")
    arguments = parser.parse_args()
    turns = _lines(arguments.data / "corpus.jsonl")
    queries = _lines(arguments.data / "queries.jsonl")
    needed = _needed(arguments.data / "qrels.tsv")
    rows, lost = [], []
    for policy in ("off", arguments.policy):
        with tempfile.TemporaryDirectory() as home:
            spaces = _fill(Path(home), arguments.model, policy, turns)
            row, missing = _measure(spaces, queries, needed)
            rows.append(
                {"set": arguments.data.name, "model": arguments.model, "reconsolidation": policy, **row}
            )
            lost += [(policy, turn) for turn in missing]
            for memory in spaces.values():
                memory.close()
    note = f"{len(turns):,} turns, {len(queries):,} questions; counts are turns unless they say otherwise"
    report("updates", rows, note=note)
    texts = {turn["_id"]: turn["text"] for turn in turns}
    for policy, turn in lost[: arguments.show]:
        print(policy, turn, texts[turn][:200])


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines() if line.strip()]


def _needed(path: Path) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = defaultdict(dict)
    for line in path.read_text().splitlines()[1:]:
        query, document, grade = line.split("\t")
        found[query][document] = int(grade)
    return found


def _fill(home: Path, model: str, policy: str, turns: list[dict[str, Any]]) -> dict[str, Memory]:
    """One memory per chat, in one home, its turns saved one by one."""
    spaces: dict[str, Memory] = {}
    for number, turn in enumerate(track(turns, description=f"saving turns, {policy}")):
        name = turn["namespace"]
        if name not in spaces:
            spaces[name] = slowwave.open(
                home, namespace=name, embedding={"model": model}, reconsolidation={"policy": policy},
                gate={"mode": "warn"}, journal={"durability": "normal"},
            )  # fmt: skip
            if len(spaces) > 1:  # one model for all
                spaces[name]._space.__dict__["embedder"] = next(iter(spaces.values())).embedder
        spaces[name].save(
            turn["text"], key=turn["_id"], created_at=datetime.fromtimestamp(1_700_000_000 + number, UTC)
        )
    return spaces


def _measure(
    spaces: dict[str, Memory], queries: list[dict[str, Any]], needed: dict[str, dict[str, int]]
) -> tuple[dict[str, Any], list[str]]:
    live, statuses = {}, Counter[str]()
    for memory in spaces.values():
        rows = memory.store.read("memories", memory._mine("true"), columns=["source", "status"])
        live |= dict(rows.iter_rows())
        statuses.update(rows["status"].to_list())
    lost = sorted({turn for grades in needed.values() for turn in grades if live.get(turn) != "live"})
    above = asked = 0
    run: dict[str, dict[str, float]] = {}
    for query in track(queries, description="searching"):
        found = spaces[query["namespace"]].search(query["text"], limit=DEPTH)
        run[query["id"] if "id" in query else query["_id"]] = {one.source: one.score for one in found}
        if query["kind"] != "knowledge_update" or not query.get("updated"):
            continue
        places = {one.source: one.rank for one in found}
        new = min((places.get(turn, DEPTH + 1) for turn in query["updated"]), default=DEPTH + 1)
        old = min((places.get(turn, DEPTH + 1) for turn in query.get("outdated", ())), default=DEPTH + 1)
        asked += 1
        above += new < old
    low, high = wilson(above, asked)
    answerable = {name: grades for name, grades in needed.items() if grades}
    scores = ir_measures.calc_aggregate([nDCG @ 10, RR @ 5], answerable, run)
    row = {
        "updates": asked, "updated_above": above, "rate": above / max(asked, 1), "low": low, "high": high,
        "ndcg@10": scores[nDCG @ 10], "mrr@5": scores[RR @ 5], "merged": statuses["merged"],
        "superseded": statuses["superseded"], "needed_lost": len(lost),
    }  # fmt: skip
    return row, lost


if __name__ == "__main__":
    main()
