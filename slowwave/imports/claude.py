"""The data export of Claude: ``conversations.json``, and what it remembers beside them.

``memories.json`` has one text about the person and one for each project, ``projects.json`` (or a file for
each project) the documents that were put into a project. Both are explicit memories and are taken whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from slowwave.imports.archives import Member, members
from slowwave.imports.json_records import Element, elements, found
from slowwave.imports.model import ImportItem, ImportSource, Read, Unread, name_of, text_of
from slowwave.imports.moments import moment_in, written
from slowwave.imports.transcripts import Turn, joined, thread
from slowwave.notes.decoding import says_nothing


class Claude(ImportSource):
    """An export of Claude, as .zip, as folder or as its conversations.json."""

    title = "Claude"
    expected = (
        "the .zip of Settings > Privacy > Export data, or its conversations.json: a list of conversations, "
        "each with `chat_messages`"
    )

    def read(self) -> Iterator[Read]:
        """See `ImportSource`."""
        files = members(
            self.path, "conversations.json", "conversations-*.json", "memories.json", "memories/*.json",
            "projects.json", "projects/*.json",
        )  # fmt: skip
        self.require(files, "is no conversations.json, memories.json or projects.json")
        for file in files:
            for one in elements(file):
                yield from [one] if isinstance(one, Unread) else self._record(one, file)

    def _record(self, one: Element, file: Member) -> Iterator[Read]:
        value = one.value
        if not isinstance(value, dict):
            yield Unread(one.place, f"an object is expected, it is {found(value)}")
        elif isinstance(value.get("chat_messages"), list):
            yield from self._conversation(value, one.place)
        elif "conversations_memory" in value or "project_memories" in value:
            yield from self._memories(value, one.place)
        elif isinstance(value.get("docs"), list):
            yield from self._documents(value, one.place)
        else:
            hint = ""
            if "mapping" in value:
                hint = "; that is a conversation of ChatGPT: `slowwave import chatgpt`"
            yield Unread(one.place, f"it has no `chat_messages`, it is {found(value)}{hint}")

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
                yield Unread(where, f"a message is expected, it is {found(message)}")
                continue
            sender = text_of(message.get("sender"))
            turns.append(
                Turn(
                    "user" if sender == "human" else sender,
                    joined(message.get("content"), "text") or text_of(message.get("text")) or None,
                    text_of(message.get("uuid")) or str(number),
                    moment_in(message.get("created_at"), self.now) or began,
                    where,
                )
            )
        yield from thread(
            turns, self.name, name, title=text_of(value.get("name")), assistant=self.assistant,
            updated=moment_in(value.get("updated_at"), self.now) or began,
        )  # fmt: skip

    def _memories(self, value: Mapping[str, Any], place: str) -> Iterator[Read]:
        """What Claude remembers, as it wrote it: the texts have no date."""
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

    def _documents(self, value: Mapping[str, Any], place: str) -> Iterator[Read]:
        """The documents of a project; its instructions are orders to the assistant and no memory."""
        project = text_of(value.get("uuid")) or text_of(value.get("name"))
        for number, doc in enumerate(value["docs"], start=1):
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
