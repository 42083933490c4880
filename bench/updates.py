"""Updates in chats: rank of updated turns above outdated ones, marks, and losses.

    python bench/updates.py --data FOLDER [--model NAME] [--policy guarded] [--pairs FOLDER] [--show N]

FOLDER holds ``corpus.jsonl`` (turns in order; namespace, said_at), ``queries.jsonl`` (kind, outdated,
updated) and ``qrels.tsv``. Every turn is saved by itself, in order, with the gate only warning, as a chat
application would: with reconsolidation off, without and with marks of outdated values, and with it on. Of
the questions of kind ``knowledge_update``: how often the updated turn ranks above the outdated one (an
outdated turn that is not found at all is below; two that are not found count against), or the outdated one
is marked; and ``newest_first``, the same if the first ten results were sorted by their dates. Of all
questions: the outdated results that were marked among the first ten (``marks``), how many turns that one of
them needs can no longer be found by default search, because they were merged or superseded, and the
retrieval quality. Intervals are 95 % Wilson intervals.

With ``--pairs`` also the pairs of two sentences that are marked as an update, the second a day younger than
the first, if the first is the question: the contrasts of `contrast.py` whose edit changes no value, SICK and
Breaking-NLI. FOLDER has ``retrieval/`` and ``pairs/``. All of these marks are wrong; those of the kinds of
contrasts that exchange a value, which have rows of their own, may be right.
"""

from __future__ import annotations

import csv
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import ir_measures
from _contrast import contrasts, real_sentences, templated
from _contrast_edits import CHANGES, HARMLESS
from _contrast_templates import CHANGED, KEPT
from _data import labelled, space_of
from _report import bench, existing_folder, options, ratio, report
from ir_measures import RR, nDCG
from rich.progress import track

import slowwave
from slowwave.memory import Memory
from slowwave.notes.decoding import says_nothing
from slowwave.quality.outdated.relation import Question
from slowwave.quality.outdated.updates import DatedPassage, outdated_memories
from slowwave.scoring.intervals import wilson
from slowwave.search.results import Result

DEPTH = 50
START = datetime(2026, 1, 1, tzinfo=UTC)
VALUES = (
    "number", "number in words", "range", "ratio", "unit", "currency", "date", "am/pm", "version",
    "file and address", "name",
)  # fmt: skip
"""Kinds of contrasts that exchange a value, so that a mark may be right."""
Rows = Sequence[Mapping[str, Any]]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, required=True, help="folder of the chats")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--policy", default="guarded", choices=("guarded", "literal"))
    parser.add_argument("--pairs", type=existing_folder, help="also mark pairs of sentences of this folder")
    parser.add_argument("--show", type=int, default=0, help="print so many marks, and turns that were lost")
    arguments = parser.parse_args(argv)
    collection = labelled(arguments.data)
    turns, queries = collection.documents, collection.queries
    rows, lost = [], []
    for policy in ("off", arguments.policy):
        with tempfile.TemporaryDirectory() as home:
            spaces = _fill(Path(home), arguments.model, policy, turns)
            for marks in (False, True) if policy == "off" else (True,):
                _rank_with(spaces, marks)
                row, missing, marked = _measure(spaces, queries, collection.qrels)
                rows.append(
                    {"set": arguments.data.name, "model": arguments.model, "reconsolidation": policy,
                     "marks outdated": marks, **row}
                )  # fmt: skip
                if policy == "off":
                    for mark in marked[: arguments.show]:
                        print(*mark, sep="\n  ")
            lost += [(policy, turn) for turn in missing]
            for memory in spaces.values():
                memory.close()
    note = f"{len(turns):,} turns, {len(queries):,} questions; counts are turns unless they say otherwise"
    texts = {turn["_id"]: turn["text"] for turn in turns}
    for policy, turn in lost[: arguments.show]:
        print(policy, turn, texts.get(turn, "(not in corpus.jsonl)")[:200])
    report("updates", rows, note=note)
    if arguments.pairs:
        report("wrong marks", list(_wrong_marks(arguments.pairs)))


