"""Differences between two texts, as values (rule 2.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from slowwave.quality.divergence.token_collector import Token

_SHOWN = 5
# Kinds that contradict even if only one text has them.
DENYING = frozenset({"negation", "qualifier"})
# Kinds with which one text cannot replace the other, although they do not contradict each other.
RESTRICTING = frozenset({"restriction"})


@dataclass(frozen=True, slots=True)
class Difference:
    """Values of one kind that only one of two texts has.

    `kind` is one of number, unit, date, time, version, identifier, url, path, negation, qualifier (a small
    word that changes the meaning: only, if, or, must), restriction (where, when, of whom), tense, entity,
    word, order, title, and addition (content words of only one text). `left` and `right` are as written,
    `left_at` and `right_at` their spans in characters.
    """

    kind: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    left_at: tuple[tuple[int, int], ...]
    right_at: tuple[tuple[int, int], ...]


def explain(differences: Iterable[Difference]) -> str:
    """Format differences on one line: ``number: 2.184 m / 2.148 m; word: black / white``."""
    return "; ".join(
        f"{difference.kind}: {_shown(difference.left)} / {_shown(difference.right)}"
        for difference in differences
    )


def _shown(values: Sequence[str]) -> str:
    if not values:
        return "–"
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(" ".join(value.split()) for value in values[:_SHOWN]) + more


def contradicts(differences: Iterable[Difference]) -> bool:
    """Whether a value was exchanged or denied; added text alone is no contradiction."""
    return any((one.left and one.right) or one.kind in DENYING for one in differences)


def exchanged_values(differences: Iterable[Difference]) -> list[Difference]:
    """Return the differences in which a value was exchanged, or a statement denied."""
    return [one for one in differences if (one.left and one.right) or one.kind == "negation"]


def says_more(differences: Sequence[Difference]) -> Literal["left", "right"] | None:
    """Return the side that alone has more text; None for both, neither, or a contradiction.

    A restriction gives None, too.
    """
    if (
        not differences
        or contradicts(differences)
        or any(difference.kind in RESTRICTING for difference in differences)
    ):
        return None
    sides = {"left" if difference.left else "right" for difference in differences}
    return None if len(sides) > 1 else "left" if "left" in sides else "right"


def places(text: str, tokens: Iterable[Token]) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """Return the texts of tokens as written, and their spans."""
    spans = tuple(dict.fromkeys((token.start, token.end) for token in tokens))
    return tuple(text[start:end] for start, end in spans), spans


def between(
    kind: str, left: str, right: str, left_tokens: Sequence[Token], right_tokens: Sequence[Token]
) -> Difference:
    """Build a difference of one kind from tokens of two texts."""
    left_said, left_at = places(left, left_tokens)
    right_said, right_at = places(right, right_tokens)
    return Difference(kind, left_said, right_said, left_at, right_at)


def surplus(tokens: Sequence[Token], own_counts: Counter[str], other_counts: Counter[str]) -> list[Token]:
    """Return the tokens of which one text has more; of a repeated word the last ones.

    Args:
        tokens: Tokens of the text, in order.
        own_counts: Their keys, counted.
        other_counts: Keys of the other text, counted.
    """
    more = {
        key: count - other_counts[key]
        for key, count in own_counts.items() - other_counts.items()
        if count > other_counts[key]
    }
    remaining = sum(more.values())
    extra = []
    for token in reversed(tokens):
        if not remaining:
            break
        if more.get(token.key, 0) > 0:
            more[token.key] -= 1
            remaining -= 1
            extra.append(token)
    return extra[::-1]
