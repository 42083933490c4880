"""Readers of other memory servers: mem0, and the reference server of the Model Context Protocol."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from slowwave.imports.archives import Member, members, read_whole
from slowwave.imports.json_records import Element, elements, found, lines, whole
from slowwave.imports.model import (
    ImportFailedError,
    ImportItem,
    ImportSource,
    Read,
    Remark,
    Repaired,
    Skipped,
    Unread,
    name_of,
    text_of,
)
from slowwave.imports.moments import moment_in, written
from slowwave.notes.decoding import says_nothing
from slowwave.quality.structure import KNOWN_WORDS

_BLANK = b"\0 \t\r\n"
_RECORDS = ("memory", "data", "observations", "from")


class Mem0(ImportSource):
    """Output of mem0's ``get_all``: a list, ``{"results": […]}``, or one memory per line."""

    title = "mem0"
    expected = (
        'what get_all() returns, as JSON: {"results": [{"id": …, "memory": …, "created_at": …}]}, the list '
        "alone, or one memory a line"
    )

    def read(self) -> Iterator[Read]:
        """Yield its memories; see `ImportSource`."""
        users: set[str] = set()
        for file in members(self.path, "*.json", "*.jsonl"):
            for element in listed_records(file, "results", "memories"):
                yield self._memory(element, users) if isinstance(element, Element) else element
        if len(users) > 1:
            yield Remark(
                f"The file has memories of {len(users):,} users, and all go into one namespace. To import "
                f"one of them use --user; the first are {', '.join(sorted(users)[:3])}."
            )

    def _memory(self, element: Element, users: set[str]) -> Read:
        value = element.value
        text = text_of(value.get("memory")) or text_of(value.get("data")) if isinstance(value, dict) else ""
        if not isinstance(value, dict) or says_nothing(text):
            return Unread(element.place, f"expected a memory with `id` and `memory`, got {found(value)}")
        name, user = value.get("id"), text_of(value.get("user_id"))
        if not isinstance(name, str | int) or isinstance(name, bool) or name == "":
            return Unread(element.place, "the memory has no id")
        if self.user and user != self.user:
            return Skipped("of another user")
        users.add(user)
        metadata = value.get("metadata")
        at = moment_in(value.get("created_at"), self.now)
        fields = {"metadata": metadata if isinstance(metadata, dict) else None}
        fields |= {field: value.get(field) for field in ("user_id", "agent_id", "app_id", "run_id")}
        return (
            ImportItem(
                key=f"{self.name}:{name_of(name)}",
                content=text.strip(),
                kind="memory",
                place=element.place,
                created_at=at,
                updated=written(moment_in(value.get("updated_at"), self.now) or at),
                memory_type="fact",
                tags=_texts(value.get("categories")),
                labels={"source_kind": "generated"},
                about={field: part for field, part in fields.items() if part},
            ),
        )


class MemoryServer(ImportSource):
    """File of the reference memory server: entities and relations, one per line.

    An entity becomes one memory with its observations and relations. A further observation changes the text
    of the same memory.
    """

    title = "memory server"
    expected = (
        'lines {"type": "entity", "name": …, "entityType": …, "observations": […]} and {"type": "relation", '
        '"from": …, "to": …, "relationType": …}, or what read_graph returns'
    )

    def read(self) -> Iterator[Read]:
        """Yield an item per entity, after all records were read; see `ImportSource`."""
        entities: dict[str, _Entity] = {}
        relations: list[tuple[str, str, str]] = []
        for file in members(self.path, "*.json", "*.jsonl"):
            for element in listed_records(file, "entities", "relations"):
                problem = _graph(element, entities, relations) if isinstance(element, Element) else element
                if problem is not None:
                    yield problem
        for begin, kind, end in relations:
            if begin in entities:
                entities[begin].relations.setdefault(f"{begin} {kind.replace('_', ' ')} {end}", None)
            else:
                yield Skipped("a relation of a missing entity")
        for name, entity in entities.items():
            facts = [*entity.observations, *entity.relations]
            if not facts:
                yield Skipped("an entity without observations")
                continue
            entity_type = entity.kind.strip().lower()
            about = {"entity": name, "entity_type": entity.kind}
            yield (
                ImportItem(
                    key=f"{self.name}:{name_of(name)}",
                    content="\n".join(f"- {line}" for line in facts),
                    kind="entity",
                    place=entity.place,
                    title=name.replace("_", " "),
                    memory_type=entity_type if entity_type in KNOWN_WORDS["memory_type"] else "fact",
                    labels={"source_kind": "generated"},
                    about=about,
                ),
            )


@dataclass(slots=True)
class _Entity:
    kind: str
    place: str
    observations: dict[str, None]
    relations: dict[str, None]


def _graph(
    element: Element, entities: dict[str, _Entity], relations: list[tuple[str, str, str]]
) -> Unread | None:
    value = element.value
    if not isinstance(value, dict):
        return Unread(element.place, f"expected an entity or a relation, got {found(value)}")
    name, end = text_of(value.get("name")).strip(), text_of(value.get("to")).strip()
    if isinstance(value.get("observations"), list) and name:
        entity = entities.setdefault(name, _Entity(text_of(value.get("entityType")), element.place, {}, {}))
        texts = [" ".join(text.split()) for text in _texts(value["observations"])]
        entity.observations |= dict.fromkeys(filter(None, texts))
        lost = len(value["observations"]) - len(texts)
        return Unread(element.place, f"{lost:,} observations of {name!r} are not text") if lost else None
    if text_of(value.get("from")).strip() and end:
        relations.append((value["from"].strip(), text_of(value.get("relationType")) or "relates to", end))
        return None
    return Unread(element.place, f"expected an entity with `name` and `observations`, got {found(value)}")


def listed_records(
    file: Member, *lists: str, names: tuple[str, ...] = _RECORDS
) -> Iterator[Element | Unread | Repaired]:
    """Yield the records of a file: JSON lines, a list, or an object with lists of these names.

    Args:
        lists: Names of lists in an object.
        names: An object with one of them is a record; for a broken file.

    Raises:
        ImportFailedError: It is not JSON, or it is too large.
    """
    data = read_whole(file)
    try:
        value, replaced = whole(data, file.name)
    except ImportFailedError:
        rest = data.removeprefix(b"\xef\xbb\xbf").strip(_BLANK)
        if _has_lines(rest, lists):
            yield from lines(file)
        elif rest[:1] in (b"[", b"{"):
            yield from elements(file, *names)
        elif rest:
            raise
        return
    if replaced:
        yield Repaired(file.name, replaced)
    yield from (
        Element(f"{file.name}, record {number:,}", number, record)
        for number, record in enumerate(_listed(value, lists, file.name), start=1)
    )


def _has_lines(data: bytes, lists: Iterable[str]) -> bool:
    """Whether a broken file has JSON lines, not a list or an object with lists."""
    names = "|".join(lists).encode()
    if re.match(rb'\[|\{\s*"(' + names + rb')"\s*:', data):
        return False
    return any(line.strip(_BLANK)[:1] == b"{" for line in data.splitlines())


def _listed(value: object, lists: Iterable[str], name: str) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        record_lists = [value[key] for key in lists if isinstance(value.get(key), list)]
        if record_lists:
            return [record for records in record_lists for record in records]
        return [value]
    raise ImportFailedError(f"{name} is {found(value)}, not a list of memories.")


def _texts(value: object) -> tuple[str, ...]:
    return tuple(text for text in value if isinstance(text, str)) if isinstance(value, list) else ()
