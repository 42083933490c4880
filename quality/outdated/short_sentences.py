"""Sentences of short notes: content words, values, and words of change (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence, Set
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from slowwave.quality.divergence.lexicon import word_key
from slowwave.quality.divergence.lexicon_numbers import CARDINALS, MONTHS, WEEKDAY_KEYS
from slowwave.quality.outdated.change_words import (
    FRAMES,
    FUNCTION,
    STATE_WORDS,
    TABLES,
    adds,
    changes_nothing,
    content_key,
    is_unsure,
)
from slowwave.quality.outdated.cues import cues_of, plainly

MAX_CHARACTERS = 300
"""Length of a text that counts as a short note (characters)."""
LONGEST = 45  # tokens of a sentence that is compared
_INITIALS = 3  # minimum letters of initials, as in NAS
_NEAR = 3  # tokens between a number and the time that it is counted in
_AFTER = 5  # tokens after a word of former things that may name one
_BEFORE = 4  # tokens before one
_SPEAKER = re.compile(
    r"""\A\s*(?:\[[^\]\n]{4,40}\]\s*)?(?:(?:user|human|assistant):\s)?
    (?:(?P<who>[A-Z][\w.'-]*(?:\ [A-Z][\w.'-]*){0,2}):\s(?=\W*[^\W\d_][\w'’]*[ ,]))?""",
    re.VERBOSE,
)
_TOKEN = re.compile(r"[€$£]?\d+(?:[.,:]\d+)*%?|[^\W\d_](?:[\w’'-]*[^\W_])?|[,;:()?!]")
_NUMBER = re.compile(r"[€$£]?\d")
_STARTS = (
    r"(?-i:(?:The|An?|It|I|We|She|They|This|Our|My|Der|Die|Das|Wir|Ich|Le|La|Les|Il|Elle|El|Los|Se|Os?)\b)"
)
_REASONS = "because|due\\ to|weil|wegen|parce|porque"
_ASKING = "|".join(sorted(map(re.escape, TABLES["asking"])))
_REASON = re.compile(rf"\s*(?:{_REASONS})\b", re.IGNORECASE)
_SPLIT = re.compile(
    rf"""(?=[\s,])(?:(?<=[.!?])(?:(?<!\d\.)|(?=\s+{_STARTS}))(?<!\b[DM][rs]\.)(?<!\bSt\.)(?<!\b(?:Dra|Mrs)\.)(?<!\bProf\.)\s+
    | \n+ | ,\s+(?=(?:(?:and|but|so)\s+)?(?:can|could|how|what|any|should|would|is\ that|do\ you|help)\b)
    | ,\s+(?=(?:(?:and|und|et)\s+)?(?:{_ASKING})\b[^.!?\n]{{0,200}}\?)
    | ,\s+(?=(?:and|but|so)\s+(?:i|my|we|our)\b) | ,?\s+(?=(?:{_REASONS})\b))""",
    re.IGNORECASE | re.VERBOSE,
)
_WORKING_DAYS = re.compile(
    r"\b(?:mon(?:days?)?(?: to | through | ?[-–] ?)fri(?:days?)?|montags? bis freitags?"
    r"|mo\.?(?: bis | ?[-–] ?)fr"
    r"|(?:de )?lunes a viernes|(?:du )?lundi au vendredi|(?:de )?segunda a sexta)\b",
    re.IGNORECASE,
)
_HOURS: Final = frozenset({"am", "pm", "uhr", "h", "o'clock"})
_STOPS: Final = frozenset({",", ";", ":", "to", "for", "nach", "auf", "zu", "a", "à"})
_ANOTHER: Final = frozenset({"a", "an", "another", "ein", "eine", "einen", "un", "una", "une", "um", "uma"})
_IN: Final = frozenset({"in", "im", "en", "em"})
_OF: Final = frozenset({"of", "von", "de", "di"})
_RATES: Final = frozenset({"a", "an", "per", "each", "every", "pro", "par", "por", "al", "im"})
_ORDINAL: Final = frozenset({"st", "nd", "rd", "th"})
_FAR: Final = frozenset({"far", "away", "different"})
_CHANGES: Final = TABLES["verbs"] | TABLES["now"]
_NO_QUALIFIERS: Final = _CHANGES | TABLES["generic"]
_PREPOSITIONS: Final = TABLES["bound"] | TABLES["placed"]
_PROVISIONAL: Final = tuple(f" {word} " for word in TABLES["provisional"])
_NEGATED = re.compile(
    r" (?:not|no longer|no more|anymore|never|nicht mehr|kein\w*|ya no|ne \S+ plus|non più|stopped|quit"
    r"|cancelled|canceled|broke up|gone|aufgehört|gekündigt) |n't "
)


@dataclass(frozen=True, slots=True, eq=False)
class ShortSentence:
    """Words and values of a sentence, by which it is compared.

    Attributes:
        text: As it is written.
        size: Count of its tokens.
        keys: Keys of its content words.
        names: Keys of those that begin with a capital letter, not at the beginning.
        values: Numbers, times, weekdays and months, normalised.
        kinds: Kinds of them: number, percent, clock, date, weekday.
        units: Keys of the words after its numbers.
        rates: Keys of the times that they are counted in, as in "a minute".
        renewed: Keys of what "new" stands before, without "a".
        cues: Words that say that something changed, or holds now.
        verbs: Of the cues those that are verbs of change.
        former: Keys and values that a word marks as no longer holding.
        frames: Kinds of attribute that its words belong to, by number.
        bound: Keys after a word of belonging, as in "of the car" and "for Mia".
        placed: Keys after a word of place or time, as in "in summer".
        modifying: Pairs of keys of words beside each other, as in "paper bins".
        apposed: The same of names after another word, as in "sister Lena".
        subject: Key of the first content word that no preposition stands before.
        days: Weekdays, groups of them, and months after "in".
        of_kin: Whether its subject is somebody of the speaker's, as in "my husband".
        says_i: Whether the speaker is its subject.
        possessed: Keys of owners, as in "Ana's" and "of Ana".
        of_speaker: Whether it names the speaker.
        of_listener: Whether it names the listener.
        of_others: Whether it names others by a pronoun.
        states: Words of states, such as "open".
        is_question: Whether it ends as a question.
        is_unsure: Whether it says what may happen, or that nothing has changed.
        is_more: Whether it adds to what was said before.
        is_negated: Whether it denies or ends something.
        is_provisional: Whether its value is expected to change, as in "so far".
    """

    text: str
    size: int
    keys: frozenset[str]
    names: frozenset[str]
    values: frozenset[str]
    kinds: frozenset[str]
    units: frozenset[str]
    rates: frozenset[str]
    renewed: frozenset[str]
    cues: frozenset[str]
    verbs: frozenset[str]
    former: frozenset[str]
    frames: frozenset[int]
    bound: frozenset[str]
    placed: frozenset[str]
    modifying: frozenset[tuple[str, str]]
    apposed: frozenset[tuple[str, str]]
    subject: frozenset[str]
    days: frozenset[str]
    of_kin: bool
    says_i: bool
    possessed: frozenset[str]
    of_speaker: bool
    of_listener: bool
    of_others: bool
    states: frozenset[str]
    is_question: bool
    is_unsure: bool
    is_more: bool
    is_negated: bool
    is_provisional: bool


@dataclass(frozen=True, slots=True, eq=False)
class ShortText:
    """Sentences of a text, with its speaker where it is a turn of a chat.

    Attributes:
        keys: Keys of the content words of its sentences.
        former: What any of its sentences marks as no longer holding.
    """

    speaker: str
    sentences: tuple[ShortSentence, ...]
    keys: frozenset[str]
    former: frozenset[str]


@lru_cache(maxsize=8_192)
def is_note(text: str) -> bool:
    """Whether a text is a short note, and no turn of a chat."""
    head = _SPEAKER.match(text) if len(text) <= MAX_CHARACTERS else None
    return head is not None and not head["who"]


@lru_cache(maxsize=4_096)
def read(text: str) -> ShortText:
    """Return the sentences of a text."""
    head = _SPEAKER.match(text)
    body = plainly(text[head.end() if head else 0 :])
    found: list[ShortSentence] = []
    for part in _SPLIT.split(body):
        if part and len(part) > _BEFORE:
            one = sentence_of(part)
            is_reason = bool(found) and found[-1].is_unsure and _REASON.match(part) is not None
            found.append(replace(one, is_unsure=True) if is_reason else one)
    return ShortText(
        ((head["who"] or "") if head else "").casefold(),
        tuple(found),
        frozenset().union(*(one.keys for one in found)),
        frozenset().union(*(one.former for one in found)),
    )


def says_several(text: str) -> bool:
    """Whether a text has several sentences with two content words or more."""
    return sum(len(sentence.keys) > 1 for sentence in read(text).sentences) > 1


@lru_cache(maxsize=8_192)
def sentence_of(text: str) -> ShortSentence:
    """Return what a sentence is compared by."""
    tokens = _TOKEN.findall(_WORKING_DAYS.sub("weekdays", text))
    low = [token.casefold().replace("’", "'") for token in tokens]
    keys = [_key(tokens[at], word) for at, word in enumerate(low)]
    values, kinds = _values(tokens, low)
    spaced = f" {' '.join(low)} "
    verbs = TABLES["verbs"].intersection(low)
    subject = _subject(low, keys)
    return ShortSentence(
        text=text,
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
            keys[at + 1]
            for at, word in enumerate(low[:-1])
            if _NUMBER.match(word) and keys[at + 1] and tokens[at + 1].islower()
        ),
        rates=_rates(low),
        renewed=_renewed(low, keys),
        cues=verbs | cues_of(spaced, low),
        verbs=verbs,
        former=_former(low, keys, values, changes=bool(verbs)),
        frames=frozenset(at for at, frame in enumerate(FRAMES) if not frame.isdisjoint(low)),
        bound=_after(low, keys, TABLES["bound"]),
        placed=_after(low, keys, TABLES["placed"]),
        modifying=_modifying(tokens, low, keys),
        apposed=_apposed(tokens, low, keys),
        subject=subject,
        days=frozenset(WEEKDAY_KEYS[word] for word in low if word in WEEKDAY_KEYS)
        | TABLES["days"].intersection(low)
        | frozenset(
            f"month {MONTHS[word]}"
            for at, word in enumerate(low)
            if at and low[at - 1] in _IN and _is_month(tokens[at], word)
        ),
        of_kin=_of_kin(low, keys, subject),
        says_i=not TABLES["saying_i"].isdisjoint(low),
        possessed=frozenset(
            key
            for at, (key, word) in enumerate(zip(keys, low, strict=True))
            if key and (word.endswith("'s") or (at and low[at - 1] in _OF and tokens[at][0].isupper()))
        ),
        of_speaker=not TABLES["speaker"].isdisjoint(low),
        of_listener=not TABLES["listener"].isdisjoint(low),
        of_others=not TABLES["others"].isdisjoint(low),
        states=STATE_WORDS.intersection(low),
        is_question=text.rstrip().endswith("?"),
        is_unsure=is_unsure([word for word in low if word != "may"] if "date" in kinds else low)
        or changes_nothing(spaced),
        is_more=adds(low),
        is_negated=bool(_NEGATED.search(spaced)),
        is_provisional=any(map(spaced.__contains__, _PROVISIONAL)),
    )


