"""Notes that name the old value and the new one: "We switched from E.ON to Naturstrom" (rule 3.12)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from slowwave.quality.outdated.change_words import covered
from slowwave.quality.outdated.scope import limits_behind, scope_of
from slowwave.quality.outdated.tokens import GENERAL, tokens_of

_VERB: Final = re.compile(
    r"\b(?:switch(?:ed)?|(?:up|down)grade[ds]?|migrate[ds]?|changed|converted|replaced|swapped|exchanged|ditched"
    r"|cancell?ed|quit|moved (?:up|down|over)|went (?:up|down)|raised|rose|risen|increased|lowered|reduced"
    r"|cut|dropped|fell|fallen|gewechselt|wechselten|umgestiegen|umgestellt|migriert|ersetzt|getauscht|erhöht|angehoben"
    r"|gestiegen|gesenkt|gesunken|heruntergestuft|hochgestuft|cambiado|cambiamos|cambié|pasado|pasamos|migrado|migramos|subido"
    r"|bajado|sustituido|reemplazado|changé|passés?|migré|augmenté|baissé|remplacé|mudamos|trocamos)\b",
    re.IGNORECASE,
)
_WORD = r"[^\s,;:.!?()]+(?:\.[^\s,;:.!?()]+)*"
_ARTICLE = "(?:the |a |our |der |den |dem |die |das |el |la |le )?"
_OLD = rf"{_ARTICLE}(?P<old>{_WORD}(?: {_WORD}){{0,2}}?)"
_NEW = rf"{_ARTICLE}(?P<new>{_WORD}(?: {_WORD})?)"
_CAPITALISED = r"[A-ZÀ-Þ\d][^\s,;:!?()]*"
_NAME = rf"(?P<old>{_CAPITALISED}(?: {_CAPITALISED}){{0,2}})"
_EXCHANGES: Final = tuple(
    re.compile(rf"(?<![^\s(\"'„“«]){pattern}")
    for pattern in (
        rf"(?:from|von|vom|de|du|desde|da|do) {_OLD} (?:to|zu|zum|zur|auf|nach|a|al|à|au|para) {_NEW}",
        rf"(?i:replaced|swapped|exchanged|cambiado|sustituido|reemplazado|remplacé) {_OLD}"
        rf" (?:with|by|for|por|par) {_NEW}",
        rf"{_NAME} (?:was|is|has been|est|a été|fue|ha sido) (?:replaced|remplacé|sustituido)"
        rf" (?:with|by|par|por) {_NEW}",
        rf"{_NAME} (?:wurde )?(?:durch|gegen) {_NEW} (?:ersetzt|getauscht)\b",
        rf"(?i:cancell?ed|ditched|quit) {_OLD},? (?:and |so )*(?:we |I )?(?:went with|took|chose) {_NEW}",
    )
)
_AUXILIARY: Final = re.compile(
    r"\b(?:hemos|han|ha|haben|hat|sind|wurden?|avons|sommes|ont|temos)\b", re.IGNORECASE
)
_I: Final = re.compile(
    r"\b(?:I|my|ich|mein\w*|je|mon|ma|yo|mi|cambié|eu|meu|minha)\b|\b[jm]['’]", re.IGNORECASE
)
_SENTENCE: Final = re.compile(r"(?<=[.!?])\s+|\n+")


class _Transition(NamedTuple):
    """Change of a value: subject, old and new value in lower case, and limits behind the new one."""

    subject: frozenset[str]
    old: str
    new: str
    limits: frozenset[str]


def names_old_value(older: str, newer: str) -> bool:
    """Whether a newer text says that an older one's value changed.

    The old value is a name or has a figure, and is not the first thing that the older sentence names: that
    is what the sentence is about. What the newer text says before the values, the older one has, too: the
    bill that changed from 780 to 800 is not the rent. What is replaced in one place stays elsewhere.
    One who speaks of himself changes nothing of others.

    Args:
        older: Text or sentence.
        newer: Text or sentence.
    """
    transitions = _transitions(newer)
    plain = older.casefold() if transitions else ""
    for subject, old, new, limits in transitions:
        if limits - covered(limits, scope_of(older).keys):
            continue
        stated = re.search(rf"(?<=[^\s.!?\n] ){re.escape(old)}(?!\w|[.-]\w)", plain)
        is_value = stated is not None and _subject(_SENTENCE.split(plain[: stated.start()])[-1])
        if is_value and new not in plain and subject <= _subject(older) and not _is_mine_alone(older, newer):
            return True
    return False


def _is_mine_alone(older: str, newer: str) -> bool:
    return _I.search(newer) is not None and _I.search(older) is None


def _subject(text: str) -> frozenset[str]:
    """Return the keys of the words of a text that say what it is about."""
    return frozenset(token.key for token in tokens_of(text) if token.key) - GENERAL


@lru_cache(maxsize=4_096)
def _transitions(text: str) -> tuple[_Transition, ...]:
    return tuple(_found(text)) if _VERB.search(text) else ()


def _found(text: str) -> Iterator[_Transition]:
    for sentence in _SENTENCE.split(text):
        exchanges = _EXCHANGES if _VERB.search(sentence) else ()
        for match in (found for pattern in exchanges for found in pattern.finditer(sentence)):
            if any(letter.isupper() or letter.isdigit() for letter in match["old"]):
                before = _AUXILIARY.sub(" ", _VERB.sub(" ", sentence[: match.start()]))
                limits = limits_behind(sentence, match.start("new"))
                yield _Transition(_subject(before), match["old"].casefold(), match["new"].casefold(), limits)
