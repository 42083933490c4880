"""Readers of memory services: Zep and Graphiti, Hindsight, claude-mem."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import orjson

from slowwave.imports.archives import members
from slowwave.imports.json_records import Element, found
from slowwave.imports.memories import listed_records
from slowwave.imports.model import (
    MESSAGE,
    ImportItem,
    ImportSource,
    Read,
    Skipped,
    Unread,
    isolated,
    name_of,
    text_of,
)
from slowwave.imports.moments import moment_in, written
from slowwave.notes.decoding import says_nothing


class _Service(ImportSource):
    """Export of records as JSON: a list, an object with lists, or a record a line."""

    lists: ClassVar[tuple[str, ...]]
    records: ClassVar[tuple[str, ...]]

    def read(self) -> Iterator[Read]:
        """Yield its memories; see `ImportSource`."""
        files = members(self.path, "*.json", "*.jsonl")
        self.require(files, "is no JSON")
        for file in files:
            for element in listed_records(file, *self.lists, names=self.records):
                if not isinstance(element, Element):
                    yield element
                elif isinstance(element.value, dict):
                    yield from isolated(element.place, [self._record(element.value, element.place)])
                else:
                    yield Unread(element.place, f"expected an object, got {found(element.value)}")

    @abstractmethod
    def _record(self, value: Mapping[str, Any], place: str) -> Read: ...

    def _item(
        self, key: str, text: str, place: str, at: object, **labels: Any  # noqa: ANN401
    ) -> tuple[ImportItem]:  # fmt: skip
        """Return a memory that a program wrote. The first readable time is its date."""
        times = at if isinstance(at, tuple) else (at,)
        moments = [moment for time in times if (moment := moment_in(time, self.now)) is not None]
        labels = {"memory_type": "fact", "labels": {"source_kind": "generated"}, **labels}
        return (
            ImportItem(
                key=f"{self.name}:{key}",
                content=text.strip(),
                kind=labels.pop("kind", "memory"),
                place=place,
                created_at=moments[0] if moments else None,
                **labels,
            ),
        )


class Zep(_Service):
    """Facts of Zep or Graphiti: edges of a graph, and summaries of its nodes."""

    title = "Zep"
    expected = (
        '{"edges": [{"uuid": …, "fact": …, "created_at": …, "valid_at": …, "invalid_at": …}]}, or the list'
    )
    lists = ("edges", "facts", "nodes")
    records = ("fact", "summary")

    def _record(self, value: Mapping[str, Any], place: str) -> Read:
        fact, summary = text_of(value.get("fact")), text_of(value.get("summary"))
        name = text_of(value.get("uuid")) or text_of(value.get("uuid_"))
        if says_nothing(fact) and says_nothing(summary):
            if "summary" in value:
                return Skipped("a node without a summary")
            return Unread(place, f"expected an edge with `uuid` and `fact`, got {found(value)}")
        if not name:
            return Unread(place, "the edge has no uuid")
        for field in ("invalid_at", "expired_at"):
            if (ended := value.get(field)) is not None and moment_in(ended, self.now) is not None:
                return Skipped("a fact that no longer holds")
        text = summary if says_nothing(fact) else fact
        title = text_of(value.get("name")) if says_nothing(fact) else ""
        fields = ("name", "valid_at", "created_at", "source_node_uuid", "target_node_uuid", "group_id")
        about = {field: part for field in fields if isinstance(part := value.get(field), str) and part}
        return self._item(
            name_of(name), text, place, (value.get("valid_at"), value.get("created_at")), title=title,
            updated=written(moment_in(value.get("created_at"), self.now)), about=about,
        )  # fmt: skip


class Hindsight(_Service):
    """Memories of Hindsight: results of a recall, or a list of memories."""

    title = "Hindsight"
    expected = (
        '{"results": [{"id": …, "text": …, "type": …, "occurred_start": …}]}, {"items": […]}, or the list'
    )
    lists = ("results", "items", "memories")
    records = ("text",)

    def _record(self, value: Mapping[str, Any], place: str) -> Read:
        text, name = text_of(value.get("text")), value.get("id")
        if says_nothing(text):
            return Unread(place, f"expected a memory with `id` and `text`, got {found(value)}")
        if not isinstance(name, str | int) or isinstance(name, bool) or name == "":
            return Unread(place, "the memory has no id")
        times = tuple(value.get(field) for field in ("occurred_start", "event_date", "date", "mentioned_at"))
        fields = ("type", "fact_type", "context", "document_id", "entities", "occurred_end")
        about = {field: part for field in fields if (part := value.get(field))}
        tags = tuple(tag for tag in _list(value.get("tags")) if isinstance(tag, str))
        mentioned = moment_in(value.get("mentioned_at"), self.now)
        return self._item(
            name_of(name), text, place, times, tags=tags, about=about, updated=written(mentioned)
        )


class ClaudeMem(_Service):
    """Export of claude-mem: observations, summaries of sessions, and prompts."""

    title = "claude-mem"
    expected = '{"observations": […], "summaries": […], "prompts": […], "sessions": […]} of its export script'
    lists = ("observations", "summaries", "prompts", "sessions")
    records = ("narrative", "facts", "request", "learned", "prompt_text")
    sections: ClassVar[tuple[str, ...]] = (
        "request", "investigated", "learned", "completed", "next_steps", "notes",
    )  # fmt: skip

    def _record(self, value: Mapping[str, Any], place: str) -> Read:
        at = (value.get("created_at_epoch"), value.get("created_at"))
        session = next(
            (
                text
                for field in (
                    "memory_session_id",
                    "sdk_session_id",
                    "content_session_id",
                    "claude_session_id",
                )
                if (text := text_of(value.get(field)))
            ),
            "",
        )
        moment = f"{at[0] or at[1] or value.get('id') or ''}"
        about = {
            field: part
            for field in ("project", "type", "files_read", "files_modified")
            if (part := _plain_list(value.get(field)))
        }
        if "prompt_text" in value:
            text = text_of(value["prompt_text"])
            if says_nothing(text):
                return Skipped("an empty prompt")
            key = name_of("prompt", session, value.get("prompt_number") or moment)
            labels = {"source_kind": "imported"}
            return self._item(
                key, text, place, at, kind=MESSAGE, memory_type="chat", labels=labels, about=about
            )
        if "narrative" in value or "facts" in value:
            title = text_of(value.get("title"))
            facts = [f"- {fact}" for fact in _list(value.get("facts")) if isinstance(fact, str)]
            texts = [text_of(value.get(field)) for field in ("subtitle", "narrative", "text")]
            text = "\n\n".join(part for part in [*texts, "\n".join(facts)] if part.strip())
            if says_nothing(text):
                return Unread(place, f"the observation has no text, it is {found(value)}")
            tags = tuple(tag for tag in _list(value.get("concepts")) if isinstance(tag, str))
            key = name_of("observation", session, f"{moment} {title}")
            return self._item(key, text, place, at, title=title, tags=tags, about=about)
        if any(field in value for field in self.sections):
            parts = [
                f"{field.replace('_', ' ').capitalize()}: {text_of(value.get(field)).strip()}"
                for field in self.sections
                if text_of(value.get(field)).strip()
            ]
            if not parts:
                return Skipped("an empty summary")
            key = name_of("summary", session, moment)
            return self._item(key, "\n\n".join(parts), place, at, memory_type="note", about=about)
        if session:
            return Skipped("a session: what it has is in its observations")
        return Unread(place, f"expected an observation, a summary or a prompt, got {found(value)}")


def _list(value: object) -> list[Any]:
    """Return a list, also one that is written as JSON in a text."""
    if isinstance(value, str) and value.strip():
        try:
            value = orjson.loads(value)
        except orjson.JSONDecodeError:
            return [value]
    return value if isinstance(value, list) else []


def _plain_list(value: object) -> object:
    return _list(value) if isinstance(value, str) and value[:1] == "[" else value
