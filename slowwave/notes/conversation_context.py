"""Inherited context of conversation turns: the last words of the previous turn."""

from __future__ import annotations

CONTEXT_WORDS = 40
"""Maximum length of a note's context (words)."""
MAX_INHERITED_WORDS = 20
"""Words that a note without a context takes from the end of the previous note (count)."""

_CHARACTERS_PER_WORD = 16  # of scripts without spaces, and of what is no prose; a word of prose has six


def first_words(text: str, count: int = CONTEXT_WORDS) -> str:
    """Return the beginning of a text, on one line."""
    words = " ".join(text.split(None, count)[:count])
    return words[: count * _CHARACTERS_PER_WORD].rstrip()


def last_words(text: str, count: int = MAX_INHERITED_WORDS) -> str:
    """Return the end of a text, on one line."""
    words = " ".join(text.rsplit(None, count)[-count:])
    return words[-count * _CHARACTERS_PER_WORD :].lstrip()


def inherited_context(content: str, sensitivity: str, *, to: str) -> str:
    """Return the context that a note gives to the next one.

    Args:
        content: Of the note.
        sensitivity: Of the note.
        to: Sensitivity of the next note. Only notes of the same sensitivity inherit: else a note could be
            found by words that its reader may not see.
    """
    return last_words(content) if sensitivity == to else ""
