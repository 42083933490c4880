"""Reconsolidation of chats: rank of updated turns above outdated ones, and losses.

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

import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import ir_measures
from _data import labelled, space_of
from _report import bench, existing_folder, options, ratio, report
from ir_measures import RR, nDCG
from rich.progress import track

import slowwave
from slowwave.memory import Memory
from slowwave.notes.decoding import says_nothing
from slowwave.scoring.intervals import wilson

DEPTH = 50
Rows = Sequence[Mapping[str, Any]]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, required=True, help="folder of the chats")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--policy", default="guarded", choices=("guarded", "literal"))
    parser.add_argument("--show", type=int, default=0, help="print so many turns that were lost")
    arguments = parser.parse_args(argv)
    collection = labelled(arguments.data)
    turns, queries = collection.documents, collection.queries
    rows, lost = [], []
    for policy in ("off", arguments.policy):
        with tempfile.TemporaryDirectory() as home:
            spaces = _fill(Path(home), arguments.model, policy, turns)
            row, missing = _measure(spaces, queries, collection.qrels)
            rows.append(
                {"set": arguments.data.name, "model": arguments.model, "reconsolidation": policy, **row}
            )
            lost += [(policy, turn) for turn in missing]
            for memory in spaces.values():
                memory.close()
    note = f"{len(turns):,} turns, {len(queries):,} questions; counts are turns unless they say otherwise"
    texts = {turn["_id"]: turn["text"] for turn in turns}
    for policy, turn in lost[: arguments.show]:
        print(policy, turn, texts.get(turn, "(not in corpus.jsonl)")[:200])
    report("updates", rows, note=note)


def _fill(home: Path, model: str, policy: str, turns: Rows) -> dict[str, Memory]:
    """One memory per chat, in one home, its turns saved one by one."""
    spaces: dict[str, Memory] = {}
    for number, turn in enumerate(track(turns, description=f"saving turns, {policy}")):
        if says_nothing(turn["text"]):
            continue
        name = space_of(turn)
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
    spaces: dict[str, Memory], queries: Rows, needed: Mapping[str, Mapping[str, int]]
) -> tuple[dict[str, Any], list[str]]:
    live, statuses = {}, Counter[str]()
    for memory in spaces.values():
        rows = memory.store.read("memories", memory.tenant.mine("true"), columns=["source", "status"])
        live |= dict(rows.iter_rows())
        statuses.update(rows["status"].to_list())
    lost = sorted({turn for grades in needed.values() for turn in grades if live.get(turn) != "live"})
    above = asked = 0
    run: dict[str, dict[str, float]] = {}
    for query in track(queries, description="searching"):
        found = spaces[space_of(query)].search(query["text"], limit=DEPTH)
        run[query["_id"]] = {one.source: one.score for one in found}
        if query.get("kind") != "knowledge_update" or not query.get("updated"):
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
        "updates": asked, "updated_above": above, "rate": ratio(above, asked, 9), "low": low, "high": high,
        "ndcg@10": scores[nDCG @ 10], "mrr@5": scores[RR @ 5], "merged": statuses["merged"],
        "superseded": statuses["superseded"], "needed_lost": len(lost),
    }  # fmt: skip
    return row, lost


if __name__ == "__main__":
    main()
