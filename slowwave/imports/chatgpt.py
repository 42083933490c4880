"""Reader of ChatGPT's data export: conversations, each a tree of messages, and its explicit memories.

Edited questions and regenerated answers are branches of the tree. Only the visible branch, which ends in
``current_node``, is imported. Explicit memories count in every branch, because ChatGPT kept them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from slowwave.imports.archives import Member, members
from slowwave.imports.chatgpt_memory import ExplicitMemories
from slowwave.imports.json_records import Element, elements, found
from slowwave.imports.model import ImportSource, Read, Unread, isolated, text_of
from slowwave.imports.moments import moment_in
from slowwave.imports.transcripts import Turn, thread

_UNNAMED = ("New chat",)
_SAID = ("text", "multimodal_text")  # content types with text
_OTHERS = (
    "user.json", "user_settings.json", "message_feedback.json", "model_comparisons.json", "group_chats.json",
    "shared_conversations.json", "shopping.json", "sora.json", "export_manifest.json",
    "conversation_asset_file_names.json", "library_files.json",
)  # fmt: skip
"""Files of the export that have no conversations."""


class ChatGpt(ImportSource):
    """Export of ChatGPT: a .zip, a folder or its conversations.json."""

    title = "ChatGPT"
    expected = (
        "the .zip of Settings > Data controls > Export data, its conversations.json, or a folder of "
        "conversations: each has a `mapping` of messages"
    )

    def read(self) -> Iterator[Read]:
        """Yield its conversations and memories; see `ImportSource`."""
        memories = ExplicitMemories(self.name, self.now)
        for file in self._files():
            for element in elements(file, "mapping"):
                if isinstance(element, Element):
                    yield from isolated(element.place, self._conversation(element, memories))
                else:
                    yield element
        yield from memories.read()

    def _files(self) -> list[Member]:
        """Return the files with conversations: lists of them, else each file as one."""
        files = members(self.path, "conversations.json", "conversations-*.json", "conversations_*.json")
        if not files:
            files = [
                file
                for file in members(self.path, "*.json")
                if file.name.replace("\\", "/").rpartition("/")[2] not in _OTHERS
            ]
        self.require(files, "is no conversations.json")
        return files

    def _conversation(self, element: Element, memories: ExplicitMemories) -> Iterator[Read]:
        value = element.value
        mapping = value.get("mapping") if isinstance(value, dict) else None
        if not isinstance(mapping, dict):
            hint = ""
            if isinstance(value, dict) and "chat_messages" in value:
                hint = "; that is a conversation of Claude: `slowwave import claude`"
            yield Unread(element.place, f"it has no `mapping` of messages, it is {found(value)}{hint}")
            return
        began = moment_in(value.get("create_time"), self.now)
        updated = moment_in(value.get("update_time"), self.now)
        name = text_of(value.get("conversation_id")) or text_of(value.get("id"))
        if not name:
            yield Unread(element.place, "the conversation has no id")
            return
        explicit = set()
        for place, (node, message) in enumerate(_messages(mapping), start=1):
            if memories.add(message, name, f"{element.place}, message {place:,}", began):
                explicit.add(node)
        turns = [
            _turn(node, message, f"{element.place}, message {place:,}", began, self.now)
            for place, (node, message) in enumerate(_branch(mapping, value.get("current_node")), start=1)
            if node not in explicit
        ]
        yield from thread(
            turns, self.name, name, title=_title(value), updated=updated or began,
            assistant=self.assistant,
        )  # fmt: skip


def _title(value: Mapping[str, Any]) -> str:
    """Return the title of a conversation; empty if the client never named it."""
    title = text_of(value.get("title"))
    return "" if title in _UNNAMED else title


def _messages(mapping: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the messages of all branches, with the ids of their nodes."""
    for name, node in mapping.items():
        message = node.get("message") if isinstance(node, dict) else None
        if isinstance(message, dict):
            yield name, message


def _branch(mapping: Mapping[str, Any], current: object) -> list[tuple[str, Mapping[str, Any]]]:
    """Return the messages of the visible branch in order, with the ids of their nodes."""
    nodes = {name: node for name, node in mapping.items() if isinstance(node, dict)}
    at = current if isinstance(current, str) and current in nodes else _newest_leaf(nodes)
    branch: list[tuple[str, Mapping[str, Any]]] = []
    seen = set()
    while at is not None and at in nodes and at not in seen:
        seen.add(at)
        message = nodes[at].get("message")
        if isinstance(message, dict):
            branch.append((at, message))
        parent = nodes[at].get("parent")
        at = parent if isinstance(parent, str) else None
    return branch[::-1]


def _newest_leaf(nodes: Mapping[str, Mapping[str, Any]]) -> str | None:
    parents = {node["parent"] for node in nodes.values() if isinstance(node.get("parent"), str)}

    def when(name: str) -> float:
        message = nodes[name].get("message")
        at = message.get("create_time") if isinstance(message, dict) else None
        return float(at) if isinstance(at, int | float) else 0.0

    return max((name for name in nodes if name not in parents), key=when, default=None)


def _turn(node: str, message: Mapping[str, Any], place: str, began: datetime | None, now: datetime) -> Turn:
    author, metadata = message.get("author"), message.get("metadata")
    role = text_of(author.get("role")) if isinstance(author, dict) else ""
    hidden = isinstance(metadata, dict) and (
        bool(metadata.get("is_visually_hidden_from_conversation"))
        or bool(metadata.get("is_user_system_message"))
    )
    if role == "assistant" and message.get("recipient") not in (None, "all"):
        role = "tool"  # addressed to a tool
    at = moment_in(message.get("create_time"), now) or began
    name = text_of(message.get("id")) or node
    return Turn(role, _text(message.get("content")), name, at, place, of_a_program=hidden)


def _text(content: object) -> str | None:
    if not isinstance(content, dict) or content.get("content_type", "text") not in _SAID:
        return None
    parts = content.get("parts")
    if not isinstance(parts, list):
        return None
    texts = [
        part if isinstance(part, str) else text_of(part.get("text")) if isinstance(part, dict) else ""
        for part in parts  # speech is an object with its transcript
    ]
    return "\n\n".join(text for text in texts if text.strip()) or None
