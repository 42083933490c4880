"""Accuracy of detecting the returned texts that an answer used (rule 4.1).

    python bench/answers.py --data mtrag_human.jsonl [--collection FOLDER ...] [--model NAME] [--cache FOLDER]

``--data`` has answers of conversations, the passages that they were given and the marks of three people.
Answers to answerable questions with a median mark of faithfulness of 3 or 4 are taken for answers that were
shown ten texts: their own passages, and the nearest to the question of those that they cannot have seen. Such
a passage is of another document, says something else, and is of another conversation or was first given at a
later turn: that it was *not used* is certain. *Used* is not marked. It is taken to mean one of

==========  ==================================================================================================
``given``   every passage that was given: people kept them as relevant, but not every answer needs them all
``only``    the passage of an answer that was given no other (few)
``quoted``  seven words in a row of the answer are in it, and in no other passage given or the question
==========  ==================================================================================================

Precision, F1 and ``ignored_right`` (the share of the ignored that were not used) are those of ``given``.
Their intervals are 95 % bootstrap intervals over conversations; those of rates of false use are Wilson's and
take the pairs for independent. ``beyond the query`` is what the weights use.

A ``--collection`` in BEIR form whose queries have an ``answer`` is searched: ten results are shown, of which
the relevant ones are *used*. The response is the answer, or the question and the answer, as people speak, or
the question alone, which uses nothing.

``short_answers.jsonl`` beside this script has short answers in 17 languages with the memories that they use,
by the author of the rule: values, names, yes and no, wrong values, denials, and replies that use nothing. The
rule was corrected after a look at the part ``seen``; ``unseen`` was written afterwards and run once.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from _answers import Answers, Case, Shown, searched, sentences, short_cases
from _data import labelled
from _report import (
    UnusableError,
    bench,
    existing_file,
    existing_folder,
    options,
    positive,
    ratio,
    reports,
    rounded,
)

from slowwave.embedding import Embedder, load_embedder
from slowwave.quality.answer_usage import judge_usage
from slowwave.scoring.evaluation import auroc
from slowwave.scoring.feedback.usage import DEFAULT, Usage, usage
from slowwave.scoring.intervals import wilson
from slowwave.settings import EmbeddingSettings
from slowwave.tuning import opened
from slowwave.views.terminal import bars

THRESHOLDS = (0.05, 0.10, 0.15, 0.20, 0.25, 0.30, 0.40, 0.50)
SENTENCES = {"1": (1, 1), "2 to 3": (2, 3), "4 to 6": (4, 6), "7 to 12": (7, 12), "13 or more": (13, 10_000)}
GRID = np.round(np.arange(0.02, 0.98, 0.02), 2)
DRAWS = 2_000
Bools = npt.NDArray[np.bool_]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True)
class Judged:
    """A text beside an answer, and what is said of it.

    Attributes:
        plain: without the similarity.
        helped: with it.
        shipped: of the rule as `observe` applies it: with short answers and denials, without similarity.
        seed: ratio as the seed document has it.
        cosine: of text and answer, at least 0.
        length: of the answer (words).
    """

    case: Case
    one: Shown
    plain: Usage
    helped: Usage
    shipped: Usage
    seed: float
    cosine: float
    length: int


SCORES: dict[str, Callable[[Judged], float]] = {
    "seed": lambda it: it.seed,
    "words": lambda it: it.plain.ratio or 0.0,
    "beyond the query": lambda it: it.plain.ratio_beyond_query or 0.0,
    "similarity alone": lambda it: it.cosine,
}
METHODS: dict[str, Callable[[Judged], bool]] = {
    "everything used": lambda _: True,
    "nothing used": lambda _: False,
    "seed": lambda it: it.seed > DEFAULT.used_ratio,
    "words": lambda it: it.plain.verdict == "used",
    "beyond the query": lambda it: it.plain.beyond_query,
    "and similarity": lambda it: it.helped.beyond_query,
    "short answers and denials": lambda it: it.shipped.beyond_query,
    "similarity alone": lambda it: it.cosine >= DEFAULT.similarity,
}
RULES = ("seed", "words", "beyond the query", "short answers and denials", "and similarity")
SHORT = Path(__file__).with_name("short_answers.jsonl")


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument(
        "--data", type=existing_file, required=True, help="answers with their passages and marks"
    )
    parser.add_argument(
        "--collection", type=existing_folder, nargs="+", default=[], help="folders of collections"
    )
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model of the similarity")
    parser.add_argument("--queries", type=positive, default=300, help="at most so many of each collection")
    parser.add_argument("--cache", type=Path, help="keep the embedded collections here, for the next time")
    arguments = parser.parse_args(argv)
    embedder = load_embedder(EmbeddingSettings(model=arguments.model))
    cases = list(Answers(arguments.data, embedder).cases())
    cosine = Cosines(embedder)
    everything = judge(cases, cosine)
    ten = [it for it in everything if it.one.kind in ("given", "near") and not it.case.refused]
    if not ten:
        raise UnusableError(
            f"{arguments.data} has no answer to an answerable question that kept to its texts"
        )
    quoted, groups = sum(it.one.quoted for it in ten), {it.case.group for it in ten}
    note = (
        f"{len(ten):,} shown: {_used(ten).sum()} given, {quoted} of them quoted; "
        f"{len(groups)} conversations; {arguments.model}"
    )
    tables = {
        "verdicts": ([_verdict_row(name, ten) for name in METHODS], note),
        "thresholds": ([row for name in SCORES for row in _threshold_rows(name, ten)], ""),
        "not used": (_false_rows(everything, judge(sentences(cases), cosine)), ""),
        "lengths": (_length_rows(ten), ""),
        "short answers": (_short_rows(judge(list(short_cases(SHORT)), cosine)), SHORT.name),
    }
    rows = [row for folder in arguments.collection for row in _collection_rows(folder, cosine, arguments)]
    if rows:
        tables["collections"] = rows, ""
    reports("answers", tables)


def judge(cases: Sequence[Case], cosine: Cosines) -> list[Judged]:
    """What is said of every text beside every answer."""
    cosine.learn(cases)
    found = []
    for case in cases:
        texts = [one.text for one in case.shown]
        plain = usage(texts, case.response, case.query)
        helped = judge_usage(texts, case.response, case.query, similarity=cosine)
        shipped = judge_usage(texts, case.response, case.query)
        low, length = case.response.lower(), len(case.response.split())
        for one, without, with_it, whole in zip(case.shown, plain, helped, shipped, strict=True):
            near, seed = cosine(one.text, case.response), _seed_ratio(one.text, low)
            found.append(Judged(case, one, without, with_it, whole, seed, near, length))
    return found


def _seed_ratio(text: str, response: str) -> float:
    """The seed's rule: words of ASCII letters and digits, found anywhere in the lower-cased response."""
    bare = ("".join(c for c in word if c.isascii() and c.isalnum()) for word in text.lower().split())
    own = {word for word in bare if len(word) > 4}
    return sum(word in response for word in own) / len(own) if own else 0.0


