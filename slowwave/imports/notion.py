"""Reader of Notion's export: pages as Markdown, databases as CSV, in an archive within an archive.

A page's file is named by its title and its id of 32 hexadecimal digits. Properties of a page in a database
are lines below its title. They stay in the text, and dates and tags are read from them.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath
from typing import Final

from slowwave.imports.archives import Member, members, read_whole
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
)
from slowwave.imports.moments import moment_in, written
from slowwave.notes.dates import read_date
from slowwave.notes.decoding import says_nothing

_ID: Final = re.compile(r"[ _-]?([0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12})$", re.IGNORECASE)
_PROPERTY: Final = re.compile(r"([^\s:#>*`-][^:\n]{0,60}): *(.*)")
_CREATED: Final = ("created", "created time", "created at", "date created", "date")
_EDITED: Final = ("last edited time", "last edited", "edited", "updated", "updated at", "last updated")
_TAGS: Final = ("tags", "tag", "labels", "category", "categories")
_ALL: Final = "_all"
_REPLACEMENT: Final = "\ufffd"


class Notion(ImportSource):
    """Export of Notion as Markdown and CSV: a .zip, or its folder."""

    title = "Notion"
    expected = (
        "the .zip of Settings > Export all workspace content, in the format Markdown & CSV, or its folder"
    )

    def read(self) -> Iterator[Read]:
        """Yield its pages, then the rows of databases that are no pages; see `ImportSource`."""
        files = members(self.path, "*.md", "*.csv", nested=True)
        self.require(files, "is no page (.md) and no database (.csv)")
        ordered = sorted(files, key=lambda file: file.name)
        rows_of: dict[str, Member] = {}
        pages: set[tuple[str, str]] = set()
        for file in ordered:
            if file.name.lower().endswith(".csv"):
                place = _place(file.name).removesuffix(_ALL)
                if place not in rows_of or _stem(file.name).endswith(_ALL):
                    rows_of[place] = file
                continue
            yield from isolated(file.name, self._page(file, pages))
        for place, file in rows_of.items():
            yield from isolated(file.name, self._database(file, place, pages))

    def _page(self, file: Member, pages: set[tuple[str, str]]) -> Iterator[Read]:
        text, remarks = _decoded(file)
        yield from remarks
        if any(isinstance(remark, Unread) for remark in remarks):
            return
        head, _, body = text.strip().partition("\n")
        title = head.removeprefix("# ").strip() if head.startswith("# ") else _title(file.name)
        content = (body if head.startswith("# ") else text).strip()
        if says_nothing(content):
            yield Skipped("an empty page")
            return
        pages.add((str(PurePosixPath(_place(file.name)).parent), title))
        found = _ID.search(_stem(file.name))
        name = name_of(found[1].replace("-", "").lower()) if found else name_of("page", _place(file.name))
        yield (self._item(name, content, file.name, title, _properties(content)),)

    def _database(self, file: Member, place: str, pages: set[tuple[str, str]]) -> Iterator[Read]:
        text, remarks = _decoded(file)
        yield from remarks
        if any(isinstance(remark, Unread) for remark in remarks):
            return
        found = _ID.search(_stem(file.name).removesuffix(_ALL))
        database = found[1].replace("-", "").lower() if found else place
        rows = csv.DictReader(io.StringIO(text, newline=""))
        seen: dict[str, int] = {}
        try:
            for row in rows:
                cells = {
                    name.strip(): value.strip()
                    for name, value in row.items()
                    if isinstance(name, str) and isinstance(value, str) and value.strip()
                }
                title = (row.get((rows.fieldnames or [""])[0]) or "").strip()
                if not cells:
                    yield Skipped("an empty row")
                elif (place, title) in pages:
                    yield Skipped("a row that is a page, too")
                else:
                    seen[title] = seen.get(title, 0) + 1
                    number = "" if seen[title] == 1 else f"\n{seen[title]}"
                    content = "\n".join(f"{name}: {value}" for name, value in cells.items())
                    properties = {name.lower(): value for name, value in cells.items()}
                    key = name_of("row", database, f"{title}{number}")
                    where = f"{file.name}, line {rows.line_num:,}"
                    yield (self._item(key, content, where, title, properties, PurePosixPath(place).name),)
        except csv.Error as error:
            why = f"not CSV: {error}; the rows before it were read"
            yield Unread(f"{file.name}, line {rows.line_num:,}", why)

    def _item(
        self,
        name: str,
        content: str,
        place: str,
        title: str,
        properties: Mapping[str, str],
        database: str = "",
    ) -> ImportItem:
        created, edited = (
            next((moment for name in names if (moment := read_date(properties.get(name))) is not None), None)
            for names in (_CREATED, _EDITED)
        )
        created, edited = moment_in(created, self.now), moment_in(edited, self.now)
        tags = next((properties[name] for name in _TAGS if properties.get(name)), "")
        return ImportItem(
            key=f"{self.name}:{name}",
            content=content,
            kind="note",
            place=place,
            title=title,
            created_at=created or edited,
            updated=written(edited or created),
            tags=tuple(dict.fromkeys(tag.strip() for tag in tags.split(",") if tag.strip())),
            labels={"source_kind": "imported"},
            about={"database": database},
        )


def _decoded(file: Member) -> tuple[str, list[Read]]:
    """Return the text of a file, with remarks about characters and errors."""
    try:
        text = read_whole(file).decode("utf-8-sig", "replace")
    except ImportFailedError as error:
        return "", [Unread(file.name, str(error))]
    count = text.count(_REPLACEMENT)
    return text, [Repaired(file.name, count)] if count else []


def _properties(content: str) -> dict[str, str]:
    """Return the lines "Name: value" at the beginning of a page, by name in small letters."""
    properties: dict[str, str] = {}
    for line in content.splitlines():
        match = _PROPERTY.fullmatch(line)
        if match is None:
            break
        properties.setdefault(match[1].strip().lower(), match[2].strip())
    return properties


def _stem(name: str) -> str:
    return PurePosixPath(name.replace("\\", "/")).stem


def _title(name: str) -> str:
    return _ID.sub("", _stem(name)).strip()


def _place(name: str) -> str:
    """Return the path of a page or database without ids and ending."""
    path = PurePosixPath(name.replace("\\", "/"))
    stem = path.stem.removesuffix(_ALL)
    ending = _ALL if stem != path.stem else ""
    return "/".join([*(_ID.sub("", part) for part in path.parts[:-1]), _ID.sub("", stem) + ending])
