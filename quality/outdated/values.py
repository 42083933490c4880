"""Values of a sentence, each with its attribute (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from typing import Final

from slowwave.quality.divergence.lexicon_numbers import UNITS
from slowwave.quality.outdated.change_words import changes_nothing, is_unsure
from slowwave.quality.outdated.tokens import MONTH_KEYS, PHRASES, TABLES, ValueToken, is_former, tokens_of

DIGITS = re.compile(r"\d+(?:[.,]\d+)*")
_LABELS = re.compile(rf"{DIGITS.pattern}|(?<=\w )[A-HJ-Z]\b(?![.'’&])")
"""Numbers, and letters that tell things apart, as in "team B"."""
WINDOW = 14  # words before and after a value that say what it is about
_NOUN = 3  # most words after a number that are its noun
STATEMENT = 22  # most words of a sentence that is compared as a whole (count)
_RECENT = 5  # words between a cue and the value
_AFTER = 6  # words between a value and a cue behind it
_DENIAL = 3  # words between a denial and the value: "don't have 14", but not "won't meet the new 25 May"
_HEAD = 5  # content words before a value that name its attribute
_OWNERS: Final = {
    **dict.fromkeys(("my", "i", "i'm", "i've", "i'd", "mein", "meine", "ich"), "speaker"),
    **dict.fromkeys(("your", "you've", "you're", "dein", "deine", "ihr"), "listener"),
    **dict.fromkeys(("his", "her", "their", "he", "she", "they"), "other"),
}
_AIMS: Final = frozenset({
    "achieve", "goal", "aim", "aiming", "hope", "hoping", "like", "need", "needs", "target", "want", "ziel",
})  # fmt: skip
_BOUNDS: Final = {
    **dict.fromkeys(("under", "below", "within", "most", "max", "maximum", "unter", "höchstens"), "most"),
    **dict.fromkeys(("over", "above", "least", "min", "minimum", "über", "mindestens"), "least"),
    **dict.fromkeys(_AIMS, "aim"),
}
_PART: Final = frozenset({"davon", "meiner", "unserer", "dieser"})
_PART_OF: Final = frozenset(
    (of, whose)
    for of, words in (
        ("of", ("my", "our", "his", "her", "their", "these", "those")),
        ("von", ("meinen", "unseren", "diesen", "ihnen")),
        ("de", ("mes", "nos", "ces", "mis", "nuestros")),
    )
    for whose in words
)
_RATES: Final = frozenset({"per", "a", "an", "each", "every", "pro", "par", "por", "al"})
_JOINING: Final = frozenset({
    "of", "for", "in", "at", "to", "from", "the", "a", "an", "my", "our", "de", "la", "du", "del", "von",
    "der", "des",
})  # fmt: skip
_TURNING: Final = frozenset({"but", "instead", "sondern", "aber", "sino", "mais"})
_ASKING: Final = frozenset({
    "should", "shall", "could", "would", "can", "might", "is", "are", "do", "does", "did", "will", "has",
    "have", "was", "were", "soll", "hat", "ist",
})  # fmt: skip
_CONDITIONAL: Final = frozenset({"if", "unless", "falls"})
_DENYING: Final = frozenset({"not", "never", "nicht", "nie", "niemals", "jamais", "nunca"})
_INCREMENTS: Final = frozenset({"more", "another", "additional", "extra", "other", "weitere", "mehr"})


@dataclass(frozen=True, slots=True)
class Sentence:
    """Words of a sentence.

    Attributes:
        content: Keys of all content words.
        links: Pairs of a word and one that tells it apart: ("service", "login") in "the login service".
        owned: Pairs of an owner and what is theirs: ("tom", "car") in "Tom's car".
        periods: Months and weekdays that it names, without a day of a month.
        former: Keys of words that no longer hold: "Oslo" in "moved from Oslo to Bergen".
        digits: Numbers in digits, and single letters.
        kinds: Kinds of its values.
        size: Length (tokens).
        is_plain: Whether it is a short statement that holds for some time.
        change: Word that says that something is other than before, as `Value.cue`; empty without one.
        text: As it is written.
    """

    content: frozenset[str]
    links: frozenset[tuple[str, str]]
    owned: frozenset[tuple[str, str]]
    periods: frozenset[str]
    former: frozenset[str]
    digits: frozenset[str]
    kinds: frozenset[str]
    size: int
    is_plain: bool
    change: str
    text: str


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a sentence.

    Attributes:
        kind: number, date, clock, weekday, version or name; or statement, for a whole sentence.
        value: Normalised; two values of one kind are compared by it.
        noun: Keys of the words of a number's noun or unit; empty if it has none.
        of: Key of the word after a unit, as "debounce" in "a 300 ms debounce"; else empty.
        head: Keys of the nearest content words, which name its attribute.
        about: Keys of more content words around it.
        first: Key of the capitalised word that the sentence begins with, if it is a content word.
        names: Capitalised words around it.
        rate: Key of the time that a number is counted in, as in "a minute"; empty without one.
        bound: Kind of limit: most, least, aim, part, or empty.
        owner: speaker, listener or other, by the nearest pronoun before it; empty without one.
        cue: Word that says that it replaces an earlier value: the key of what is new, or "to", "now".
        is_former: Whether a word says that it no longer holds.
        is_unsettled: Whether it is asked for, denied, or of what may be: it replaces nothing.
        clause: Words of its clause before it, in lower case.
        sentence: Its sentence.
    """

    kind: str
    value: str
    noun: frozenset[str]
    of: str
    head: frozenset[str]
    about: frozenset[str]
    first: str
    names: frozenset[str]
    rate: str
    bound: str
    owner: str
    cue: str
    is_former: bool
    is_unsettled: bool
    clause: tuple[str, ...]
    sentence: Sentence


