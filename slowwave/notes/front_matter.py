"""Front matter: blocks of labels before the text; what cannot be read never hides the text."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from slowwave.notes.fields import KNOWN_FIELDS, field_name
from slowwave.notes.label_lines import read_lines
from slowwave.notes.sensitivity import SENSITIVITY, words_in_fields, words_in_head
from slowwave.notes.yaml_mapping import BadYamlError, load_mapping

MAX_BLOCKS = 8
"""Maximum blocks of front matter, one after the other; tools put their own before that of the note."""

_OPENING = re.compile(r"---[ \t]*\n")
_FURTHER = re.compile(r"[ \t\n]*^---[ \t]*\n", re.MULTILINE)
_CLOSING = re.compile(r"^(?:---|\.\.\.)[ \t]*(?:\n|\Z)", re.MULTILINE)
_SENTENCE_WORDS = 4


@dataclass(slots=True)
class FrontMatter:
    """Labels before a text, and the text.

    Attributes:
        body: The text, with every line that is no label.
        fields: Labels, under their names as written; of several blocks the first that has a value.
        unread: Remarks on labels that were left out, with their lines in the file.
        sensitivities: Words that the blocks state as the sensitivity, in any spelling.
        found: Whether there is a block.
    """

    body: str
    fields: dict[str, Any] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    sensitivities: list[str] = field(default_factory=list)
    found: bool = False


def read_front_matter(text: str) -> FrontMatter:
    """Read the blocks of front matter at the beginning of a text.

    A block ends at `---` or `...`. One that is no YAML mapping is read line by line. Text between two rules
    is no front matter. A further block counts if it has a known field.
    """
    bare = text.lstrip("\ufeff")
    done = FrontMatter(bare if _OPENING.match(bare) else text)
    at, kept = 0, []
    for number in range(MAX_BLOCKS):
        opening = (_FURTHER if number else _OPENING).match(bare, at)
        closing = _CLOSING.search(bare, opening.end()) if opening else None
        if opening is None or closing is None:
            break
        head = bare[opening.end() : closing.start()]
        first_line = bare.count("\n", 0, opening.end()) + 1
        block = _read_block(head, first_line, further=bool(number))
        if block is None:
            break
        done.found = True
        for name, value in block.fields.items():
            if done.fields.get(name) in (None, ""):
                done.fields[name] = value
            elif value != done.fields[name] and field_name(name) != SENSITIVITY:
                done.unread.append(f"line {first_line}: {name}, from a second block")
        done.unread += block.unread
        done.sensitivities += block.sensitivities
        if block.body:
            kept.append(block.body)
        at = closing.end()
        if block.cut is not None:
            at = opening.end() + block.cut
            break
    if done.found:
        done.body = "\n\n".join([*kept, bare[at:]])
    return done


@dataclass(slots=True)
class _Block(FrontMatter):
    cut: int | None = None  # where the text begins inside the block: it was not closed


def _read_block(head: str, first_line: int, *, further: bool) -> _Block | None:
    """Read one block; None if it is text."""
    try:
        fields = load_mapping(head)
    except BadYamlError:
        return _read_broken(head, first_line, further=further)
    known = any(field_name(name) in KNOWN_FIELDS for name in fields)
    sensitivities = list(words_in_fields(fields))
    if not known and not sensitivities and (further or _is_text(head, fields)):
        return None
    return _Block("", fields, sensitivities=sensitivities)


def _read_broken(head: str, first_line: int, *, further: bool) -> _Block | None:
    lines = read_lines(head, first_line)
    known = any(field_name(name) in KNOWN_FIELDS for name in lines.fields)
    if lines.ends == 0 or (further and (not known or lines.text or lines.ends)):
        return None
    cut = None
    if lines.ends is not None:
        cut = sum(len(line) + 1 for line in head.split("\n")[: lines.ends])
    labels = head if cut is None else head[:cut]
    fields = lines.fields
    if cut is not None:
        with suppress(BadYamlError):
            fields = load_mapping(labels)
    stated = [*words_in_fields(fields), *words_in_head(labels)]
    return _Block("\n".join(lines.text), fields, lines.unread, stated, cut=cut)


def _is_text(head: str, fields: dict[str, Any]) -> bool:
    """Whether a mapping without a known field is text: sentences with colons, set off by a blank line."""
    if not head.startswith("\n") and head.strip():
        return False
    return any(len(str(value).split()) >= _SENTENCE_WORDS for value in fields.values())
