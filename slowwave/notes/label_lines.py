"""Line-by-line reading of front matter that is no YAML mapping."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from slowwave.notes.fields import KNOWN_FIELDS, LIST_FIELDS, field_name, is_template
from slowwave.notes.yaml_mapping import BadYamlError, load_mapping

MAX_VALUE_CHARACTERS = 1_000
"""Maximum size of a value that is taken as written (characters)."""
_MAX_YAML_PARTS = 200  # of one block that are tried as YAML by themselves
_PROSE_WORDS = 4  # from so many words on, a line without a label is text

_LABEL = re.compile(
    r"(?P<quote>[\"']?)(?P<name>\w[\w.\-/]*(?:[ \t]+[\w.\-/]+){0,3})(?P=quote)[ \t]*[:\uff1a](?P<value>.*)"
)
_CONTINUES = re.compile(r"[ \t]|-(?:[ \t]|$)|[\]}),]|%>|#(?!#*[ \t]\S)|$")
_TEMPLATE = re.compile(r"<%|\{\{|%>|\}\}|[-+*_]?%>")
_COMMENT = re.compile(r"#+[ \t]+\S")
_ITEM = re.compile(r"[ \t]*-[ \t]+(?!-[ \t])(.*)")
_QUOTED = re.compile(r"([\"'`])(.*)\1")
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_WORD = re.compile(r"[^\W\d_]{2,}")


@dataclass(slots=True)
class LabelLines:
    """Labels and text of a block that is no YAML.

    Attributes:
        fields: Labels that could be read, under their names as written.
        unread: Remarks on the others.
        text: Lines that are text and no labels.
        ends: Line (from 0) at which the text of the note begins; None if that is after the block, 0 if the
            whole block is text.
    """

    fields: dict[str, Any] = field(default_factory=dict)
    unread: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    ends: int | None = None


def label_in(line: str) -> tuple[str, str] | None:
    """Return the name and the value of a line that is a label; None if it is none.

    Without a space after the colon, only a known field is a label.
    """
    found = _LABEL.match(line)
    if found is None:
        return None
    value = found["value"]
    if value[:1] not in ("", " ", "\t") and field_name(found["name"]) not in KNOWN_FIELDS:
        return None
    return found["name"], value.strip()


def is_prose(line: str) -> bool:
    """Whether a line of a block is text: no label, no continuation of one, and not only a few words."""
    if _CONTINUES.match(line) or _TEMPLATE.match(line) or _COMMENT.match(line) or label_in(line):
        return False
    return len(_WORD.findall(line)) >= _PROSE_WORDS


def is_label_line(line: str) -> bool:
    """Whether a line may stand in a block of labels: a label, its continuation, a comment or a template."""
    other = _CONTINUES.match(line) or _TEMPLATE.match(line) or _COMMENT.match(line)
    return bool(other) or label_in(line) is not None


def read_lines(head: str, first_line: int) -> LabelLines:
    """Read the labels of a block part by part: a label and the lines that continue it.

    Args:
        head: The block without its fences.
        first_line: Number of its first line in the file, for remarks.
    """
    lines = head.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    done = LabelLines()
    written = [line for line in lines if line.strip()]
    if all(_TEMPLATE.match(line.strip()) for line in written):
        done.unread.append(f"line {first_line}: a template")
        return done
    done.ends = 0 if not any(map(label_in, lines)) else _beginning_of_text(lines)
    parts: list[tuple[int, list[str]]] = []
    for number, line in enumerate(lines[: done.ends]):
        if label_in(line):
            parts.append((number, [line]))
        elif parts and (_CONTINUES.match(line) or _COMMENT.match(line)):
            parts[-1][1].append(line)
        elif _WORD.search(line) and not _TEMPLATE.match(line) and not _COMMENT.match(line):
            done.text.append(line)
        elif line.strip() and not _COMMENT.match(line):
            done.unread.append(f"line {first_line + number}: no label")
    for index, (number, part) in enumerate(parts):
        _read_part(done, part, first_line + number, as_yaml=index < _MAX_YAML_PARTS)
    return done


def _beginning_of_text(lines: list[str]) -> int | None:
    """Return the line at which text begins: below a blank line, or a heading before one.

    The block was not closed before it. Text on the first line makes all of the block text: 0.
    """
    prose = [is_prose(line) for line in lines]
    last = max((number for number, told in enumerate(prose) if told), default=-1)
    begun = False
    for number, line in enumerate(lines):
        if not line.strip():
            continue
        heads = number < last and _COMMENT.match(line) is not None
        set_off = not begun or not lines[number - 1].strip() or (heads and not lines[number + 1].strip())
        if set_off and (heads or prose[number]):
            return number if begun else 0
        begun = True
    return None


def _read_part(done: LabelLines, part: list[str], number: int, *, as_yaml: bool) -> None:
    """Read one label with the lines that continue it, as YAML, else as written."""
    while part and not part[-1].strip():
        part.pop()
    try:
        if as_yaml:
            for name, value in load_mapping("\n".join(part)).items():
                _take(done, name, value, number)
            return
    except BadYamlError:
        pass
    _read_written(done, part, number)


def _read_written(done: LabelLines, part: list[str], number: int) -> None:
    """Read one label as written, and known labels among the lines below it."""
    name, value = label_in(part[0]) or ("", "")
    below = [line for line in part[1:] if line.strip() and not line.lstrip().startswith("#")]
    items = [item[1] for line in below if (item := _ITEM.fullmatch(line))]
    if not value and below and len(items) == len(below):
        _take(done, name, [_plain(item) for item in items], number)
        return
    if value and not value.startswith(("[", "{", "|", ">")):
        _take(done, name, _plain(value), number)
    elif value.startswith("[") and field_name(name) in LIST_FIELDS:
        _take(done, name, [_plain(item) for item in value.strip("[] ").split(",")], number)
    else:
        done.unread.append(f"line {number}: {name}")
    for further, line in enumerate(part[1:], start=number + 1):
        nested = label_in(line.strip())
        if nested and nested[1] and field_name(nested[0]) in KNOWN_FIELDS:
            _take(done, nested[0], _plain(nested[1]), further)
        elif nested:
            done.unread.append(f"line {further}: {nested[0]}")
        elif value and not line.lstrip().startswith("#") and _WORD.search(line):
            done.text.append(line.strip())


def _plain(value: str) -> str:
    """Return a value as written, without the quotes around it."""
    value = value.strip()
    quoted = _QUOTED.fullmatch(value)
    return quoted[2] if quoted else value


def _take(done: LabelLines, name: str, value: object, number: int) -> None:
    text = value if isinstance(value, str) else ""
    if name in done.fields:
        done.unread.append(f"line {number}: {name}, a second time")
    elif len(text) > MAX_VALUE_CHARACTERS or _CONTROL.search(text) or is_template(value):
        done.unread.append(f"line {number}: {name}")
    else:
        done.fields[name] = value
