"""What two texts say differently, as values (rule 2.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from slowwave.quality.divergence.token_collector import Token

_SHOWN = 5
# Kinds that deny or qualify even where only one of two texts has them.
DENYING = frozenset({"negation", "qualifier"})
# Of which one text cannot stand for the other, though they do not contradict each other.
RESTRICTING = frozenset({"restriction"})


@dataclass(frozen=True, slots=True)
class Difference:
    """Values of one kind that only one of two texts holds.

    `kind` is one of number, unit, date, time, version, identifier, url, path, negation, qualifier (a small
    word that turns the meaning: only, if, or, must), restriction (where, when, of whom), tense, entity, word,
    order, title, and addition (content words that one text has and the other lacks). `left` and `right` are
    as written, `left_at` and `right_at` their spans in characters.
    """

    kind: str
    left: tuple[str, ...]
    right: tuple[str, ...]
    left_at: tuple[tuple[int, int], ...]
    right_at: tuple[tuple[int, int], ...]


def explain(differences: Iterable[Difference]) -> str:
    """One line for a person: ``number: 2.184 m / 2.148 m; word: black / white``."""
    return "; ".join(f"{one.kind}: {_shown(one.left)} / {_shown(one.right)}" for one in differences)


def _shown(values: Sequence[str]) -> str:
    if not values:
        return "–"
    more = f" and {len(values) - _SHOWN} more" if len(values) > _SHOWN else ""
    return ", ".join(" ".join(value.split()) for value in values[:_SHOWN]) + more


def contradicts(differences: Iterable[Difference]) -> bool:
    """Whether a value was exchanged or denied, as opposed to one text merely saying more."""
    return any((one.left and one.right) or one.kind in DENYING for one in differences)


def says_more(differences: Sequence[Difference]) -> Literal["left", "right"] | None:
    """The side that alone says more, nothing being exchanged or restricted; None where both or neither do."""
    if not differences or contradicts(differences) or any(one.kind in RESTRICTING for one in differences):
        return None
    sides = {"left" if one.left else "right" for one in differences}
    return None if len(sides) > 1 else "left" if "left" in sides else "right"


def places(text: str, tokens: Iterable[Token]) -> tuple[tuple[str, ...], tuple[tuple[int, int], ...]]:
    """What tokens say in a text as written, and where."""
    spans = tuple(dict.fromkeys((token.start, token.end) for token in tokens))
    return tuple(text[start:end] for start, end in spans), spans


def between(kind: str, left: str, right: str, mine: Sequence[Token], theirs: Sequence[Token]) -> Difference:
    """A difference of one kind between tokens of two texts."""
    left_said, left_at = places(left, mine)
    right_said, right_at = places(right, theirs)
    return Difference(kind, left_said, right_said, left_at, right_at)


def surplus(tokens: Sequence[Token], mine: Counter[str], theirs: Counter[str]) -> list[Token]:
    """Return the tokens of which one text has more; of a word that both hold, its last ones.

    Args:
        tokens: Tokens of the text, in order.
        mine: Their keys, counted.
        theirs: Those of the other text.
    """
    more = {key: count - theirs[key] for key, count in mine.items() - theirs.items() if count > theirs[key]}
    left = sum(more.values())
    found = []
    for token in reversed(tokens):
        if not left:
            break
        if more.get(token.key, 0) > 0:
            more[token.key] -= 1
            left -= 1
            found.append(token)
    return found[::-1]
