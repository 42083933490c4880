"""Limits of what a sentence speaks of: owner, place, time, attribute (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from slowwave.quality.outdated.amounts import SCALES, WORDS, amounts_of
from slowwave.quality.outdated.change_words import (
    CHANGING,
    FUNCTION,
    GENERIC,
    TABLES,
    content_key,
    covered,
    is_turned,
)
from slowwave.quality.outdated.scope_words import OPPOSED, SCOPE
from slowwave.quality.outdated.tokens import DAY_KEYS, MONTH_KEYS
from slowwave.quality.outdated.tokens import TABLES as CHANGING_TABLES

_WORD = re.compile(r"\d+(?:[.,:]\d+)*|[^\W\d_][\w'’-]*|[,;:()]")
_QUOTED = re.compile(r"[\"“„«]([^\"“”„«»]+)[\"”“»]|(?<=[:,] )['‘](.+)['’]")
_LONGEST: Final = 26  # words of a sentence whose every phrase limits what it says (count)
_FEW = 3  # words of a phrase that are read
_STEM = 3  # minimum letters that two forms of a verb share (count)
_VERBS: Final = (
    TABLES["verbs"] | CHANGING_TABLES["verbs"] | CHANGING_TABLES["change"] - CHANGING_TABLES["now"]
)
_FORMS: Final = (
    _VERBS | CHANGING_TABLES["stative"] | CHANGING_TABLES["now"]
    | {"was", "were", "will", "wird", "wurde", "beträgt", "es", "é", "sera", "será", "foi", "fue", "è"}
)  # fmt: skip
_TIMES: Final = frozenset({*DAY_KEYS, *MONTH_KEYS} - {"may", "mar", "sun"})
_DATING: Final = SCOPE["season"] | DAY_KEYS.keys() | MONTH_KEYS.keys()
_NO_LIMITS: Final = SCOPE["occasion"] | SCOPE["universal"] | _DATING
_PERSON = re.compile(
    r"\W*(?P<my>(?:My|Mein|Meine|Ma|Mon|Mi|Meu|Minha) )?(?P<who>[^\W\d_]+) (?:now |jetzt |only )?"
    r"(?P<verb>[^\W\d_]+)"
)
_ARTICLE = (
    r"(?:(?:the|our|my|an?|d(?:er|ie|as|en)|(?:unse|mein)\w*|l[aeo]s?|notre|m[ao]n|el|nuestr[ao]|mi|il|os?"
    r"|noss[ao]) |l['’])"
)
_NUMBERED = re.compile(
    rf"\A\W*{_ARTICLE}?(?:[^\W\d_]+ (?:in|on|at|of|for|from|auf|von|für|en|de|di|do|da) {_ARTICLE}?)?"
    r"(?:[^\W\d_]+ (?=[^\W\d_]+ (?-i:[A-HJ-Z])\b))?"  # lecture hall B
    r"([^\W\d_]+) (\d+|(?-i:[A-HJ-Z]))(?: (?=[^\W\d_])|\W*\Z)",
    re.IGNORECASE,
)
"""Noun, and number or letter, in the name of what a statement is about: "Feed of cage 12 is 4 g"."""
_GROUP = re.compile(r"\b([A-Z]\d{1,3}|\d{1,2}[a-f])\b")
"""Group or class with a letter and a number."""
_OF_GROUP = re.compile(
    rf"\b(?:of|for|class|team|von|für|der|klasse|de|du|classe|clase|da|do) {_ARTICLE}?{_GROUP.pattern}"
)
_WEEKDAY = re.compile(rf"\b(?:{'|'.join(sorted(DAY_KEYS))})\b", re.IGNORECASE)
_RECURRING = re.compile(r"days\b|\b(?:every|jeden|chaque|cada)\b", re.IGNORECASE)
_MONTHS = "|".join(sorted(MONTH_KEYS))
_DATE = re.compile(rf"\b(?:\d{{1,2}}\.? (?:{_MONTHS})|(?:{_MONTHS}) \d{{1,2}})\b", re.IGNORECASE)
_ON_DATE = re.compile(rf"\b(?:on|am|el|em) {_DATE.pattern}", re.IGNORECASE)
_VERSIONED: Final = frozenset({"version", "release", "versión", "versão", "versione"})
"""Nouns whose next number takes the place of the last one."""
_SPEAKER: Final = frozenset({"I", "Ich", "Je", "Yo", "Eu"})
_ENDED = re.compile(rf" (?:{'|'.join(SCOPE['ending'])}) ")
_UNDONE = re.compile(rf" (?:{'|'.join(SCOPE['undone'])}) (?!to |auf |à |a )")
_TRIAL = re.compile(rf"(?:\A| a| just| only| ein| nur) (?:\S+ )?(?:{'|'.join(SCOPE['trial'])}) ")
_NAMELESS: Final = _TIMES | WORDS.keys() | SCALES.keys() | SCOPE["hour"] | {"pm", "one"}
"""Words of values, which have no key."""
_DENIED: Final = {"not", "no", "never", "nicht", "kein", "keine", "keinen", "pas", "não", "non", "n't"}


@dataclass(frozen=True, slots=True)
class SentenceLimits:
    """Words of a sentence that limit what it speaks of.

    Attributes:
        size: Count of its words and marks.
        low: Its words in lower case, and the last one also behind "~", as in "macht um 19 Uhr zu".
        keys: Keys of its content words.
        parts: Keys of a noun, and of what it belongs to: "rent" and "choir" in "the rent of the choir".
        leading: Keys of a phrase of place, time or receiver that it begins with.
        habits: Times that come again: "sundays".
        limited: Keys of a phrase after "only".
        trailing: Keys of phrases of place or receiver behind its last number.
        ended: Keys after "no longer", in their order.
        taken: Keys of what is moved to a place.
        again: Keys after "back in".
        aside: Keys after "before" and the like.
        amounts: Its numbers and times, in their order.
        times: Its weekdays and months.
        is_quoted: Whether a part of it is a quotation of several words.
        is_undone: Whether it says that a change was taken back.
        is_trial: Whether it only tries something out.
        is_denied: Whether it denies something.
        is_change: Whether it has a verb of change.
    """

    size: int
    low: frozenset[str]
    keys: frozenset[str]
    parts: tuple[tuple[str, str], ...]
    leading: frozenset[str]
    habits: frozenset[str]
    limited: frozenset[str]
    trailing: frozenset[str]
    ended: tuple[str, ...]
    taken: frozenset[str]
    again: frozenset[str]
    aside: frozenset[str]
    amounts: tuple[str, ...]
    times: frozenset[str]
    is_quoted: bool
    is_undone: bool
    is_trial: bool
    is_denied: bool
    is_change: bool


@lru_cache(maxsize=2_048)
def scope_of(sentence: str) -> SentenceLimits:
    """Return what limits a sentence."""
    lowered = sentence.casefold().replace("’", "'")
    low = _WORD.findall(lowered)
    keys = [_key(word) for word in low]
    spaced = f" {' '.join(low)} "
    last = next((word for word in reversed(low) if word[0].isalnum()), "")
    before_numbers = (f"{word}#" for word, after in pairwise(low) if after[0].isdigit())
    words = frozenset([*low, f"~{last}", *before_numbers])
    return SentenceLimits(
        size=len(low),
        low=words,
        keys=frozenset(filter(None, keys)),
        parts=tuple(_parts(low, keys)),
        leading=_leading(low, keys),
        habits=words & SCOPE["habit"],
        limited=_limited(low, keys),
        trailing=_trailing(low, keys),
        ended=_ended(spaced),
        taken=_taken(low, keys),
        again=_behind(low, keys, "back"),
        aside=_behind(low, keys, "aside"),
        amounts=amounts_of(lowered),
        times=frozenset(str(DAY_KEYS.get(word) or MONTH_KEYS[word]) for word in words & _TIMES),
        is_quoted=any(len("".join(part).split()) > _FEW for part in _QUOTED.findall(sentence)),
        is_undone=_UNDONE.search(spaced) is not None,
        is_trial=_TRIAL.search(spaced) is not None,
        is_denied=not _DENIED.isdisjoint(low) or "n't " in spaced or bool(_ENDED.search(spaced)),
        is_change=not _VERBS.isdisjoint(low),
    )


def limits_behind(sentence: str, start: int) -> frozenset[str]:
    """Return the keys of nouns behind prepositions that limit a value: *replaced … in the warehouse*.

    A word for "only" anywhere is a limit, too.

    Args:
        sentence: With the value.
        start: Where the value begins (characters).
    """
    low = _WORD.findall(sentence[start:].casefold().replace("’", "'"))
    found = _nouns_behind(low, [_key(word) for word in low], 1)
    is_only = not SCOPE["only"].isdisjoint(_WORD.findall(sentence.casefold()))
    return found | {"only"} if is_only else found


def has_other_scope(older: str, newer: str, known: Set[str] = frozenset()) -> bool:
    """Whether a newer sentence speaks of less or something else than an older one.

    So does one that changes nothing, like "the budget is now 1k" after "the budget is 1,000".

    Args:
        older: Sentence with a value.
        newer: Sentence that may replace it.
        known: Keys of more words of the older text.
    """
    old, new = scope_of(older), scope_of(newer)
    if max(old.size, new.size) > _LONGEST:
        return False
    known = known | old.keys | old.low
    return (
        _is_of_others(old, new, known)
        or _have_other_persons(older, newer)
        or _have_other_numbers(older, newer)
        or _is_of_one_date(older, newer)
        or _is_limited(old, new, known)
        or _is_other_attribute(old, new, known)
        or _is_unchanged(old, new)
    )


def _is_of_others(old: SentenceLimits, new: SentenceLimits, known: Set[str]) -> bool:
    """Whether a newer sentence is quoted, of a competitor, or of another owner."""
    if any(getattr(new, name) and not getattr(old, name) for name in ("is_quoted", "is_undone", "is_trial")):
        return True
    if any(new.low & SCOPE[name] and not old.low & SCOPE[name] for name in ("fiction", "rival")):
        return True
    return any(covered([noun], known) and not covered([part], known) for noun, part in new.parts)


def _have_other_persons(older: str, newer: str) -> bool:
    """Whether a speaker and somebody else do the same: I weigh, Tom now weighs."""
    (who, deed), (other, other_deed) = _person_of(older), _person_of(newer)
    size = max(_STEM, min(len(deed), len(other_deed)) - 1)
    return who != other and "i" in (who, other) and bool(deed) and deed[:size] == other_deed[:size]


@lru_cache(maxsize=2_048)
def _person_of(sentence: str) -> tuple[str, str]:
    """Return who a sentence begins with, and the verb behind; empty without them."""
    begin = _PERSON.match(sentence)
    if begin is None:
        return "", ""
    who = begin["who"].casefold()
    if begin["who"] in _SPEAKER:
        who = "i"
    elif not begin["my"] and (who in FUNCTION or who in SCOPE["article"]):
        return "", ""
    return who, begin["verb"].casefold()


def _have_other_numbers(older: str, newer: str) -> bool:
    """Whether two sentences name two things of one kind: room 12, room 14; class 3b, class 5a."""
    (noun, number), (other, other_number) = numbered_name(older), numbered_name(newer)
    differ = number.casefold() != other_number.casefold()
    if noun and noun == other and differ and noun not in _VERSIONED:
        return True
    groups, others = set(_OF_GROUP.findall(older)), set(_GROUP.findall(newer))
    return bool(groups and others) and groups.isdisjoint(others)


def _is_of_one_date(older: str, newer: str) -> bool:
    """Whether a newer sentence is about one date of what is every week."""
    if not _WEEKDAY.search(older) or _DATE.search(older) or _RECURRING.search(newer):
        return False
    return _ON_DATE.search(newer) is not None


@lru_cache(maxsize=4_096)
def numbered_name(sentence: str) -> tuple[str, str]:
    """Return the noun and the number of the name that a sentence begins with; empty without one."""
    name = _NUMBERED.match(sentence)
    return (name[1].casefold(), name[2]) if name else ("", "")


def _is_limited(old: SentenceLimits, new: SentenceLimits, known: Set[str]) -> bool:
    """Whether a newer sentence holds in some place, at some times or for some only."""
    for phrase in (new.leading, new.limited):
        if phrase and not covered(phrase, known):
            return True
    # On Tuesdays in the library: elsewhere, not only there.
    is_dated = old.times and new.times and new.low.isdisjoint({"there", "there's"})
    if old.amounts and not is_dated and new.trailing - covered(new.trailing, known):
        return True
    is_timed = bool(old.times or old.habits or old.low & SCOPE["frequency"])
    return bool(new.habits) and not is_timed and (bool(new.amounts) or not old.amounts)


def _is_other_attribute(old: SentenceLimits, new: SentenceLimits, known: Set[str]) -> bool:
    """Whether a newer sentence gives another attribute, ends something else, or moves something else."""
    is_state = old.amounts in {(), new.amounts} and is_turned(old.low, new.low)
    for sides in () if is_state else OPPOSED:
        first, second = (tuple(bool(side & one.low) for side in sides) for one in (old, new))
        if first in {(True, False), (False, True)} and second == first[::-1]:
            return True
    if new.again and covered(new.again, old.keys):
        return True
    if len(covered(new.ended[:2], known)) < len(new.ended[:2]):
        return True
    shared = covered(new.keys, old.keys)
    if shared and shared <= new.aside:
        return True
    return bool(new.taken) and not covered(new.taken, known)


def _is_unchanged(old: SentenceLimits, new: SentenceLimits) -> bool:
    """Whether two sentences differ in their spelling and in words of change alone."""
    if old.amounts != new.amounts or old.times != new.times or old.is_denied != new.is_denied:
        return False
    fresh = new.keys - CHANGING
    return fresh == covered(fresh, old.keys) and not new.ended and (not new.is_change or bool(new.amounts))


def _key(word: str) -> str:
    plain = word.removesuffix("'s")
    is_plain = plain in FUNCTION or plain in SCOPE["article"] or plain in SCOPE["before"] | SCOPE["of"]
    if is_plain or not plain[0].isalpha() or len(plain) < 2 or plain in _NAMELESS:
        return ""
    return content_key(plain)


def _phrase(low: Sequence[str], keys: Sequence[str], start: int) -> list[str]:
    """Return the keys of the noun that follows a preposition, behind its articles."""
    at = start
    while at < len(low) and at < start + _FEW and not keys[at] and low[at] in SCOPE["article"] | FUNCTION:
        at += 1
    found: list[str] = []
    while at < len(low) and keys[at] and low[at] not in _FORMS and len(found) < _FEW:
        found.append(keys[at])
        at += 1
    return found


def _behind(low: Sequence[str], keys: Sequence[str], table: str) -> frozenset[str]:
    """Return the keys of the few words after each word of a list."""
    places = [at for at, word in enumerate(low) if word in SCOPE[table]]
    return frozenset(key for at in places for key in keys[at + 1 : at + 1 + _FEW] if key)


def _parts(low: Sequence[str], keys: Sequence[str]) -> Iterator[tuple[str, str]]:
    for at in range(1, len(low) - 1):
        is_of, is_with = low[at] in SCOPE["of"], low[at] in SCOPE["with"]
        if not (is_of or is_with) or not keys[at - 1] or low[at - 1] in SCOPE["vague"] | _FORMS:
            continue
        found = _phrase(low, keys, at + 1)
        rest = low[at + 1 :]
        follows = not _FORMS.isdisjoint(rest) or (
            is_of and any(word[0].isdigit() or word in _TIMES for word in rest)
        )
        if found and follows and not SCOPE["occasion"].intersection(low[at + 1 : at + 1 + _FEW]):
            yield keys[at - 1], found[0]


def _leading(low: Sequence[str], keys: Sequence[str]) -> frozenset[str]:
    """Return the keys of a leading phrase of place, time or receiver. The date of a change is none."""
    start = 1 if low and low[0] in {"but", "and", "aber", "und", "mais", "pero", "mas"} else 0
    first, second = [*low[start : start + 2], "", ""][:2]
    is_dated = not _VERBS.isdisjoint(low)
    if first in SCOPE["article"] and second in DAY_KEYS and not is_dated:
        return frozenset([second])
    if first not in SCOPE["before"]:
        return frozenset()
    near = low[start + 1 : start + 1 + _FEW]
    if SCOPE["occasion"].intersection(near):
        return frozenset()
    times = [word for word in near if word in _DATING or word[0].isdigit()]
    if times:
        return frozenset() if is_dated else frozenset(times[:1])
    return frozenset(_phrase(low, keys, start + 1)[:1])


def _limited(low: Sequence[str], keys: Sequence[str]) -> frozenset[str]:
    for at, word in enumerate(low):
        if word in SCOPE["only"] and at + 1 < len(low) and low[at + 1] in SCOPE["before"]:
            return frozenset(_phrase(low, keys, at + 2))
        if word in SCOPE["only"] and at == len(low) - 1:
            places = [near for near in range(max(0, at - _FEW - 1), at) if low[near] in SCOPE["before"]]
            return frozenset(_phrase(low, keys, places[-1] + 1)) if places else frozenset()
    return frozenset()


def _trailing(low: Sequence[str], keys: Sequence[str]) -> frozenset[str]:
    """Return the keys of phrases of place or receiver behind the last value."""
    last = max(
        (at for at, word in enumerate(low) if word[0].isdigit() or word in _NAMELESS), default=len(low)
    )
    return _nouns_behind(low, keys, last + 1, _FORMS - CHANGING_TABLES["now"])


def _nouns_behind(
    low: Sequence[str], keys: Sequence[str], start: int, stops: Set[str] = frozenset()
) -> frozenset[str]:
    """Return the first key behind each preposition, up to a sign or a stop."""
    found: list[str] = []
    for at in range(start, len(low) - 1):
        if not low[at][0].isalnum() or low[at] in stops:
            break
        near = low[at + 1 : at + 1 + _FEW]
        if low[at] in SCOPE["before"] and _NO_LIMITS.isdisjoint(near) and not near[0][0].isdigit():
            found += _phrase(low, keys, at + 1)[:1]
    return frozenset(found)


def _ended(spaced: str) -> tuple[str, ...]:
    """Return keys, numbers and days of what has ended. None if another value follows."""
    match = _ENDED.search(spaced)
    if match is None:
        return ()
    rest = spaced[match.end() :].split()
    end = next((at for at, word in enumerate(rest) if word in SCOPE["turning"] or word in ",;:"), len(rest))
    if not SCOPE["turning"].isdisjoint(rest):
        return ()
    found = [_key(word) or (word if word[0].isdigit() or word in _TIMES else "") for word in rest[:end]]
    return tuple(one for one in found if one and one not in GENERIC)


def _taken(low: Sequence[str], keys: Sequence[str]) -> frozenset[str]:
    """Return the keys of what is taken somewhere, or changed: the certificate that Jonas changed."""
    for at, word in enumerate(low[:-2]):
        if low[at + 1] not in SCOPE["article"] - {"a", "an"}:
            continue
        is_taken = word in SCOPE["taking"] and not {"to", "into"}.isdisjoint(low[at + 2 :])
        if is_taken or (word in SCOPE["changing"] and ":" not in low[at + 2 :]):
            return frozenset(_phrase(low, keys, at + 1))
    return frozenset()
