"""Parsing of files into notes: Markdown with front matter, plain text and JSON lines."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any, Literal, NamedTuple

import orjson

from slowwave.common import json_repair
from slowwave.common.arguments import on_one_line
from slowwave.common.pluralize import counted
from slowwave.notes.conversation_context import first_words, inherited_context
from slowwave.notes.decoding import (
    as_utf8,
    decode,
    failure,
    normal_breaks,
    require_content,
    without_nuls,
)
from slowwave.notes.fields import DAMAGED, LEFT_OUT, NO_DATE, WORD_FIELDS, Fields
from slowwave.notes.front_matter import read_front_matter
from slowwave.notes.markdown import Outline, inline_links, inline_tags, outline
from slowwave.notes.model import NOTE_SUFFIXES, Note, NoteError, NoteFailure
from slowwave.notes.sensitivity import (
    SENSITIVITIES,
    SENSITIVITY,
    may_state,
    most_closed,
    words_in_fields,
    words_in_text,
)
from slowwave.quality.structure import KNOWN_WORDS

MAX_REMARKS = 20
"""Maximum remarks on labels of one note that are stored."""
_NUL_ESCAPE = "\\u0000"
_COMMA = re.compile(",")
_BETWEEN_WORDS = re.compile(r"_|(?<!\d)-|-(?!\d)")
_COMMA_OR_SPACE = re.compile(r"[,\s]")


def read_notes(data: bytes, source: str, *, max_bytes: int) -> list[Note | NoteFailure]:
    """Read every note of one file, by its suffix; unreadable ones are returned as failures.

    Args:
        data: Content of the file.
        source: POSIX path relative to the vault; its suffix decides the format.
        max_bytes: Size above which a note (a line, in JSONL) is refused.

    Returns:
        One entry for a text file, one per non-blank line for a JSONL file; an empty JSONL
        file is one failure.

    Raises:
        ValueError: If the suffix is not one of `NOTE_SUFFIXES`.
    """
    suffix = PurePosixPath(source).suffix.lower()
    if suffix not in NOTE_SUFFIXES:
        known = ", ".join(sorted(NOTE_SUFFIXES))
        raise ValueError(f"{source}: suffix {suffix!r} is not a note format; known are {known}")
    if suffix == ".jsonl":
        return list(parse_jsonl(data, source, max_bytes=max_bytes))
    parse = parse_text if suffix == ".txt" else parse_markdown
    try:
        return [parse(data, source, max_bytes=max_bytes)]
    except Exception as error:  # an error affects this note only
        return [failure(data, source, error)]


def parse_markdown(data: bytes, source: str, *, max_bytes: int) -> Note:
    """Read a Markdown note with optional front matter; labels that cannot be read are left out.

    Args:
        data: Content of the file.
        source: POSIX path relative to the vault, or any key; its stem is the title of last resort.
        max_bytes: Size above which the note is refused.

    Raises:
        NoteError: If the note cannot be read; `reason` says why.
    """
    text, damages = decode(data, source, max_bytes)
    head = read_front_matter(text)
    fields = Fields(head.fields, source, damages)
    fields.unread += head.unread
    status: Literal["ok", "none"] = "ok" if head.found else "none"
    return _markdown_note(source, head.body, fields, status, path=source, stated=head.sensitivities)


def plain_note(content: str, *, source: str) -> Note:
    """Build a note from a Markdown text that is no file: title, tags and links from the text itself.

    Args:
        content: The text; front matter is not looked for.
        source: Key of the note.
    """
    return Note(source=source, **plain_fields(content))


def plain_fields(content: str) -> dict[str, Any]:
    """Return the fields of `plain_note` that are in the text: title, content, tags, links."""
    body = normal_breaks(content)
    structure = outline(body)
    return {
        "title": _first_title(structure),
        "content": body,
        "tags": tuple(dict.fromkeys(inline_tags(body, structure.fences))),
        "links": tuple(dict.fromkeys(inline_links(body, structure.fences))),
    }


def parse_text(data: bytes, source: str, *, max_bytes: int) -> Note:
    """Read a plain text note: no front matter, tags or links; its title is the file name.

    Args:
        data: Content of the file.
        source: POSIX path relative to the vault, or any key.
        max_bytes: Size above which the note is refused.

    Raises:
        NoteError: If the note cannot be read; `reason` says why.
    """
    content, damages = decode(data, source, max_bytes)
    require_content(content, source)
    stated = list(words_in_text(content))
    sensitivity = most_closed([None, *stated]) if stated else WORD_FIELDS[SENSITIVITY]
    return Note(
        source=source,
        title=title_from_path(source),
        content=content,
        sensitivity=sensitivity,
        metadata={DAMAGED: list(damages)} if damages else {},
        unread=damages,
    )


def parse_jsonl(data: bytes, source: str, *, max_bytes: int) -> Iterator[Note | NoteFailure]:
    """Yield the notes of a JSONL file, one per line; a broken line is a failure of that line only.

    A line is an object with `text` or `content`, optionally `id` (or `_id`, `key`), `title`, `created` (or
    `created_at`, `date`, `said_at`) and the fields of the front matter. Without an id the line number is
    used: `L12`. The text is parsed as Markdown. `follows` is the id of another line of the file, or a source.
    A line that follows the previous one and has no `context` takes its last words.

    Args:
        data: Content of the file.
        source: POSIX path of the file relative to the vault.
        max_bytes: Size above which a line is refused.

    Yields:
        A note or a failure for each non-blank line, in order.
    """
    data = as_utf8(data)
    if not data.removeprefix(b"\xef\xbb\xbf").strip():
        yield failure(data, source, NoteError("empty", f"{source}: there is no line in it; delete the file"))
        return
    lines: dict[str, int] = {}
    before: Note | None = None
    for number, line in enumerate(data.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not line.strip():
            continue
        place = f"{source}#L{number}"
        for count, record in enumerate(_records(line, place, max_bytes)):
            try:
                own = f"{place}.{count + 1}" if count else place
                note = _json_note(record, source, own)
                _require_new_id(note, place, lines.setdefault(note.source, number), number)
                note = _following(note, source, lines, before)
            except Exception as error:  # an error affects this record only
                before = None
                yield failure(line, place, error)
            else:
                before = note
                yield note


def _markdown_note(
    source: str, body: str, fields: Fields, front_matter: Literal["ok", "none"], *, path: str,
    stated: Collection[str],
) -> Note:  # fmt: skip
    require_content(body, source)
    structure = outline(body)
    words = {
        name: _sensitivity(fields, stated, body)
        if name == SENSITIVITY
        else fields.word(name, KNOWN_WORDS[name]) or default
        for name, default in WORD_FIELDS.items()
    }
    kinds = (str(value).strip().lower() for key, value in fields.rest.items() if key.lower() == "type")
    own = next(kinds, "")
    if words["memory_type"] == WORD_FIELDS["memory_type"] and own in KNOWN_WORDS["memory_type"]:
        words["memory_type"] = own
    title = " ".join(fields.text("title").split()) or _first_title(structure)
    given = [tag.lstrip("#") for tag in fields.items("tags", _COMMA_OR_SPACE)]
    tags = [on_one_line(tag) for tag in given]
    if tags != given:
        fields.unread.append("tags: line breaks and control characters, read as spaces")
    tags += inline_tags(body, structure.fences)
    return Note(
        source=source,
        title=title or title_from_path(path),
        content=body,
        created_at=fields.moment(),
        source_of_truth=fields.flag("source_of_truth"),
        trigger_phrases=fields.items("trigger_phrases", _COMMA),
        tags=tuple(dict.fromkeys(tag for tag in tags if tag)),
        aliases=fields.items("aliases", _COMMA),
        links=tuple(dict.fromkeys(inline_links(body, structure.fences))),
        front_matter=front_matter,
        context=first_words(fields.text("context")),
        follows=fields.text("follows"),
        **words,
        # Last: what is read above leaves remarks.
        metadata=_with_remarks(fields),
        unread=(*fields.damages, *fields.unread),
    )


def _sensitivity(fields: Fields, stated: Collection[str], body: str) -> str:
    """Return the strictest sensitivity that a note states; a block inside its text can only close."""
    below = list(words_in_text(body))
    words = [*(stated or [WORD_FIELDS[SENSITIVITY]] * bool(below)), *below]
    if any(word not in SENSITIVITIES for word in words):
        fields.leave_out(SENSITIVITY, f"is none of {', '.join(SENSITIVITIES)}, so it is secret")
    return most_closed(words) if words else WORD_FIELDS[SENSITIVITY]


def _with_remarks(fields: Fields) -> dict[str, Any]:
    """Return the metadata of a note, with the remarks on labels and characters.

    A date that cannot be read is metadata already.
    """
    left_out = [remark for remark in fields.unread if not remark.endswith(NO_DATE)]
    remarks = {LEFT_OUT: left_out[:MAX_REMARKS], DAMAGED: list(fields.damages)}
    return fields.rest | {name: values for name, values in remarks.items() if values}


def _first_title(structure: Outline) -> str:
    return next((heading.text for heading in structure.headings if heading.level == 1 and heading.text), "")


def _require_new_id(note: Note, place: str, first: int, number: int) -> None:
    if first != number:
        raise NoteError(
            "bad_json_line",
            f"{place}: the id of {note.source} is on line {first} already; give this one its own",
        )


def _following(note: Note, source: str, lines: Collection[str], before: Note | None) -> Note:
    """Resolve the source that a note follows, and inherit its context if adjacent."""
    if not note.follows:
        return note
    line = f"{source}#{note.follows}"
    names_a_file = PurePosixPath(note.follows.partition("#")[0]).suffix.lower() in NOTE_SUFFIXES
    follows = note.follows if names_a_file and line not in lines else line
    context = note.context
    if not context and before is not None and before.source == follows:
        context = inherited_context(before.content, before.sensitivity, to=note.sensitivity)
    return replace(note, follows=follows, context=context)


class _Record(NamedTuple):
    value: Any
    unread: tuple[str, ...] = ()


def _records(line: bytes, place: str, max_bytes: int) -> Iterator[_Record]:
    """Yield the records of a line; what is broken in it is a record with its error.

    A character that no text can have is left out or replaced, with a remark.
    """
    try:
        text, damages = decode(line, place, max_bytes)
    except NoteError as error:
        yield _Record(error)
        return
    try:
        whole = _loaded(text)
    except orjson.JSONDecodeError as error:
        why = str(error)
    else:
        value, nuls = without_nuls(whole) if _NUL_ESCAPE in text else (whole, 0)
        yield _Record(value, (*damages, *_remarks(0, nuls)))
        return
    for record in json_repair.records(text):
        if isinstance(record, json_repair.Damaged):
            yield _Record(NoteError("bad_json_line", f"{place}: {why}; write one JSON object a line"))
        else:
            value, nuls = without_nuls(record.value)
            yield _Record(value, (*damages, *_remarks(record.replaced, nuls)))
            damages = ()


def _loaded(text: str) -> Any:  # noqa: ANN401 - any JSON value
    """Parse JSON; a repeated sensitivity has all its values."""
    value = orjson.loads(text)
    if text.lower().count(SENSITIVITY[:9]) < 2:
        return value
    try:
        return json.loads(text, object_pairs_hook=_with_repeated)
    except ValueError:
        return value


def _with_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object with a list of the values of a repeated sensitivity."""
    values: dict[str, Any] = dict(pairs)
    for name in {name for name, _ in pairs if may_state(name)}:
        stated = [value for other, value in pairs if other == name]
        if len(stated) > 1:
            values[name] = stated
    return values