class Cosines:
    """Cosine of two texts, at least 0; each is embedded once."""

    def __init__(self, embedder: Embedder) -> None:
        self._embedder = embedder
        self._vectors: dict[str, Floats] = {}

    def learn(self, cases: Sequence[Case]) -> None:
        """Embed the texts and the answers."""
        texts = [one.text for case in cases for one in case.shown] + [case.response for case in cases]
        new = list(dict.fromkeys(text for text in texts if text not in self._vectors))
        self._vectors |= zip(new, self._embedder.embed_documents(new), strict=True)

    def __call__(self, text: str, response: str) -> float:
        """Cosine of a text and an answer that were learnt."""
        return min(1.0, max(0.0, float(self._vectors[text] @ self._vectors[response])))


def _verdict_row(name: str, shown: Sequence[Judged]) -> dict[str, Any]:
    said = np.array([METHODS[name](it) for it in shown], dtype=bool)
    used = _used(shown)
    labels = {
        "given": used,
        "only": np.array([it.one.only for it in shown], dtype=bool),
        "quoted": np.array([it.one.quoted for it in shown], dtype=bool),
    }
    row: dict[str, Any] = {"rule": name}
    row |= _with_interval("precision", shown, used & said, said)
    for label, labelled_so in labels.items():
        row |= _with_interval(f"recall_{label}", shown, labelled_so & said, labelled_so)
    row |= {"f1": _f1(said, used)}
    row |= _with_interval("ignored_right", shown, ~used & ~said, ~said)
    return row


