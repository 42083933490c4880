"""Words and proper names of a question that a strong result needs (rule 3.9).

An embedding places the birthday of Lena beside that of Omar. A result without a name of the question, or with
few of its words, is likely about something else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import lru_cache

from slowwave.scoring.ranking.asking import without_asking
from slowwave.scoring.ranking.time_languages import LANGUAGES, languages_known, words_of
from slowwave.scoring.ranking.time_words import without_expression
from slowwave.scoring.ranking.words import is_function_word, stem, text_stems, word_share

_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_OWNER = re.compile(r"['’]s?$")
_BEGINS = re.compile(r"(?:^|[.?!:\n])[\W_]*$")
_SHORTEST = 3
LEAST_OF_WORDS = 0.6
"""Minimum share of the words of a question that a strong result has."""
_TITLES = frozenset({"frau", "herr", "herrn", "familie", "doktor", "dr"})
"""German words before a name; all nouns have a capital there."""


@lru_cache(maxsize=1_024)
def proper_names(question: str) -> frozenset[str]:
    """Return the proper names of a question, in lower case.

    They are words with a capital that begin no sentence, beside months and weekdays. Words of capitals alone,
    such as VPN, are none: a text may write them out. A question in which `The` or `Is` has a capital is a
    heading. In German only words behind `Frau` and the like count. Scripts without capitals have none.

    Args:
        question: Text of the query.
    """
    names, before, is_german = set(), "", _is_german(question)
    for match in _WORD.finditer(question):
        word, start, previous = match[0].casefold(), match.start(), before
        before = word
        behind_title = previous in _TITLES
        if not match[0][0].isupper() or (is_german and not behind_title):
            continue
        if not behind_title and _BEGINS.search(question, max(0, start - 4), start):
            continue
        before_apostrophe = re.split("['’]", word)[0]
        if is_function_word(before_apostrophe):
            if len(before_apostrophe) > 1:
                return frozenset()
            continue  # I'm
        name = _OWNER.sub("", match[0])
        if len(name) >= _SHORTEST and not name.isupper():
            names.add(name.casefold())
    return frozenset(names).difference(_TITLES, *(language.keys for language in languages_known()))


def covers_question(question: str, time: str, texts: Sequence[str]) -> bool:
    """Whether texts have all proper names and most words of a question.

    Args:
        question: Text of the query.
        time: Its words for a time, which do not count, nor does a beginning that only asks.
        texts: Texts of one memory: title, passages, tags, source.
    """
    asked = without_expression(without_asking(question), time)
    return word_share(asked, texts) >= LEAST_OF_WORDS and not lacks_a_name(proper_names(question), texts)


def _is_german(question: str) -> bool:
    """Whether a question has more listed words of German than of any other language."""
    words = words_of(question.casefold())
    found = {name: len(one.own & words) for name, one in zip(LANGUAGES, languages_known(), strict=True)}
    return found.pop("de") > max(found.values())


def lacks_a_name(names: Iterable[str], texts: Iterable[str]) -> bool:
    """Whether texts have not all of some proper names, in any inflection.

    Args:
        names: As of `proper_names`.
        texts: Texts of one memory: title, passages, tags, source.
    """
    every = [text for text in texts if text]
    plain = "\n".join(every).casefold()
    return any(
        name not in plain and not any(stem(name) in text_stems(text) for text in every) for name in names
    )