@lru_cache(maxsize=16_384)
def _key(token: str, low: str) -> str:
    """Return the key of a content word, else an empty text."""
    word = low.removesuffix("'s")
    is_value = _NUMBER.match(token) or low in WEEKDAY_KEYS or low in CARDINALS or _is_month(token, low)
    is_initials = token.isupper() and len(token) >= _INITIALS
    is_function = word.endswith("n't") or (word in FUNCTION and not is_initials)
    if is_value or len(word) < 2 or not word[0].isalpha() or is_function:
        return ""
    return content_key(word)


def _is_month(token: str, low: str) -> bool:
    return low in MONTHS and (low != "may" or token[0].isupper())


def _values(tokens: Sequence[str], low: Sequence[str]) -> tuple[frozenset[str], frozenset[str]]:
    """Return values and kinds; numbers in a row, as of a telephone, are one value."""
    values: list[str] = []
    kinds: set[str] = set()
    last = -2
    for at, word in enumerate(low):
        if _NUMBER.match(word):
            kind = _kind_of_number(tokens, low, at)
            value = word.strip("%")
            if last == at - 1:
                value = values.pop() + value
            last = at
        elif word in WEEKDAY_KEYS:
            kind, value = "weekday", WEEKDAY_KEYS[word]
        elif word in CARDINALS and word not in {"one", "hundred", "twice"}:
            kind, value = "number", str(CARDINALS[word])
        elif _is_month(tokens[at], word):
            kind, value = "date", f"month {MONTHS[word]}"
        else:
            continue
        values.append(value)
        kinds.add(kind)
    return frozenset(values), frozenset(kinds)