def _with_interval(name: str, shown: Sequence[Judged], hits: Bools, of: Bools) -> dict[str, Any]:
    """A ratio of two counts and its percentile bootstrap interval over conversations."""
    groups, at = np.unique([it.case.group for it in shown], return_inverse=True)
    above, below = (np.bincount(at, weights=counted, minlength=len(groups)) for counted in (hits, of))
    if not below.sum():
        return {name: None}
    drawn = np.random.default_rng(0).integers(0, len(groups), (DRAWS, len(groups)))
    totals = below[drawn].sum(axis=1)
    ratios = above[drawn].sum(axis=1)[totals > 0] / totals[totals > 0]
    low, high = np.quantile(ratios, [0.025, 0.975])
    return {name: f"{above.sum() / below.sum():.3f} [{low:.2f}, {high:.2f}]"}


def _threshold_rows(name: str, shown: Sequence[Judged]) -> list[dict[str, Any]]:
    """The curve, and the threshold that is best on one half of the conversations, measured on the other."""
    score, used = np.array([SCORES[name](it) for it in shown], dtype=float), _used(shown)
    quoted = np.array([it.one.quoted for it in shown], dtype=bool)
    groups = sorted({it.case.group for it in shown})
    half = np.array([groups.index(it.case.group) % 2 == 0 for it in shown], dtype=bool)
    area = rounded(auroc(score[used], score[~used]))
    best = [float(max(GRID, key=lambda at: _f1(score[part] > at, used[part]))) for part in (half, ~half)]
    across = np.where(half, score > best[1], score > best[0])
    marks = [(f"> {at:.2f}", score > at) for at in THRESHOLDS] if name != "similarity alone" else []
    rows = []
    for mark, said in [*marks, (f"best of the other half: {best[1]:.2f}, {best[0]:.2f}", across)]:
        rows.append(
            {
                "score": name,
                "auroc": area,
                "threshold": mark,
                "precision": _ratio(used & said, said),
                "recall_given": _ratio(used & said, used),
                "recall_quoted": _ratio(quoted & said, quoted),
                "false_use": _ratio(~used & said, ~used),
                "f1": _f1(said, used),
            }
        )
    return rows


def _false_rows(everything: Sequence[Judged], short: Sequence[Judged]) -> list[dict[str, Any]]:
    """How often what was certainly not used is called used, by how near it is and how short."""
    answered = [it for it in everything if not it.case.refused]
    refusals = [it for it in everything if it.case.refused and it.one.kind == "near"]
    kinds = {
        "random": [it for it in answered if it.one.kind == "random"],
        "near the question": [it for it in answered if it.one.kind == "near"],
        "of a later turn": [it for it in answered if it.one.kind == "later"],
        "near, to a refusal": refusals,
    }
    for name, (low, high) in SENTENCES.items():
        kinds[f"sentence, {name} keywords"] = [it for it in short if low <= it.plain.keywords <= high]
    rows = []
    for kind, of_kind in kinds.items():
        row: dict[str, Any] = {"texts": kind, "n": len(of_kind)}
        for name in RULES:
            false = sum(METHODS[name](it) for it in of_kind)
            least, most = wilson(false, len(of_kind))
            row[name] = f"{false / len(of_kind):.4f} [{least:.4f}, {most:.4f}]" if of_kind else None
        rows.append(row)
    return rows


