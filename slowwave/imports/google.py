"""Readers of Google Takeout: notes of Keep, and prompts to Gemini."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any, Final

from slowwave.imports.archives import Member, members, read_whole
from slowwave.imports.json_records import Element, elements, found, whole
from slowwave.imports.model import (
    ImportFailedError,
    ImportItem,
    ImportSource,
    Read,
    Repaired,
    Skipped,
    Unread,
    isolated,
    name_of,
    text_of,
)
from slowwave.imports.moments import moment_in, written
from slowwave.imports.transcripts import Turn, thread
from slowwave.notes.decoding import says_nothing

_NOTE: Final = {
    "textContent", "textContentHtml", "listContent", "isTrashed", "userEditedTimestampUsec",
    "createdTimestampUsec",
}  # fmt: skip
_PROMPTED: Final = re.compile(r"(?:Prompted|Asked|Said)\s+(?=\S)")
_NO_PROMPT: Final = re.compile(
    r"(?:Used|Created|Gave|Selected|Listened|Viewed|Visited|Searched)\b|\S*\s*\S*(?:Gemini|Bard)",
    re.IGNORECASE,
)
"""Titles of other activities; those of another language name the product near their beginning."""
_BREAK: Final = re.compile(r"<\s*(?:br|/p|/li|/h\d|/tr|/div|/pre)\b[^>]*>", re.IGNORECASE)
_TAG: Final = re.compile(r"<[^>]+>")


class Keep(ImportSource):
    """Notes of Google Keep: a .zip of Takeout, its folder, or one note as JSON."""

    title = "Google Keep"
    expected = (
        "the .zip of takeout.google.com with Keep: a JSON file per note, with `textContent` or `listContent`"
    )

    def read(self) -> Iterator[Read]:
        """Yield its notes; see `ImportSource`."""
        files = sorted(members(self.path, "*.json", nested=True), key=lambda file: file.name)
        self.require(files, "is no note as JSON")
        keys: set[str] = set()
        notes = 0
        for file in files:
            read = list(isolated(file.name, self._file(file, keys)))
            notes += not any(isinstance(one, Skipped) and one.why == _OTHER_FILE for one in read)
            yield from read
        if not notes:
            raise ImportFailedError(f"There is no note of Keep in {self.path}. Expected: {self.expected}.")

    def _file(self, file: Member, keys: set[str]) -> Iterator[Read]:
        try:
            value, replaced = whole(read_whole(file), file.name)
        except ImportFailedError as error:
            yield Unread(file.name, str(error))
            return
        if not isinstance(value, dict) or not _NOTE & value.keys():
            yield Skipped(_OTHER_FILE)
            return
        yield self._note(value, file.name, keys)
        if replaced:
            yield Repaired(file.name, replaced)

    def _note(self, value: Mapping[str, Any], place: str, keys: set[str]) -> Read:
        if value.get("isTrashed") is True:
            return Skipped("in the bin of Keep")
        text = _text_of_note(value)
        if says_nothing(text):
            return Skipped("a note without text: a picture, a drawing or a recording")
        created, edited = value.get("createdTimestampUsec"), value.get("userEditedTimestampUsec")
        began, changed = moment_in(created, self.now), moment_in(edited, self.now)
        stem = PurePosixPath(place.replace("\\", "/")).stem
        key = f"{self.name}:{name_of(created) if began else name_of('note', stem)}"
        if key in keys:  # two notes of one moment
            key = f"{key}/{name_of(stem)}"
        keys.add(key)
        labels = value.get("labels")
        names = [
            text_of(label.get("name"))
            for label in (labels if isinstance(labels, list) else [])
            if isinstance(label, dict)
        ]
        about = {name: True for name in ("isArchived", "isPinned") if value.get(name) is True}
        return (
            ImportItem(
                key=key,
                content=text,
                kind="note",
                place=place,
                title=text_of(value.get("title")).strip(),
                created_at=began or changed,
                updated=written(changed or began),
                tags=tuple(dict.fromkeys(filter(None, names))),
                labels={"source_kind": "imported"},
                about=about,
            ),
        )


_OTHER_FILE: Final = "another file of Takeout"
_OTHER_PRODUCT: Final = "an activity in another product of Google"


class Gemini(ImportSource):
    """Prompts to Gemini: MyActivity.json of Takeout."""

    title = "Gemini"
    expected = (
        "MyActivity.json of takeout.google.com (My Activity > Gemini Apps, in the format JSON, not HTML): "
        'a list of {"header": "Gemini Apps", "title": "Prompted …", "time": …}'
    )

    def read(self) -> Iterator[Read]:
        """Yield a thread per prompt, which has its answer; see `ImportSource`."""
        files = members(self.path, "MyActivity.json", "*Gemini*/*.json", "*Bard*/*.json")
        self.require(files, "is no MyActivity.json")
        own = others = 0
        for file in files:
            for element in elements(file, "header", "title"):
                if not isinstance(element, Element):
                    yield element
                    continue
                read = list(isolated(element.place, self._activity(element)))
                other = any(isinstance(one, Skipped) and one.why == _OTHER_PRODUCT for one in read)
                own, others = own + (not other), others + other
                yield from read
        if others and not own:
            raise ImportFailedError(
                f"There is no prompt to Gemini in {self.path}. Expected: {self.expected}."
            )

    def _activity(self, element: Element) -> Iterator[Read]:
        value = element.value
        title = value.get("title") if isinstance(value, dict) else None
        if not isinstance(value, dict) or not isinstance(title, str):
            yield Unread(element.place, f"expected an activity with `title` and `time`, got {found(value)}")
            return
        products = value.get("products")
        names = [text_of(value.get("header")), *(products if isinstance(products, list) else [])]
        if not any("gemini" in str(name).lower() or "bard" in str(name).lower() for name in names):
            yield Skipped(_OTHER_PRODUCT)
            return
        answers = value.get("safeHtmlItem")
        answers = answers if isinstance(answers, list) else []
        prefix = _PROMPTED.match(title)
        if prefix is None and not answers and _NO_PROMPT.match(title):
            yield Skipped("another activity in Gemini")
            return
        prompt = title[prefix.end() :] if prefix else title
        at = moment_in(value.get("time"), self.now)
        replies = [_plain(text_of(one.get("html"))) for one in answers if isinstance(one, dict)]
        turns = [Turn("user", prompt, "prompt", at, element.place)]
        if any(replies):
            turns.append(Turn("assistant", "\n\n".join(filter(None, replies)), "answer", at, element.place))
        yield from thread(
            turns, self.name, f"{text_of(value.get('time'))}\n{prompt}", updated=at, assistant=self.assistant
        )


def _text_of_note(value: Mapping[str, Any]) -> str:
    """Return the text of a note, with its list and further links."""
    text = text_of(value.get("textContent"))
    parts = [text if text.strip() else _plain(text_of(value.get("textContentHtml")))]
    entries = value.get("listContent")
    lines = [
        f"- [{'x' if entry.get('isChecked') is True else ' '}] {text_of(entry.get('text'))}"
        for entry in (entries if isinstance(entries, list) else [])
        if isinstance(entry, dict) and text_of(entry.get("text")).strip()
    ]
    parts.append("\n".join(lines))
    links = value.get("annotations")
    for link in links if isinstance(links, list) else []:
        url = text_of(link.get("url")) if isinstance(link, dict) else ""
        if url and url not in parts[0]:
            parts.append(f"{text_of(link.get('title'))} {url}".strip())
    return "\n\n".join(part for part in parts if part.strip()).strip()


def _plain(markup: str) -> str:
    """Return the text of HTML, a line per paragraph."""
    text = html.unescape(_TAG.sub("", _BREAK.sub("\n", markup)))
    return "\n".join(line.strip() for line in text.splitlines() if line.strip())
