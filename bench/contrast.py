"""Miss rate of meaning-changing edits, and recognition rate of harmless ones.

    python bench/contrast.py --data FOLDER [--each N] [--show N] [--cosine MODEL]

Real sentences of the data, and sentences made for it, each beside itself after one small edit, in kinds
(`_contrast_edits.py`, `_contrast_templates.py`). Two rates per kind with 95 % Wilson intervals, on two halves
of the sentences: one to tune the guard on (`dev`), one to measure with (`held_out`).

lost        of pairs whose meaning was changed: refused as a duplicate or merged
recognised  of pairs whose meaning was kept: refused as a duplicate or merged

Decided by the policy `guarded` as if the cosine were 1, so that nothing but the guard is measured; with
`--cosine` by the model's own cosines and thresholds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from _contrast import PAIRS, RETRIEVAL, Contrast, contrasts, kinds, real_sentences, templated
from _contrast_edits import CHANGES, HARMLESS
from _contrast_templates import CHANGED, KEPT
from _report import UnusableError, bench, existing_folder, options, positive, ratio, report
from rich.console import Console

from slowwave.embedding import load_embedder, profile
from slowwave.quality.divergence.difference import explain
from slowwave.quality.divergence.guard import DivergenceGuard
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.reconsolidation import Thresholds, decide
from slowwave.scoring.intervals import wilson
from slowwave.settings import EmbeddingSettings

BOUND_LOST, BOUND_RECOGNISED = 0.01, 0.70


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument(
        "--data", type=existing_folder, required=True, help="folder with retrieval/ and pairs/"
    )
    parser.add_argument("--each", type=positive, default=60, help="pairs per kind and half")
    parser.add_argument("--show", type=int, default=0, help="errors of each kind to print")
    parser.add_argument("--cosine", default="", metavar="MODEL", help="decide by this model's cosines")
    arguments = parser.parse_args(argv)
    sentences = real_sentences(arguments.data)
    if not sentences:
        raise UnusableError(
            f"{arguments.data} has no sentences: none of retrieval/{{{','.join(RETRIEVAL)}}}/corpus.jsonl, "
            f"pairs/{{{','.join(PAIRS)}}}.tsv, vaults/powershell"
        )
    pairs = [
        *contrasts(sentences, CHANGES, arguments.each, changed=True),
        *templated(CHANGED, changed=True),
        *contrasts(sentences, HARMLESS, arguments.each, changed=False),
        *templated(KEPT, changed=False),
    ]
    similarity = cosines(pairs, arguments.cosine) if arguments.cosine else [1.0] * len(pairs)
    thresholds = profile(arguments.cosine).thresholds if arguments.cosine else Thresholds()
    taken = [is_taken(pair, value, thresholds) for pair, value in zip(pairs, similarity, strict=True)]
    if arguments.show:
        _show(pairs, taken, arguments.show)
    rows = [row for changed in (True, False) for row in rates(pairs, taken, changed=changed)]
    report("contrast", rows, note=f"{len(pairs):,} pairs from {len(sentences):,} sentences")


def is_taken(pair: Contrast, similarity: float, thresholds: Thresholds) -> bool:
    """Whether the new text would be refused as a duplicate of the old one, or merged into it."""
    found, subject = DivergenceGuard().compare(ComparedNote("", "", pair.new), ComparedNote("", "", pair.old))
    outcome = decide(similarity, found, same_subject=subject, thresholds=thresholds, policy="guarded")
    return outcome in {"duplicate", "merge"}


def cosines(pairs: Sequence[Contrast], model: str) -> list[float]:
    """The cosine of each pair."""
    embedder = load_embedder(EmbeddingSettings(model=model))
    texts = list(dict.fromkeys(text for pair in pairs for text in (pair.old, pair.new)))
    vectors = np.asarray(embedder.embed_documents(texts))
    at = {text: place for place, text in enumerate(texts)}
    left, right = (
        vectors[[at[text] for text in side]]
        for side in zip(*((one.old, one.new) for one in pairs), strict=True)
    )
    return [float(value) for value in np.einsum("ij,ij->i", left, right)]


def rates(pairs: Sequence[Contrast], taken: Sequence[bool], *, changed: bool) -> list[dict[str, object]]:
    """One row per kind and one for all: what was refused or merged, in each half and of the templates."""
    rows: list[dict[str, object]] = []
    of_sort = [(pair, was) for pair, was in zip(pairs, taken, strict=True) if pair.changed is changed]
    for kind in (*kinds(pair for pair, _ in of_sort), "all"):
        row: dict[str, object] = {"measure": "lost" if changed else "recognised", "kind": kind}
        of_kind = [(pair, was) for pair, was in of_sort if kind in {pair.kind, "all"}]
        for name in ("dev", "held_out", "made"):
            part = [
                was for pair, was in of_kind if (name == "made") is pair.made and name in {"made", pair.split}
            ]
            low, high = wilson(sum(part), len(part))
            row[name] = f"{sum(part)}/{len(part)}" if part else ""
            if name != "made":
                row[name + " rate"] = ratio(sum(part), len(part))
                row[name + " interval"] = f"[{low:.4f}, {high:.4f}]" if part else ""
        rows.append(row)
    return rows


def _show(pairs: Sequence[Contrast], taken: Sequence[bool], most: int) -> None:
    console = Console(width=200, highlight=False, markup=False)
    shown: Counter[tuple[str, bool, str]] = Counter()
    for pair, was in zip(pairs, taken, strict=True):
        # What is measured with is not looked at.
        if was is not pair.changed or (pair.split == "held_out" and not pair.made):
            continue
        key = pair.kind, pair.changed, str(pair.made)
        shown[key] += 1
        if shown[key] <= most:
            found = DivergenceGuard().compare(ComparedNote("", "", pair.new), ComparedNote("", "", pair.old))[
                0
            ]
            head = f"{'LOST' if was else 'unseen'} {pair.kind}"
            console.print(f"{head}: {pair.old!r}\n    {pair.new!r}\n    {explain(found)}")


if __name__ == "__main__":
    main()