def _kind_of_number(tokens: Sequence[str], low: Sequence[str], at: int) -> str:
    around = range(max(0, at - 2), min(at + 3, len(low)))
    if any(_is_month(tokens[near], low[near]) for near in around):
        return "date"
    after = low[at + 1] if at + 1 < len(low) else ""
    if ":" in low[at] or after in _HOURS:
        return "clock"
    if at and low[at - 1] == "the" and after in _ORDINAL and not _is_noun(low[at + 2 : at + 3]):
        return "date"  # on the 11th, but not the 2nd floor
    return "percent" if low[at].endswith("%") else "number"


def _is_noun(words: Sequence[str]) -> bool:
    return any(word[0].isalpha() and word not in FUNCTION and word not in _CHANGES for word in words)


def _rates(low: Sequence[str]) -> frozenset[str]:
    """Return the times after "a" or "per" near a number."""
    return frozenset(
        word_key(low[at + 1])
        for at, word in enumerate(low[:-1])
        if word in _RATES and any(_NUMBER.match(before) for before in low[max(0, at - _NEAR) : at])
    )


def _renewed(low: Sequence[str], keys: Sequence[str]) -> frozenset[str]:
    found: set[str] = set()
    for at, word in enumerate(low):
        if word in TABLES["new"] and not (at and low[at - 1] in _ANOTHER):
            found.update(keys[at + 1 : at + 1 + _NEAR])
    return frozenset(filter(None, found))


