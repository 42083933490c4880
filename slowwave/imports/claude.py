"""Reader of Claude's data export: conversations, memories, attachments and projects.

``memories.json`` has one text about the person and one per project; ``projects.json`` (or one file per
project) has the instructions and documents of a project. They are explicit memories and are imported whole,
as is the text of attachments.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from slowwave.imports.archives import Member, members
from slowwave.imports.json_records import Element, elements, found
from slowwave.imports.model import ImportItem, ImportSource, Read, Skipped, Unread, isolated, name_of, text_of
from slowwave.imports.moments import moment_in, written
from slowwave.imports.transcripts import Turn, joined, thread
from slowwave.notes.decoding import says_nothing

_RECORDS = ("chat_messages", "conversations_memory", "project_memories", "docs", "prompt_template")


class Claude(ImportSource):
    """Export of Claude: a .zip, a folder or its conversations.json."""

    title = "Claude"
    expected = (
        "the .zip of Settings > Privacy > Export data, or its conversations.json: a list of conversations, "
        "each with `chat_messages`"
    )

    def read(self) -> Iterator[Read]:
        """Yield its conversations, memories and documents; see `ImportSource`."""
        files = members(
            self.path, "conversations.json", "conversations-*.json", "memories.json", "memories/*.json",
            "projects.json", "projects/*.json",
        )  # fmt: skip
        self.require(files, "is no conversations.json, memories.json or projects.json")
        for file in files:
            for element in elements(file, *_RECORDS):
                if isinstance(element, Element):
                    yield from isolated(element.place, self._record(element, file))
                else:
                    yield element

    def _record(self, element: Element, file: Member) -> Iterator[Read]:
        value = element.value
        if not isinstance(value, dict):
            yield Unread(element.place, f"expected an object, got {found(value)}")
        elif isinstance(value.get("chat_messages"), list):
            yield from self._conversation(value, element.place)
        elif "conversations_memory" in value or "project_memories" in value:
            yield from self._memories(value, element.place)
        elif isinstance(value.get("docs"), list) or "prompt_template" in value:
            yield from self._project(value, element.place)
        else:
            hint = ""
            if "mapping" in value:
                hint = "; that is a conversation of ChatGPT: `slowwave import chatgpt`"
            yield Unread(element.place, f"expected `chat_messages`, got {found(value)}{hint}")

    def _conversation(self, value: Mapping[str, Any], place: str) -> Iterator[Read]:
        name = text_of(value.get("uuid"))
        if not name:
            yield Unread(place, "the conversation has no uuid")
            return
        began = moment_in(value.get("created_at"), self.now)
        turns = []
        for number, message in enumerate(value["chat_messages"], start=1):
            where = f"{place}, message {number:,}"
            if not isinstance(message, dict):
                yield Unread(where, f"expected a message, got {found(message)}")
                continue
            at = moment_in(message.get("created_at"), self.now) or began
            yield from isolated(where, self._attachments(message, where, at))
            sender = text_of(message.get("sender"))
            turns.append(
                Turn(
                    "user" if sender == "human" else sender,
                    joined(message.get("content"), "text") or text_of(message.get("text")) or None,
                    text_of(message.get("uuid")) or str(number),
                    at,
                    where,
                )
            )
        yield from thread(
            turns, self.name, name, title=text_of(value.get("name")), assistant=self.assistant,
            updated=moment_in(value.get("updated_at"), self.now) or began,
        )  # fmt: skip

    def _memories(self, value: Mapping[str, Any], place: str) -> Iterator[Read]:
        """Yield Claude's own memory texts, unchanged and without dates."""
        account = text_of(value.get("account_uuid")) or "account"
        projects = value.get("project_memories")
        texts = {account: ("What Claude remembers", text_of(value.get("conversations_memory")))}
        if isinstance(projects, dict):
            texts |= {
                str(project): ("What Claude remembers of a project", text_of(text))
                for project, text in projects.items()
            }
        for name, (title, text) in texts.items():
            if not says_nothing(text):
                key = f"{self.name}:{name_of('memory', name)}"
                labels = {"source_kind": "generated"}
                yield (ImportItem(key, text.strip(), "memory", place, title=title, labels=labels),)

    def _attachments(self, message: Mapping[str, Any], place: str, at: datetime | None) -> Iterator[Read]:
        """Yield the texts of attached files. One is known by name and text, in any message."""
        attachments = message.get("attachments")
        for one in attachments if isinstance(attachments, list) else []:
            text = text_of(one.get("extracted_content")) if isinstance(one, dict) else ""
            if says_nothing(text):
                yield Skipped("an attachment without text")
                continue
            title = text_of(one.get("file_name"))
            name = f"{title}\n{text}"
            yield (
                ImportItem(
                    key=f"{self.name}:{name_of('attachment', name)}",
                    content=text,
                    kind="document",
                    place=place,
                    title=title,
                    created_at=moment_in(one.get("created_at"), self.now) or at,
                    memory_type="document",
                    labels={"source_kind": "imported"},
                ),
            )

    def _project(self, value: Mapping[str, Any], place: str) -> Iterator[Read]:
        """Yield the instructions and the documents of a project."""
        project = text_of(value.get("uuid")) or text_of(value.get("name"))
        instructions = text_of(value.get("prompt_template"))
        if not says_nothing(instructions):
            at = moment_in(value.get("created_at"), self.now)
            yield (
                ImportItem(
                    key=f"{self.name}:{name_of('project', project, 'instructions')}",
                    content=instructions.strip(),
                    kind="memory",
                    place=place,
                    title=f"Instructions of the project {text_of(value.get('name'))}".strip(),
                    created_at=at,
                    updated=written(moment_in(value.get("updated_at"), self.now) or at),
                    labels={"source_kind": "imported"},
                    about={"project": text_of(value.get("name"))},
                ),
            )
        docs = value.get("docs")
        for number, doc in enumerate(docs if isinstance(docs, list) else [], start=1):
            where = f"{place}, document {number:,}"
            text = text_of(doc.get("content")) if isinstance(doc, dict) else ""
            if says_nothing(text):
                yield Unread(where, "the document has no text")
                continue
            name = text_of(doc.get("uuid")) or text_of(doc.get("filename")) or str(number)
            at = moment_in(doc.get("created_at"), self.now)
            yield (
                ImportItem(
                    key=f"{self.name}:{name_of('project', project, name)}",
                    content=text,
                    kind="document",
                    place=where,
                    title=text_of(doc.get("filename")),
                    created_at=at,
                    updated=written(moment_in(doc.get("updated_at"), self.now) or at),
                    memory_type="document",
                    labels={"source_kind": "imported"},
                    about={"project": text_of(value.get("name"))},
                ),
            )