def numbers_in(text: str) -> frozenset[str]:
    """Return the numbers in digits of a text, and its single letters."""
    return frozenset(_LABELS.findall(text))


@lru_cache(maxsize=16_384)
def values_of(text: str) -> tuple[Value, ...]:
    """Return the values of a sentence; of a short one also the whole of it."""
    tokens = tokens_of(text)
    sentence = _sentence(text, tokens)
    is_question = text.rstrip().endswith("?")
    nothing = changes_nothing(f" {' '.join(token.low for token in tokens)} ")
    # Other questions tell something, as in "How can I use the 5 interviews that I secured?"
    is_asked = is_question and bool(tokens) and tokens[0].low in _ASKING
    unsettled = nothing or is_asked
    values = [
        _value(tokens, at, sentence, unsettled=unsettled)
        for at, token in enumerate(tokens)
        if token.value and not _is_increment(tokens, at)
    ]
    if sentence.size <= STATEMENT and len(sentence.content) > 1 and not is_question:
        values.append(_statement(tokens, sentence, unsettled=unsettled))
    return tuple(values)


def _sentence(text: str, tokens: Sequence[ValueToken]) -> Sentence:
    lowered = [token.low for token in tokens]
    moves = not TABLES["verbs"].isdisjoint(lowered)
    return Sentence(
        content=frozenset(token.key for token in tokens if token.key),
        links=frozenset(_links(tokens)),
        owned=frozenset(
            (token.key, after.key)
            for token, after in pairwise(tokens)
            if token.is_possessive and token.key and after.key
        ),
        periods=frozenset(
            token.value if token.kind == "weekday" else word
            for token, word in zip(tokens, lowered, strict=True)
            if token.kind == "weekday" or (token.kind != "date" and token.is_capital and word in MONTH_KEYS)
        ),
        former=frozenset(
            token.key
            for at, token in enumerate(tokens)
            if token.key and is_former(tokens, at) and (moves or tokens[at - 1].ends != "from")
        ),
        digits=numbers_in(text),
        kinds=frozenset(token.kind for token in tokens if token.value and token.kind != "name"),
        size=len(tokens),
        is_plain=_is_plain(text, tokens),
        change=_change(tokens, lowered),
        text=text,
    )


