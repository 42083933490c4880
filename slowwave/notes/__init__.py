"""Reads notes: Markdown with YAML front matter, plain text and JSON lines.

A note that cannot be read is a `NoteError` with a reason, or a `NoteFailure` where notes are read in
bulk; nothing is guessed and nothing is dropped.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slowwave.scoring.facade import names_of

if TYPE_CHECKING:
    from slowwave.notes.decoding import EXCERPT_CHARACTERS
    from slowwave.notes.folder import Listing, Unseen, iter_vault, list_vault
    from slowwave.notes.front_matter import (
        MAX_FRONT_MATTER,
        MAX_FRONT_MATTER_DEPTH,
        MAX_FRONT_MATTER_EXPANDED,
    )
    from slowwave.notes.hashing import content_hash
    from slowwave.notes.model import NOTE_SUFFIXES, Note, NoteError, NoteFailure, Reason, VaultFile
    from slowwave.notes.reading import parse_jsonl, parse_markdown, parse_text, plain_note, read_notes
    from slowwave.notes.turns import CONTEXT_WORDS, LENT_WORDS, first_words, lent

__all__ = [
    "CONTEXT_WORDS",
    "EXCERPT_CHARACTERS",
    "LENT_WORDS",
    "MAX_FRONT_MATTER",
    "MAX_FRONT_MATTER_DEPTH",
    "MAX_FRONT_MATTER_EXPANDED",
    "NOTE_SUFFIXES",
    "Listing",
    "Note",
    "NoteError",
    "NoteFailure",
    "Reason",
    "Unseen",
    "VaultFile",
    "content_hash",
    "first_words",
    "iter_vault",
    "lent",
    "list_vault",
    "parse_jsonl",
    "parse_markdown",
    "parse_text",
    "plain_note",
    "read_notes",
]

__getattr__ = names_of(
    __name__,
    {
        "decoding": "EXCERPT_CHARACTERS",
        "folder": "Listing Unseen iter_vault list_vault",
        "front_matter": "MAX_FRONT_MATTER MAX_FRONT_MATTER_DEPTH MAX_FRONT_MATTER_EXPANDED",
        "hashing": "content_hash",
        "model": "NOTE_SUFFIXES Note NoteError NoteFailure Reason VaultFile",
        "reading": "parse_jsonl parse_markdown parse_text plain_note read_notes",
        "turns": "CONTEXT_WORDS LENT_WORDS first_words lent",
    },
)
