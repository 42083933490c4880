"""Memories that other memory servers keep: mem0, and the reference server of the Model Context Protocol."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from slowwave.imports.archives import Member, members, read_whole
from slowwave.imports.json_records import Element, found, lines, parsed
from slowwave.imports.model import (
    ImportFailedError,
    ImportItem,
    ImportSource,
    Read,
    Remark,
    Skipped,
    Unread,
    name_of,
    text_of,
)
from slowwave.imports.moments import moment_in, written
from slowwave.notes.decoding import says_nothing
from slowwave.quality.structure import KNOWN_WORDS


class Mem0(ImportSource):
    """What ``get_all`` of mem0 returns: a list, ``{"results": […]}``, or one memory a line."""

    title = "mem0"
    expected = (
        'what get_all() returns, as JSON: {"results": [{"id": …, "memory": …, "created_at": …}]}, the list '
        "alone, or one memory a line"
    )

    def read(self) -> Iterator[Read]:
        """See `ImportSource`."""
        users: set[str] = set()
        for file in members(self.path, "*.json", "*.jsonl"):
            for one in _records(file, "results", "memories"):
                yield self._memory(one, users) if isinstance(one, Element) else one
        if len(users) > 1:
            yield Remark(
                f"The file has memories of {len(users):,} users, and all go into one namespace. --user takes "
                f"those of one; the first are {', '.join(sorted(users)[:3])}."
            )

    def _memory(self, one: Element, users: set[str]) -> Read:
        value = one.value
        text = text_of(value.get("memory")) or text_of(value.get("data")) if isinstance(value, dict) else ""
        if not isinstance(value, dict) or says_nothing(text):
            return Unread(one.place, f"a memory has `id` and `memory`, it is {found(value)}")
        name, user = value.get("id"), text_of(value.get("user_id"))
        if not isinstance(name, str | int) or isinstance(name, bool) or name == "":
            return Unread(one.place, "the memory has no id")
        if self.user and user != self.user:
            return Skipped("of another user")
        users.add(user)
        given = value.get("metadata")
        at = moment_in(value.get("created_at"), self.now)
        about = {"metadata": given if isinstance(given, dict) else None}
        about |= {field: value.get(field) for field in ("user_id", "agent_id", "app_id", "run_id")}
        return (
            ImportItem(
                key=f"{self.name}:{name_of(name)}",
                content=text.strip(),
                kind="memory",
                place=one.place,
                created_at=at,
                updated=written(moment_in(value.get("updated_at"), self.now) or at),
                memory_type="fact",
                tags=_texts(value.get("categories")),
                labels={"source_kind": "generated"},
                about={field: part for field, part in about.items() if part},
            ),
        )


class MemoryServer(ImportSource):
    """The file of the reference memory server: entities and relations, one a line.

    An entity becomes one memory: what was observed of it, and how it stands to others. One more observation
    makes it another text of the same memory.
    """

    title = "memory server"
    expected = (
        'lines {"type": "entity", "name": …, "entityType": …, "observations": […]} and {"type": "relation", '
        '"from": …, "to": …, "relationType": …}, or what read_graph returns'
    )

    def read(self) -> Iterator[Read]:
        """See `ImportSource`; an entity is told of when all that belongs to it was read."""
        entities: dict[str, _Entity] = {}
        relations: list[tuple[str, str, str]] = []
        for file in members(self.path, "*.json", "*.jsonl"):
            for one in _records(file, "entities", "relations"):
                problem = one if isinstance(one, Unread) else _graph(one, entities, relations)
                if problem is not None:
                    yield problem
        for begin, kind, end in relations:
            if begin in entities:
                entities[begin].relations.setdefault(f"{begin} {kind.replace('_', ' ')} {end}", None)
            else:
                yield Skipped("a relation of an entity that is not there")
        for name, entity in entities.items():
            said = [*entity.observations, *entity.relations]
            if not said:
                yield Skipped("an entity of which nothing is said")
                continue
            known = entity.kind.strip().lower()
            about = {"entity": name, "entity_type": entity.kind}
            yield (
                ImportItem(
                    key=f"{self.name}:{name_of(name)}",
                    content="\n".join(f"- {line}" for line in said),
                    kind="entity",
                    place=entity.place,
                    title=name.replace("_", " "),
                    memory_type=known if known in KNOWN_WORDS["memory_type"] else "fact",
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
    one: Element, entities: dict[str, _Entity], relations: list[tuple[str, str, str]]
) -> Unread | None:
    value = one.value
    if not isinstance(value, dict):
        return Unread(one.place, f"an entity or a relation is expected, it is {found(value)}")
    name, end = text_of(value.get("name")).strip(), text_of(value.get("to")).strip()
    if isinstance(value.get("observations"), list) and name:
        entity = entities.setdefault(name, _Entity(text_of(value.get("entityType")), one.place, {}, {}))
        said = [" ".join(text.split()) for text in _texts(value["observations"])]
        entity.observations |= dict.fromkeys(filter(None, said))
        lost = len(value["observations"]) - len(said)
        return Unread(one.place, f"{lost:,} observations of {name!r} are no texts") if lost else None
    if text_of(value.get("from")).strip() and end:
        relations.append((value["from"].strip(), text_of(value.get("relationType")) or "relates to", end))
        return None
    return Unread(one.place, f"an entity has `name` and `observations`, it is {found(value)}")


def _records(file: Member, *lists: str) -> Iterator[Element | Unread]:
    """The records of a file: JSON lines, a list, or an object with lists of these names."""
    data = read_whole(file)
    first = data.removeprefix(b"\xef\xbb\xbf").lstrip()
    many = [line for line in first.splitlines() if line.strip()][:2]
    if len(many) == 2 and all(line.strip()[:1] == b"{" and line.strip()[-1:] == b"}" for line in many):
        yield from lines(file)
        return
    if not first:
        return
    value = parsed(data, file.name)
    yield from (
        Element(f"{file.name}, record {number:,}", number, one)
        for number, one in enumerate(_listed(value, lists, file.name), start=1)
    )


def _listed(value: object, lists: Iterable[str], name: str) -> list[Any]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict):
        known = [value[one] for one in lists if isinstance(value.get(one), list)]
        if known:
            return [record for one in known for record in one]
        return [value]
    raise ImportFailedError(f"{name} is {found(value)}, and no list of memories.")


def _texts(value: object) -> tuple[str, ...]:
    return tuple(one for one in value if isinstance(one, str)) if isinstance(value, list) else ()
