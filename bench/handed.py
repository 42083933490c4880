"""Returned memories: precision and recall of what a search hands over, beside trivial cuts.

    python bench/handed.py --data FOLDER [FOLDER ...] [--retrieval FOLDER ...] [--model NAME]

A folder of ``--data`` holds ``corpus.jsonl`` (``_id``, ``namespace``, ``text``, optional ``title``,
``aliases``, ``tags``, ``pinned``) and ``cases.jsonl`` (``namespace``, ``text``, ``tags``, ``only``: the
memories that belong to the answer, and no others do). A pinned memory counts neither for nor against. A
folder of ``--retrieval`` is a collection in BEIR form; its recall and tokens are those of the whole list
of ten beside the cut one.

``precision`` and ``recall`` are means over the questions that some memory answers (silence counts 0);
``exact`` counts lists that are just right; ``silent`` counts questions that no memory answers and that got
no result. ``all``: no cut. ``top 1``: the first result. ``floor``: every result whose best cosine exceeds
the fixed floor that fits these data best, so in-sample. ``shipped``: as the memory ships.

``how often a fit is right`` counts the results of each fit that are relevant, as shipped and ``by fit and
names``, whatever words of the question they have (rule 3.9).

The last table needs no folder: the notes of `updates.py`, a home each, get their own questions and those of
the others. ``found`` is the share of own questions that return one of their two notes. ``silent`` is the
share of the others' questions without results; a few are about something that this home has, too. ``no
floor of fit`` is as the memory ships but for that.
"""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple
from unittest.mock import patch

import numpy as np
import updates
from _data import labelled, lines, space_of
from _report import UnusableError, bench, existing_folder, options, positive, reports

import slowwave
from slowwave.scoring.ranking import names
from slowwave.search import Result
from slowwave.tuning import opened
from slowwave.views.terminal import bars

LIMIT = 10
FLOORS = np.round(np.arange(0.3, 0.9, 0.02), 2)
Shown = Sequence[Result]


class Case(NamedTuple):
    """Question with the results of both rankings, and the memories that belong to it."""

    whole: Shown
    shipped: Shown
    unfloored: Shown
    only: frozenset[str]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, nargs="+", required=True, help="folders of cases")
    parser.add_argument("--retrieval", type=existing_folder, nargs="*", default=[], help="collections")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--cache", type=Path, help="keep the embedded collections here, for the next time")
    parser.add_argument("--queries", type=positive, default=300, help="at most so many of a collection")
    arguments = parser.parse_args(argv)
    tables: dict[str, tuple[list[dict[str, Any]], str]] = {}
    for folder in arguments.data:
        tables[folder.name] = (measure(folder, arguments.model), f"limit {LIMIT}, {arguments.model}")
    compared = [
        compare(folder, arguments.model, arguments.cache, arguments.queries) for folder in arguments.retrieval
    ]
    if compared:
        rows = [row for row, _ in compared]
        tables["recall and tokens"] = rows, "words of the returned texts beside those of the whole list"
        tables["how often a fit is right"] = [row for _, fits in compared for row in fits], "returned results"
    others = list(of_others(arguments.model))
    tables["questions of another home"] = others, f"limit {LIMIT}, {arguments.model}"
    reports("handed", tables)


def measure(folder: Path, model: str) -> list[dict[str, Any]]:
    """Return a row for each way to cut the lists of a folder's questions."""
    corpus = lines(folder / "corpus.jsonl", "_id", "text", "namespace")
    cases = lines(folder / "cases.jsonl", "namespace", "text", "only")
    if not any(case["only"] for case in cases):
        raise UnusableError(f"{folder}: no case names a memory that belongs to its answer")
    pinned = {document["_id"] for document in corpus if document.get("pinned")}
    with tempfile.TemporaryDirectory() as home, bars():
        spaces = _filled(Path(home), model, corpus, cases)
        asked = [_asked(spaces[case["namespace"]], case, pinned) for case in cases if case["text"].strip()]
        for memory in spaces.values():
            memory.close()
    cuts: dict[str, Callable[[Case], Shown]] = {
        "all": lambda case: case.whole,
        "top 1": lambda case: case.whole[:1],
    }
    best = max(FLOORS, key=lambda floor: _f1(asked, float(floor)))
    cuts[f"floor {best:g}"] = lambda case: _above(case, float(best))
    cuts["no floor of fit"] = lambda case: case.unfloored
    cuts["shipped"] = lambda case: case.shipped
    return [{"set": folder.name, "cut": name, **_row(asked, cut, pinned)} for name, cut in cuts.items()]


def _filled(
    home: Path, model: str, corpus: Sequence[Mapping[str, Any]], cases: Sequence[Mapping[str, Any]]
) -> dict[str, slowwave.Memory]:
    spaces: dict[str, slowwave.Memory] = {}
    for name in sorted({row["namespace"] for row in (*corpus, *cases)}):
        spaces[name] = slowwave.open(
            home, namespace=name, embedding={"model": model}, gate={"mode": "off"},
            journal={"log_searches": False},
        )  # fmt: skip
        notes = [
            {
                "key": row["_id"], "content": row["text"], "title": row.get("title", ""),
                "tags": row.get("tags", []), "aliases": row.get("aliases", []),
            }
            for row in corpus
            if row["namespace"] == name
        ]  # fmt: skip
        if notes:
            spaces[name].save_many(notes)
    return spaces


