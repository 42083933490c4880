"""Rates of wrong supersedes between look-alike notes, and of recognised updates.

    python bench/lookalikes.py [--each N] [--show N] [--cosine MODEL]

Notes that state the value of one of many things: "The rent of flat 1 is 713 euros since Monday." Two of one
family are about the same thing or about another one. With and without a word that something changed (since,
now, as of): the guard replaces a value where such a word stands. Decided by the policy `guarded` as if the
cosine were 1; with `--cosine` by the model's own cosines and thresholds.

superseded  wrong: pairs about two things of which one supersedes the other; 0 is right
recognised  pairs about one thing, the newer with another value, of which the newer supersedes the older

Of the families one set was looked at while the rule was made (`_lookalikes.py`). Of the other, written by
somebody who did not know it (`_lookalikes_held_out.py`), the first 25 were looked at once, too. `plain` are
updates in which the number that changes follows a noun, as the name of a thing does ("on port 8080").
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from random import Random

import numpy as np
from _lookalikes import CUES, FAMILIES, PLAIN, Family
from _lookalikes_held_out import HELD_OUT, HELD_OUT_PLAIN
from _report import bench, options, positive, ratio, report
from rich.console import Console

from slowwave.embedding import load_embedder, profile
from slowwave.quality.divergence.guard import DivergenceGuard
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.reconsolidation import Thresholds, decide
from slowwave.scoring.intervals import wilson
from slowwave.settings import EmbeddingSettings

Pair = tuple[str, str]
"""An older and a newer note."""
SEEN, SEEN_PLAIN = 25, 15
"""Families and pairs of the held-out file that were looked at once."""
Cosine = Callable[[Pair], float]


@bench
def main(argv: Sequence[str] | None = None) -> None:
    """Run the benchmark."""
    parser = options(__doc__)
    parser.add_argument("--each", type=positive, default=24, help="pairs per family and kind")
    parser.add_argument("--show", type=int, default=0, help="wrong ones of the looked-at families to print")
    parser.add_argument("--cosine", default="", metavar="MODEL", help="decide by this model's cosines")
    arguments = parser.parse_args(argv)
    thresholds = profile(arguments.cosine).thresholds if arguments.cosine else Thresholds()
    cosine = cosine_of(arguments.cosine)
    rows = []
    sets = (
        ("looked at", FAMILIES, PLAIN),
        ("looked at once", HELD_OUT[:SEEN], HELD_OUT_PLAIN[:SEEN_PLAIN]),
        ("held out", HELD_OUT[SEEN:], HELD_OUT_PLAIN[SEEN_PLAIN:]),
    )
    for name, families, plain in sets:
        kinds = {
            "another thing": list(pairs(families, arguments.each, same=False)),
            "the same thing": list(pairs(families, arguments.each, same=True)),
            "the same thing, plain": list(plain),
        }
        for kind, made in kinds.items():
            found = [one for one in made if supersedes(one, cosine(one), thresholds)]
            low, high = wilson(len(found), len(made))
            rows.append(
                {
                    "families": name, "pairs": kind,
                    "measure": "superseded" if kind == "another thing" else "recognised",
                    "n": len(made), "count": len(found), "rate": ratio(len(found), len(made)),
                    "low": round(low, 4), "high": round(high, 4),
                }
            )  # fmt: skip
            if name == "looked at" and kind == "another thing":
                _show(found[: arguments.show])
    report("lookalikes", rows, note=f"{len(FAMILIES)} and {len(HELD_OUT)} families")


def pairs(families: Sequence[Family], each: int, *, same: bool) -> Iterator[Pair]:
    """Pairs of notes of each family, about one thing or about two; always the same ones."""
    draw = Random(int(same))
    for family in families:
        for _ in range(each):
            one, other = draw.sample(family.ids, 2)
            old, new = draw.sample(family.values, 2)
            before = draw.choice(CUES) if not same else ""
            after = draw.choice(CUES) if not same else draw.choice([cue for cue in CUES if cue])
            yield (
                family.text.format(id=one, value=old, cue=before),
                family.text.format(id=one if same else other, value=new, cue=after),
            )


def supersedes(pair: Pair, cosine: float, thresholds: Thresholds) -> bool:
    """Whether the newer note supersedes the older one."""
    old, new = (ComparedNote("", "", text) for text in pair)
    differences, alike = DivergenceGuard().compare(new, old)
    outcome = decide(
        cosine, differences, same_subject=alike, thresholds=thresholds, policy="guarded", gate=False
    )
    return outcome == "supersede"


def cosine_of(model: str) -> Cosine:
    """Gives the cosine of a pair: 1 without a model."""
    if not model:
        return lambda _: 1.0
    embedder = load_embedder(EmbeddingSettings(model=model))

    def cosine(pair: Pair) -> float:
        left, right = np.asarray(embedder.embed_documents(list(pair)))
        return float(left @ right)

    return cosine


def _show(found: Sequence[Pair]) -> None:
    console = Console(width=200, highlight=False, markup=False)
    for old, new in found:
        console.print(f"{old!r}\n    {new!r}")


if __name__ == "__main__":
    main()
