"""Separation of real texts from junk by signal density (rule 1): AUROC by kind of junk and length.

    python bench/density.py --vault FOLDER [--vault FOLDER] --xquad FOLDER --chat FOLDER [--chat FOLDER]

Real texts: the notes of the vaults, the paragraphs and the chat turns of collections in BEIR format, and
short notes in seven languages. Texts under 50 characters are not counted: the gate refuses them for their
length. Junk is generated from a seed. A row compares one kind of junk of about one length with all real texts
(``auroc``) and with those of half to twice that length (``auroc_same_length``); ties count half.
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Sequence
from typing import Any

import numpy as np
from _data import lines
from _junk import KINDS, NOTES
from _notes import vault_notes
from _report import UnusableError, bench, existing_folder, options, positive, report, rounded

from slowwave.quality.density import signal_density
from slowwave.scoring.evaluation import auroc

LENGTHS = (200, 1_000, 5_000)
LEAST = 50


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument(
        "--vault", type=existing_folder, action="append", default=[], help="folder of real notes"
    )
    parser.add_argument("--xquad", type=existing_folder, help="folder with a corpus.jsonl of paragraphs")
    parser.add_argument(
        "--chat", type=existing_folder, action="append", default=[], help="folder with chat turns"
    )
    parser.add_argument("--sample", type=positive, default=600, help="most real texts per source")
    parser.add_argument("--each", type=positive, default=60, help="junk texts per kind and length")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args(argv)
    rng = random.Random(arguments.seed)
    real = real_texts(arguments, rng)
    start = time.perf_counter()
    scored = {name: [(len(text), signal_density(text)) for text in texts] for name, texts in real.items()}
    took = time.perf_counter() - start
    everything = np.array([pair for pairs in scored.values() for pair in pairs])
    rows = [_real_row(name, np.array(pairs)) for name, pairs in scored.items()]
    every_junk: list[float] = []
    for kind, (make, scripts) in KINDS.items():
        of_kind: list[float] = []
        for length in LENGTHS:
            scores = [
                signal_density(make(rng, length, scripts[at % len(scripts)])) for at in range(arguments.each)
            ]
            rows.append(_row(kind, length, scores, everything))
            of_kind += scores
        rows.append(_row(kind, "all", of_kind, everything))
        every_junk += of_kind
    rows.append(_row("all", "all", every_junk, everything))
    note = (
        f"{len(everything):,} real texts from {LEAST} characters up, "
        f"{took / everything[:, 0].sum() * 2e6:.2f} ms per 2,000 characters"
    )
    report("density", rows, note=note)


def real_texts(arguments: argparse.Namespace, rng: random.Random) -> dict[str, list[str]]:
    """Texts by source, at least `LEAST` characters long, at most ``--sample`` of each."""
    found: dict[str, list[str]] = {"notes in seven languages": list(NOTES)}
    for vault in arguments.vault:
        found[f"vault {vault.name}"] = [note.content for note in vault_notes(vault)]
    for folder in [*([arguments.xquad] if arguments.xquad else []), *arguments.chat]:
        found[folder.name] = [one["text"] for one in lines(folder / "corpus.jsonl", "text")]
    kept = {name: [text for text in texts if len(text.strip()) >= LEAST] for name, texts in found.items()}
    if empty := [name for name, texts in kept.items() if not texts]:
        raise UnusableError(f"{', '.join(empty)}: no text of at least {LEAST} characters")
    return {name: rng.sample(texts, min(len(texts), arguments.sample)) for name, texts in kept.items()}


def _real_row(name: str, pairs: np.ndarray) -> dict[str, Any]:
    return {
        "kind": f"real: {name}", "length": int(np.median(pairs[:, 0])), "n": len(pairs), "auroc": None,
        "auroc_same_length": None, "mean": round(float(pairs[:, 1].mean()), 4),
        "least_0.6": round(float((pairs[:, 1] >= 0.6).mean()), 4),
        "most_0.2": round(float((pairs[:, 1] <= 0.2).mean()), 4),
    }  # fmt: skip


def _row(kind: str, length: int | str, scores: list[float], real: np.ndarray) -> dict[str, Any]:
    junk = np.array(scores)
    same = None
    if isinstance(length, int):
        near = (real[:, 0] >= length / 2) & (real[:, 0] <= length * 2)
        same = rounded(auroc(real[near, 1], junk))
    return {
        "kind": kind, "length": length, "n": len(junk), "auroc": round(auroc(real[:, 1], junk), 4),
        "auroc_same_length": same, "mean": round(float(junk.mean()), 4),
        "least_0.6": round(float((junk >= 0.6).mean()), 4), "most_0.2": round(float((junk <= 0.2).mean()), 4),
    }  # fmt: skip


if __name__ == "__main__":
    main()