def _after(low: Sequence[str], keys: Sequence[str], prepositions: Set[str]) -> frozenset[str]:
    """Return the first content word after each preposition, and those that follow it directly."""
    found: set[str] = set()
    for at, word in enumerate(low):
        if word not in prepositions:
            continue
        place = at + 1
        while place < min(len(low), at + _NEAR) and _may_be_skipped(low[place], keys[place]):
            place += 1
        while place < len(low) and keys[place] and low[place] not in _CHANGES:
            found.add(keys[place])
            place += 1
    return frozenset(found)


def _may_be_skipped(word: str, key: str) -> bool:
    """Whether a word may stand between a preposition and its noun."""
    return word in TABLES["new"] or not (key or _NUMBER.match(word) or word in TABLES["every"])


def _modifying(tokens: Sequence[str], low: Sequence[str], keys: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (keys[at], keys[at + 1])
        for at in range(len(keys) - 1)
        if keys[at] and keys[at + 1] and _NO_QUALIFIERS.isdisjoint(low[at : at + 2])
        and not tokens[at + 1][0].isupper()
    )  # fmt: skip


def _apposed(tokens: Sequence[str], low: Sequence[str], keys: Sequence[str]) -> frozenset[tuple[str, str]]:
    return frozenset(
        (keys[at - 1], keys[at])
        for at in range(1, len(keys))
        if keys[at] and keys[at - 1] and tokens[at][0].isupper() and low[at - 1] not in _NO_QUALIFIERS
    )


def _of_kin(low: Sequence[str], keys: Sequence[str], subject: Set[str]) -> bool:
    return any(key in subject and at and low[at - 1] in TABLES["my"] for at, key in enumerate(keys))


def _subject(low: Sequence[str], keys: Sequence[str]) -> frozenset[str]:
    is_inside = False
    for at, key in enumerate(keys):
        if low[at] in _PREPOSITIONS:
            is_inside = True
        elif key and not is_inside and low[at] not in _CHANGES:
            return frozenset([key])
        elif key:
            is_inside = False
    return frozenset()


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
                if low[near] in _STOPS and (low[near] != "a" or word != "longer"):
                    break
                found.add(keys[near] or (low[near].strip("%") if low[near].strip("%") in values else ""))
        if word in TABLES["ended"]:
            found.update(keys[max(0, at - _BEFORE) : at])
    return frozenset(filter(None, found))
