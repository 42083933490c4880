"""Kind of value that a question asks for (rule 3.12)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from slowwave.quality.divergence.lexicon import PAST, word_key
from slowwave.quality.divergence.lexicon_numbers import UNITS
from slowwave.quality.outdated.asked_words import AskedWords, asked_words
from slowwave.quality.outdated.change_words import HOME_AND_WORK, TABLES, covered
from slowwave.quality.outdated.scope import numbered_name
from slowwave.quality.outdated.short_sentences import read, sentence_of
from slowwave.quality.outdated.state_questions import OF_STATE
from slowwave.quality.outdated.tokens import DAY_KEYS, FORMERLY, GENERAL, IGNORED, MONTH_KEYS
from slowwave.quality.outdated.transitions import names_old_value
from slowwave.quality.outdated.values import numbers_in
from slowwave.scoring.ranking.asking import without_asking

TIMES: Final = frozenset({"date", "clock", "weekday"})
ANY: Final = TIMES | {"number", "version", "name", "statement"}
_USED = 3  # number of the frame of what is used
_BARE = 8  # most words of a query without a question word (count)
_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
BEGINNING: Final = 200  # characters of a text and its title that name what it is about
_NAME = re.compile(
    r"(?<=[\w,;:'\"’(-] )(?!I['’])(?:(?:[lLdD]['’])?[A-ZÀ-ÖØ-ÞΑ-ΫА-Я][\w'’]*)|(?<!\w)(?:\d{1,2}[a-f])(?!\w)"
)
_FIRST = re.compile(r"\s*[^.!?\n]{1,200}+[.!?\n]\s*(?=\S)")  # sentence of several
_TIME_WORDS: Final = DAY_KEYS.keys() | MONTH_KEYS.keys()
_IN_TIME = re.compile(rf"\b(?:in|im|en|em|au|during)(?: mois de)? ({'|'.join(MONTH_KEYS)})\b", re.IGNORECASE)
_PLAN_FOR = re.compile(
    r"\b(?:the|my|our|your|any) plans? (?=(?:for|on|today|tomorrow|tonight|this|next)\b)", re.IGNORECASE
)
"""Asks what is going to happen, not about a plan: the plan for Saturday."""
_SIGNS = ".,;:!?()\"'"
_LISTED = re.compile(
    r"\W*(?:which|what) (?:[\w-]+ )?((?-i:[a-z])[\w-]+[^\Wsui]s)\b(?! (?:is|does|was|has)\b) ?([^\W\d_]*)",
    re.IGNORECASE,
)
"""Noun of a list that is asked for, and the verb behind it: "which servers run Ubuntu"."""
_WHO = re.compile(r"\A\W*(?:who|wer|qui|quién|quem|chi)\b(.*)", re.IGNORECASE | re.DOTALL)
_ARTICLE = 2  # most letters of an article, as in "la" (count)
_BEHIND_ARTICLE = re.compile(
    r"\b(?:d(?:er|ie|as|e[mns])|zum|zur|im|ins|vom|beim|(?:ein|mein|unser|sein|ihr|kein|welch)e?[mnrs]?)"
    r" ([^\W\d_]+)",
    re.IGNORECASE,
)
_IS = re.compile(r"\b(?:is|are|ist|sind|es|est|è|é)\b")
_CODE = re.compile(r"\d{1,2}[a-f]|[^\W\d_]{2,}[-/#]\d+")
_BEHIND_A_NUMBER = frozenset({"am", "pm", "o'clock", "uhr", "h"})
_NO_KEY = frozenset({""})
_NONE: frozenset[str] = frozenset()
MAX_WORDS = 65_536
"""Maximum words with a cached key (count)."""
_COUNT = re.compile(
    r"\b(?:how (?:many|much|often|long|far|fast|soon|quickly|tall|high|wide|heavy|old|big)"
    r"|wie (?:viele?|oft|lange|schnell|hoch|breit|schwer|alt|groß|teuer)"
    r"|cu[aá]nt[oa]s?|combien|quant[oiae])\b",
    re.IGNORECASE,
)
_MANY = re.compile(
    r"\b(?:how many|wie viele|cu[aá]nt[oa]s|combien de|quant[ie])((?: [^\W\d_][\w'’-]*){1,5})", re.IGNORECASE
)
_WHEN = re.compile(
    r"\A\W*(?:when|wann|um wie viel uhr|cu[aá]ndo|a qu[eé] horas?|quand|à quelle heure|quando)\b|\bdeadline\b"
    r"|\b(?:what|which|welche[rms]?) (?:time|day|date|deadline|tag)\b",
    re.IGNORECASE,
)
_WHAT = re.compile(
    r"\A\W*(?:(?:and|so|at|in|on|for|from|by|to|with) )?(?:what|what's|which|where|where's|who|who's|whose"
    r"|is|are|do|does|welche[rsnm]?|wo|wer|woher|was|qu[eé]|cu[aá]l(?:es)?|d[oó]nde|qui[eé]n|quel(?:le)?s?|où|qui|che|cosa"
    r"|quale|dove|chi)\b",
    re.IGNORECASE,
)
_EVENT = re.compile(r"\b(?:did|had|between|across|passed|different|ever|before)\b", re.IGNORECASE)
_PARTICIPLES = "|".join(sorted(PAST | TABLES["participles"]))
_PAST = re.compile(
    rf"""\b(?:did|had|was|were  # "have" with a participle, as in "have I read", but not "have a projector"
    |(?:has|have)(?=\ (?:\w+\ ){{0,4}}?(?:\w{{3,}}ed|{_PARTICIPLES})\b))\b(?!\ *\W*\Z)""",
    re.IGNORECASE | re.VERBOSE,
)
_WAS = re.compile(r"\b(?:did|had|was|were)\b", re.IGNORECASE)
_ADVICE = re.compile(
    r"\b(?:would|could|can|should|suggest|recommend|list|summar\w+|explain)\b|\A\W*(?:have|has|am|why|how)\b",
    re.IGNORECASE,
)
_STOP: Final = frozenset({
    "am", "are", "is", "was", "were", "do", "does", "did", "have", "has", "had", "can", "could",
    "will", "would", "should", "i", "we", "you", "they", "he", "she", "my", "our", "hat", "haben",
    "sind", "gibt", "tiene", "hay", "a", "ont", "ai",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Question:
    """Question of a search.

    Attributes:
        keys: Keys of its content words.
        units: Units that it names.
        counted: Keys of what it counts: "open issues" in "how many open issues are there".
        kinds: Kinds of values that may answer it; empty if it does not ask for a value that holds now.
        is_present: Whether it asks what holds now rather than what has happened.
        is_perfect: Whether it asks what has happened so far: how many have I finished.
        digits: Numbers in digits, and single letters.
        asked: Words for its subject, by which short notes are compared.
        names: Keys of those that begin with a capital letter, not at the beginning, and of codes like 4a.
        nouns: Keys of words behind a German article: nouns, which have a capital letter, too.
        months: Months that it names as a time (*bezahlen im Dezember*), which are no subject.
        is_own: Whether it is what a statement answers, so that no name is asked for.
        listed: Keys of what it asks to list, and of the verb behind it: "servers run".
        behind_who: Keys of all words behind *who*, in their order.
    """

    keys: frozenset[str]
    units: frozenset[str]
    counted: frozenset[str]
    kinds: frozenset[str]
    is_present: bool
    digits: frozenset[str]
    asked: AskedWords
    names: frozenset[str]
    nouns: frozenset[str] = _NONE
    months: frozenset[str] = frozenset()
    is_own: bool = False
    listed: frozenset[str] = _NONE
    behind_who: tuple[str, ...] = ()
    is_perfect: bool = False

    @property
    def subject(self) -> frozenset[str]:
        """Keys of its content words but general ones, like those of "time" and "day"."""
        return self.keys - GENERAL - self.listed

    @property
    def names_subject(self) -> bool:
        """Whether it asks for a value that holds now and names its subject."""
        return bool(self.subject) and bool(self.kinds) and self.is_present

    @classmethod
    def of(cls, text: str) -> Question:
        """Read a question."""
        return _question(text)

    @classmethod
    def answered_by(cls, text: str) -> Question:
        """Return the question that a statement answers: for any value that holds now, whatever it is."""
        read = _question(text)
        names_former = not read.keys.isdisjoint(FORMERLY)  # "the old bike" is not the new one
        sentence = sentence_of(text)
        # Where somebody lives or works, or what is used, is the value, which another statement need not have.
        is_placed = bool(sentence.frames & HOME_AND_WORK)
        named = sentence.names if sentence.says_i else sentence.names - sentence.subject
        is_used = sentence.says_i and _USED in sentence.frames and bool(read.asked.keys - named)
        value = sentence.placed | named if is_placed else named if is_used else _NONE
        asked = replace(
            read.asked, keys=read.asked.keys - value, values=_NONE,
            is_past=read.asked.is_past and names_former,
        )  # fmt: skip
        _, number = numbered_name(text)
        numbered = frozenset([number]) if number else frozenset()
        return replace(read, kinds=ANY, is_present=True, digits=numbered, asked=asked, is_own=True)


def has_most(question: Question, older: str, newer: str, *, or_none: bool = False) -> bool:
    """Whether a newer text has most of what is asked and an older one says.

    Args:
        question: Of the search.
        older: Text with its title.
        newer: Text with its title.
        or_none: Whether one that has nothing of it counts, too.
    """
    asked = covered(question.subject, asked_keys(older))
    found = covered(asked, asked_keys(newer))
    if names_old_value(older, newer):
        return True
    return not asked or 2 * len(found) > len(asked) or (or_none and not found)


def lacks_named(question: Question, older: str, newer: str) -> bool:
    """Whether a newer text lacks a number or name that is asked for.

    A question in small letters asks for what the older text has as a name. One whether something is so may
    ask for the value by its name. A newer text that begins with no other name may leave it out. Where no
    question is asked, texts are about what their first sentences name.

    Args:
        question: Of the search.
        older: Text with its title.
        newer: Text with its title.
    """
    if names_old_value(older, newer):
        return False
    if question.digits and (question.digits & numbers_in(older)) - numbers_in(newer):
        return True
    if question.months and question.months & _words(older) - _words(newer):
        return True
    if question.is_own:
        names, others = (
            names_in(found[0]) if (found := _FIRST.match(text)) else _NONE for text in (older, newer)
        )
        return bool(names and others) and not (names & asked_keys(newer) or others & asked_keys(older))
    if question.asked.is_of_state:
        return False
    names = covered(question.names | (names_in(older) & question.keys), asked_keys(older))
    if names <= covered(names, asked_keys(newer)):
        return False
    return not names_in(newer[:BEGINNING]) <= asked_keys(older)


def still_holds(question: Question, older: str, newer: str) -> bool:
    """Whether a newer text replaces another value than the one that is asked for.

    A question that counts (*within how many days*) is not answered by an amount of another unit. One for a
    name is answered as before if both texts have the same names, and numbers or days. One for a time is so
    if the newer text says only where or who.

    Args:
        question: Of the search.
        older: Text with its title.
        newer: Text with its title.
    """
    if question.counted:
        units = _units(_WORD.findall(newer.casefold()))
        before, after = asked_keys(older), asked_keys(newer) | units
        return bool(units) and not question.counted.isdisjoint(before) and question.counted.isdisjoint(after)
    if question.asked.asks == "time":
        return _says_no_time(older, newer)
    if question.asked.asks == "name":
        if not _may_say_who(question, older, newer):
            return True
        names, have_values = names_in(older) - question.keys, map(_has_number_or_day, (older, newer))
        is_same = names <= asked_keys(newer) and names_in(newer) <= asked_keys(older)
        return bool(names) and is_same and all(have_values)
    return False


def _may_say_who(question: Question, older: str, newer: str) -> bool:
    """Whether a newer text may name somebody else, or end what holds."""
    sentences = read(newer).sentences
    asked = question.keys | question.asked.keys
    if asked and _IS.search(newer) and asked == covered(asked, asked_keys(newer)):
        return True
    if any(one.is_negated or one.former or one.of_kin or one.says_i for one in sentences):
        return True
    known = names_in(older) | asked_keys(older)
    names = frozenset[str]().union(*(names_in(one.text) - one.placed for one in sentences)) | frozenset(
        key for one in sentences for key in asked_keys(one.text.split(maxsplit=1)[0]) if one.text[0].isupper()
    )
    return bool(names - covered(names, known)) or _says_who(question.behind_who, older, newer)


def _says_no_time(older: str, newer: str) -> bool:
    """Whether a newer text says only where or who: *the club is in the hall now*."""
    told, news = read(older).sentences, read(newer).sentences
    if not any(one.values or one.days for one in told) or any(one.values or one.days for one in news):
        return False
    known = asked_keys(older)
    ends = any(one.is_negated and (covered(one.former, known) or not one.placed) for one in news)
    spaced = f" {newer.casefold()}"
    if ends or any(f" {word}" in spaced for word in TABLES["shifted"]):
        return False
    own = frozenset[str]().union(*(one.placed | one.names for one in news))
    return bool(own - covered(own, known))


def _says_who(asked: tuple[str, ...], older: str, newer: str) -> bool:
    """Whether a newer text says of another one what is asked: *the library hosts the club now*."""
    known = set(_in_order(older))
    for sentence in read(newer).sentences if asked else ():
        keys = _in_order(sentence.text)
        for at in range(1, len(keys) - len(asked) + 1):
            is_other = any(key not in known and len(key) > _ARTICLE for key in keys[:at])
            if is_other and keys[at : at + len(asked)] == asked:
                return True
    return False


def _in_order(text: str) -> tuple[str, ...]:
    """Return the keys of all words but those of change, in their order."""
    words = (word for word in _WORD.findall(text.casefold()) if word not in TABLES["now"])
    return tuple(word_key(word) or word for word in words)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def _has_number_or_day(text: str) -> bool:
    return any(word.isdigit() or word in _TIME_WORDS for word in _WORD.findall(text.casefold()))


@lru_cache(maxsize=4_096)
def names_in(text: str) -> frozenset[str]:
    """Return the keys of capitalised words within a sentence, and of codes like 4a.

    Weekdays and months name a time.
    """
    found = (word for word in _NAME.findall(text) if word.casefold() not in _TIME_WORDS)
    return frozenset(map(_KEYS.__getitem__, found)) - _NO_KEY


@lru_cache(maxsize=1_024)
def _question(text: str) -> Question:
    text = _without_value(text)
    plain = without_asking(text)
    undated = _IN_TIME.sub(" ", plain)  # bezahlen im Dezember: the month is no subject
    undated = _PLAN_FOR.sub(" ", undated)
    is_past = _PAST.search(plain) is not None
    many = _MANY.search(plain)
    counted = many[1].casefold().split() if many else []
    end = next((at for at, word in enumerate(counted) if word in _STOP), len(counted))
    noun, verb = found.groups() if (found := _LISTED.match(plain)) else ("", "")
    asked = asked_words(undated)
    asked = replace(asked, keys=asked.keys - asked_keys(noun))
    return Question(
        keys=asked_keys(undated) or asked_keys(plain),
        units=_units(plain.casefold().split()),
        counted=asked_keys(" ".join(counted[:end])) | _units(counted[:end]),
        kinds=_kinds(plain),
        is_present=not is_past,
        digits=numbers_in(plain),
        asked=asked,
        names=names_in(plain),
        nouns=asked_keys(" ".join(_BEHIND_ARTICLE.findall(plain))),
        months=frozenset(month.casefold() for month in _IN_TIME.findall(plain)),
        listed=asked_keys(f"{noun} {verb}"),
        behind_who=_in_order(found[1]) if (found := _WHO.match(plain)) else (),
        is_perfect=is_past and not _WAS.search(plain),
    )


def _without_value(text: str) -> str:
    """Return a question whether a value holds, without that value; any other as it is.

    A newer text that has another value answers it, too. The number of what it is about stays (*freezer 1*).
    """
    if not OF_STATE.match(text):
        return text
    words = [word.strip(_SIGNS).casefold() for word in text.split()]
    _, number = numbered_name(" ".join(words[1:4]))
    kept, follows = list[str](), False
    for word, plain, after in zip(text.split(), words, [*words[1:], ""], strict=True):
        of_name = bool(_CODE.fullmatch(plain)) or (plain == number and after not in UNITS)
        is_value = plain in _TIME_WORDS or (any(map(str.isdigit, plain)) and not of_name)
        follows = is_value or (follows and (plain in UNITS or plain in _BEHIND_A_NUMBER))
        kept += [] if follows else [word]
    return " ".join(kept)


def _units(words: list[str]) -> frozenset[str]:
    return frozenset(UNITS[word][0] for word in words if word in UNITS)


def _kinds(text: str) -> frozenset[str]:
    if _EVENT.search(text):
        return frozenset()
    if _COUNT.search(text):
        return frozenset({"number", "statement"})
    if _WHEN.search(text):
        return TIMES | {"statement"}
    bare = len(text.split()) <= _BARE
    return ANY if (_WHAT.search(text) or bare) and not _ADVICE.search(text) else frozenset()


class _KeysOfWords(dict[str, str]):
    """Keys of words as they are written, computed once; empty for words that say nothing."""

    def __missing__(self, word: str) -> str:
        if len(self) >= MAX_WORDS:
            self.clear()
        plain = word.casefold().replace("’", "'").removesuffix("'s")
        key = self[word] = "" if len(plain) <= 1 or plain in IGNORED else word_key(plain)
        return key


_KEYS = _KeysOfWords()


@lru_cache(maxsize=4_096)  # a passage is compared in many searches
def asked_keys(question: str) -> frozenset[str]:
    """Return the keys of the content words of a question."""
    return frozenset(map(_KEYS.__getitem__, _WORD.findall(question))) - _NO_KEY
