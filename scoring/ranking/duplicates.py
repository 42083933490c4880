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
    begins = defaultdict(list)
    for at, text in enumerate(texts):
        first, last = text.lstrip()[:_FIRST].casefold(), text.rstrip(_BEHIND)[-_LAST:].split()[-1:]
        begins[chunk_counts[at], ordinals[at], first, *(word.casefold() for word in last)].append(at)
    alike = {memory_ids[at] for group in begins.values() if len(group) > 1 for at in group}
    if not alike:
        return {}
    found_words: defaultdict[str, set[Hashable]] = defaultdict(set)
    for at, memory in enumerate(memory_ids):
        if memory in alike:
            found_words[memory].add(
                (chunk_counts[at], ordinals[at], _words(texts[at]), _words(titles[at] or ""))
            )
    groups = defaultdict(list)
    for memory in sorted(found_words):
        groups[frozenset(found_words[memory])].append(memory)
    return {memory: group[0] for group in groups.values() for memory in group[1:]}


def _words(text: str) -> tuple[str, ...]:
    """Return the words of a text with their signs: C is not C++, and 5 is not -5."""
    return tuple(word.rstrip(".,;:!?") for word in text.casefold().split())
