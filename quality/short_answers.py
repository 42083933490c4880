"""Short answers: replies that are complete only together with their question (rule 4.1).

"On Tuesday" after "When is the standup?" repeats few of a memory's words, and yet it used the memory.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from slowwave.quality._lexicons import FUNCTION_WORDS, folded
from slowwave.quality.divergence.sentences import statements
from slowwave.quality.divergence.tokens import traits
from slowwave.quality.replies import read_reply
from slowwave.scoring.feedback.keywords import keywords
from slowwave.scoring.ranking.words import PAIRED, SPELLED

MAX_WORDS = 12
"""Maximum content words of a short answer."""
COVERAGE = 0.8
"""Minimum weighted share of the answer's new words in the memory."""
FIT = 0.3
"""Minimum weighted share of the question's words in the memory, of those that any result has."""
NEAR_BEST = 0.8
"""Minimum fit relative to the best memory that has the answer."""
EVIDENCE = 2.0
"""Minimum words of question and answer together, each divided by the number of memories that have it."""
DISTINCT = 1.0
"""The same minimum for words of the answer alone, below which a use by words says nothing."""

_IDLE = FUNCTION_WORDS | folded("present")
_NUMBER = re.compile(r"(?<![\w.,:])\d+(?:[.,]\d+)?(?![\w.,:])")
_HANGUL = re.compile("[\uac00-\ud7a3]+")
_UNSPACED = re.compile(f"[{PAIRED}{SPELLED}]")


@dataclass(frozen=True, slots=True)
class ShortAnswer:
    """Reading of a short answer beside the returned memories, by their positions.

    Attributes:
        completed: the one memory from which the answer takes its words, if there is one.
        indistinct: memories of which the answer has only words that others have, too.
    """

    completed: frozenset[int] = frozenset()
    indistinct: frozenset[int] = frozenset()


def read_short_answer(shown: Sequence[str], response: str, query: str) -> ShortAnswer:
    """Find the memory that a short answer completes the question with.

    The answer's words that the question does not have must be in the memory, each value and name of them
    without exception. The memory must fit the question as well as any other that has the answer. A word
    counts less the more of the returned memories have it. Several such memories decide nothing.

    Args:
        shown: text of each returned memory.
        response: whole answer; one with more than `MAX_WORDS` content words is not short.
        query: query of the search.
    """
    said = read_reply(response)
    answer, question = _content(said.rest), _content(query)
    new = {key: exact for key, exact in answer.items() if key not in question}
    if len(answer) > MAX_WORDS or not (new or said.sign):
        return ShortAnswer()
    denies = bool(traits(said.rest).negations)  # "I do not know": only what a memory denies, too
    texts = [_memory(text, denied=denies) for text in shown]
    spread = Counter(key for text in texts for key in text)
    if not new:
        asked = question | answer
        fits = {
            at: 1.0
            for at, text in enumerate(texts)
            if _has(text, asked, spread) and _denies_like(shown[at], said.sign)
        }
    else:
        fits = {at: _fit(question, text, spread) for at, text in enumerate(texts) if _has(text, new, spread)}
    least = max(FIT, NEAR_BEST * max(fits.values(), default=0.0))
    completed = frozenset(at for at, fit in fits.items() if fit >= least)
    known = question | new
    if len(completed) > 1 or any(_mass(known, texts[at], spread) < EVIDENCE for at in completed):
        completed = frozenset()
    if not new:
        return ShortAnswer(completed)
    others = {key: exact for key, exact in new.items() if not any(key in texts[at] for at in completed)}
    indistinct = (
        at
        for at, text in enumerate(texts)
        if _mass(new, text, spread) < DISTINCT or (completed and not _mass(others, text, spread))
    )
    return ShortAnswer(completed, frozenset(indistinct) - completed)


def _content(text: str) -> dict[str, bool]:
    """Return the content words of a text; True for values and names, which must agree."""
    found: dict[str, bool] = {}
    for token in traits(text).tokens:
        written = text[token.start : token.end]
        if _UNSPACED.search(written) or (token.kind == "word" and written.casefold() in _IDLE):
            continue
        name = token.start > 0 and written[:1].isupper()
        found[token.key] = found.get(token.key, False) or token.kind != "word" or name
    if _UNSPACED.search(text):
        found |= {gram: False for gram in keywords(text) if _UNSPACED.search(gram)}
    return found


def _memory(text: str, *, denied: bool) -> dict[str, bool]:
    """Return the words of a memory, or of its statements that deny something."""
    if denied:
        text = "\n".join(part for part in statements(text) if traits(part).negations)
    return _content(text) | _shorter(text)


def _shorter(text: str) -> dict[str, bool]:
    """Return shorter forms of a memory's words: numbers without unit, Korean without particles."""
    bare = {token.key for number in _NUMBER.findall(text) for token in traits(number).tokens}
    korean = [match for match in _HANGUL.findall(text) if len(match) > 2]
    cut = {f"w:{word[:-length]}" for word in korean for length in (1, 2) if len(word) > length + 1}
    return dict.fromkeys(bare | cut, False)


def _has(text: Mapping[str, bool], wanted: Mapping[str, bool], spread: Counter[str]) -> bool:
    if any(exact and key not in text for key, exact in wanted.items()):
        return False
    return _share(wanted, text, spread) >= COVERAGE


def _fit(question: Mapping[str, bool], text: Mapping[str, bool], spread: Counter[str]) -> float:
    return _share([key for key in question if spread[key]], text, spread)


def _mass(wanted: Mapping[str, bool], text: Mapping[str, bool], spread: Counter[str]) -> float:
    """Return the weight of the wanted words that a memory has."""
    return sum(1.0 / spread[key] for key in wanted if key in text)


def _share(
    wanted: Mapping[str, bool] | Sequence[str], text: Mapping[str, bool], spread: Counter[str]
) -> float:
    weights = {key: 1.0 / max(spread[key], 1) for key in wanted}
    total = sum(weights.values())
    return sum(weight for key, weight in weights.items() if key in text) / total if total else 0.0


def _denies_like(text: str, sign: int) -> bool:
    """Whether a memory denies and a reply begins with no, or neither."""
    return bool(traits(text).negations) == (sign < 0)
