"""Signal density: informative share of a text (rule 1, L2).

The density is the product of nine parts, each in [0, 1]: one clear sign of junk is enough. Most parts are
statistics that work in every writing system. The lexicons are short lists of words of menus, licences and
placeholders in some large languages.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass, fields
from math import prod
from operator import attrgetter

from slowwave.quality.density.passages import encoding_of, licence_of, menu_of, prose_of, substance_of
from slowwave.quality.density.statistics import (
    codes_of,
    count_distinct,
    inspected,
    is_unspaced,
    novelty_of,
    shingles_of,
)
from slowwave.quality.density.words import (
    breadth_of,
    kinds_of,
    order_of,
    spelling_of,
    syntax_of,
    vocabulary_of,
)

_WORD = re.compile(r"[^\W\d_]+(?:['\u2019\u0300-\u036f\u0900-\u0903\u093a-\u094f\u0e31-\u0e4e][^\W\d_]*)*")


@dataclass(frozen=True, slots=True)
class DensityParts:
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
_NAMES = tuple(field.name for field in fields(DensityParts))
_VALUES = attrgetter(*_NAMES)
_NO_ASCII_WORD = {code: " " for code in range(128) if not (97 <= code <= 122 or code == 39)}


def signal_density(text: str) -> float:
    """Return the informative share of a text, in [0, 1] (rule 1, L2).

    Real notes mostly score 0.6 and above, filler and other junk mostly 0.2 and below. Time grows with the
    length up to `INSPECTED` characters.
    """
    return float(prod(_VALUES(_parts(text))))


def density_parts(text: str) -> dict[str, float]:
    """Return the parts of `signal_density` by name, each in [0, 1]; see `DensityParts`."""
    return dict(zip(_NAMES, _VALUES(_parts(text)), strict=True))


def _parts(text: str) -> DensityParts:
    seen = inspected(text)
    folded = unicodedata.normalize("NFC", seen).casefold()
    tokens = folded.split()
    solid = codes_of("".join(tokens))
    if len(solid) == 0:
        return _NOTHING
    words = _ascii_words(folded) if folded.isascii() else _WORD.findall(folded)
    letters = codes_of("".join(words))
    unspaced = is_unspaced(letters)
    kinds = kinds_of(words)
    shingles = shingles_of(" ".join(tokens))
    distinct = count_distinct(shingles)
    novelty = novelty_of(folded, distinct / len(shingles))
    vocabulary = vocabulary_of(folded, words, letters, unspaced)
    if novelty * vocabulary < 1.0 and not unspaced:
        # A reference page repeats itself in many places, and has much other content.
        breadth = breadth_of(distinct, words)
        novelty, vocabulary = max(novelty, breadth), max(vocabulary, breadth)
    return DensityParts(
        novelty=novelty,
        vocabulary=vocabulary,
        spelling=spelling_of(words, letters, solid, kinds, unspaced),
        syntax=syntax_of(seen, folded, words, letters, len(solid), kinds, unspaced) * order_of(kinds),
        encoding=encoding_of(tokens, len(solid)),
        prose=prose_of(seen, kinds),
        substance=substance_of(folded, letters, kinds, unspaced),
        menu=menu_of(folded),
        licence=licence_of(folded, words, kinds),
    )


def _ascii_words(folded: str) -> list[str]:
    """Return what `_WORD` finds in a folded ASCII text, in a quarter of the time."""
    words = folded.translate(_NO_ASCII_WORD).split()
    return [word for quoted in words if (word := quoted.lstrip("'"))] if "'" in folded else words
