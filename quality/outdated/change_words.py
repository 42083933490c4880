"""Words of change, and keys by which words of notes are compared (rule 3.12)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence, Set
from itertools import pairwise
from typing import Final, NamedTuple

from slowwave.quality.divergence.lexicon import FOREIGN_WORDS, FUNCTION_WORDS, word_key
from slowwave.quality.divergence.lexicon_numbers import CARDINALS
from slowwave.quality.outdated.tokens import DAY_KEYS, MONTH_KEYS
from slowwave.scoring.wordlists import lines, words

_PREFIX = 5  # letters of the shorter of two words that are alike
_ALTERNATE: Final = frozenset({"second", "other"})
_ALSO: Final = frozenset({"and", "but", "on", "at", "in", "for", "from", "since", "now"})
"""Words after "too" that leave it an addition."""
_ENDING = 3  # letters by which the longer one may be longer


class _Words(NamedTuple):
    """Lists of words: by name, by kind of attribute, by kind of state, and keys of like words."""

    lists: dict[str, frozenset[str]]
    frames: tuple[frozenset[str], ...]
    states: tuple[frozenset[str], ...]
    same: dict[str, str]


def _tables() -> _Words:
    lists: dict[str, set[str]] = defaultdict(set)
    frames: list[set[str]] = []
    states: list[frozenset[str]] = []
    same: dict[str, str] = {}
    for line in lines("slowwave.quality", "announcing"):
        name, _, rest = line.partition(":")
        found = [word.replace("+", " ") for word in rest.removeprefix("+").split()]
        if name == "frame" and rest.startswith("+"):
            frames[-1].update(found)
        elif name == "frame":
            frames.append(set(found))
        elif name == "state":
            states.append(frozenset(found))
        elif name == "alike":
            same |= {word_key(word): word_key(found[0]) for word in found}
        else:
            lists[name].update(found)
    named = {name: frozenset(one) for name, one in lists.items()}
    return _Words(named, tuple(map(frozenset, frames)), tuple(states), same)


TABLES, FRAMES, STATES, _SAME = _tables()
HOME_AND_WORK: Final = frozenset({0, 1})
"""Numbers of the frames whose value is a place."""
FUNCTION: Final = frozenset().union(
    FUNCTION_WORDS, FOREIGN_WORDS, words("slowwave.scoring", "function"),
    TABLES["speaker"], ("up", "down", "out", "must", "from", "since", "after", "it", "it's", "that's"),
    ("planned", "planning"),  # the key of which is that of a plan
)  # fmt: skip


def content_key(word: str) -> str:
    """Return the key of a folded word; words of one attribute share it."""
    key = word_key(word)
    return _SAME.get(key, key)


GENERIC: Final = TABLES["generic"] | {content_key(word) for word in TABLES["generic"]}
"""Keys that name no subject."""
ORDINALS: Final = frozenset(content_key(word) for word in TABLES["ordinal"])
"""Keys of words of a place in an order."""
STATE_WORDS: Final = frozenset().union(*STATES)
"""States of which a thing has one at a time; `STATES` has them by kind."""
STATE_KEYS: Final = frozenset(map(content_key, STATE_WORDS))
CHANGING: Final = frozenset(
    content_key(word)
    for phrase in TABLES["verbs"] | TABLES["now"] | TABLES["provisional"]
    for word in phrase.split()
)
"""Keys of words of change."""


_VERBS = [re.escape(word) for word in sorted(TABLES["verbs"], key=len, reverse=True) if " " not in word]
_UNCHANGED = re.compile(
    rf" (?:(?:not|never|cannot|nicht|nie|nobody|almost|nearly|beinahe)|\S+n't)"
    rf" (?:(?!but |sondern |only |just |nur |, )\S+ ){{0,4}}?(?:{'|'.join(_VERBS)}) "
)
_AFTER_ALL = re.compile(r" (?:after all|anymore|any more|any longer|nicht mehr) ")
_PERIODS = "|".join([*MONTH_KEYS, *TABLES["periods"]])
_LASTING = "minute|hour|day|week|month|year"
_PASSING = re.compile(
    rf"""[ ]took\ (?:\d+|two|three|four|five|six|seven|eight|nine|ten)\ (?!(?:{_LASTING})s?\b)
    |[ ](?:(?:only|just)(?:\ for)?|cancell?ed(?:\ for)?)\ (?:today|tonight|tomorrow|this)[ ]
    |(?:\A|\ (?:will|wird|werden|starting|from|ab|\S+(?:era|ira|rá|rà))(?=\ ).*)
     (?:\ (?:next|nächste[nrs]?|kommende[nrs]?|próxim[ao])\ (?:{_PERIODS})[ ]
     |\ (?:\S+')?(?:{_PERIODS})\ (?:prochaine?|que\ viene)\ )""",
    re.VERBOSE,
)


_UNSURE_PHRASES = re.compile(
    rf"(?<!\S)(?:{'|'.join(sorted(phrase for phrase in TABLES['unsure'] if ' ' in phrase))}"
    r"|(?:demand|insist|request|urge|claim)s? , [^,]+ , that"
    r"|(?:is|are|keeps) (?:still |now )?(?:demanding|insisting|requesting|urging|asking for)"
    r"|(?:demands? an? (?:new|higher|lower)|(?<!on )call for|urges? (?:us|the|that|to))"
    r"|claims (?:that|the \S+ (?:is|was|has))|would like|besteh(?:t|en) auf"
    r"|(?:fordern|fordert|verlangen|verlangt) ,|forder(?:n|t) (?::|jetzt|nun|\d\S*|d(?:ie|as|en)|eine[nr]?)"
    r"|(?<!new )plans?(?: b)?(?: for(?: [^\s:]+){1,5})? :|plan b)(?!\S)"
)
_WEEKDAYS = "|".join(sorted(DAY_KEYS))
_SCHEDULED = re.compile(rf" (?:{_WEEKDAYS}|\d{{1,2}}:\d\d|\d{{1,2}} ?(?:am|pm|uhr)) ")
_ONE_TIME = re.compile(
    rf"""(?<!\ from)(?<!\ since)(?<!\ starting)(?<!\ ab)(?:[ ]
    (?:this\ (?:week|{_WEEKDAYS})|for\ (?:one|a|1|two|2)\ (?:weeks?|days?)
    |diese\ woche|cette\ semaine|esta\ semana)[ ]
    |\ once\ (?=[,;.:!]|because|due|\Z))""",
    re.VERBOSE,
)


_LEAVABLE = "|".join(TABLES["leavable"])
_TIMES_AFTER = "|".join([*MONTH_KEYS, *TABLES["periods"], "the (?:end|beginning|start|middle)", r"\d"])
_HOURS = "|".join(["\\d", "noon", "midnight", *CARDINALS])
_MEALS = (
    r"lunch|dinner|breakfast|home|work|school|now|the (?:day|weekend|night)"
    r"|an? (?:\S+ )?(?:call|meeting|walk|run|week|minute|moment|while|break|trip|party|holiday|drink|coffee)"
)
_GOOD_TERMS = "|".join([*DAY_KEYS, "good terms", "bad terms"])
_LEFT = re.compile(
    r" left (?:(?:(?!(?:after|in|within|over|for|with|as|on|at) )\S+ ){0,2}?(?:an?|some) "
    rf"(?!\S*(?:{_LEAVABLE}) )\S+"  # a note, Damco a message
    r"|(?:\S+ ){0,3}?(?:early|late) (?:today |yesterday |at \d|[,.;:]|\Z)"
    rf"|(?:\S+ ){{0,4}}?(?:at|around|about) (?:{_HOURS})(?!\S* (?:\S+ )?(?:days?|weeks?|months?|years?) )"
    r"|(?:\S+ ){0,4}?(?:without (?:his|her|their)|out of|open|running|unlocked) "
    rf"|(?:\S+ )?for (?:{_MEALS}) "
    rf"|(?:his|her|their|my|our|the) (?:(?!{_LEAVABLE})\S+ ){{1,2}}?(?:at|on|in|behind) "
    rf"(?!{_TIMES_AFTER}|{_GOOD_TERMS})(?!.* now )"
    rf"|(?:\S+ ){{0,2}}(?:{'|'.join(TABLES['carried'])}) (?:at|on|in|behind) )"
)
"""Leaving something behind, or for a while, which ends nothing."""


def changes_nothing(spaced: str) -> bool:
    """Whether a sentence denies a change, or speaks of a passing or distant one.

    Args:
        spaced: Its words in lower case, with a space before and behind each.
    """
    is_denied = _UNCHANGED.search(spaced) is not None and not _AFTER_ALL.search(spaced)
    is_one_time = _ONE_TIME.search(spaced) is not None and _SCHEDULED.search(spaced) is not None
    passes = (_PASSING.search(spaced) or _LEFT.search(spaced)) is not None
    return is_denied or is_one_time or passes


def is_turned(older: Set[str], newer: Set[str]) -> bool:
    """Whether a newer sentence has another state than an older one: closed, not open.

    Args:
        older: Words of the older sentence, in lower case.
        newer: Words of the newer one.
    """
    return any(older & states and newer & states and not older & newer & states for states in STATES)


def is_unsure(words: Sequence[str]) -> bool:
    """Whether a sentence says what may happen: "we plan to move", but not "the new plan".

    Args:
        words: Its words in lower case, in their order.
    """
    return not TABLES["unsure"].isdisjoint(words) or _UNSURE_PHRASES.search(" ".join(words)) is not None


def adds(words: Sequence[str]) -> bool:
    """Whether a sentence adds something, as "also" says; "too often" and "the second Monday" do not.

    Args:
        words: Its words in lower case, in their order.
    """
    if any(after == "more" and (word in CARDINALS or word.isdigit()) for word, after in pairwise(words)):
        return True
    return any(
        (word in TABLES["more"] or (at and f"{words[at - 1]} {word}" in TABLES["more"]))
        and not (
            word == "too" and at + 1 < len(words) and words[at + 1].isalpha() and words[at + 1] not in _ALSO
        )
        and not (word == "both" and "and" not in words[at:])
        and not (word in _ALTERNATE and at and words[at - 1] in TABLES["every"])
        and not (word in _ALTERNATE and at + 1 < len(words) and words[at + 1] in DAY_KEYS)
        for at, word in enumerate(words)
    )


def covered(wanted: Iterable[str], keys: Set[str]) -> frozenset[str]:
    """Return the keys that are among others, also in a longer or a shorter form."""
    asked = frozenset(wanted)
    if not (rest := asked - keys):
        return asked
    together = f" {' '.join(keys)}"
    begun = [one for one in rest if len(one) >= _PREFIX and f" {one[:_PREFIX]}" in together]
    return asked - rest.difference(one for one in begun if _has_form(one, keys)) if begun else asked - rest


def _has_form(one: str, keys: Set[str]) -> bool:
    """Whether the longer form of a word, or a shorter one, is among others."""
    begin = one[:_PREFIX]
    return any(
        key.startswith(begin)
        and abs(len(key) - len(one)) <= _ENDING
        and (key.startswith(one) or one.startswith(key))
        for key in keys
    )
