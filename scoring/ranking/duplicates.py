"""Duplicates among candidates: memories with the same words in the same order."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Sequence

_FIRST, _LAST = 16, 8  # characters that are compared first, because they are cheap
_BEHIND = " \t\r\n.,;:!?"  # a text's last characters that make no difference


def duplicates(
    memory_ids: Sequence[str],
    ordinals: Sequence[int],
    chunk_counts: Sequence[int],
    texts: Sequence[str],
    titles: Sequence[str],
) -> dict[str, str]:
    """Return each duplicate with the first memory of its group by id.

    Two memories are duplicates if their titles and their found chunks have the same words in the same order,
    whatever their case and the punctuation behind a word. A title may be what tells two texts apart.

    Args:
        memory_ids: memory of each of n chunks.
        ordinals: place of the chunk in its memory, (n,).
        chunk_counts: chunks that its memory has, (n,).
        texts: text of the chunk, (n,).
        titles: title of its memory, (n,).
    """
    begins: defaultdict[tuple[int, int, str], list[int]] = defaultdict(list)
    for at, begin in enumerate(zip(chunk_counts, ordinals, map(_first_characters, texts), strict=True)):
        begins[begin].append(at)
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for begin, rows in begins.items():
        for at in rows if len(rows) > 1 else ():
            groups[begin, _last_word(texts[at])].append(at)
    alike = {memory_ids[at] for rows in groups.values() if len(rows) > 1 for at in rows}
    if not alike:
        return {}
    found_words: defaultdict[str, set[Hashable]] = defaultdict(set)
    for at, memory in enumerate(memory_ids):
        if memory in alike:
            found_words[memory].add(
                (chunk_counts[at], ordinals[at], _words(texts[at]), _words(titles[at] or ""))
            )
    same: defaultdict[frozenset[Hashable], list[str]] = defaultdict(list)
    for memory in sorted(found_words):
        same[frozenset(found_words[memory])].append(memory)
    return {memory: group[0] for group in same.values() for memory in group[1:]}


def _first_characters(text: str) -> str:
    return text.lstrip()[:_FIRST].casefold()


def _last_word(text: str) -> str:
    """Return the end of the last word, which a difference in punctuation leaves."""
    return "".join(text.rstrip(_BEHIND)[-_LAST:].split()[-1:]).casefold()


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text with their signs: C is not C++, and 5 is not -5."""
    return tuple(word.rstrip(".,;:!?") for word in text.casefold().split())
