"""Values in the sentences of a text, each with its attribute (rule 3.12)."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Sequence, Set
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from slowwave.quality.divergence.lexicon import FOREIGN_WORDS, FUNCTION_WORDS, NEGATIONS, word_key
from slowwave.quality.divergence.lexicon_numbers import CARDINALS, MONTHS, UNITS, WEEKDAY_KEYS
from slowwave.scoring.wordlists import lines, words

MAX_CHARACTERS = 800  # read of a passage
WINDOW = 14  # words before and after a value that say what it is about
_NOUN = 3  # most words after a number that are its noun
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_FORMATTED = re.compile(r"\A\s*[|#]|\A\s{2,}[-*+]|\*\*|\\frac|[{}]")  # tables, headings, details, code
_SENTENCE = re.compile(r"(?<=[.!?])[ \t]+|\n+")
_FIGURE = re.compile(r"[\dA-ZÀ-ÞΑ-ΫА-Я](?:(?<=\d)|(?:(?<=\w .)|(?<=\w, .))[^\W\d_])")
"""A digit, or a capitalised word in a sentence. It begins with one set of characters, which is found fast."""
_IN_WORDS = re.compile(r"\w+")
_VALUE_WORDS: Final = frozenset({*WEEKDAY_KEYS, *CARDINALS} - {"one", "hundred"})
_SPEAKER = re.compile(r"\A\s*(?:\[(?:[^\]\n]{4,40})\]\s*)?(?:(?P<who>[A-Z][\w .'-]{0,30}):\s)?")
_MONTH = "(?:" + "|".join(sorted(MONTHS, key=len, reverse=True)) + r")\b\.?"
_TOKEN = re.compile(
    rf"""
      (?P<iso>\b\d{{4}}-\d\d-\d\d\b)
    | (?P<date>\b{_MONTH}\s+\d{{1,2}}(?:st|nd|rd|th)?(?:,?\s+\d{{4}})?\b
        | \b\d{{1,2}}(?:st|nd|rd|th)?\.?\s+(?:of\s+)?{_MONTH}(?:,?\s+\d{{4}}\b)?)
    | (?P<clock>\b\d{{1,2}}(?::\d\d)?\s*[ap]\.?m\b\.? | \b\d{{1,2}}:\d\d\b)
    | (?P<version>\bv?\d+(?:\.\d+){{2,}}\b | \bv\d+(?:\.\d+)*\b)
    | (?P<number>(?<![\w.,/-])[$€£]?\d+(?:[.,]\d{{3}})*(?:[.,]\d+)?(?![\d/]|[-–]\d))
      (?P<unit>\s?(?:%|°\w?)|[a-z]{{1,4}}\b)?
    | (?P<word>[^\W\d_][\w'’-]*)
    | (?P<mark>[,;:()"“”=])
    """,
    re.VERBOSE | re.IGNORECASE,
)


def _tables() -> dict[str, frozenset[str]]:
    table: dict[str, set[str]] = defaultdict(set)
    for line in lines("slowwave.quality", "changing"):
        name, _, rest = line.partition(":")
        table[name].update(rest.split())
    return {name: frozenset(words) for name, words in table.items()}


TABLES: Final = _tables()
_FORMER: Final = tuple(tuple(phrase.split("+")) for phrase in sorted(TABLES["former"]))
_CUES: Final = frozenset().union(*(TABLES[name] for name in ("verbs", "now", "new", "reached")))
_FUNCTION: Final = frozenset().union(
    *(FUNCTION_WORDS, FOREIGN_WORDS, NEGATIONS, TABLES["to"], TABLES["idle"]),
    words("slowwave.scoring", "function"),
)
IGNORED: Final = _FUNCTION | _CUES
"""Words that say nothing about what a value belongs to."""
_RECENT = 5  # words between a cue and the value
_HEAD = 5  # content words before a value that name its attribute
_OWNERS: Final = {
    **dict.fromkeys(("my", "i", "i'm", "i've", "i'd", "mein", "meine", "ich"), "speaker"),
    **dict.fromkeys(("your", "you've", "you're", "dein", "deine", "ihr"), "listener"),
    **dict.fromkeys(("his", "her", "their", "he", "she", "they"), "other"),
}
_BOUNDS: Final = {
    **dict.fromkeys(("under", "below", "within", "most", "max", "maximum", "unter", "höchstens"), "most"),
    **dict.fromkeys(("over", "above", "least", "min", "minimum", "über", "mindestens"), "least"),
    **dict.fromkeys(("achieve", "goal", "aim", "aiming", "hope", "hoping", "ziel"), "aim"),
}
_RATES: Final = frozenset({"per", "a", "an", "each", "every", "pro", "par", "por", "al"})
_INCREMENTS: Final = frozenset({"more", "another", "additional", "extra", "other", "weitere", "mehr"})
_RELATIVE: Final = frozenset({"last", "next", "this", "letzten", "nächsten"})


@dataclass(frozen=True, slots=True)
class Value:
    """One value of a sentence.

    Attributes:
        kind: number, date, clock, weekday, version or name.
        value: Normalised; two values of one kind are compared by it.
        noun: Keys of the words of a number's noun or unit; empty if it has none.
        of: Key of the word after a unit, as "debounce" in "a 300 ms debounce"; else empty.
        head: Keys of the nearest content words, which name its attribute.
        about: Keys of more content words around it.
        first: Key of the capitalised word that the sentence begins with, if it is a content word.
        names: Capitalised words around it.
        rate: Key of the time that a number is counted in, as in "a minute"; empty without one.
        bound: Kind of limit: most, least, aim, or empty.
        owner: speaker, listener or other, by the nearest pronoun before it; empty without one.
        cue: Word that says that it replaces an earlier value: the key of what is new, or "to", "now".
        is_former: Whether a word says that it no longer holds.
        is_plain: Whether its sentence is a short statement that holds for some time.
        sentence: Keys of all content words of the sentence.
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
    is_plain: bool
    sentence: frozenset[str]


@dataclass(frozen=True, slots=True)
class Statements:
    """Values of a text, with its speaker where it is a turn of a chat."""

    values: tuple[Value, ...]
    speaker: str


def statements_of(text: str, asked: Set[str] = frozenset()) -> Statements:
    """Return the values of a text.

    Args:
        text: The text; its first characters are read.
        asked: Keys of words, of which a sentence has at least one; empty reads every sentence.
    """
    speaker, sentences = _sentences(text)
    begins = [key[: max(3, len(key) - 1)] for key in asked]
    return Statements(
        tuple(
            value
            for sentence, lowered in sentences
            if not begins or any(begin in lowered for begin in begins)
            for value in _values(sentence)
        ),
        speaker,
    )


def may_have_value(sentence: str) -> bool:
    """Whether a sentence has a digit, a later capital, a weekday or a number word."""
    return _FIGURE.search(sentence) is not None or not _VALUE_WORDS.isdisjoint(_IN_WORDS.findall(sentence))


def sentences_with_values(text: str) -> list[str]:
    """Return the sentences of a text that have a value."""
    return [sentence for sentence, _ in _sentences(text)[1] if _values(sentence)]


@lru_cache(maxsize=8_192)
def _sentences(text: str) -> tuple[str, tuple[tuple[str, str], ...]]:
    """Return the speaker of a text, and its sentences that may have values.

    Each sentence is also given in lower case.
    """
    head = _SPEAKER.match(text)
    speaker = (head["who"] or "") if head else ""
    body = text[head.end() if head else 0 :]
    if "```" in body:
        body = _CODE.sub("\n", body)
    return speaker.casefold(), tuple(
        (sentence, sentence.casefold())
        for sentence in _SENTENCE.split(body[:MAX_CHARACTERS])
        if len(sentence) > 8 and may_have_value(sentence) and not _FORMATTED.search(sentence)
    )


@dataclass(slots=True)
class _Token:
    kind: str
    text: str
    key: str = ""
    value: str = ""
    unit: str = ""
    is_capital: bool = False


@lru_cache(maxsize=8_192)
def _values(sentence: str) -> tuple[Value, ...]:
    tokens = _tokens(sentence)
    if not any(token.value for token in tokens):
        return ()
    content = frozenset(token.key for token in tokens if token.key)
    plain = _is_plain(sentence, tokens)
    return tuple(
        _value(tokens, at, content, plain)
        for at, token in enumerate(tokens)
        if token.value and not _is_increment(tokens, at)
    )


def _tokens(sentence: str) -> list[_Token]:
    tokens: list[_Token] = []
    for match in _TOKEN.finditer(sentence):
        kind = match.lastgroup or ""
        text = match[0]
        if kind == "unit":
            kind = "number"
        if kind == "word":
            tokens.append(_word(text, tokens))
        elif kind == "mark":
            tokens.append(_Token("mark", text))
        elif kind == "number":
            unit = (match["unit"] or "").strip().casefold()
            number = match["number"]
            if number[0] in "$€£":
                unit, number = number[0], number[1:]
            tokens.append(_Token("number", text, value=_number(number), unit=unit))
        else:
            kind = "date" if kind == "iso" else kind
            tokens.append(_Token(kind, text, value=_normal(kind, text)))
    return tokens


def _word(text: str, before: Sequence[_Token]) -> _Token:
    low = text.casefold().replace("’", "'")
    if low in WEEKDAY_KEYS and not (before and before[-1].text.casefold() in _RELATIVE):
        return _Token("weekday", text, value=WEEKDAY_KEYS[low])
    if low in CARDINALS and low not in {"one", "hundred", "twice"}:
        return _Token("number", text, value=str(CARDINALS[low]))
    low = low.removesuffix("'s")
    if low in _FUNCTION:
        return _Token("function", low)
    token = _Token("word", low, key=word_key(low), is_capital=text[0].isupper())
    if low in _CUES or len(low) < 2:
        token.key = ""
    if text[0].isupper() and before and not text.isupper():
        token.kind = "name"
        if before[-1].text in TABLES["to"] | {"in", "from", "at", "of"} or _is_former(before, len(before)):
            token.value = low
    return token


def _number(text: str) -> str:
    plain = re.sub(r"[.,](?=\d{3}(?!\d))", "", text).replace(",", ".")
    return plain.rstrip("0").rstrip(".") if "." in plain else plain


def _normal(kind: str, text: str) -> str:
    low = text.casefold()
    if kind == "clock":
        hour, minute = [*re.findall(r"\d+", low), "0"][:2]
        late = "p" in low and int(hour) < 12
        return f"{int(hour) % 24 + 12 * late}:{int(minute)}"
    if kind == "date":
        iso = re.fullmatch(r"\d{4}-(\d\d)-(\d\d)", low)
        if iso:
            return f"{int(iso[1])}-{int(iso[2])}"
        month = re.search(r"[a-z]{3,}", low.replace("of", ""))
        day = re.search(r"\b\d{1,2}(?!\d)", low)
        known = MONTHS.get(month[0], 0) if month else 0
        return f"{known}-{int(day[0]) if day else 0}"
    return low


def _value(tokens: Sequence[_Token], at: int, content: frozenset[str], plain: bool) -> Value:
    token = tokens[at]
    near = tokens[max(0, at - WINDOW) : at + WINDOW + 1]
    noun = _noun(tokens, at) if token.kind == "number" else frozenset()
    owners = [_OWNERS[other.text.casefold()] for other in tokens[:at] if other.text.casefold() in _OWNERS]
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
        bound=next((_BOUNDS[word] for word in _texts(tokens[max(0, at - 4) : at]) if word in _BOUNDS), ""),
        owner=owners[-1] if owners else "",
        cue=_cue(tokens, at),
        is_former=_is_former(tokens, at),
        is_plain=plain,
        sentence=content,
    )


def _texts(tokens: Sequence[_Token]) -> list[str]:
    return [token.text.casefold() for token in tokens]


def _rate(tokens: Sequence[_Token], at: int) -> str:
    for place in range(at + 1, min(at + 2 + _NOUN, len(tokens) - 1)):
        if tokens[place].kind in {"mark", "number"}:
            return ""
        if tokens[place].text.casefold() in _RATES:
            return tokens[place + 1].key
    return ""


def _noun(tokens: Sequence[_Token], at: int) -> frozenset[str]:
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


def _of(tokens: Sequence[_Token], at: int) -> str:
    if not tokens[at].unit or at + 1 == len(tokens):
        return ""
    return tokens[at + 1].key if tokens[at + 1].kind == "word" else ""


def _is_increment(tokens: Sequence[_Token], at: int) -> bool:
    return not _INCREMENTS.isdisjoint(_texts([*tokens[max(0, at - 1) : at], *tokens[at + 1 : at + 2]]))


def _cue(tokens: Sequence[_Token], at: int) -> str:
    """Return what says that a value is a new one: "to", "now", or the key of what is new."""
    start = at
    while start and (
        not tokens[start - 1].value
        or _is_former(tokens, start - 1)
        or (tokens[at].kind == "clock" and at - start <= 1)
    ):
        start -= 1
    before = tokens[max(start, at - WINDOW) : at]
    texts = [token.text.casefold() for token in before if not token.value]
    near = texts[-_RECENT:]
    if TABLES["to"].intersection(texts[-2 - (tokens[at].kind == "clock") :]) and TABLES["verbs"].intersection(
        texts
    ):
        return "to"
    if TABLES["now"].intersection(near) or TABLES["reached"].intersection(texts[-2:]):
        return "now"
    for place in range(len(texts) - 1, max(-1, len(texts) - 1 - _RECENT), -1):
        if texts[place] in TABLES["new"]:
            keys = [token.key for token in (*before[place + 1 :], *tokens[at + 1 : at + 3]) if token.key]
            return f"new {keys[0]}" if keys else ""
    return ""


def _is_former(tokens: Sequence[_Token], at: int) -> bool:
    texts = [token.text.casefold() for token in tokens[max(0, at - 4) : at]]
    for phrase in _FORMER:
        size = len(phrase)
        for skip in range(3):
            end = len(texts) - skip
            if end >= size and tuple(texts[end - size : end]) == phrase:
                return phrase != ("from",) or skip == 0
    return False


def _is_plain(sentence: str, tokens: Sequence[_Token]) -> bool:
    """Whether a sentence states a lasting value of something definite, in few words."""
    if len(tokens) > 24 or sentence.rstrip().endswith("?") or not tokens:
        return False
    first = tokens[0]
    if first.value or first.text.casefold() in {"a", "an", "some", "if", "when", "one", "there"}:
        return False
    texts = [token.text.casefold() for token in tokens]
    if not TABLES["stative"].intersection(texts):
        return False
    return not any(
        text in {"was", "were", "had", "a", "an", "will", "would", "if"}
        or (text.endswith(("ing", "ed")) and len(text) > 4)
        for text in texts
    )