def _length_rows(shown: Sequence[Judged]) -> list[dict[str, Any]]:
    """The same by the length of the text and of the answer, in four parts of about one size."""
    rows = []
    lengths: Mapping[str, Callable[[Judged], int]] = {
        "keywords of the text": lambda it: it.plain.keywords,
        "words of the answer": lambda it: it.length,
    }
    for name, length in lengths.items():
        sizes = np.array([length(it) for it in shown])
        given = sizes[_used(shown)]
        cuts = np.quantile(given if len(given) else sizes, [0, 0.25, 0.5, 0.75, 1]).astype(int)
        cuts[0], cuts[-1] = 0, sizes.max() + 1
        for low, high in pairwise(cuts.tolist()):
            part = [it for it, size in zip(shown, sizes, strict=True) if low <= size < high]
            used = _used(part)
            row: dict[str, Any] = {"by": name, "from": low, "to": high - 1, "given": int(used.sum())}
            for rule in ("words", "beyond the query", "and similarity"):
                said = np.array([METHODS[rule](it) for it in part], dtype=bool)
                row[f"{rule}: recall"] = _ratio(used & said, used)
                row[f"{rule}: false"] = _ratio(~used & said, ~used)
            score = np.array([SCORES["words"](it) for it in part], dtype=float)
            row["auroc of words"] = rounded(auroc(score[used], score[~used]))
            rows.append(row)
    return rows


def _collection_rows(folder: Path, cosine: Cosines, arguments: argparse.Namespace) -> list[dict[str, Any]]:
    collection = labelled(folder)
    with bars(), opened(collection, arguments.model, cache=arguments.cache) as spaces:
        cases = searched(collection, spaces, arguments.queries)
    forms = {
        "the answer": cases,
        "question and answer": [replace(case, response=f"{case.query} {case.response}") for case in cases],
        "the question": [replace(case, response=case.query) for case in cases],
    }
    rows = []
    for form, said in forms.items():
        shown = judge(said, cosine)
        used = _used(shown) & (form != "the question")
        for name in (*RULES, "similarity alone"):
            found = np.array([METHODS[name](it) for it in shown], dtype=bool)
            row: dict[str, Any] = {"set": collection.name, "response": form, "rule": name}
            row |= {"used": int(used.sum()), "shown": len(shown)}
            row |= {"precision": _ratio(used & found, found), "recall": _rate(used & found, used)}
            row["false_use"] = _rate(~used & found, ~used)
            if name in SCORES and used.any():
                score = np.array([SCORES[name](it) for it in shown], dtype=float)
                row["auroc"] = rounded(auroc(score[used], score[~used]))
            rows.append(row)
    return rows


def _short_rows(shown: Sequence[Judged]) -> list[dict[str, Any]]:
    """Recall and false use of each rule, by the kind of the short answer."""
    used, rows = _used(shown), []
    parts, kinds = zip(*(it.case.group.split(": ") for it in shown), strict=True)
    cases = np.array([id(it.case) for it in shown])
    for kind in dict.fromkeys(["all", *parts, *kinds]):
        of_kind = np.array([kind in ("all", *pair) for pair in zip(parts, kinds, strict=True)], dtype=bool)
        row: dict[str, Any] = {"kind": kind, "answers": len(set(cases[of_kind].tolist()))}
        for name in ("beyond the query", "short answers and denials"):
            found = np.array([METHODS[name](it) for it in shown], dtype=bool)
            row[f"{name}: recall"] = _rate(used & found & of_kind, used & of_kind)
            row[f"{name}: false use"] = _rate(~used & found & of_kind, ~used & of_kind)
        rows.append(row)
    return rows


def _used(shown: Sequence[Judged]) -> Bools:
    return np.array([it.one.kind == "given" for it in shown], dtype=bool)


def _ratio(hits: Bools, of: Bools) -> float | None:
    return ratio(hits.sum(), of.sum())


def _rate(hits: Bools, of: Bools) -> str | None:
    """A share with its 95 % Wilson interval."""
    part, whole = int(hits.sum()), int(of.sum())
    if not whole:
        return None
    low, high = wilson(part, whole)
    return f"{part / whole:.4f} [{low:.4f}, {high:.4f}]"


def _f1(said: Bools, used: Bools) -> float:
    both = int((said & used).sum())
    return round(2 * both / max(1, int(said.sum() + used.sum())), 4)


if __name__ == "__main__":
    main()
