"""Sentences of two notes that are the same but for one span: "deploys main" after "deploys develop"."""

from __future__ import annotations

import re
from collections.abc import Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from slowwave.quality.outdated.change_words import TABLES, covered
from slowwave.quality.outdated.short_sentences import ShortSentence, sentence_of
from slowwave.quality.outdated.tokens import TABLES as CHANGING_TABLES

LONGEST_SPAN = 4
"""Maximum words of a span (count)."""
_REST = 2  # words behind a span that may follow it (count)
_KEPT = 3  # words that both sentences have (count)
_VERBS: Final = TABLES["verbs"] | CHANGING_TABLES["stative"]
_WORD = re.compile(r"[^\W_](?:[\w’'-]*[^\W_])?")
_CUES: Final = TABLES["now"] - TABLES["new"]
_WORDS_OF_CUES: Final = frozenset(word for word in _CUES if " " not in word)
_LONG_CUES = sorted((re.escape(cue) for cue in _CUES if " " in cue), key=len, reverse=True)
_PHRASES: Final = re.compile(rf" (?:{'|'.join(_LONG_CUES)})(?: on)?(?= )")


@dataclass(frozen=True, slots=True)
class Exchange:
    """Span that one sentence has in place of another one's.

    Attributes:
        kept: Keys of content words that both have.
        gone: Keys and values of the older span.
        fresh: Keys and values of the newer one.
        is_first: Whether no content word stands before it.
    """

    kept: frozenset[str]
    gone: frozenset[str]
    fresh: frozenset[str]
    is_first: bool


def exchange_of(old: ShortSentence, new: ShortSentence) -> Exchange | None:
    """Return the span that differs, if the rest is the same; words of change do not count.

    A span in the middle has few words behind it: what follows one is said of it.

    Args:
        old: Sentence of the older note.
        new: Sentence of the newer one.
    """
    older, newer = _words(old.text), _words(new.text)
    most = min(len(older), len(newer))
    before = next((at for at in range(most) if older[at] != newer[at]), most)
    behind = next((at for at in range(most - before) if older[-1 - at] != newer[-1 - at]), most - before)
    gone, fresh = older[before : len(older) - behind], newer[before : len(newer) - behind]
    if not 0 < len(gone) <= LONGEST_SPAN or not 0 < len(fresh) <= LONGEST_SPAN:
        return None
    is_first = not any(map(_keys_of, older[:before]))
    if before + behind < _KEPT or (behind > _REST and not is_first) or not _VERBS.isdisjoint((*gone, *fresh)):
        return None
    kept = sentence_of(" ".join((*older[:before], *older[len(older) - behind :]))).keys
    return Exchange(kept, _keys_of_span(gone), _keys_of_span(fresh), is_first)


def answers(exchange: Exchange, asked: Set[str], asks: str) -> bool:
    """Whether an exchanged span is what a question asks for.

    Args:
        exchange: Of two sentences.
        asked: Keys of the question's words for its subject.
        asks: Kind of its answer; only who does something may stand first.
    """
    if not exchange.gone or not exchange.fresh or (exchange.is_first and asks != "name"):
        return False
    about = covered(asked, exchange.kept)
    return bool(about) and not covered(asked, exchange.gone | exchange.fresh)


@lru_cache(maxsize=4_096)
def _words(text: str) -> tuple[str, ...]:
    """Return the words of a sentence in lower case, without words of change."""
    spaced = f" {' '.join(_WORD.findall(text.casefold().replace('’', chr(39))))} "
    return tuple(word for word in _PHRASES.sub("", spaced).split() if word not in _WORDS_OF_CUES)


def _keys_of_span(span: tuple[str, ...]) -> frozenset[str]:
    """Return keys and values of a span; none if it is of two things: "football at 6"."""
    keys = [_keys_of(word) for word in span]
    first = next((at for at, found in enumerate(keys) if found), len(keys))
    return frozenset().union(*keys) if all(keys[first:]) else frozenset()


def _keys_of(word: str) -> frozenset[str]:
    sentence = sentence_of(word)
    return sentence.keys | sentence.values
