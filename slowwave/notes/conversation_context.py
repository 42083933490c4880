"""What a note takes from the one that it comes after: a turn of a conversation says little by itself."""

from __future__ import annotations

CONTEXT_WORDS = 40
"""Longest context of a note (words)."""
MAX_INHERITED_WORDS = 20
"""What a note without a context takes from the end of the one that it follows (words)."""

_CHARACTERS_PER_WORD = 16  # of scripts without spaces, and of what is no prose; a word of prose has six


def first_words(text: str, count: int = CONTEXT_WORDS) -> str:
    """The beginning of a text, on one line."""
    words = " ".join(text.split(None, count)[:count])
    return words[: count * _CHARACTERS_PER_WORD].rstrip()


def last_words(text: str, count: int = MAX_INHERITED_WORDS) -> str:
    """The end of a text, on one line."""
    words = " ".join(text.rsplit(None, count)[-count:])
    return words[-count * _CHARACTERS_PER_WORD :].lstrip()


def inherited_context(content: str, sensitivity: str, *, to: str) -> str:
    """The context that a note gives to the one that follows it.

    Args:
        content: What it says.
        sensitivity: Of the note.
        to: Sensitivity of the one that follows. Words go to a note of the same sensitivity only: another
            would be found by them where they are not to be seen.
    """
    return last_words(content) if sensitivity == to else ""
