"""Rate of wrong near-duplicate, merge and supersede decisions, on labelled sentence pairs (rule 2.3).

    python bench/pairs.py --pairs FILE... [--model NAME] [--cache FOLDER] [--show N]

A file is a table with tabs; its header tells its form: ``label category a b``, ``label relatedness_1_5 a b``
or ``score_0_5 a b``. Text a stands for the old memory, b for the new one; neither has a title or a source.

============  ======================================  =================================================
form          pairs that differ                       pairs that say the same
============  ======================================  =================================================
category      label contradiction                     label entailment
relatedness   label CONTRADICTION                     label ENTAILMENT and relatedness at least 4.8
score         score at most 3                         score at least 4.8
============  ======================================  =================================================

The rates false_duplicate, false_merge and false_supersede are shares of all pairs that differ;
missed_duplicate is the share of the pairs that say the same, and stand at the merge threshold or above, that
are neither refused as a duplicate nor merged. Intervals are 95 % Wilson intervals. The baselines are
``exact`` (only equal normalised texts are duplicates) and ``cosine`` (the threshold of the gate alone).
"""

from __future__ import annotations

import csv
import hashlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from _report import UnusableError, bench, existing_file, options, ratio, report
from rich.console import Console
from rich.progress import track

from slowwave.embedding import load_embedder, profile
from slowwave.quality.divergence.difference import Difference, explain
from slowwave.quality.divergence.guard import DivergenceGuard
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.reconsolidation import Outcome, Thresholds, decide, is_near_duplicate
from slowwave.scoring.intervals import wilson
from slowwave.settings import EmbeddingSettings

BATCH = 1_000
SAME_RELATEDNESS = 4.8
SAME_SCORE = 4.8
DIFFERENT_SCORE = 3.0
POLICIES = ("guarded", "literal", "cosine", "exact")


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts; `same` is None where the label says neither that they agree nor that they differ."""

    table: str
    old: str
    new: str
    same: bool | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A pair with its cosine and what was decided under one policy."""

    pair: Pair
    similarity: float
    differences: tuple[Difference, ...]
    outcome: Outcome


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument(
        "--pairs", type=existing_file, nargs="+", required=True, help="tables of labelled pairs"
    )
    parser.add_argument("--model", default="bge-small-en-v1.5", help="embedding model")
    parser.add_argument("--cache", type=Path, help="folder that keeps the vectors for the next run")
    parser.add_argument("--show", type=int, default=0, help="examples of each kind of error to print")
    arguments = parser.parse_args(argv)
    pairs = [pair for path in arguments.pairs for pair in read_pairs(path)]
    if arguments.cache is None:
        with tempfile.TemporaryDirectory() as folder:
            similarity = cosines(pairs, arguments.model, Path(folder))
    else:
        similarity = cosines(pairs, arguments.model, arguments.cache)
    thresholds = profile(arguments.model).thresholds
    judged = judge(pairs, similarity, thresholds)
    rows = [
        row
        for policy in POLICIES
        for table in _tables(pairs)
        for row in rates(policy, table, judged[policy], thresholds)
    ]
    _print_outcomes(judged, thresholds, arguments.show)
    report("pairs", rows, note=f"{len(pairs):,} pairs, {arguments.model}, {thresholds}")


def read_pairs(path: Path) -> list[Pair]:
    """The pairs of one table.

    Raises:
        UnusableError: the header is none of the three forms, or a line has not what it says.
    """
    with path.open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
        header = reader.fieldnames or ()
        rows = list(reader)
    forms: dict[str, Callable[[dict[str, str]], bool | None]] = {
        "category": _by_label,
        "relatedness_1_5": _by_relatedness,
        "score_0_5": _by_score,
    }
    known = next((form for form in forms if form in header), None)
    wanted = {"a", "b"} | (set() if known == "score_0_5" else {"label"})
    if known is None or not wanted <= {*header}:
        raise UnusableError(
            f"{path}: the header must hold a, b, and score_0_5 or label with category or relatedness_1_5"
        )
    pairs = []
    for number, row in enumerate(rows, start=2):
        try:
            whole = None not in row.values()  # a line that is too short lacks its last columns
            same = forms[known](row) if whole else None
        except ValueError:
            whole = False
        if not whole:
            raise UnusableError(f"{path}, line {number} is not {', '.join(header)}")
        pairs.append(Pair(path.stem, row["a"], row["b"], same))
    if not pairs:
        raise UnusableError(f"{path} has no pair")
    return pairs


def _by_label(row: dict[str, str]) -> bool | None:
    return {"contradiction": False, "entailment": True}.get(row["label"].lower())


def _by_relatedness(row: dict[str, str]) -> bool | None:
    same = _by_label(row)
    return None if same and float(row["relatedness_1_5"]) < SAME_RELATEDNESS else same


def _by_score(row: dict[str, str]) -> bool | None:
    score = float(row["score_0_5"])
    if score <= DIFFERENT_SCORE:
        return False
    return True if score >= SAME_SCORE else None