def _asked(memory: slowwave.Memory, case: Mapping[str, Any], pinned: set[str]) -> Case:
    options = {"tags": case.get("tags") or (), "limit": LIMIT, "log": False}
    shipped = memory.search(case["text"], **options).results
    with _without_floor(memory):
        unfloored = memory.search(case["text"], **options).results
    whole = memory.search(case["text"], include_weak=True, explain=True, **options).results
    return Case(whole, shipped, unfloored, frozenset(case["only"]) - pinned)


@contextmanager
def _without_floor(memory: slowwave.Memory) -> Iterator[None]:
    shipped = memory.policy
    memory._space.__dict__["policy"] = replace(shipped, fit_floor=0.0)
    yield
    memory._space.__dict__["policy"] = shipped


def _above(case: Case, floor: float) -> Shown:
    return [result for result in case.whole if _cosine(result) >= floor]


def _cosine(result: Result) -> float:
    return 0.0 if result.explanation is None else result.explanation.scores.get("cosine", 0.0)


def _f1(asked: Sequence[Case], floor: float) -> float:
    row = _row(asked, lambda case: _above(case, floor), set())
    both = row["precision"] + row["recall"]
    return 2 * row["precision"] * row["recall"] / both if both else 0.0


def _row(asked: Sequence[Case], cut: Callable[[Case], Shown], pinned: set[str]) -> dict[str, Any]:
    precision, recall, exact, silent, nothing = [], [], 0, 0, 0
    for case in asked:
        got = {result.source for result in cut(case)} - pinned
        if not case.only:
            nothing += 1
            silent += not got
            continue
        hits = len(got & case.only)
        precision.append(hits / len(got) if got else 0.0)
        recall.append(hits / len(case.only))
        exact += got == case.only
    return {
        "precision": round(float(np.mean(precision)), 3), "recall": round(float(np.mean(recall)), 3),
        "exact": exact, "of": len(precision), "silent": silent, "without": nothing,
    }  # fmt: skip


def of_others(model: str) -> Iterator[dict[str, Any]]:
    """Return, for each set of notes, what its own questions find and how often others' find nothing."""
    sets = {
        name: updates.cases_of(file, seen=0, halved=False)
        for name, file in updates.CASES.items()
        if name != "turns"  # no notes
    }
    with tempfile.TemporaryDirectory() as homes, bars():
        for name, (notes, own) in sets.items():
            (memory,) = updates.fill(Path(homes, name), model, notes).values()
            others = [query for one, (_, queries) in sets.items() if one != name for query in queries]
            for cut, floor in (("no floor of fit", _without_floor(memory)), ("shipped", nullcontext())):
                with floor:
                    found = [_finds(memory, query) for query in own]
                    silent = [not memory.search(query["text"], limit=LIMIT).results for query in others]
                yield {
                    "set": name, "cut": cut, "found": round(float(np.mean(found)), 3), "of": len(own),
                    "silent": round(float(np.mean(silent)), 3), "others": len(others),
                }  # fmt: skip
            memory.close()


def _finds(memory: slowwave.Memory, query: Mapping[str, Any]) -> bool:
    sources = {result.source for result in memory.search(query["text"], limit=LIMIT)}
    return not sources.isdisjoint((*query["outdated"], *query["updated"]))


def compare(
    folder: Path, model: str, cache: Path | None, most: int
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return recall and words of shipped lists beside whole ones, and how often each fit is right."""
    collection = labelled(folder)
    recalls: dict[str, list[float]] = {"whole": [], "shipped": []}
    words, results = dict.fromkeys(recalls, 0), 0
    fits: Counter[tuple[str, str, bool]] = Counter()
    with bars(), opened(collection, model, cache=cache) as spaces:
        queries = collection.answerable()[:most]
        for query in queries:
            relevant = {name for name, grade in collection.qrels[query["_id"]].items() if grade > 0}
            for name, weak in (("whole", True), ("shipped", False)):
                found = (
                    spaces[space_of(query)]
                    .search(query["text"], limit=LIMIT, include_weak=weak, log=False)
                    .results
                )
                recalls[name].append(len({one.source for one in found} & relevant) / len(relevant))
                words[name] += sum(len(one.text.split()) for one in found)
                results += len(found) if name == "shipped" else 0
                if name == "shipped":
                    fits.update(("shipped", one.fit, one.source in relevant) for one in found)
            with patch.object(names, "LEAST_OF_WORDS", 0.0):
                found = spaces[space_of(query)].search(query["text"], limit=LIMIT, log=False).results
            fits.update(("by fit and names", one.fit, one.source in relevant) for one in found)
    whole, shipped = (float(np.mean(recalls[name])) for name in ("whole", "shipped"))
    row = {
        "set": folder.name, "queries": len(queries), "recall@10 whole": round(whole, 4),
        "shipped": round(shipped, 4), "share": round(shipped / whole, 4) if whole else None,
        "words": round(words["shipped"] / max(words["whole"], 1), 4),
        "results": round(results / max(len(queries), 1), 2),
    }  # fmt: skip
    right = []
    for how in ("by fit and names", "shipped"):
        for fit in ("strong", "fair", "weak"):
            hits, n = fits[how, fit, True], fits[how, fit, True] + fits[how, fit, False]
            share = round(hits / n, 3) if n else None
            right.append(
                {"set": folder.name, "label": how, "fit": fit, "results": n, "relevant": hits, "share": share}
            )
    return row, right


if __name__ == "__main__":
    main()