def _links(tokens: Sequence[ValueToken]) -> Iterator[tuple[str, str]]:
    for at, token in enumerate(tokens):
        if not token.key:
            continue
        if at and tokens[at - 1].key:
            yield token.key, tokens[at - 1].key
        after = at + 1
        while after < len(tokens) and after <= at + 2 and tokens[after].low in _JOINING:
            after += 1
        if after > at + 1 and after < len(tokens) and tokens[after].key:
            yield token.key, tokens[after].key


def _change(tokens: Sequence[ValueToken], lowered: Sequence[str]) -> str:
    """Return what says that something is other than before: "now", or the key of what is new."""
    if lowered and lowered[0] in TABLES["since"]:
        return "now"
    if not TABLES["change"].isdisjoint(lowered) or _has_phrase(lowered):
        return "now"
    for place, word in enumerate(lowered):
        if word in TABLES["new"]:
            keys = [token.key for token in tokens[place + 1 : place + 4] if token.key]
            return f"new {keys[0]}" if keys else ""
    return ""


def _statement(tokens: Sequence[ValueToken], sentence: Sentence, *, unsettled: bool) -> Value:
    owners = [_OWNERS[word] for word in [token.low for token in tokens] if word in _OWNERS]
    return Value(
        kind="statement",
        value=" ".join(token.low for token in tokens),
        noun=frozenset(),
        of="",
        head=frozenset(),
        about=sentence.content,
        first=tokens[0].key if tokens[0].kind == "word" and tokens[0].is_capital else "",
        names=frozenset(token.text for token in tokens if token.kind == "name"),
        rate="",
        bound="",
        owner=owners[0] if owners else "",
        cue=sentence.change,
        is_former=False,
        is_unsettled=unsettled or _is_unsure(tokens),
        clause=(),
        sentence=sentence,
    )


def _clause(tokens: Sequence[ValueToken], at: int) -> Sequence[ValueToken]:
    """Return the words before a value, in its clause."""
    start = next(
        (
            place + 1
            for place in range(at - 1, -1, -1)
            if tokens[place].text in {",", ";"} or tokens[place].low in _TURNING
        ),
        0,
    )
    return tokens[start:at]


def _is_unsettled(tokens: Sequence[ValueToken], at: int) -> bool:
    """Whether the words before a value say that it may be, or deny it."""
    clause = _clause(tokens, at)
    is_conditional = not _CONDITIONAL.isdisjoint(token.low for token in tokens[:at])
    is_denied = any(
        token.low in _DENYING or token.low.endswith(("n't", "n’t")) for token in clause[-_DENIAL:]
    )
    return is_conditional or is_denied or _is_unsure(clause)


def _is_unsure(tokens: Sequence[ValueToken]) -> bool:
    return is_unsure(["" if at and token.is_capital else token.low for at, token in enumerate(tokens)])


def _value(tokens: Sequence[ValueToken], at: int, sentence: Sentence, *, unsettled: bool) -> Value:
    token = tokens[at]
    near = tokens[max(0, at - WINDOW) : at + WINDOW + 1]
    noun = _noun(tokens, at) if token.kind == "number" else frozenset()
    owners = [_OWNERS[other.low] for other in tokens[:at] if other.low in _OWNERS]
    before = [other.key for other in tokens[max(0, at - WINDOW) : at] if other.key][-_HEAD:]
    after = [other.key for other in tokens[at + 1 : at + 3] if other.key]
    return Value(
        kind=token.kind,
        value=token.value,
        noun=noun,
        of=_of(tokens, at),
        head=frozenset([*before, *after, *noun]),
        about=frozenset(other.key for other in near if other.key and other is not token),
        first=tokens[0].key if tokens[0].kind == "word" and tokens[0].is_capital else "",
        names=frozenset(
            other.text
            for other in near
            if other.kind == "name" and other is not token and not (token.kind == "name" and other.value)
        ),
        rate=_rate(tokens, at) if noun else "",
        bound=_bound(tokens, at),
        owner=owners[-1] if owners else "",
        cue=_cue(tokens, at, sentence),
        is_former=is_former(tokens, at),
        is_unsettled=unsettled or _is_unsettled(tokens, at),
        clause=tuple(token.low for token in _clause(tokens, at)),
        sentence=sentence,
    )


