"""Identifiers of a question that no visible memory mentions (rule 3.11).

Where the caller may not look, there is nothing: a secret, forgotten or merged memory, and one of another
namespace, mention no identifier. Superseded memories count, because every caller may ask for them. So do all
that only a filter leaves out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import TYPE_CHECKING, Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from slowwave.index.channels import MENTIONING, Channels
from slowwave.scoring.ranking.identifiers import possible_identifiers
from slowwave.scoring.ranking.mentions import WIDE, Identifier
from slowwave.search.filters import Filters

if TYPE_CHECKING:
    from slowwave.search.signals import StoredSignals

MAX_CHUNKS: Final = 1_000
"""Maximum chunks read for one identifier (count). If so many have its words, it counts as mentioned."""
MAX_FOUND: Final = 5
"""Maximum memories returned for an identifier that they spell otherwise, or longer (count)."""
MIN_ID_PREFIX: Final = 8
"""Minimum characters of the beginning of an id or of a source (count)."""
FEW: Final = 16
"""Chunks that are read one by one (count); of more, those without the part are left out before."""
IDENTIFIED: Final = 5.0
"""Strength of an identifier that the words of the question do not find; a trigger phrase has 1."""
MAX_ALIKE: Final = 16
"""Maximum chunks read for another identifier with the same code (count)."""
_TEXTS: Final = ("memory_id", "title", "text", "source")
_LISTS: Final = ("headings", "tags")
Texts = Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Lookup:
    """Outcome of looking up the identifiers of a question.

    Attributes:
        unknown: Identifiers that nothing mentions, as asked.
        all_unknown: Whether the question has identifiers and nothing mentions any.
        found: Memories to return for an identifier: it as asked, and its strength as of a trigger phrase.
            They are few, spell it otherwise, have a longer one that begins with it, or have it only in a
            tag, a source, an alias or a trigger phrase.
    """

    unknown: tuple[str, ...] = ()
    all_unknown: bool = False
    found: Mapping[str, tuple[str, float]] = field(default_factory=dict)


NOTHING_ASKED: Final = Lookup()


def look_up(
    query: str, chunks: Channels[Any], signals: StoredSignals, namespace: str, filters: Filters
) -> Lookup:
    """Look up the identifiers of a question in all that its caller may see.

    Args:
        query: The question.
        chunks: Channels of the namespace.
        signals: Source of trigger phrases and aliases.
        namespace: The tenant.
        filters: Filters of the search; only those that open memories to the caller matter.
    """
    possible = possible_identifiers(query)
    if not possible:
        return NOTHING_ASKED
    where = filters.visible(namespace)
    asked = [one for one in possible if not one.alike or _has_alike(one, chunks, where)]
    unknown: list[str] = []
    found: dict[str, tuple[str, float]] = {}
    for identifier in asked:
        chunks_with_words = chunks.with_words(identifier.words, where, MAX_CHUNKS)
        if chunks_with_words.num_rows >= MAX_CHUNKS:
            continue  # too many to read: it counts as mentioned
        if mentions := _mentions(identifier.part, identifier.is_in, chunks_with_words):
            found |= _leading(identifier, mentions)
            continue
        near = chunks.with_part(identifier.glued or identifier.part, where, MAX_CHUNKS)
        if near.num_rows >= MAX_CHUNKS and identifier.is_bare:
            continue
        if mentions := _mentions(identifier.part, identifier.is_in_any_grouping, near):
            found |= _leading(identifier, mentions)
        elif mentions := _written_otherwise(identifier, chunks, where):
            found |= dict.fromkeys(list(mentions)[:MAX_FOUND], (identifier.text, IDENTIFIED))
        elif memories := _named(identifier, chunks, signals, namespace, where):
            found |= dict.fromkeys(memories, (identifier.text, IDENTIFIED))
        else:
            # A short part begins some random id or key by chance.
            named = len(identifier.part) >= MIN_ID_PREFIX
            longer = list(_mentions(identifier.part, identifier.begins_in, near, named=named))[:MAX_FOUND]
            found |= dict.fromkeys(longer, (identifier.text, 1.0))
            if not (longer and identifier.may_be_short):
                unknown.append(identifier.text)
    longest = tuple(text for text in unknown if not any(other.endswith(f" {text}") for other in unknown))
    return Lookup(longest, len(unknown) == len(asked) > 0, found)


def _has_alike(identifier: Identifier, chunks: Channels[Any], where: str) -> bool:
    """Whether some text or label has its code with another number."""
    having = chunks.with_words([{identifier.code}], where, MAX_ALIKE)
    if having.num_rows:  # a word of texts is seldom a code of labels alone
        return any(map(identifier.has_alike, having["text"].to_pylist()))
    labelled = chunks.with_part(f"{identifier.code}-", where, MAX_ALIKE)
    labels = zip(labelled["source"].to_pylist(), labelled["tags"].to_pylist(), strict=True)
    return any(identifier.has_alike("\n".join([source or "", *(tags or ())])) for source, tags in labels)


def _written_otherwise(identifier: Identifier, chunks: Channels[Any], where: str) -> dict[str, str]:
    """Return the memories with a number in another grouping or script."""
    found: dict[str, str] = {}
    if identifier.joined:
        grouped = chunks.with_groups(identifier.joined, where, MAX_CHUNKS)
        found = _mentions("", identifier.is_regrouped_in, grouped)
    for digits in () if found else identifier.in_other_scripts:
        found |= _mentions("", identifier.is_in, chunks.with_part(digits, where, MAX_CHUNKS))
    return found


def _mentions(
    part: str, is_in: Callable[[str], bool], chunks: pa.Table, *, named: bool = True
) -> dict[str, str]:
    """Return the memories that mention an identifier, each with the searched text of a chunk.

    Args:
        part: Characters of the identifier; empty: all chunks are read.
        is_in: Whether a text mentions it.
        chunks: Columns `MENTIONING`.
        named: Read ids and sources, too.
    """
    if not chunks.num_rows:
        return {}
    if part and chunks.num_rows > FEW:
        pattern = f"{re.escape(part)}|{WIDE}"
        having = [pc.match_substring_regex(chunks[name], pattern, ignore_case=True) for name in _TEXTS]
        having += [pc.greater(pc.list_value_length(chunks[name]), 0) for name in _LISTS]
        chunks = chunks.filter(reduce(pc.or_, [pc.fill_null(one, fill_value=False) for one in having]))
    columns = (chunks.column(name).to_pylist() for name in MENTIONING)
    rows = zip(*columns, strict=True)
    return {
        memory: _text(title, headings, text)
        for memory, title, headings, text, source, tags in rows
        if is_in("\n".join([_text(title, headings, text), *_labels(memory if named else "", source, tags)]))
    }


def _leading(identifier: Identifier, mentions: Mapping[str, str]) -> dict[str, tuple[str, float]]:
    """Return the memories that an identifier leads to.

    As it was asked, the words of the question find it, so it leads only to a few memories, and a number
    alone, which may be an amount, to none. In another spelling it leads to the first ones.
    """
    asked, is_bare = identifier.text.lower(), identifier.is_bare and not identifier.kind
    if any(asked in text.lower() for text in mentions.values()):
        few = len(mentions) <= MAX_FOUND and not is_bare
        return dict.fromkeys(mentions, (identifier.text, 1.0)) if few else {}
    return {
        memory: (identifier.text, 1.0 if is_bare and identifier.is_in(text) else IDENTIFIED)
        for memory, text in list(mentions.items())[:MAX_FOUND]
    }


def _named(
    identifier: Identifier, chunks: Channels[Any], signals: StoredSignals, namespace: str, where: str
) -> Sequence[str]:
    """Return visible memories that have it in a trigger phrase or an alias."""
    named = signals.names(namespace).having(identifier.part, identifier.joined)
    memories = sorted(
        memory for memory, texts in named.items() if any(map(identifier.is_in_any_grouping, texts))
    )
    visible = chunks.of(memories, where, MAX_CHUNKS).memory_ids if memories else ()
    return list(dict.fromkeys(visible))[:MAX_FOUND]


def _text(title: str, headings: Texts, text: str) -> str:
    """Return what a search by words reads of a chunk, line by line."""
    return "\n".join([title or "", *(headings or ()), text])


def _labels(memory_id: str, source: str, tags: Texts) -> tuple[str, ...]:
    """Return where else a chunk may mention an identifier; without an id also no source."""
    return (*(tags or ()), *((memory_id, source or "") if memory_id else ()))
