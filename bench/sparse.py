"""Recall of short memories among long ones (rule 3.5).

    python bench/sparse.py [--model NAME] [--limit 10]

Ten places have eight long notes each (about ten chunks that all name the place) and five facts in notes
of one sentence. Questions ask for these facts, or for one that stands in the middle of a long note. ``by
id`` asks for the short memory alone: when that fails, it was never taken in properly. Rates come with
their 95 % Wilson intervals. ``injected`` counts places given by the guarantee, ``false_positive_rate``
how many of them were not what was asked for.
"""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from _report import bench, options, positive, ratio, report
from rich.progress import track

import slowwave
from slowwave.scoring.intervals import wilson
from slowwave.scoring.ranking import SEEDS, RankingPolicy, rank
from slowwave.search.searcher import searcher_in
from slowwave.tuning.fit import AS_OF
from slowwave.views.terminal import bars

PLACES = (
    "Hoxa", "Lyness", "Swona", "Burray", "Copinsay", "Stronsay", "Pierowall", "Whitehall", "Brough",
    "Tingwall",
)  # fmt: skip
# question, the sentence that answers it
SHORT = (
    (
        "Where is the spare key of the {0} hut kept?",
        "The spare key of the {0} hut hangs behind the fuse box.",
    ),
    ("Who clears the snow at {0}?", "Snow at {0} is cleared by Magnus Rendall, call him before seven."),
    ("Which SIM card is in the {0} modem?", "The {0} modem has the SIM card that ends in 4471."),
    ("When may nobody land at {0}?", "Nobody lands at {0} between mid September and Christmas: seals."),
    ("What is the code of the {0} gate?", "The gate at {0} opens with 5 1 9 0 and a hard push."),
)
DENSE = (
    ("How deep is the {0} gauge mounted?", "The gauge of {0} is mounted 2.4 metres below chart datum."),
    ("Which paint is on the {0} mast?", "The mast of {0} has two coats of zinc-rich epoxy paint."),
    ("What drives the {0} wiper motor?", "The wiper motor of {0} runs from a 24 volt relay of its own."),
)
TOPICS = (
    "levelling", "battery care", "radio link", "maintenance log", "storm season", "spare parts",
    "site access", "data quality",
)  # fmt: skip
SENTENCES = (
    "At {0} the {1} of the {2} was checked in week {3} and found to be within what the manual allows.",
    "The crew that visited {0} noted the {2} of the {1}, took {3} photographs and left before the tide.",
    "For {0} we keep a list of every {1}; the {2} is written down beside it, with the date and {3} initials.",
    "When the wind at {0} is above {3} knots the {1} is left alone and the {2} is looked at another day.",
    "A visitor to {0} asked about the {1}; we explained the {2} and gave them leaflet number {3}.",
    "The report on {0} gives {3} pages to the {2} and says of the {1} that nothing has to be done this year.",
)
THINGS = (
    "antenna", "solar panel", "logger", "cable duct", "bracket", "float", "enclosure", "ladder", "cleat",
)  # fmt: skip


@dataclass(frozen=True)
class Question:
    """A question and the note that answers it."""

    text: str
    key: str
    kind: str


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--limit", type=positive, default=10, help="results asked for")
    parser.add_argument("--places", type=positive, default=len(PLACES), help="the first so many")
    parser.add_argument("--words", type=positive, default=1_100, help="of a long note")
    arguments = parser.parse_args(argv)
    notes, questions = fixtures(PLACES[: arguments.places], arguments.words)
    with (
        tempfile.TemporaryDirectory() as home,
        slowwave.open(
            Path(home), namespace="bench", embedding={"model": arguments.model}, gate={"mode": "off"}
        ) as memory,
    ):
        with bars():
            memory.save_many(notes)
        rows = _measure(memory, questions, arguments.limit)
    note = f"{len(notes)} notes, {len(questions)} questions, top {arguments.limit}, {arguments.model}"
    report("sparse", rows, note=note)


