"""Language coverage of a model, estimated from its tokeniser's splits of a text.

A tokeniser keeps words of known languages whole or in few pieces. Words of another language fall apart into
letters, bytes or unknown tokens. Languages with the letters and roots of English do not, so their function
words count, too (docs/benchmarks/retrieval.md has the figures).
"""

from __future__ import annotations

from typing import Any, Final

from slowwave.scoring.ranking.word_pieces import needs_pieces

STRANGE: Final = 0.5
"""Value of `is_unspaced` up to which coverage is 0."""
KNOWN: Final = 0.8
"""Value of `is_unspaced` from which coverage is 1, as for 99 of 100 English questions."""
ELSEWHERE: Final = 0.5
"""Maximum coverage of a text whose function words are not English.

A tokeniser keeps German words nearly whole, but an English model has not learned their meaning.
"""
TRUSTED: Final = 3
"""Prior uncut places of every text (count), so that one strange word is not a strange language."""

_UNKNOWN = frozenset({"[UNK]", "<unk>"})


def is_unspaced(tokenizer: Any, text: str) -> float:  # noqa: ANN401 - tokenizers.Tokenizer
    """Return the share of letter boundaries that the tokeniser does not split, in [0, 1].

    A place has the weight of its letter's bytes in UTF-8: a Chinese character says more than a letter. A
    single character counts as one cut place. Text beyond the model's limit is ignored.
    """
    letter = [character.isalpha() for character in text]
    sizes = (
        [1] * len(text)
        if text.isascii()
        else [len(character.encode("utf-8", "replace")) for character in text]
    )
    places, before = [0], False
    for at, here in enumerate(letter):
        alone = here and not before and sizes[at] > 1 and not (at + 1 < len(text) and letter[at + 1])
        places.append(places[-1] + (sizes[at] if (here and before) or alone else 0))
        before = here
    encoded = tokenizer.encode(text, add_special_tokens=False)
    kept = sum(
        places[end] - places[start + 1]
        for token, (start, end) in zip(encoded.tokens, encoded.offsets, strict=True)
        if end > start + 1 and token not in _UNKNOWN
    )
    read = encoded.offsets[-1][1] if encoded.overflowing else len(text)
    return float(min((kept + TRUSTED) / (places[read] + TRUSTED), 1.0))


def coverage(tokenizer: Any, text: str) -> float:  # noqa: ANN401 - tokenizers.Tokenizer
    """Return an English model's language coverage of a text, from its tokeniser: 0 none, 1 full."""
    share = min(max((is_unspaced(tokenizer, text) - STRANGE) / (KNOWN - STRANGE), 0.0), 1.0)
    return min(share, ELSEWHERE) if needs_pieces(text) else share
