"""How well a model knows the language of a text, from what its tokeniser makes of it.

A model learned the pieces that its training texts are made of. Words of a language that it knows stay whole
or fall into a few pieces; those of another one fall apart into letters, bytes or nothing known. So no list of
languages is needed (docs/benchmarks/retrieval.md has the figures).
"""

from __future__ import annotations

from typing import Any, Final

STRANGE: Final = 0.5
"""Share of `unbroken` up to which a model does not know a language."""
KNOWN: Final = 0.8
"""Share from which it does: 99 of 100 English questions have it."""
TRUSTED: Final = 3
"""Places that every text is thought to have uncut (count): one strange word is no strange language."""

_UNKNOWN = frozenset({"[UNK]", "<unk>"})


def is_unspaced(tokenizer: Any, text: str) -> float:  # noqa: ANN401 - tokenizers.Tokenizer
    """Share of the places between two letters of a word that the tokeniser does not cut, in [0, 1].

    A place weighs what its letter takes in UTF-8: a Chinese character says more than a letter. One that
    stands alone has a place, too, which is cut. What is beyond the model's limit says nothing.
    """
    letter = [one.isalpha() for one in text]
    sizes = [1] * len(text) if text.isascii() else [len(one.encode("utf-8", "replace")) for one in text]
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
    """How well a model with this tokeniser knows the language of a text: 0 not at all, 1 as its own."""
    return min(max((is_unspaced(tokenizer, text) - STRANGE) / (KNOWN - STRANGE), 0.0), 1.0)
