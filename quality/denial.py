"""Denials: statements of a returned memory that an answer contradicts (rule 4.1).

"No, it is not Tuesday but Friday" has the words of the memory that says Tuesday, and did not use it.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from slowwave.quality._lexicons import FUNCTION_WORDS
from slowwave.quality.divergence.comparing import compare
from slowwave.quality.divergence.lexicon import NEGATIONS, NEGATIONS_UNSPACED
from slowwave.quality.divergence.sentences import statements
from slowwave.quality.divergence.tokens import Traits, traits
from slowwave.quality.replies import read_reply, standing

SAME_SUBJECT = 0.5
"""Minimum share of a statement's words, values left out, in the answer's sentence or the question."""
_VALUES = frozenset({"number", "unit", "date", "time", "version"})


@dataclass(frozen=True, slots=True)
class _AnalysedAnswer:
    """Answer and its question.

    Attributes:
        asked: words of the question.
        words: these and the answer's.
        sentences: of the answer, without what it takes back.
        values: keys in these.
        taken_back: content of each thing that it takes back.
    """

    asked: frozenset[str]
    words: frozenset[str]
    sentences: tuple[Traits, ...]
    values: frozenset[str]
    taken_back: tuple[frozenset[str], ...]


def without_denied(response: str, query: str) -> Callable[[str], str]:
    """Return a function that drops a memory's statements that the answer contradicts.

    A statement is contradicted by a sentence of the answer on the same subject that denies it, or that has
    another number, day, time or version. What the answer or the memory itself takes back ("moved from
    Tuesday to Friday") is no statement.

    Args:
        response: whole answer.
        query: query of the search; a short answer is about its subject.
    """
    answers: list[_AnalysedAnswer] = []

    def remaining(text: str) -> str:
        if not answers:
            answers.append(_read(response, query))
        parts = statements(text)
        kept = [part for part in parts if not _is_denied(part, answers[0], alone=len(parts) == 1)]
        return text if len(kept) == len(parts) else "\n".join(kept)

    return remaining


def _is_denied(statement: str, answer: _AnalysedAnswer, *, alone: bool) -> bool:
    own = traits(standing(statement))
    words = _words(own)
    if not (words or alone):  # of a longer text, "It is on Tuesday." may be about anything
        return False
    if _same_subject(words, answer.words) and any(taken <= own.counts.keys() for taken in answer.taken_back):
        return True
    about = [one for one in answer.sentences if _same_subject(words, _words(one) | answer.asked)]
    return bool(about) and all(
        _contradicts(one, own, answer.values, repeated=_same_subject(words, _words(one))) for one in about
    )


def _read(response: str, query: str) -> _AnalysedAnswer:
    said, question = read_reply(response), traits(query)
    sentences = [traits(part) for part in statements(said.rest)]
    if said.sign > 0:
        sentences.append(question)
    taken_back = (_content(traits(part)) for part in said.taken_back)
    return _AnalysedAnswer(
        asked=_words(question),
        words=_words(question).union(*map(_words, sentences)),
        sentences=tuple(sentences),
        values=frozenset[str]().union(*(sentence.counts for sentence in sentences)),
        taken_back=tuple(filter(None, taken_back)),
    )


def _contradicts(sentence: Traits, own: Traits, values: frozenset[str], *, repeated: bool) -> bool:
    """Whether a sentence denies a statement or has other values.

    Args:
        sentence: Sentence of the answer.
        own: Statement of the memory.
        values: Keys in the whole answer.
        repeated: Whether the sentence repeats the statement, so that it would have repeated a negation.
    """
    for difference in compare(sentence, own):
        if difference.kind == "negation" and difference.left and _is_denied_in(sentence, own):
            return True
        if difference.kind == "negation" and difference.right and repeated:
            return True
        if difference.kind == "qualifier" and any(map(_denies, difference.left)):
            return True
        if difference.kind in _VALUES and difference.left and difference.right:
            spans = set(difference.right_at)
            keys = {token.key for token in own.tokens if (token.start, token.end) in spans}
            keys = {key for key in keys if not _repeats(sentence, key)}
            if keys and not keys & values:
                return True
    return False


def _is_denied_in(sentence: Traits, own: Traits) -> bool:
    """Whether a sentence denies a word of a statement: "I do not know" denies none."""
    denied = {token.key.removeprefix("not ") for token in sentence.negations}
    return any(not key or key in own.counts for key in denied)


def _repeats(sentence: Traits, key: str) -> bool:
    """Whether a sentence has a value, or its number without the unit."""
    bare = re.match(r"n:\d[\d.,]*", key)
    return key in sentence.counts or (bare is not None and bare[0] in sentence.counts)


def _denies(value: str) -> bool:
    """Whether a qualifier denies: no longer, but not only."""
    folded = value.casefold()
    words = folded.replace("'", " ").replace("’", " ").split()
    return not NEGATIONS.isdisjoint(words) or any(part in folded for part in (*NEGATIONS_UNSPACED, "n't"))


def _content(text: Traits) -> frozenset[str]:
    return frozenset(token.key for token in text.tokens if token.form not in FUNCTION_WORDS)


def _words(text: Traits) -> frozenset[str]:
    return frozenset(token.key for token in text.tokens if token.kind in ("word", "entity", "camel"))


def _same_subject(statement: frozenset[str], sentence: frozenset[str]) -> bool:
    return len(statement & sentence) >= SAME_SUBJECT * len(statement)
