"""Sentences of short notes: content words, values, and words of change (rule 3.12)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from slowwave.quality.divergence.lexicon import FOREIGN_WORDS, FUNCTION_WORDS, word_key
from slowwave.quality.divergence.lexicon_numbers import CARDINALS, MONTHS, WEEKDAY_KEYS
from slowwave.scoring.wordlists import lines, words

MAX_CHARACTERS = 300
"""Length of a text that counts as a short note (characters)."""
LONGEST = 45  # tokens of a sentence that is compared
_PREFIX = 5  # letters of the shorter of two words that are alike
_ENDING = 4  # letters by which the longer one may be longer
_INITIALS = 3  # minimum letters of initials, as in NAS
_NEAR = 3  # tokens between a number and the time that it is counted in
_AFTER = 5  # tokens after a word of former things that may name one
_BEFORE = 4  # tokens before one

_SPEAKER = re.compile(
    r"""\A\s*(?:\[[^\]\n]{4,40}\]\s*)?
    (?:(?P<who>[A-Z][\w.'-]*(?:\ [A-Z][\w.'-]*){0,2}):\s(?=\W*[^\W\d_][\w'’]*[ ,]))?""",
    re.VERBOSE,
)
_TOKEN = re.compile(r"[€$£]?\d+(?:[.,:]\d+)*%?|[^\W\d_](?:[\w’'-]*[^\W_])?|[,;:()?!]")
_NUMBER = re.compile(r"[€$£]?\d")
_SPLIT = re.compile(
    r"""(?<=[.!?])(?<!\d\.)\s+ | \n+
    | ,\s+(?=(?:(?:and|but|so)\s+)?(?:can|could|how|what|any|should|would|is\ that|do\ you|help)\b)
    | ,\s+(?=(?:and|but|so|because)\s+(?:i|my|we|our)\b)""",
    re.IGNORECASE | re.VERBOSE,
)
_HOURS: Final = frozenset({"am", "pm", "uhr", "h", "o'clock"})
_STOPS: Final = frozenset({",", ";", ":", "to", "for", "nach", "auf", "zu", "a", "à"})
_RATES: Final = frozenset({"a", "an", "per", "each", "every", "pro", "par", "por", "al", "im"})
_FAR: Final = frozenset({"far", "away", "different"})
_FROM_MONTH = re.compile(rf" from (?:{'|'.join(sorted(MONTHS))}|next|this|the) ")
_NOT_AFTER_ALL = re.compile(r" (?:not|\S+n't) .*(?:after all|anymore|any more) ")
_AFTER_CHANGE = (" after ", " nach ", " après ", " tras ")
_NEGATED = re.compile(
    r" (?:not|no longer|no more|anymore|never|nicht mehr|kein\w*|ya no|ne \S+ plus|non più|stopped|quit"
    r"|cancelled|canceled|broke up|gone|aufgehört|gekündigt) |n't "
)


def _tables() -> tuple[dict[str, frozenset[str]], tuple[frozenset[str], ...], dict[str, str]]:
    """Return the lists of words by name, the frames, and the word that stands for another one."""
    lists: dict[str, set[str]] = defaultdict(set)
    frames: list[set[str]] = []
    same: dict[str, str] = {}
    for line in lines("slowwave.quality", "announcing"):
        name, _, rest = line.partition(":")
        found = [word.replace("+", " ") for word in rest.removeprefix("+").split()]
        if name == "frame" and rest.startswith("+"):
            frames[-1].update(found)
        elif name == "frame":
            frames.append(set(found))
        elif name == "alike":
            same |= {word_key(word): word_key(found[0]) for word in found}
        else:
            lists[name].update(found)
    return {name: frozenset(one) for name, one in lists.items()}, tuple(map(frozenset, frames)), same


TABLES, _FRAMES, _SAME = _tables()
_FUNCTION: Final = frozenset().union(
    FUNCTION_WORDS, FOREIGN_WORDS, words("slowwave.scoring", "function"),
    TABLES["speaker"], ("up", "down", "out", "must", "from", "since", "after", "it", "it's", "that's"),
)  # fmt: skip


def content_key(word: str) -> str:
    """Return the key of a folded word; words of one attribute share it."""
    key = word_key(word)
    return _SAME.get(key, key)


GENERIC: Final = TABLES["generic"] | {content_key(word) for word in TABLES["generic"]}
"""Keys that name no subject."""
CHANGING: Final = frozenset(
    content_key(word)
    for phrase in TABLES["verbs"] | TABLES["now"] | TABLES["provisional"]
    for word in phrase.split()
)
"""Keys of words of change."""
_TRIGGERS: Final = frozenset(word for word in TABLES["verbs"] | TABLES["now"] if " " not in word)
_PHRASES: Final = tuple(f" {word} " for word in TABLES["now"] | TABLES["provisional"] if " " in word)
_PLAIN = re.compile(r"[^\W_]+(?:'[^\W_]+)?")


@dataclass(frozen=True, slots=True)
class Sentence:
    """What a sentence is compared by.

    Attributes:
        size: Count of its tokens.
        keys: Keys of its content words.
        names: Keys of those that begin with a capital letter, not at the beginning.
        values: Numbers, times, weekdays and months, normalised.
        kinds: Kinds of them: number, percent, clock, date, weekday.
        units: Keys of the words after its numbers.
        rates: Keys of the times that they are counted in, as in "a minute".
        cues: Words that say that something changed, or holds now.
        verbs: Of the cues those that are verbs of change.
        former: Keys and values that a word marks as no longer holding.
        frames: Kinds of attribute that its words belong to, by number.
        possessed: Keys of owners, as in "Ana's".
        of_speaker: Whether it names the speaker.
        of_listener: Whether it names the listener.
        of_others: Whether it names others by a pronoun.
        is_question: Whether it ends as a question.
        is_unsure: Whether it says what may happen.
        is_more: Whether it adds to what was said before.
        is_negated: Whether it denies or ends something.
        is_provisional: Whether its value is expected to change, as in "so far".
    """

    size: int
    keys: frozenset[str]
    names: frozenset[str]
    values: frozenset[str]
    kinds: frozenset[str]
    units: frozenset[str]
    rates: frozenset[str]
    cues: frozenset[str]
    verbs: frozenset[str]
    former: frozenset[str]
    frames: frozenset[int]
    possessed: frozenset[str]
    of_speaker: bool
    of_listener: bool
    of_others: bool
    is_question: bool
    is_unsure: bool
    is_more: bool
    is_negated: bool
    is_provisional: bool


@dataclass(frozen=True, slots=True)
class Text:
    """Sentences of a text, with its speaker where it is a turn of a chat.

    Attributes:
        former: What any of its sentences marks as no longer holding.
    """

    speaker: str
    sentences: tuple[Sentence, ...]
    former: frozenset[str]


@lru_cache(maxsize=8_192)
def announces(text: str) -> bool:
    """Whether a text has a word of change, or a value that is expected to change."""
    found = _PLAIN.findall(text.casefold().replace("’", "'"))
    if not _TRIGGERS.isdisjoint(found):
        return True
    spaced = f" {' '.join(found)} "
    if spaced.startswith(_AFTER_CHANGE) or any(phrase in spaced for phrase in _PHRASES):
        return True
    return bool(_FROM_MONTH.search(spaced))


@lru_cache(maxsize=4_096)
def read(text: str) -> Text:
    """Return the sentences of a text."""
    head = _SPEAKER.match(text)
    body = text[head.end() if head else 0 :]
    found = tuple(sentence_of(part) for part in _SPLIT.split(body) if part and len(part) > _BEFORE)
    return Text(
        ((head["who"] or "") if head else "").casefold(),
        found,
        frozenset().union(*(one.former for one in found)),
    )


@lru_cache(maxsize=8_192)
def sentence_of(text: str) -> Sentence:
    """Return what a sentence is compared by."""
    tokens = _TOKEN.findall(text)
    low = [token.casefold().replace("’", "'") for token in tokens]
    keys = [_key(tokens[at], word) for at, word in enumerate(low)]
    values, kinds = _values(tokens, low)
    spaced = f" {' '.join(low)} "
    verbs = TABLES["verbs"].intersection(low)
    return Sentence(
        size=len(tokens),
        keys=frozenset(filter(None, keys)),
        names=frozenset(
            key
            for at, key in enumerate(keys)
            if key and at and tokens[at][0].isupper() and tokens[at - 1] not in {"?", "!", ":"}
        ),
        values=values,
        kinds=kinds,
        units=frozenset(
            keys[at + 1] for at, word in enumerate(low[:-1]) if _NUMBER.match(word) and keys[at + 1]
        ),
        rates=_rates(low),
        cues=verbs | _cues(spaced, low),
        verbs=verbs,
        former=_former(low, keys, values, changes=bool(verbs)),
        frames=frozenset(at for at, frame in enumerate(_FRAMES) if not frame.isdisjoint(low)),
        possessed=frozenset(key for key, word in zip(keys, low, strict=True) if key and word.endswith("'s")),
        of_speaker=not TABLES["speaker"].isdisjoint(low),
        of_listener=not TABLES["listener"].isdisjoint(low),
        of_others=not TABLES["others"].isdisjoint(low),
        is_question=text.rstrip().endswith("?"),
        is_unsure=not (TABLES["unsure"] - ({"may"} if "date" in kinds else set())).isdisjoint(low),
        is_more=not TABLES["more"].isdisjoint(low),
        is_negated=bool(_NEGATED.search(spaced)),
        is_provisional=_has(spaced, low, TABLES["provisional"]),
    )


def _key(token: str, low: str) -> str:
    """Return the key of a content word, else an empty text."""
    word = low.removesuffix("'s")
    is_value = _NUMBER.match(token) or low in WEEKDAY_KEYS or low in CARDINALS or _is_month(token, low)
    is_initials = token.isupper() and len(token) >= _INITIALS
    if is_value or len(word) < 2 or not word[0].isalpha() or (word in _FUNCTION and not is_initials):
        return ""
    return content_key(word)


def _is_month(token: str, low: str) -> bool:
    return low in MONTHS and len(low) > 2 and (low != "may" or token[0].isupper())


def _values(tokens: Sequence[str], low: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    values: set[str] = set()
    kinds: set[str] = set()
    for at, word in enumerate(low):
        if _NUMBER.match(word):
            after = low[at + 1] if at + 1 < len(low) else ""
            kind = "percent" if word.endswith("%") or after == "%" else "number"
            if ":" in word or after in _HOURS:
                kind = "clock"
            if any(
                _is_month(tokens[near], low[near]) for near in range(max(0, at - 2), min(at + 3, len(low)))
            ):
                kind = "date"
            values.add(word.strip("%").rstrip("."))
        elif word in WEEKDAY_KEYS:
            kind = "weekday"
            values.add(WEEKDAY_KEYS[word])
        elif word in CARDINALS and word not in {"one", "hundred", "twice"}:
            kind = "number"
            values.add(str(CARDINALS[word]))
        elif _is_month(tokens[at], word):
            kind = "date"
            values.add(f"month {MONTHS[word]}")
        else:
            continue
        kinds.add(kind)
    return frozenset(values), frozenset(kinds)


def _rates(low: Sequence[str]) -> frozenset[str]:
    """Return the times after "a" or "per" near a number."""
    return frozenset(
        word_key(low[at + 1])
        for at, word in enumerate(low[:-1])
        if word in _RATES and any(_NUMBER.match(before) for before in low[max(0, at - _NEAR) : at])
    )


def _cues(spaced: str, low: Sequence[str]) -> frozenset[str]:
    """Return the words of change that are no verbs."""
    found = {word for word in TABLES["now"] if " " in word and f" {word} " in spaced}
    found.update(TABLES["now"].intersection(low))
    if _FROM_MONTH.search(spaced):
        found.add("from")
    if _NOT_AFTER_ALL.search(spaced):
        found.add("after all")
    if spaced.startswith(_AFTER_CHANGE):
        found.add("after")
    return frozenset(found)


def _has(spaced: str, low: Sequence[str], table: Set[str]) -> bool:
    return not table.isdisjoint(low) or any(" " in word and f" {word} " in spaced for word in table)


def _former(
    low: Sequence[str], keys: Sequence[str], values: Collection[str], *, changes: bool
) -> frozenset[str]:
    """Return what stands after "from", "sold", "no longer", or before "left", "was replaced"."""
    found: set[str] = set()
    for at, word in enumerate(low):
        pair = f"{low[at - 1]} {word}" if at else word
        before = low[at - 1] if at else ""
        is_former = word in TABLES["former"] or pair in TABLES["former"]
        if is_former and not (word == "from" and (not changes or before in _FAR)):
            for near in range(at + 1, min(at + _AFTER, len(low))):
                if low[near] in _STOPS:
                    break
                found.add(keys[near] or (low[near].strip("%") if low[near].strip("%") in values else ""))
        if word in TABLES["ended"]:
            found.update(keys[max(0, at - _BEFORE) : at])
    return frozenset(filter(None, found))


def covered(wanted: Iterable[str], keys: Set[str]) -> frozenset[str]:
    """Return the keys that are among others, also as the beginning of a longer word."""
    return frozenset(one for one in wanted if one in keys or any(_alike(one, key) for key in keys))


def _alike(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    return len(short) >= _PREFIX and len(long) - len(short) <= _ENDING and long.startswith(short)