def _bound(tokens: Sequence[ValueToken], at: int) -> str:
    """Return the kind of limit of a value: *at most 5*, *need 5*, *5 of our hens*; empty without one."""
    words = [token.low for token in tokens]
    if words[at + 1 : at + 2] and (words[at + 1] in _PART or tuple(words[at + 1 : at + 3]) in _PART_OF):
        return "part"
    return next((_BOUNDS[word] for word in words[max(0, at - 4) : at] if word in _BOUNDS), "")


def _rate(tokens: Sequence[ValueToken], at: int) -> str:
    for place in range(at + 1, min(at + 2 + _NOUN, len(tokens) - 1)):
        if tokens[place].kind in {"mark", "number"}:
            return ""
        if tokens[place].low in _RATES:
            return tokens[place + 1].key
    return ""


def _noun(tokens: Sequence[ValueToken], at: int) -> frozenset[str]:
    if unit := tokens[at].unit:
        return frozenset([UNITS[unit][0] if unit in UNITS else unit])
    noun = []
    for token in tokens[at + 1 : at + 1 + _NOUN]:
        if token.kind not in {"word", "name"} or token.text.endswith("ing"):
            break
        if token.text in UNITS:
            return frozenset([UNITS[token.text][0]])
        if token.key:
            noun.append(token.key)
    return frozenset(noun)


def _of(tokens: Sequence[ValueToken], at: int) -> str:
    if not tokens[at].unit or at + 1 == len(tokens):
        return ""
    return tokens[at + 1].key if tokens[at + 1].kind == "word" else ""


def _is_increment(tokens: Sequence[ValueToken], at: int) -> bool:
    return not _INCREMENTS.isdisjoint(
        token.low for token in (*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2])
    )


def _cue(tokens: Sequence[ValueToken], at: int, sentence: Sentence) -> str:
    """Return what says that a value is a new one: "to", "now", or the key of what is new."""
    start = at
    is_time = tokens[at].kind == "clock"
    while start and (
        not tokens[start - 1].value or is_former(tokens, start - 1) or (is_time and at - start <= 1)
    ):
        start -= 1
    before = tokens[max(start, at - WINDOW) : at]
    texts = [token.low for token in before if not token.value]
    near = texts[-_RECENT:]
    after = [token.low for token in tokens[at + 1 : at + 1 + _AFTER]]
    if TABLES["to"].intersection(texts[-2 - is_time :]) and TABLES["verbs"].intersection([*texts, *after]):
        return "to"
    if TABLES["now"].intersection(near) or TABLES["reached"].intersection(texts[-2:]):
        return "now"
    if TABLES["after"].intersection(after[: _AFTER - 1]) or _has_phrase(after):
        return "now"
    for place in range(len(texts) - 1, max(-1, len(texts) - 1 - _RECENT), -1):
        if texts[place] in TABLES["new"]:
            keys = [token.key for token in (*before[place + 1 :], *tokens[at + 1 : at + 3]) if token.key]
            return f"new {keys[0]}" if keys else ""
    return "now" if sentence.change == "now" and sentence.size <= STATEMENT else ""


def _has_phrase(lowered: Sequence[str]) -> bool:
    return any(
        list(lowered[at : at + len(phrase)]) == phrase
        for at, word in enumerate(lowered)
        if word in PHRASES
        for phrase in PHRASES[word]
    )


def _is_plain(sentence: str, tokens: Sequence[ValueToken]) -> bool:
    """Whether a sentence states a lasting value of something definite, in few words."""
    if len(tokens) > 24 or sentence.rstrip().endswith("?") or not tokens:
        return False
    first = tokens[0]
    if first.value or first.low in {"a", "an", "some", "if", "when", "one", "there"}:
        return False
    texts = [token.low for token in tokens]
    if not TABLES["stative"].intersection(texts):
        return False
    return not any(
        text in {"was", "were", "had", "a", "an", "will", "would", "if"}
        or (text.endswith(("ing", "ed")) and len(text) > 4)
        for text in texts
    )
