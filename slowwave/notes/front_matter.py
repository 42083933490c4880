"""Front matter: blocks of labels before the text; what cannot be read never hides the text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from slowwave.notes.block_forms import YAML, BlockForm, form_at, page_properties
from slowwave.notes.fields import KNOWN_FIELDS, field_name
from slowwave.notes.label_lines import is_label_line, read_lines
from slowwave.notes.sensitivity import SENSITIVITY, may_state, words_in_fields, words_in_head
from slowwave.notes.yaml_mapping import BadYamlError

MAX_BLOCKS = 8
"""Maximum blocks of front matter, one after the other; tools put their own before that of the note."""

_FURTHER = re.compile(r"[ \t\n]*^---[ \t]*\n", re.MULTILINE)
_UNSEEN = "\ufeff\u200b\u2060"
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

    A block ends at its fence, `---` or `...` for YAML; one without a fence at the first line that is no
    label. One that cannot be loaded is read line by line. Text between two rules is no front matter. A
    further block counts if it has a known field.
    """
    bare = text.lstrip(_UNSEEN)
    form = form_at(bare)
    if form is None:
        return _of_page(bare) or FrontMatter(text)
    done = FrontMatter(bare)
    end, kept = 0, []
    for block in _blocks(bare, form):
        done.found = True
        for name, value in block.fields.items():
            if done.fields.get(name) in (None, ""):
                done.fields[name] = value
            elif value != done.fields[name] and field_name(name) != SENSITIVITY:
                done.unread.append(f"line {block.first_line}: {name}, from a second block")
        done.unread += block.unread
        done.sensitivities += block.sensitivities
        kept += [block.body] if block.body else []
        end = block.end
    if done.found:
        done.body = "\n\n".join([*kept, bare[end:]])
    return done


@dataclass(slots=True)
class _Block(FrontMatter):
    first_line: int = 0  # in the file, below its opening
    end: int = 0  # where the text begins, or the next block


def _blocks(text: str, form: BlockForm) -> Iterator[_Block]:
    """Yield the blocks at the beginning of a text; after one that is not closed, there is none."""
    end = 0
    for number in range(MAX_BLOCKS):
        own = YAML if number else form
        opening = (_FURTHER if number else own.opening).match(text, end)
        closing = own.closing.search(text, opening.end()) if opening else None
        if opening is None or (number and closing is None):
            return
        first_line = text.count("\n", 0, opening.end()) + 1
        length = closing.start() - opening.end() if closing else _unclosed(text[opening.end() :])
        head = text[opening.end() : opening.end() + length]
        block = _read_block(head, first_line, own, certain=not number and closing is not None)
        if block is None:
            return
        is_closed = closing is not None and not block.end
        block.first_line = first_line
        if closing is not None and is_closed:
            block.end = end = closing.end()
        else:  # the text begins within the block, or below its last label
            start = opening.end() + (block.end or length)
            block.end = start if closing else start + len(text[start:]) - len(text[start:].lstrip("\n"))
        yield block
        if not is_closed:
            return


def _of_page(text: str) -> FrontMatter | None:
    """Return the labels of a text that begins with properties `name:: value`."""
    page = page_properties(text)
    if page is None:
        return None
    fields, head, body = page
    stated = [*words_in_fields(fields), *words_in_head(head)]
    return FrontMatter(body, fields, sensitivities=stated, found=True)


def _unclosed(text: str) -> int:
    """Return the length of the labels at the beginning of a text."""
    end = 0
    for line in text.splitlines(keepends=True):
        if not line.strip() or line.startswith("#") or not is_label_line(line):
            break
        end += len(line)
    return end


def _read_block(head: str, first_line: int, form: BlockForm, *, certain: bool) -> _Block | None:
    """Read one block; None if it is text.

    Args:
        head: The block without its fences.
        first_line: Number of its first line in the file.
        form: Its form.
        certain: Whether it is front matter by its place; others need a known field.
    """
    try:
        fields = form.load(head)
    except BadYamlError:
        return _read_broken(head, first_line, form, certain=certain)
    known = any(field_name(name) in KNOWN_FIELDS for name in fields)
    sensitivities = list(words_in_fields(fields))
    if not sensitivities and may_state(head):
        sensitivities = list(words_in_head(head))
    if not known and not sensitivities and (not certain or _is_text(head, fields)):
        return None
    return _Block("", fields, sensitivities=sensitivities)


def _read_broken(head: str, first_line: int, form: BlockForm, *, certain: bool) -> _Block | None:
    """Read one block line by line; `end` is where its text begins, in a block that was not closed."""
    text = form.as_lines(head)
    lines = read_lines(text, first_line)
    known = any(field_name(name) in KNOWN_FIELDS for name in lines.fields)
    if lines.ends == 0 or (not certain and (not known or lines.text or lines.ends)):
        return None
    labels = "\n".join(text.split("\n")[: lines.ends])
    end = 0 if lines.ends is None else sum(len(line) + 1 for line in head.split("\n")[: lines.ends])
    fields = lines.fields
    if end:
        with suppress(BadYamlError):
            fields = YAML.load(labels)
    stated = [*words_in_fields(fields), *words_in_head(labels)]
    return _Block("\n".join(lines.text), fields, lines.unread, stated, end=end)


def _is_text(head: str, fields: dict[str, Any]) -> bool:
    """Whether a mapping without a known field is text: sentences with colons, set off by a blank line."""
    if not head.startswith("\n") and head.strip():
        return False
    return any(len(str(value).split()) >= _SENTENCE_WORDS for value in fields.values())
