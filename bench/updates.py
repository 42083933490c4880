"""Updates: rank of updated texts above outdated ones, and marks, with simple baselines.

    python bench/updates.py [--data FOLDER] [--model NAME] [--cache FOLDER] [--pairs FOLDER] [--show N]

Three rows a set: without marks (``nothing``), the first ten results sorted by their dates (``newest first``),
and with marks (``rule``). ``rate`` is the share of questions about a changed value that return the updated
text above the outdated one, or mark the outdated one; a result that is not returned is below. ``marks``
counts the marked ones of the first ten results, over all questions; those of other questions are in
``other_marks``. Intervals are 95 % Wilson intervals.

- ``everyday``: the notes of ``updates_cases.txt`` in one namespace, the newer of each pair later. The rule
  was fitted on one half; the other half was not looked at. Pairs of the kind *apart* are no updates.
- ``paraphrased`` and ``held out``: the same of ``updates_paraphrased.txt`` and ``updates_held_out.txt``:
  longer notes, the newer in other words. Wrong marks in the first file were looked at.
- ``titled``: the same of ``updates_titled.txt``, short notes under two different titles. The first hundred
  were looked at; the others are ``held out``. For a pair that is apart, the older note is the answer.
- ``turns``: the same of ``updates_turns.txt``, turns of users who ask for something and tell a value beside
  it, a namespace for each author. The first 180 were looked at.
- ``mixed``: the same of ``updates_mixed.txt``: a note and a turn that asks, in each order, or two of a kind.
  The first 70 were looked at.
- ``alone``: the pairs of ``updates_pairs.txt``, each alone, without a search: most are of two things in the
  same words. ``asked`` counts marks after the question, ``any`` those after any question, and ``ordered``
  newer notes that rank first without a mark.
- ``--data``: chats, every turn a note. FOLDER holds ``corpus.jsonl`` (turns in order; namespace),
  ``queries.jsonl`` (kind, outdated, updated) and ``qrels.tsv``. Questions of kind ``knowledge_update`` are
  about a changed value.

The turns are saved in batches. Reconsolidation is off: it compares each turn with its neighbours as it is
saved, which takes a quarter of an hour, and `reconsolidate.py` measures it.

With ``--pairs`` also the pairs of two sentences that are marked as an update, the second a day younger than
the first: the contrasts of `contrast.py` whose edit changes no value, SICK and Breaking-NLI. FOLDER has
``retrieval/`` and ``pairs/``. The question is the first sentence. So that the kind of question does not
decide, it counts as one that asks for any value. All of these marks are wrong; those of the kinds of
contrasts that exchange a value, which have rows of their own, may be right.

The last table is of the same SICK and Breaking-NLI by their labels: the pairs that two results of a search
would be said to contradict each other in (rule 2.3).
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import ir_measures
from _contrast import contrasts, real_sentences, templated
from _contrast_edits import CHANGES, HARMLESS
from _contrast_templates import CHANGED, KEPT
from _data import labelled, space_of
from _report import bench, existing_folder, options, ratio, reports
from ir_measures import RR, nDCG
from rich.progress import track

import slowwave
from slowwave.memory import Memory
from slowwave.notes.decoding import says_nothing
from slowwave.quality.outdated.dated_passages import DatedPassage
from slowwave.quality.outdated.likely_changes import likely_changes
from slowwave.quality.outdated.question import Question
from slowwave.quality.outdated.updates import first_newer, outdated_memories
from slowwave.scoring.intervals import wilson
from slowwave.scoring.wordlists import lines_of
from slowwave.search.results import Result
from slowwave.search.stored_pairs import ComparedPassage, contradictions, indexed

DEPTH = 50
PAIR = 2  # texts of a case without titles
SEEN = {"titled": 100, "turns": 180, "mixed": 70}  # first cases that were looked at (count)
OF_AN_AUTHOR = {"turns": 90}  # cases of a namespace, where authors wrote about the same (count)
SHOWN = 10
START = datetime(2025, 1, 1, tzinfo=UTC)
CASES = {
    "everyday": Path(__file__).with_name("updates_cases.txt"),
    "paraphrased": Path(__file__).with_name("updates_paraphrased.txt"),
    "held out": Path(__file__).with_name("updates_held_out.txt"),
    "titled": Path(__file__).with_name("updates_titled.txt"),
    "turns": Path(__file__).with_name("updates_turns.txt"),
    "mixed": Path(__file__).with_name("updates_mixed.txt"),
}
ALONE = Path(__file__).with_name("updates_pairs.txt")
VALUES = (
    "number", "number in words", "range", "ratio", "unit", "currency", "date", "am/pm", "version",
    "file and address", "name",
)  # fmt: skip
"""Kinds of contrasts that exchange a value, so that a mark may be right."""
LABELLED = ("sick", "breaking_nli")
NO_PAIRS = indexed(0, {}, ())
Rows = Sequence[Mapping[str, Any]]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--data", type=existing_folder, help="folder of the chats")
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--cache", type=Path, help="keep the saved turns here, for the next time")
    parser.add_argument("--pairs", type=existing_folder, help="also mark pairs of sentences of this folder")
    parser.add_argument("--show", type=int, default=0, help="print so many marks of other questions")
    arguments = parser.parse_args(argv)
    collection = labelled(arguments.data) if arguments.data else None
    rows = []
    for name, file in CASES.items():
        notes, queries = cases_of(
            file, seen=SEEN.get(name, 0), halved=name == "everyday", together=OF_AN_AUTHOR.get(name, 0)
        )
        answers = {
            query["_id"]: dict.fromkeys(query["outdated"], 1)
            for query in queries
            if name in SEEN and query["kind"] == "apart"
        }
        rows += _rows(name, notes, queries, answers, arguments)
    if collection:
        turns = [turn for turn in collection.documents if not says_nothing(turn["text"])]
        rows += _rows(collection.name, turns, collection.queries, collection.qrels, arguments)
    tables = {
        "updates": (rows, "counts are questions unless they say otherwise"),
        "pairs alone": (list(_alone(ALONE)), ""),
    }
    if arguments.pairs:
        tables["wrong marks"] = list(_wrong_marks(arguments.pairs)), ""
        tables["contradictions"] = list(_contradictions(arguments.pairs)), ""
    reports("updates", tables)


def cases_of(file: Path, *, seen: int, halved: bool, together: int = 0) -> tuple[Rows, Rows]:
    """Notes and questions of the project's own cases; ``half`` is fitted or held-out where there are both.

    Args:
        file: Of the cases, a line each.
        seen: First cases that were looked at (count); 0 if the file is no such one.
        halved: Whether every other case of a kind was.
        together: Cases of a namespace (count); 0 if all are in one.
    """
    notes, queries, counts = [], [], {"update": 0, "apart": 0}
    cases = [[part.strip() for part in line.split(" | ")] for line in lines_of(file.read_text("utf-8"))]
    for number, (kind, question, *texts) in enumerate(cases):
        counts[kind] += 1
        titled = len(texts) > PAIR
        space = {"namespace": f"author{number // together}"} if together else {}
        ids = [f"{number}-old", f"{number}-new"]
        days = (number, len(cases) + number)
        titles = texts[::2] if titled else ("", "")
        notes += [
            {"_id": name, "title": title, "text": text, "created_at": START + timedelta(days=day), **space}
            for name, title, text, day in zip(
                ids, titles, texts[1::2] if titled else texts, days, strict=True
            )
        ]
        half = ("fitted" if counts[kind] % 2 else "held-out") if halved else ""
        if seen:
            half = "fitted" if number < seen else "held-out"
        queries.append(
            {"_id": str(number), "text": question, "half": half, "outdated": ids[:1], "updated": ids[1:],
             "kind": "knowledge_update" if kind == "update" else kind, **space}
        )  # fmt: skip
    return notes, queries


def _rows(
    name: str,
    notes: Rows,
    queries: Rows,
    qrels: Mapping[str, Mapping[str, int]],
    arguments: Any,  # noqa: ANN401
) -> list[dict[str, Any]]:
    rows = []
    halves = sorted({query.get("half", "") for query in queries})
    with ExitStack() as stack:
        if arguments.cache:
            home = arguments.cache / f"updates-{name}-{arguments.model}"
        else:
            home = Path(stack.enter_context(tempfile.TemporaryDirectory())) / "home"
        spaces = fill(home, arguments.model, notes)
        for memory in spaces.values():
            stack.callback(memory.close)
        for order in ("nothing", "newest first", "rule"):
            for memory in spaces.values():
                policy = replace(memory.policy, mark_outdated=order == "rule")
                memory._space.__dict__["policy"] = policy
            found = {
                query["_id"]: spaces[space_of(query)].search(query["text"], limit=DEPTH)
                for query in track(queries, description=f"searching, {order}")
            }
            results = {
                query: _by_date(response[:SHOWN]) if order == "newest first" else tuple(response)
                for query, response in found.items()
            }
            for half in halves:
                asked = [query for query in queries if query.get("half", "") == half]
                shown = arguments.show if order == "rule" else 0
                rows.append(
                    {"set": f"{name} {half}".strip(), "model": arguments.model, "order": order,
                     **_measure(results, asked, shown), **_quality(results, asked, qrels)}
                )  # fmt: skip
    return rows


def fill(home: Path, model: str, notes: Rows) -> dict[str, Memory]:
    """One memory per namespace, in one home; a home of an earlier run is read again."""
    by_space: dict[str, list[dict[str, Any]]] = {}
    for number, note in enumerate(notes):
        created = note.get("created_at") or datetime.fromtimestamp(1_700_000_000 + number, UTC)
        saved = {"key": note["_id"], "content": note["text"], "created_at": created}
        if note.get("title"):
            saved["title"] = note["title"]
        by_space.setdefault(space_of(note), []).append(saved)
    is_new = not home.exists()
    spaces: dict[str, Memory] = {}
    for name, saved in track(by_space.items(), description="saving notes"):
        memory = spaces[name] = slowwave.open(
            home, namespace=name, embedding={"model": model}, reconsolidation={"policy": "off"},
            gate={"mode": "off"}, journal={"durability": "normal", "log_searches": False},
        )  # fmt: skip
        if len(spaces) > 1:  # one model for all
            memory._space.__dict__["embedder"] = next(iter(spaces.values())).embedder
        if is_new:
            memory.save_many(saved)
    return spaces


def _by_date(results: Sequence[Result]) -> tuple[Result, ...]:
    return tuple(sorted(results, key=lambda one: one.created_at, reverse=True))


def _measure(results: Mapping[str, Sequence[Result]], queries: Rows, show: int) -> dict[str, Any]:
    asked = above = either = marks = other = 0
    for query in queries:
        found = results[query["_id"]]
        by_id = {one.memory_id: one for one in found}
        marked = {one.source: by_id[one.outdated_by] for one in found[:SHOWN] if one.outdated_by in by_id}
        marks += len(marked)
        if query.get("kind") != "knowledge_update" or not query.get("updated"):
            other += len(marked)
            for old, new in list(marked.items())[: max(0, show - other + len(marked))]:
                print(query["text"], old, new.text[:200], sep="\n  ")
            continue
        places = {one.source: place for place, one in enumerate(found)}
        new = min((places.get(turn, DEPTH) for turn in query["updated"]), default=DEPTH)
        old = min((places.get(turn, DEPTH) for turn in query.get("outdated", ())), default=DEPTH)
        asked += 1
        above += new < old
        newest = {one.source for turn, one in marked.items() if turn in query.get("outdated", ())}
        either += new < old or not newest.isdisjoint(query["updated"])
    low, high = wilson(either, asked)
    return {"updates": asked, "updated_above": above, "or_marked": either,
            "rate": ratio(either, asked, 9), "low": low, "high": high, "marks": marks,
            "others": len(queries) - asked, "other_marks": other}  # fmt: skip


def _quality(
    results: Mapping[str, Sequence[Result]], queries: Rows, qrels: Mapping[str, Mapping[str, int]]
) -> dict[str, Any]:
    """Retrieval quality of the questions with judgments; of the others, the pair is what is relevant."""
    pairs = {query["_id"]: dict.fromkeys(query.get("updated", ()), 1) for query in queries}
    grades = {name: qrels.get(name) or pairs[name] for name in pairs}
    needed = {name: judged for name, judged in grades.items() if judged}
    run = {
        name: {one.source: -float(place) for place, one in enumerate(results[name])} or {"": 0.0}
        for name in needed
    }
    scores = ir_measures.calc_aggregate([nDCG @ 10, RR @ 5], needed, run)
    return {"ndcg@10": scores[nDCG @ 10], "mrr@5": scores[RR @ 5]}


def _wrong_marks(folder: Path) -> Iterator[dict[str, Any]]:
    """Marked pairs that are no updates: a row per set and a row per kind of contrast with one."""
    sentences = real_sentences(folder)
    made = [*contrasts(sentences, CHANGES, 60, changed=True), *templated(CHANGED, changed=True)]
    made += [*contrasts(sentences, HARMLESS, 60, changed=False), *templated(KEPT, changed=False)]
    sets = {"contrasts": [(one.old, one.new) for one in made if one.kind not in VALUES]}
    sets |= {
        f"contrasts: {kind}": [(one.old, one.new) for one in made if one.kind == kind] for kind in VALUES
    }
    sets |= {name: [(row["a"], row["b"]) for row in _labelled_pairs(folder, name)] for name in LABELLED}
    for name, pairs in sets.items():
        marked = sum(_is_marked(old, new) for old, new in track(pairs, description=name))
        low, high = wilson(marked, len(pairs))
        yield {"set": name, "pairs": len(pairs), "marked": marked, "rate": ratio(marked, len(pairs), 9),
               "low": low, "high": high}  # fmt: skip


def _labelled_pairs(folder: Path, name: str) -> list[dict[str, str]]:
    with (folder / "pairs" / f"{name}.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE))


def _contradictions(folder: Path) -> Iterator[dict[str, Any]]:
    """Pairs of short notes that a search says contradict each other, by label."""
    for name in LABELLED:
        by_label: dict[str, list[bool]] = {}
        for row in track(_labelled_pairs(folder, name), description=name):
            short = [ComparedPassage(side, "", "", "", row[side]) for side in ("a", "b")]
            marked = any(contradictions(NO_PAIRS, short))
            by_label.setdefault(row["label"].lower(), []).append(marked)
        for label, marks in by_label.items():
            low, high = wilson(sum(marks), len(marks))
            yield {"set": name, "label": label, "pairs": len(marks), "marked": sum(marks),
                   "rate": ratio(sum(marks), len(marks), 9), "low": low, "high": high}  # fmt: skip


def _alone(file: Path) -> Iterator[dict[str, Any]]:
    """Marks of pairs of short notes, each pair alone; of those that are apart, all are wrong."""
    found: dict[str, list[tuple[bool, bool, bool]]] = {}
    for line in lines_of(file.read_text("utf-8")):
        kind, question, old, new = (part.strip() for part in line.split(" | "))
        asked, pair = Question.of(question), _pair(old, new)
        is_marked = bool(outdated_memories(asked, pair))
        is_ordered = not is_marked and bool(likely_changes(asked, pair))
        found.setdefault(kind, []).append(
            (is_marked, first_newer(pair[:1], pair[1:]) is not None, is_ordered)
        )
    for kind, marks in found.items():
        asked_for, alone, ordered = (sum(column) for column in zip(*marks, strict=True))
        low, high = wilson(asked_for, len(marks))
        yield {"kind": kind, "pairs": len(marks), "asked": asked_for, "low": low, "high": high, "any": alone,
               "ordered": ordered}  # fmt: skip


def _pair(old: str, new: str) -> list[DatedPassage]:
    return [
        DatedPassage(name, "", text, "", START + timedelta(days=day), START + timedelta(days=day))
        for day, (name, text) in enumerate((("old", old), ("new", new)))
    ]


def _is_marked(old: str, new: str) -> bool:
    return bool(outdated_memories(Question.answered_by(old), _pair(old, new)))


if __name__ == "__main__":
    main()
