"""Short ways to read a note in a test."""

from __future__ import annotations

import pytest

from slowwave.notes.model import NoteError
from slowwave.notes.reading import parse_markdown

LIMIT = 1_000_000


def markdown(text, source="folder/my-first_note.md"):
    data = text if isinstance(text, bytes) else text.encode()
    return parse_markdown(data, source, max_bytes=LIMIT)


def with_field(line):
    return markdown(f"---\n{line}\n---\nbody")


def refusal(data, source="note.md"):
    with pytest.raises(NoteError) as caught:
        parse_markdown(data if isinstance(data, bytes) else data.encode(), source, max_bytes=LIMIT)
    return caught.value.reason, str(caught.value)
