"""Gain of a boost for memory types that fit the kind of a question; the ranking has none.

    python bench/context_types.py [--model NAME] [--no-judge]

``question_kinds.jsonl`` beside this script has memories of mixed types, four on each subject, and questions
of four kinds: how to do something, what was decided and why, who, and what must or must not be. A few
memories are of type ``note``, as users leave them. Precise questions name what they are about, vague ones
only the subject. The kind of a question is a label by hand; `kind_of` reads it from words. A result gains
``weight`` if its type fits the kind.

The weight is chosen on the questions of every second subject and measured on the others. ``by hand`` takes
the labels instead of the rule: what a perfect rule would gain. ``untyped`` gives every second memory the type
``note``. The agreement of labels: of the rule's kinds, and of the default judge, with those by hand.
"""

from __future__ import annotations

import re
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from _data import lines
from _report import bench, options, reports

import slowwave
from slowwave.embedding.reranking import load_reranker
from slowwave.evaluation.judging.default_judge import WordsAndModel
from slowwave.evaluation.judging.model import Pair
from slowwave.scoring.evaluation.comparison import compare
from slowwave.scoring.intervals import wilson

DATA = Path(__file__).with_name("question_kinds.jsonl")
WEIGHTS = (0.0, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12)
FITTING = {
    "procedure": frozenset({"procedure"}),
    "decision": frozenset({"decision"}),
    "person": frozenset({"person"}),
    "constraint": frozenset({"constraint"}),
}
_KINDS = (
    ("person", re.compile(r"\b(?:who|whom|whose)\b", re.IGNORECASE)),
    ("decision", re.compile(r"\b(?:why|decided?|decision|reason|chose|choose)\b", re.IGNORECASE)),
    ("constraint", re.compile(
        r"\b(?:must|may|allowed|forbidden|limit|maximum|at most|have to|how (?:long|fast|hot|many|much))\b",
        re.IGNORECASE,
    )),
    ("procedure", re.compile(r"\b(?:how (?:do|to|can|should|is)|steps?)\b", re.IGNORECASE)),
)  # fmt: skip
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Asked:
    """A question, and the reciprocal rank of its answer by weight."""

    text: str
    kind: str
    answer: str
    topic: str
    wording: str
    scores: Mapping[str, float]


def kind_of(query: str) -> str:
    """The kind of a question by its words; ``none`` if no word tells."""
    return next((kind for kind, pattern in _KINDS if pattern.search(query)), "none")


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--no-judge", action="store_true", help="leave out the default judge")
    arguments = parser.parse_args(argv)
    rows = lines(DATA, "row", "text")
    memories = {row["key"]: row for row in rows if row["row"] == "memory"}
    questions = [row for row in rows if row["row"] == "question"]
    with tempfile.TemporaryDirectory() as folder:
        asked = searched(Path(folder), memories, questions, arguments.model)
    types = {key: row["type"] for key, row in memories.items()}
    untyped = {key: "note" if at % 2 else kind for at, (key, kind) in enumerate(types.items())}
    kinds: Mapping[str, Callable[[Asked], str]] = {
        "by rule": lambda one: kind_of(one.text),
        "by hand": lambda one: one.kind,
    }
    gains = [
        row
        for wording in dict.fromkeys(one.wording for one in asked)
        for name, kind in kinds.items()
        for label, typed in (("typed", types), ("untyped", untyped))
        for row in gain_rows((wording, name, label), asked, kind, typed)
    ]
    tables: dict[str, tuple[list[dict[str, Any]], str]] = {"gain": (gains, arguments.model)}
    tables["agreement"] = ([kind_agreement(asked)], "")
    if not arguments.no_judge:
        tables["agreement"][0].append(judge_agreement(asked, memories))
    reports("context_types", tables)


def searched(
    home: Path, memories: Mapping[str, Any], questions: Sequence[Mapping[str, Any]], model: str
) -> list[Asked]:
    """Every question with the scores of all memories that its search returns."""
    settings = {"embedding": {"model": model}}
    with slowwave.open(home, namespace="kinds", principal="bench", **settings) as memory:
        memory.save_many(
            [
                {"content": row["text"], "key": key, "memory_type": row["type"]}
                for key, row in memories.items()
            ]
        )
        asked = []
        for row in questions:
            found = memory.search(row["text"], limit=len(memories), include_weak=True, log=False)
            scores = {one.source: one.score for one in found}
            asked.append(Asked(row["text"], row["kind"], row["answer"], row["topic"], row["wording"], scores))
    return asked


def gain_rows(
    labels: tuple[str, str, str],
    asked: Sequence[Asked],
    kind: Callable[[Asked], str],
    types: Mapping[str, str],
) -> list[dict[str, Any]]:
    """The weight that is best on one half of the subjects, measured on the other, and the reverse.

    One weight is chosen for both wordings, as a setting has it; the figures are of one wording.
    """
    wording, by, typed = labels
    topics = sorted({one.topic for one in asked})
    half = np.array([topics.index(one.topic) % 2 == 0 for one in asked])
    ranks = np.array([[reciprocal(one, kind(one), types, weight) for one in asked] for weight in WEIGHTS])
    own = np.array([one.wording == wording for one in asked])
    rows = []
    for fitted, held in ((half, ~half & own), (~half, half & own)):
        best = int(ranks[:, fitted].mean(axis=1).argmax())  # the least of equal weights
        found = compare(ranks[0, held], ranks[best, held], margin=0.0)
        rows.append(
            {
                "questions": wording,
                "kind": by,
                "memories": typed,
                "weight": WEIGHTS[best],
                "n": int(held.sum()),
                "MRR without": round(float(ranks[0, held].mean()), 4),
                "MRR with": round(float(ranks[best, held].mean()), 4),
                "difference": f"{found.difference:+.4f} [{found.low:+.4f}, {found.high:+.4f}]",
            }
        )
    return rows


def reciprocal(one: Asked, kind: str, types: Mapping[str, str], weight: float) -> float:
    """Reciprocal rank of the answer after the boost, 0 beyond rank 5; ties count against it."""
    fitting = FITTING.get(kind, frozenset())
    scores = {key: score + weight * (types[key] in fitting) for key, score in one.scores.items()}
    if one.answer not in scores:
        return 0.0
    rank = sum(score >= scores[one.answer] for score in scores.values())
    return 1 / rank if rank <= 5 else 0.0


def kind_agreement(asked: Sequence[Asked]) -> dict[str, Any]:
    """Share of the questions whose kind by rule is the label by hand."""
    same = [kind_of(one.text) == one.kind for one in asked]
    return _agreed("kind of the question", same)


def judge_agreement(asked: Sequence[Asked], memories: Mapping[str, Any]) -> dict[str, Any]:
    """Share of the pairs of question and memory of its subject on which judge and label agree."""
    pairs = [
        (one, key, Pair(one.text, "", row["text"]))
        for one in asked
        for key, row in memories.items()
        if key.startswith(f"{one.topic}-")
    ]
    grades = WordsAndModel(load_reranker()).grade([pair for _, _, pair in pairs])
    same = [
        (grade.grade > 0) == (key == one.answer) for (one, key, _), grade in zip(pairs, grades, strict=True)
    ]
    return _agreed("default judge, relevant or not", same)


def _agreed(name: str, same: Sequence[bool]) -> dict[str, Any]:
    low, high = wilson(sum(same), len(same))
    return {
        "labels": name,
        "n": len(same),
        "agreement": f"{sum(same) / len(same):.3f} [{low:.3f}, {high:.3f}]",
    }


if __name__ == "__main__":
    main()
