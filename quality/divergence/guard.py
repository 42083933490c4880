"""Divergence guard: compares two notes and decides whether one replaces the other (rule 2.3)."""

from __future__ import annotations

from slowwave.quality.divergence.comparing import compare
from slowwave.quality.divergence.difference import Difference, contradicts
from slowwave.quality.divergence.longer import LONG, plainly_different, without_common_lines
from slowwave.quality.divergence.note import ComparedNote
from slowwave.quality.divergence.sentences import words_of
from slowwave.quality.divergence.statements import answers
from slowwave.quality.divergence.subject import Subject, different_places, same_subject
from slowwave.quality.divergence.tokens import Traits, traits


class DivergenceGuard:
    """Comparison of notes; each text is analysed once per guard."""

    def __init__(self) -> None:
        self._traits: dict[str, Traits] = {}
        self._words: dict[str, frozenset[str]] = {}

    def compare(
        self, new: ComparedNote, old: ComparedNote, *, subjects: bool = True
    ) -> tuple[tuple[Difference, ...], bool]:
        """Return the differences, new note left, and whether the new note replaces the old.

        Of long texts, only lines that differ are compared. Titles that name different things are a
        difference, too: a merge or a refusal would lose one of them.

        Args:
            new: The newer note.
            old: The older one.
            subjects: Whether their subjects are compared, for callers that supersede; else none replaces.
        """
        if min(len(new.content), len(old.content)) < LONG:
            differences = compare(self._traits_of(new.content), self._traits_of(old.content))
        elif differences := plainly_different(self._words_of(new.content), self._words_of(old.content)):
            return differences, False
        else:
            rest = without_common_lines(new.content, old.content)
            if plain := plainly_different(words_of(rest[0]), words_of(rest[1])):
                return plain, False
            differences = compare(traits(rest[0]), traits(rest[1]))
        differences += self._of_titles(new, old)
        if not subjects or not contradicts(differences):
            return differences, False
        places = (new.title, new.source), (old.title, old.source)
        if different_places(*places) or not answers(new.content, old.content):
            return differences, False
        left = Subject(new.title, new.source, self._traits_of(new.content))
        right = Subject(old.title, old.source, self._traits_of(old.content))
        return differences, same_subject(left, right, differences)

    def _of_titles(self, new: ComparedNote, old: ComparedNote) -> tuple[Difference, ...]:
        if new.title == old.title or not new.title.strip() or not old.title.strip():
            return ()
        if not contradicts(compare(self._traits_of(new.title), self._traits_of(old.title))):
            return ()
        return (Difference("title", (new.title,), (old.title,), (), ()),)

    def _traits_of(self, text: str) -> Traits:
        if text not in self._traits:
            self._traits[text] = traits(text)
        return self._traits[text]

    def _words_of(self, text: str) -> frozenset[str]:
        if text not in self._words:
            self._words[text] = words_of(text)
        return self._words[text]
