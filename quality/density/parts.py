"""Signal density: informative share of a text (rule 1, L2).

The density is the product of nine parts, each in [0, 1]: one clear sign of junk is enough. Most parts are
statistics that work in every writing system. The lexicons are short lists of words of menus, licences and
placeholders in some large languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import NamedTuple

from slowwave.quality.density.counts import counts_of
from slowwave.quality.density.passages import encoding_of, licence_of, menu_of, prose_of, substance_of
from slowwave.quality.density.statistics import novelty_of
from slowwave.quality.density.text_counts import TextCounts
from slowwave.quality.density.words import breadth_of, order_of, spelling_of, syntax_of, vocabulary_of


class DensityParts(NamedTuple):
    """Parts of a density, each in [0, 1]; 1 is best.

    Attributes:
        novelty: share of text that does not repeat: distinct shingles, lines and sentences.
        vocabulary: distinct words for the length of the text, and compressed size.
        spelling: plausibility of words: letter frequencies as in a language, vowels, no keyboard runs.
        syntax: mix of function and content words of varied lengths, as in sentences.
        encoding: share of the text outside base64, hexadecimal and other encoded data.
        prose: share of the text outside log lines.
        substance: share of the text outside placeholders and lorem ipsum.
        menu: share of the text outside menus, link lists and breadcrumbs.
        licence: share of the text outside licence notices.
    """

    novelty: float
    vocabulary: float
    spelling: float
    syntax: float
    encoding: float
    prose: float
    substance: float
    menu: float
    licence: float


_NOTHING = DensityParts(*([0.0] * 9))


def signal_density(text: str) -> float:
    """Return the informative share of a text, in [0, 1] (rule 1, L2).

    Real notes mostly score 0.6 and above, filler and other junk mostly 0.2 and below. Time grows with the
    length up to `INSPECTED` characters.
    """
    return signal_densities([text])[0]


def signal_densities(texts: Sequence[str]) -> list[float]:
    """Return `signal_density` of each text, in less time than one by one."""
    return [float(prod(_parts_of(counts))) for counts in counts_of(texts)]


def density_parts(text: str) -> dict[str, float]:
    """Return the parts of `signal_density` by name, each in [0, 1]; see `DensityParts`."""
    return next(map(_parts_of, counts_of([text])))._asdict()


def _parts_of(counts: TextCounts) -> DensityParts:
    if not counts.shingles:
        return _NOTHING
    novelty = novelty_of(counts.folded, counts.distinct / counts.shingles)
    vocabulary = vocabulary_of(counts.folded, counts.words, counts.letters, counts.unspaced)
    if novelty * vocabulary < 1.0 and not counts.unspaced:
        # A reference page repeats itself in many places, and has much other content.
        breadth = breadth_of(counts.distinct, counts.words)
        novelty, vocabulary = max(novelty, breadth), max(vocabulary, breadth)
    return DensityParts(
        novelty=novelty,
        vocabulary=vocabulary,
        spelling=spelling_of(counts),
        syntax=syntax_of(counts) * order_of(counts.kinds),
        encoding=encoding_of(counts),
        prose=prose_of(counts.seen, counts.kinds),
        substance=substance_of(counts),
        menu=menu_of(counts.folded),
        licence=licence_of(counts.folded, counts.words, counts.kinds),
    )