def _wrong_marks(folder: Path) -> Iterator[dict[str, Any]]:
    """Marked pairs that are no updates: a row per set and a row per kind of contrast with one."""
    sentences = real_sentences(folder)
    made = [*contrasts(sentences, CHANGES, 60, changed=True), *templated(CHANGED, changed=True)]
    made += [*contrasts(sentences, HARMLESS, 60, changed=False), *templated(KEPT, changed=False)]
    sets = {"contrasts": [(one.old, one.new) for one in made if one.kind not in VALUES]}
    sets |= {
        f"contrasts: {kind}": [(one.old, one.new) for one in made if one.kind == kind] for kind in VALUES
    }
    for name in ("sick", "breaking_nli"):
        path = folder / "pairs" / f"{name}.tsv"
        with path.open(encoding="utf-8", newline="") as file:
            rows = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            sets[name] = [(row["a"], row["b"]) for row in rows]
    for name, pairs in sets.items():
        marked = sum(_is_marked(old, new) for old, new in pairs)
        low, high = wilson(marked, len(pairs))
        yield {"set": name, "pairs": len(pairs), "marked": marked, "rate": ratio(marked, len(pairs), 9),
               "low": low, "high": high}  # fmt: skip


def _is_marked(old: str, new: str) -> bool:
    first, second = START, START + timedelta(days=1)
    passages = [
        DatedPassage("old", "", old, "", first, first),
        DatedPassage("new", "", new, "", second, second),
    ]
    return bool(outdated_memories(Question.of(old), passages))


def _rank_with(spaces: dict[str, Memory], marks: bool) -> None:
    """Search with or without marks of outdated values from now on."""
    for memory in spaces.values():
        memory._space.__dict__["policy"] = replace(memory.policy, mark_outdated=marks)


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
) -> tuple[dict[str, Any], list[str], list[tuple[str, ...]]]:
    live, statuses = {}, Counter[str]()
    for memory in spaces.values():
        rows = memory.store.read("memories", memory.tenant.mine("true"), columns=["source", "status"])
        live |= dict(rows.iter_rows())
        statuses.update(rows["status"].to_list())
    lost = sorted({turn for grades in needed.values() for turn in grades if live.get(turn) != "live"})
    above = asked = above_or_marked = newest = 0
    marked: list[tuple[str, ...]] = []
    run: dict[str, dict[str, float]] = {}
    for query in track(queries, description="searching"):
        found = spaces[space_of(query)].search(query["text"], limit=DEPTH)
        run[query["_id"]] = {one.source: one.score for one in found}
        by_id = {one.memory_id: one for one in found}
        outdated = {one.source: by_id[one.outdated_by] for one in found[:10] if one.outdated_by in by_id}
        texts = {one.source: one.text for one in found}
        marked += [(query["text"], texts[old], new.text) for old, new in outdated.items()]
        if query.get("kind") != "knowledge_update" or not query.get("updated"):
            continue
        places = {one.source: one.rank for one in found}
        new = min((places.get(turn, DEPTH + 1) for turn in query["updated"]), default=DEPTH + 1)
        old = min((places.get(turn, DEPTH + 1) for turn in query.get("outdated", ())), default=DEPTH + 1)
        asked += 1
        above += new < old
        marks = {one.source for turn, one in outdated.items() if turn in query.get("outdated", ())}
        above_or_marked += new < old or not marks.isdisjoint(query["updated"])
        newest += _is_newest_first(found[:10], query)
    low, high = wilson(above_or_marked, asked)
    answerable = {name: grades for name, grades in needed.items() if grades}
    scores = ir_measures.calc_aggregate([nDCG @ 10, RR @ 5], answerable, run)
    row = {
        "updates": asked, "updated_above": above, "or_marked": above_or_marked,
        "rate": ratio(above_or_marked, asked, 9),
        "low": low,
        "high": high, "newest_first": newest, "marks": len(marked),
        "ndcg@10": scores[nDCG @ 10], "mrr@5": scores[RR @ 5], "merged": statuses["merged"],
        "superseded": statuses["superseded"], "needed_lost": len(lost),
    }  # fmt: skip
    return row, lost, marked


def _is_newest_first(results: Sequence[Result], query: Mapping[str, Any]) -> bool:
    """Whether the updated turn is above the outdated one in the order of their dates."""
    order = [one.source for one in sorted(results, key=lambda one: one.created_at, reverse=True)]
    new = [order.index(turn) for turn in query["updated"] if turn in order]
    old = [order.index(turn) for turn in query.get("outdated", ()) if turn in order]
    return bool(new) and min(new) < min(old, default=len(order))


if __name__ == "__main__":
    main()