def fixtures(places: Sequence[str], words: int) -> tuple[list[dict[str, Any]], list[Question]]:
    """The notes and the questions, always the same."""
    random = np.random.default_rng(0)
    notes: list[dict[str, Any]] = []
    questions: list[Question] = []
    for place in places:
        for number, (question, fact) in enumerate(SHORT):
            key = f"{place} fact {number}"
            notes.append({"key": key, "content": fact.format(place)})
            questions.append(Question(question.format(place), key, "short"))
        for at, topic in enumerate(TOPICS):
            sentences = _padding(random, place, words)
            key = f"{place} {topic}"
            if at < len(DENSE):
                asked, told = DENSE[at]
                sentences.insert(len(sentences) // 2, told.format(place))
                questions.append(Question(asked.format(place), key, "long"))
            paragraphs = ["  ".join(sentences[i : i + 5]) for i in range(0, len(sentences), 5)]
            notes.append({"key": key, "title": f"{place}: {topic}", "content": "\n\n".join(paragraphs)})
    return notes, questions


def _padding(random: np.random.Generator, place: str, most: int) -> list[str]:
    sentences: list[str] = []
    words = 0
    while words < most:
        first, second = random.choice(THINGS, 2, replace=False)
        pattern = SENTENCES[int(random.integers(len(SENTENCES)))]
        sentences.append(pattern.format(place, first, second, int(random.integers(2, 60))))
        words += len(sentences[-1].split())
    return sentences


def _measure(memory: slowwave.Memory, questions: list[Question], limit: int) -> list[dict[str, Any]]:
    present = memory.policy.complete
    seeds = replace(
        SEEDS, vector_weight=present.vector_weight, cosine_floor=present.cosine_floor,
        sparse_distance=present.sparse_distance, abstention_floor=0.0,
    )  # fmt: skip
    policies: dict[str, RankingPolicy] = {
        "guaranteed": present,
        "not guaranteed": replace(present, sparse_recall=False),
        "seeds, guaranteed": seeds,
        "seeds, not guaranteed": replace(seeds, sparse_recall=False),
    }
    found: dict[tuple[str, str], list[bool]] = {}
    injected: dict[str, list[bool]] = {name: [] for name in policies}
    by_id: list[bool] = []
    size = max(memory.settings.ranking.candidates, 3 * limit)
    for question in track(questions, description="searching"):
        one = searcher_in(memory.home).find(memory.namespace, question.text, size)
        source: Mapping[str, str] = dict(
            zip(one.candidates.memory_ids, one.shown.column("source").to_pylist(), strict=True)
        )
        for name, policy in policies.items():
            ranking = rank(one.candidates, policy, as_of=AS_OF, limit=limit)
            keys = [source[result.memory_id] for result in ranking.results]
            found.setdefault((question.kind, name), []).append(question.key in keys)
            injected[name] += [source[one.memory_id] == question.key for one in ranking.injections]
        if question.kind == "short":
            alone = memory.search(question.text, limit=1, source=question.key)
            by_id.append([result.source for result in alone] == [question.key])
    rows = [_rate("by id", "short", by_id)]
    for (kind, name), passed in sorted(found.items()):
        row = _rate(name, kind, passed)
        if kind == "short":
            hits = injected[name]
            row |= {"injected": len(hits), "hits": sum(hits)}
            row["false_positive_rate"] = round(1 - sum(hits) / len(hits), 3) if hits else None
        rows.append(row)
    return rows


def _rate(name: str, kind: str, passed: list[bool]) -> dict[str, Any]:
    low, high = wilson(sum(passed), len(passed))
    return {
        "run": name,
        "answer_in": kind,
        "questions": len(passed),
        "pass_rate": ratio(sum(passed), len(passed), 3),
        "low": round(low, 3),
        "high": round(high, 3),
    }


if __name__ == "__main__":
    main()