def _remarks(replaced: int, nuls: int) -> Iterator[str]:
    if replaced:
        yield f"{counted(replaced, 'character')} not in Unicode, replaced by {json_repair.REPLACEMENT}"
    if nuls:
        yield f"{counted(nuls, 'NUL character')}, removed"


def _json_note(record: _Record, source: str, place: str) -> Note:
    if isinstance(record.value, Exception):
        raise record.value
    value = record.value
    if not isinstance(value, dict):
        raise NoteError("bad_json_line", f"{place}: a {type(value).__name__}, not an object {{...}}")
    body_key = _first_key(value, "text", "content")
    if body_key is None:
        names = ", ".join(sorted(value)[:10]) or "none"
        raise NoteError("bad_json_line", f"{place}: no 'text' or 'content' field; its fields: {names}")
    id_key = _first_key(value, "id", "_id", "key")
    rest = {key: inner for key, inner in value.items() if key not in (body_key, id_key)}
    fields = Fields(rest, place, record.unread)
    name = fields.scalar(id_key or "id", value.get(id_key)) or place.rpartition("#")[2]
    # Not stripped: the content is kept as it was written.
    body = value[body_key]
    body = normal_breaks(body) if isinstance(body, str) else fields.scalar(body_key, body)
    content = fields.checked(body_key, body)
    status: Literal["ok", "none"] = "ok" if rest else "none"
    stated = list(words_in_fields(rest))
    return _markdown_note(f"{source}#{name}", content, fields, status, path=source, stated=stated)


def _first_key(record: Mapping[str, Any], *names: str) -> str | None:
    """Return the first name that has a value, else the first present."""
    present = [name for name in names if name in record]
    return next((name for name in present if record[name] not in (None, "")), present[0] if present else None)


def title_from_path(path: str) -> str:
    """Return the title of last resort: the file name as words, and dates as they are."""
    return " ".join(_BETWEEN_WORDS.sub(" ", PurePosixPath(path).stem).split())