def cosines(pairs: Sequence[Pair], model: str, cache: Path) -> npt.NDArray[np.float64]:
    """Cosine of each pair under the model. Shape (n,)."""
    texts = dict.fromkeys(text for pair in pairs for text in (pair.old, pair.new))
    vectors = embed(list(texts), model, cache)
    return np.array([float(vectors[pair.old] @ vectors[pair.new]) for pair in pairs], dtype=np.float64)


def embed(texts: Sequence[str], model: str, cache: Path) -> dict[str, npt.NDArray[np.float32]]:
    """Unit vectors of the texts; those that the cache holds are not computed again."""
    cache.mkdir(parents=True, exist_ok=True)
    path = cache / f"pairs-{hashlib.sha256(model.encode()).hexdigest()[:12]}.npz"
    held: dict[str, npt.NDArray[np.float32]] = {}
    if path.exists():
        with np.load(path) as stored:
            held = dict(zip(stored["keys"].tolist(), stored["vectors"], strict=True))
    keys = {text: hashlib.sha256(f"{model}\n{text}".encode()).hexdigest()[:32] for text in texts}
    missing = [text for text in texts if keys[text] not in held]
    embedder = load_embedder(EmbeddingSettings(model=model))
    for at in track(range(0, len(missing), BATCH), description="embedding", disable=not missing):
        batch = missing[at : at + BATCH]
        held |= zip((keys[text] for text in batch), embedder.embed_documents(batch), strict=True)
        np.savez(path, keys=np.array(list(held)), vectors=np.array(list(held.values()), dtype=np.float32))
    return {text: held[keys[text]] for text in texts}


def judge(
    pairs: Sequence[Pair], similarity: Iterable[float], thresholds: Thresholds
) -> dict[str, list[Judged]]:
    """What each policy and each baseline decides about every pair."""
    judged: dict[str, list[Judged]] = defaultdict(list)
    for pair, value in zip(pairs, similarity, strict=True):
        found, subject = DivergenceGuard().compare(
            ComparedNote("", "", pair.new), ComparedNote("", "", pair.old)
        )
        outcomes: dict[str, Outcome] = {
            "guarded": decide(value, found, same_subject=subject, thresholds=thresholds, policy="guarded"),
            "literal": decide(value, found, same_subject=subject, thresholds=thresholds, policy="literal"),
            "cosine": "duplicate" if is_near_duplicate(value, thresholds) else "complement",
            "exact": "duplicate" if _normal(pair.old) == _normal(pair.new) else "complement",
        }
        for policy, outcome in outcomes.items():
            judged[policy].append(Judged(pair, value, found, outcome))
    return judged


def _normal(text: str) -> str:
    return " ".join(text.casefold().split())


def _tables(pairs: Sequence[Pair]) -> list[str]:
    return list(dict.fromkeys(pair.table for pair in pairs))


def errors(measure: str, judged: Sequence[Judged], thresholds: Thresholds) -> tuple[list[Judged], int]:
    """The pairs that a measure counts as errors, and out of how many."""
    if measure == "missed_duplicate":
        same = [one for one in judged if one.pair.same and one.similarity >= thresholds.merge]
        return [one for one in same if one.outcome not in {"duplicate", "merge"}], len(same)
    differ = [one for one in judged if one.pair.same is False]
    return [one for one in differ if one.outcome == measure.removeprefix("false_")], len(differ)


MEASURES = ("false_duplicate", "false_merge", "false_supersede", "missed_duplicate")


def rates(
    policy: str, table: str, judged: Sequence[Judged], thresholds: Thresholds
) -> list[dict[str, object]]:
    """One row per measure: the rate, its 95 % Wilson interval, and the number of pairs."""
    of_table = [one for one in judged if one.pair.table == table]
    rows: list[dict[str, object]] = []
    for measure in MEASURES:
        wrong, n = errors(measure, of_table, thresholds)
        low, high = wilson(len(wrong), n)
        rows.append(
            {
                "policy": policy,
                "set": table,
                "measure": measure,
                "rate": ratio(len(wrong), n),
                "low": round(low, 4),
                "high": round(high, 4),
                "n": n,
            }
        )
    return rows


def _print_outcomes(judged: dict[str, list[Judged]], thresholds: Thresholds, show: int) -> None:
    console = Console(width=140, highlight=False, markup=False)
    for policy in ("guarded", "literal"):
        for table in _tables([one.pair for one in judged[policy]]):
            of_table = [one for one in judged[policy] if one.pair.table == table]
            for same, name in ((False, "differ"), (True, "same"), (None, "neither")):
                counts = Counter(one.outcome for one in of_table if one.pair.same is same)
                console.print(f"{policy} {table} {name}: {dict(counts.most_common())}")
            if show and policy == "guarded":
                _print_errors(console, of_table, thresholds, show)


def _print_errors(console: Console, judged: Sequence[Judged], thresholds: Thresholds, show: int) -> None:
    for measure in MEASURES:
        wrong, n = errors(measure, judged, thresholds)
        if wrong:
            console.print(f"  {measure}: {len(wrong)} of {n}")
        # Spread over the table: neighbours there are often variants of one sentence.
        for one in wrong[:: max(1, len(wrong) // show)][:show]:
            console.print(f"    {one.similarity:.3f}  {one.pair.old}\n           {one.pair.new}")
            console.print(f"           {explain(one.differences)}")


if __name__ == "__main__":
    main()
